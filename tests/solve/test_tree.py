"""The tree: what it holds, what it refuses, and that policies are worth what they should be."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solve.slow_tree import best_value, grow, keys, nodes, reaches, spelt_out, value
from solve.small_games import dense
from stratkit.engine import Game, Tree
from stratkit.engine import tree as tree_module
from stratkit.engine.library import lib
from stratkit.engine.tree import MemoryExceeded
from stratkit.errors import InputError
from stratkit.solve.exploitability import best_response, evaluate

KUHN = Tree(Game("kuhn"))
ROOT = grow(Game("kuhn"))


def drawn(tree: Tree, seed: int, power: float = 1.0) -> np.ndarray:
    """A random policy; a high power makes some probabilities very small."""
    x = np.random.default_rng(seed).random(len(tree.actions)) ** power
    return x / tree.sums(x)[tree.owner]


def short_nano() -> Tree:
    """Stratego small enough to look at all of it slowly."""
    return Tree(Game("nano", {"max_plies": 1}))


def test_kuhn_has_what_the_slow_tree_has() -> None:
    slow = list(nodes(ROOT))
    assert (KUHN.histories, KUHN.terminals) == (len(slow), sum(not n.children for n in slow))
    assert (KUHN.histories, KUHN.terminals, len(KUHN), len(KUHN.actions)) == (58, 30, 12, 24)


@pytest.mark.parametrize("game", [Game("kuhn"), Game("nano", {"max_plies": 1})], ids=str)
def test_information_sets_are_those_of_perfect_recall(game: Game) -> None:
    tree = Tree(game)
    legal = {node.key: set(node.children) for node in nodes(grow(game)) if node.key}
    found = {key: set(row) for key, row in spelt_out(tree, tree.uniform()).items()}
    assert found == legal
    assert len(set(keys(tree))) == len(tree)
    assert (tree.before[tree.before > 0] <= tree.first[:-1][tree.before > 0]).all()


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from([1.0, 10.0]))
def test_the_value_is_that_of_the_slow_tree(seed: int, power: float) -> None:
    policy = drawn(KUHN, seed, power)
    slow = spelt_out(KUHN, policy)
    found = evaluate(KUHN, policy)
    assert found.value == pytest.approx(value(ROOT, slow), abs=1e-12)
    best = best_value(ROOT, slow, 0), best_value(ROOT, slow, 1)
    assert found.best == pytest.approx(best, abs=1e-12)
    assert found.nash_conv == pytest.approx(sum(best), abs=1e-12)
    assert found.exploitability == found.nash_conv / 2
    assert sum(found.incentives) == pytest.approx(found.nash_conv)


def test_reach_and_weights_are_those_of_the_slow_tree() -> None:
    tree = short_nano()
    policy = drawn(tree, 1)
    slow = spelt_out(tree, policy)
    others: Counter[object] = Counter()
    mine = {}
    for node, other, own in reaches(grow(tree.game), slow):
        others[node.key] += other
        mine[node.key] = own
    reach = tree.reach(policy)
    names = keys(tree)
    assert tree.weights(reach) == pytest.approx([others[key] for key in names])
    assert reach[tree.before] == pytest.approx([mine[key] for key in names])


def test_a_best_response_wins_what_is_said() -> None:
    """Played out, it gets its value; and it is one: each of its actions is a best one."""
    policy = drawn(KUHN, 5)
    for player in (0, 1):
        best, answer = best_response(KUHN, player, KUHN.reach(policy))
        assert set(answer[KUHN.mine != player]) == {0.0}
        assert KUHN.sums(answer)[KUHN.players == player] == pytest.approx(1)
        both = np.where(KUHN.mine == player, answer, policy)
        slow = value(ROOT, spelt_out(KUHN, both))
        assert best == pytest.approx(-slow if player else slow)


def test_published_figures_of_uniform_policies() -> None:
    assert evaluate(KUHN, KUHN.uniform()).nash_conv == pytest.approx(0.9167, abs=5e-5)


def test_nano_is_enumerated_in_little_memory() -> None:
    tree = Tree(Game("nano"))
    assert (tree.histories, tree.terminals) == (1_406_482, 766_864)
    assert tree.bytes < 200 << 20


def test_what_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Game("kuhn")
    assert len(Tree(small, most_histories=58)) == 12
    with pytest.raises(InputError, match="^kuhn is too large to enumerate: .* 57 histories$"):
        Tree(small, most_histories=57)
    with pytest.raises(MemoryExceeded, match="^kuhn is .* it takes more than 9.31e-06 GiB$"):
        Tree(small, most_bytes=10_000)
    told_at_once = SimpleNamespace(sk_tree_exceeds=lib.sk_tree_exceeds)  # nothing can grow
    monkeypatch.setattr(tree_module, "lib", told_at_once)
    for name in ("mini", "classic", "dark_hex:3"):  # told without trying
        with pytest.raises(InputError, match=f"^{name} is too large .* 100,000,000 histories$"):
            Tree(Game(name))


def test_a_dense_policy_made_flat() -> None:
    policy = drawn(KUHN, 3)
    choices = dense(KUHN, policy)
    assert ((choices > 0) == KUHN.legal()).all()
    assert KUHN.flat(2 * choices) == pytest.approx(policy)
    for wrong in (choices * 0, -choices, choices * np.nan, choices[1:]):
        with pytest.raises(ValueError, match="dense"):
            KUHN.flat(wrong)


def test_wrong_arrays_are_refused() -> None:
    with pytest.raises(ValueError, match="float64"):
        KUHN.reach(KUHN.uniform()[1:])
    with pytest.raises(ValueError, match="player must be a number from 0 to 1, not 2"):
        KUHN.payoffs(2, KUHN.reach(KUHN.uniform()))


def test_what_looks_alike_is_listed_once() -> None:
    tree = short_nano()
    observations, legal, which = tree.distinct_views()
    assert len(observations) < len(tree)
    assert (observations[which] == tree.observations()).all()
    assert (legal[which] == tree.legal()).all()
    both = {a.tobytes() + b.tobytes() for a, b in zip(observations, legal, strict=True)}
    assert len(both) == len(observations)
