"""CFR in all variants and TabularFLOP: by the letter on Kuhn poker, and by published figures."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from solve.slow_tree import SlowCFR, grow, spelt_out
from solve.small_games import tree_of
from stratkit.engine import Game
from stratkit.errors import UsageError
from stratkit.solve.cfr import CFR, EXPONENTS, from_reach
from stratkit.solve.exploitability import PolicyValue, evaluate
from stratkit.solve.fictitious_play import TabularFP, flop
from stratkit.solve.solver import NAMES, open_solver, parse_solver


def solved(game: str, name: str, iterations: int) -> PolicyValue:
    tree = tree_of(game)
    solver = open_solver(name, tree)
    for _ in range(iterations):
        solver.step()
    return evaluate(tree, solver.solution())


BY_THE_LETTER: dict[str, tuple[float, Callable[[float, int], float]]] = {
    "cfr": (0, lambda r, t: r),
    "cfr+": (1, lambda r, t: max(r, 0.0)),
    "linear-cfr": (1, lambda r, t: r * t / (t + 1)),
    "dcfr": (2, lambda r, t: r * (t**1.5 / (t**1.5 + 1) if r > 0 else 0.5)),
}


@pytest.mark.parametrize("name", EXPONENTS)
def test_cfr_is_what_a_slow_one_is(name: str) -> None:
    power, forget = BY_THE_LETTER[name]
    slow = SlowCFR(grow(Game("kuhn")))
    fast = CFR(tree_of("kuhn"), EXPONENTS[name])
    for t in range(1, 21):
        slow.step(t**power, forget)
        fast.step()
    for result, expected in (
        (fast.policy, slow.policy()),
        (fast.solution(), slow.average()),
    ):
        for key, row in spelt_out(tree_of("kuhn"), result).items():
            assert row == pytest.approx(expected[key], abs=1e-9)


@pytest.mark.parametrize(
    ("faces", "uniform", "bound"),
    [("1x4", 0.655, 0.001), ("1x5", 0.721, 0.0015), ("1x6", 0.781, 0.0025), ("2x3", 0.739, 0.0025)],
)
def test_liars_dice(faces: str, uniform: float, bound: float) -> None:
    """As in the ReBeL paper's table 2: 1,024 iterations of linear CFR."""
    tree = tree_of(f"liars_dice:{faces}")
    assert evaluate(tree, tree.uniform()).exploitability == pytest.approx(uniform, abs=5e-4)
    assert solved(tree.game.name, "linear-cfr", 1024).exploitability < bound


@pytest.mark.parametrize(
    ("game", "value", "uniform"), [("kuhn", -1 / 18, 0.917), ("leduc", -0.0856, 4.747)]
)
def test_values_of_poker(game: str, value: float, uniform: float) -> None:
    tree = tree_of(game)
    assert evaluate(tree, tree.uniform()).nash_conv == pytest.approx(uniform, abs=5e-4)
    found = solved(game, "cfr+", 3000)
    assert found.value == pytest.approx(value, abs=1e-4)
    assert found.nash_conv < 2e-4


def test_every_variant_converges() -> None:
    found = {name: solved("kuhn", name, 1024).exploitability for name in (*EXPONENTS, "flop")}
    assert max(found.values()) == found["cfr"] < 0.001


def test_flop_mixes_as_the_paper_says() -> None:
    """Two iterations, by the paper's formulas with whole policies: t = 1 forgets the first policy,
    and the second answer counts 2 / 3."""
    tree = tree_of("kuhn")
    solver = flop(tree)
    solver.step()
    first = tree.reach(solver.solution())
    solver.step()
    second = tree.reach(solver.solution())
    answer = (second - first / 3) * 3 / 2  # what was added
    # Player 0 answered first, to player 1's only policy; player 1 then to player 0's latest two.
    for player, opponent in ((0, first), (1, (2 * second + 2 * answer) / 4)):
        values = tree.payoffs(player, opponent)
        best = tree.best_response(player, values.copy(), np.zeros(len(tree.actions)))
        policy = from_reach(tree, answer[1:])
        assert tree.backup(player, policy, values) == pytest.approx(best)


def test_fictitious_play_is_an_average_of_best_responses() -> None:
    """Three iterations: the fourth part of the plain average is uniform play, and none of the
    linear one."""
    tree = tree_of("kuhn")
    for linear, parts in ((False, (1, 1, 1, 1)), (True, (0, 1, 2, 3))):
        solver, policies = TabularFP(tree, linear), [tree.reach(tree.uniform())]
        averages = [policies[0]]
        for t in range(3):
            solver.step()
            averages.append(tree.reach(solver.solution()))
            before, now = sum(parts[: t + 1]), sum(parts[: t + 2])
            policies.append((now * averages[-1] - before * averages[-2]) / parts[t + 1])
            answered = averages[-2]  # by player 0, which answers first
            values = tree.payoffs(0, answered)
            best = tree.best_response(0, values.copy(), np.zeros(len(tree.actions)))
            policy = from_reach(tree, policies[-1][1:])
            assert tree.backup(0, policy, values) == pytest.approx(best)


def test_names_of_solvers() -> None:
    assert parse_solver("cfr+:12") == ("cfr+", 12)
    assert parse_solver("run/") is parse_solver("some:file") is parse_solver("target:7") is None
    assert all(parse_solver(f"{name}:1") for name in NAMES)
    for text in ("cfr", "cfr:", "cfr:0", "cfr:-1", "cfr:1e3", "lineer-cfr:10"):
        with pytest.raises(UsageError, match="^(a number of iterations is|no solver is called)"):
            parse_solver(text)
    for text in ("cfr:1000000001", "mmd:99999999999999", "dcfr:" + 5000 * "9"):
        with pytest.raises(UsageError, match="^a solver does at most 1000000000 iterations"):
            parse_solver(text)
    assert parse_solver("cfr:1000000000") == ("cfr", 10**9)


def test_a_reach_of_nothing_is_uniform() -> None:
    tree = tree_of("kuhn")
    assert from_reach(tree, np.zeros(len(tree.actions))) == pytest.approx(tree.uniform())
    assert math.isclose(from_reach(tree, tree.reach(tree.uniform())[1:]).sum(), len(tree))
