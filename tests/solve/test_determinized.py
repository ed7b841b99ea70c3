"""Determinized search with all worlds: against known figures, and against a slow twin."""

from __future__ import annotations

import numpy as np
import pytest

import stratkit.engine.tree
from running import run
from solve.slow_tree import Node, grow, spelt_out
from solve.small_games import tree_of
from stratkit.engine import Game, Tree
from stratkit.solve.determinized import DETERMINIZED
from stratkit.solve.exploitability import evaluate

# NashConv, and that of a uniform player.
KNOWN = {
    "kuhn": {"pimc": 1 / 3, "pc-pimc": 1 / 6, "pc-pimc-drawn": 0.1875},
    "leduc": {"pimc": 1.0, "pc-pimc": 1.35, "pc-pimc-drawn": 1.3538},
    "dark_hex:2": {"pimc": 0.5, "pc-pimc": 0.5, "pc-pimc-drawn": 0.45},
}


@pytest.mark.parametrize("name", KNOWN)
def test_it_comes_to_what_is_known(name: str) -> None:
    tree = tree_of(name)
    for policy, nash_conv in KNOWN[name].items():
        found = DETERMINIZED[policy](tree).solution()
        assert evaluate(tree, found).nash_conv == pytest.approx(nash_conv, abs=5e-5), policy
        if policy != "pc-pimc-drawn":
            assert evaluate(tree, found).nash_conv == pytest.approx(nash_conv, abs=1e-6)


def test_on_a_board_of_stratego() -> None:
    done = run("exploit", "nano", "pimc", "pc-pimc")
    assert (done.status, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines()[3:]]
    found = {row[0]: float(row[-1]) for row in rows}
    assert found == {"pimc": 0.333333, "pc-pimc": 0.354167}


def test_an_interrupt_loses_no_world(monkeypatch: pytest.MonkeyPatch) -> None:
    tree, checked = Tree(Game("leduc")), iter(range(9))

    def check(game: Game) -> None:
        if next(checked, None) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(stratkit.engine.tree, "STEP", 300)
    monkeypatch.setattr(Game, "check", check)
    with pytest.raises(KeyboardInterrupt):
        tree.world_values  # noqa: B018 (it walks)
    np.testing.assert_array_equal(tree.world_values, tree_of("leduc").world_values)


@pytest.mark.parametrize("name", ["kuhn", "dark_hex:2", "liars_dice:1x2"])
def test_the_values_of_worlds_are_those_of_minimax(name: str) -> None:
    tree = tree_of(name)
    values, best = tree.world_values
    np.testing.assert_allclose(tree.sums(best), 1, atol=1e-12)
    numbers = spelt_out(tree, np.arange(len(tree.actions)))
    sums: dict[int, np.ndarray] = {}

    def value(node: Node, chance: float) -> float:
        """Player 0's; adds up what the actions are worth."""
        if not node.children:
            return node.gain
        part = chance / len(node.children) if node.key is None else chance
        below = {action: value(child, part) for action, child in node.children.items()}
        if node.key is None:
            return float(np.mean(list(below.values())))
        sign = 1 - 2 * node.actor
        most = max(sign * gain for gain in below.values())
        top = [action for action, gain in below.items() if sign * gain > most - 1e-9]
        for action, gain in below.items():
            row = sums.setdefault(int(numbers[node.key][action]), np.zeros(3))
            row += chance * np.array([sign * gain, (action in top) / len(top), 1])
        return sign * most

    value(grow(tree.game), 1.0)
    slow = np.array([sums[at] / sums[at][2] for at in range(len(tree.actions))])
    np.testing.assert_allclose(values, slow[:, 0], atol=1e-9)
    np.testing.assert_allclose(best, slow[:, 1], atol=1e-9)


def test_a_number_of_iterations_is_refused() -> None:
    done = run("exploit", "kuhn", "pimc:5")
    assert done.status == 2
    assert done.err == "exploit: pimc takes no number of iterations: 'pimc:5'\n"
