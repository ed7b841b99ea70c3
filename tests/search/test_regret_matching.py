"""Sampled regret matching: by a slow twin, and where the equilibrium is known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from running import ROOT, run
from stratkit.arrays import Float64s, Int64s
from stratkit.engine import uniform
from stratkit.engine.random_streams import Stream
from stratkit.search.regret_matching import FINAL, RegretMatching, exploitability, zero_sum

ROCK_PAPER_SCISSORS = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], float)


def slow_twin(table: Float64s, iterations: int, seed: int) -> list[list[float]]:
    """The average policies, spelt out with linear weights s + 1 and without arrays."""
    sizes = table.shape
    policies = [[1 / n] * n for n in sizes]
    history: list[list[list[float]]] = [[], []]  # regrets of each iteration
    played: list[list[list[float]]] = [[], []]
    for t in range(iterations):
        drawn = []
        for i in (0, 1):
            key, number = np.zeros(1, np.int64), np.array([2 * t + i], np.int32)
            u = float(uniform(seed, key, number, Stream.REGRET_MATCHING)[0])
            drawn.append(next(a for a in range(sizes[i]) if u < sum(policies[i][: a + 1])))
        for i in (0, 1):
            worth = [table[a, drawn[1]] if i == 0 else -table[drawn[0], a] for a in range(sizes[i])]
            mean = sum(p * w for p, w in zip(policies[i], worth, strict=True))
            played[i].append(policies[i])
            history[i].append([w - mean for w in worth])
            sums = [
                sum((s + 1) / (t + 1) * r[a] for s, r in enumerate(history[i])) + history[i][-1][a]
                for a in range(sizes[i])
            ]
            positive = [max(x, 0.0) for x in sums]
            if not any(positive):
                positive[sums.index(max(sums))] = 1.0
            policies[i] = [x / sum(positive) for x in positive]
    average = []
    for i in (0, 1):
        total = [sum((s + 1) * p[a] for s, p in enumerate(played[i])) for a in range(sizes[i])]
        average.append([x / sum(total) for x in total])
    return average


@pytest.mark.parametrize("seed", [0, 7])
def test_a_slow_twin_finds_the_same(seed: int) -> None:
    table = np.random.default_rng(seed).uniform(-1, 1, (4, 3))
    matching = RegretMatching(zero_sum(table), table.shape, seed)
    matching.run(40)
    for found, expected in zip(matching.policies(), slow_twin(table, 40, seed), strict=True):
        assert found == pytest.approx(expected, abs=1e-12)


def test_it_approaches_an_equilibrium_of_two_players() -> None:
    """The means over 20 seeds; bench/exploitability.md has more iterations."""
    found: dict[int, list[float]] = {256: [], 1024: []}
    final = []
    for seed in range(20):
        matching = RegretMatching(zero_sum(ROCK_PAPER_SCISSORS), (3, 3), seed)
        for iterations, gaps in found.items():
            matching.run(iterations - matching.iteration)
            first, second = matching.policies()
            gaps.append(exploitability(ROCK_PAPER_SCISSORS, first, second))
        final.append(exploitability(ROCK_PAPER_SCISSORS, *matching.policies(FINAL)))
    assert np.mean(found[256]) < 0.04 and np.mean(found[1024]) < 0.02
    assert np.mean(final) > 0.3


def coordination(joint: Int64s) -> Sequence[Float64s]:
    """Three players with two actions: who is with the majority gets 1, and player 2 dislikes 0."""
    worth = []
    for i in range(3):
        others = np.delete(joint, i)
        with_majority = [float((others == a).any()) for a in (0, 1)]
        worth.append(np.array(with_majority) - (0.5 * np.array([1.0, 0.0]) if i == 2 else 0))
    return worth


def correlated_gap(joints: Int64s) -> float:
    """What the best fixed action would have won more on average than what was drawn."""
    gaps = np.zeros((3, 2))
    for joint in joints:
        for i, worth in enumerate(coordination(joint)):
            gaps[i] += worth - worth[joint[i]]
    return float(gaps.max() / len(joints))


def test_three_players_approach_a_coarse_correlated_equilibrium() -> None:
    gaps = {n: [] for n in (64, 1024)}
    for seed in range(8):
        joints = RegretMatching(coordination, (2, 2, 2), seed).run(1024)
        for n, some in gaps.items():
            some.append(correlated_gap(joints[:n]))
    assert max(gaps[1024]) <= 2 / math.sqrt(1024)
    assert np.mean(gaps[1024]) <= np.mean(gaps[64]) + 1e-9


def test_a_dominated_action_goes_and_a_single_one_stays() -> None:
    table = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    matching = RegretMatching(zero_sum(table), (2, 3), 0)
    matching.run(50)
    first, second = matching.policies()
    assert first[1] > 0.98 and second[0] > 0.9  # only the first iterations count against them
    alone = RegretMatching(zero_sum(np.ones((1, 1))), (1, 1), 0)
    assert alone.run(3).tolist() == [[0, 0]] * 3
    assert [p.tolist() for p in alone.policies()] == [[1.0], [1.0]]
    with pytest.raises(ValueError, match="needs an action"):
        RegretMatching(zero_sum(np.ones((1, 0))), (1, 0), 0)


def test_exploit_knows_it() -> None:
    sample = f"matrix:{ROOT / 'formats/samples/modified_rps.matrix'}"
    done = run("exploit", "--json", sample, "uniform", "rm:1024", "rm-final:1024")
    numbers = [float(x.split(":")[1].rstrip(",")) for x in done.out.splitlines()
               if '"exploitability":' in x]  # fmt: skip
    assert len(numbers) == 3 and numbers[1] < 0.1 * numbers[0] < numbers[2]
    refused = run("exploit", "kuhn", "rm:10")
    assert refused.status == 2
    assert refused.error_line == (
        "exploit: kuhn is not one simultaneous turn: regret matching is for matrices"
    )
