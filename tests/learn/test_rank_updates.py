"""Ranks with unequal parts of a batch do the update of one learner with all of it. Here ranks are
threads; tests/cli/test_ranks.py has torchrun and processes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import Tensor

from learn.games import as_parts, episodes, gradient, optimizer
from running import PATIENCE
from stratkit.engine import Game
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.buffer import BufferedOptimizer, ExampleBatch
from stratkit.learn.data import StepBatch, make_batch
from stratkit.learn.optimizer import Optimizer
from stratkit.learn.ranks import Ranks
from stratkit.learn.rebel import ReBeL
from stratkit.learn.request import resolve
from stratkit.storage.examples import Values


class Threads(Ranks):
    """One of several threads that share `parts`."""

    def __init__(self, rank: int, parts: list[Tensor], barrier: threading.Barrier) -> None:
        self.rank, self.size = rank, len(parts)
        self.parts, self.barrier = parts, barrier

    def sum(self, x: Tensor) -> Tensor:
        self.parts[self.rank] = x.clone()
        self.barrier.wait(PATIENCE)
        x.copy_(torch.stack(self.parts).sum(0))
        self.barrier.wait(PATIENCE)
        return x


def threads(number: int) -> list[Threads]:
    parts, barrier = [torch.empty(0)] * number, threading.Barrier(number)
    return [Threads(rank, parts, barrier) for rank in range(number)]


def test_what_ranks_gather() -> None:
    """In their order; a rank may have nothing."""
    all_of = [torch.tensor(x) for x in ([3.0, 1.0], [], [-2.0])]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda ranks, x: ranks.gather(x), threads(3), all_of))
    assert [x.tolist() for x in found] == [[3, 1, -2]] * 3
    assert Ranks().gather(all_of[0]) is all_of[0]


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("mmd", {}),
        ("mmd", {"advantage_filter": 0.75}),
        ("mmd", {"weight_by": "game"}),
        ("mmd", {"weight_by": "game", "advantage_filter": 0.5}),
        ("nashpg", {"epochs": 1, "minibatches": 1}),
        ("rnad", {"weight_by": "game"}),
        ("alphaze", {"weight_by": "game", "targets": "played"}),
    ],
)
def test_ranks_of_unequal_parts_are_as_one(algorithm: str, options: dict[str, object]) -> None:
    """By the gradient, of a value that is not constant: one rank has the short games, so most of
    the large advantages."""
    game, found = episodes("nano", 12)
    found.sort(key=lambda episode: len(episode.actions))
    settings = resolve("plain", {}, {}, {"seed": 1, "grad_norm": 0.0, **options}, algorithm)

    def learner(ranks: Ranks | None = None) -> Optimizer:
        return optimizer("plain", game, settings, ranks=ranks)

    def batch(first: int, end: int) -> StepBatch:
        return make_batch(game, as_parts(game, found[first:end]), BatchSpec(16))

    one = learner()
    for _ in range(3):
        one.update(batch(0, 12))
    both = [learner(ranks) for ranks in threads(2)]
    for rank in both:
        rank.load(one.tensors(), one.step, one.algorithm.decisions)
    whole = one.update(batch(0, 12))
    halves = batch(0, 3), batch(3, 12)
    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(lambda rank, half: rank.update(half), both, halves))
    size = gradient(one).abs().max().item()
    for rank, metrics in zip(both, parts, strict=True):
        torch.testing.assert_close(gradient(rank), gradient(one), rtol=1e-4, atol=1e-5 * size)
        assert metrics["policy_loss"] == pytest.approx(whole["policy_loss"], rel=1e-4, abs=1e-6)
        assert metrics["value_loss"] == pytest.approx(whole["value_loss"], rel=1e-4)
        assert metrics["decisions"] == whole["decisions"]


def test_examples_in_unequal_parts_are_as_one() -> None:
    """One rank has few examples, and most hands that are not there."""
    game, random = Game("liars_dice:1x2"), np.random.default_rng(1)
    rows = random.random((12, game.pbs_inputs), np.float32)
    values = 4 * random.random((12, game.hands), np.float32) - 2
    values[:3, 0] = np.nan
    settings = resolve("pbs:8", {}, {}, {"seed": 1, "batch": 12, "grad_norm": 0.0}, "rebel")
    algorithms = [ReBeL("pbs:8", game, settings.hyper, 1) for _ in range(3)]
    one = BufferedOptimizer(algorithms[0], settings.run)
    both = [
        BufferedOptimizer(algorithm, settings.run, ranks)
        for algorithm, ranks in zip(algorithms[1:], threads(2), strict=True)
    ]
    whole = one.update(ExampleBatch.of(rows, values))
    halves = [ExampleBatch.of(rows[part], values[part]) for part in (slice(3), slice(3, 12))]
    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(lambda rank, half: rank.update(half), both, halves))
    for rank, metrics in zip(both, parts, strict=True):
        torch.testing.assert_close(gradient(rank), gradient(one), rtol=1e-5, atol=1e-7)
        assert metrics["value_loss"] == pytest.approx(whole["value_loss"], rel=1e-5)


def test_every_rank_knows_how_many_examples_there_are() -> None:
    """Steps are due by those of both; draws and buffer are each one's own share."""
    game = Game("liars_dice:1x2")
    settings = resolve("pbs:8", {}, {}, {"seed": 1, "batch": 9, "uses": 1, "buffer": 7}, "rebel")
    both = [
        BufferedOptimizer(ReBeL("pbs:8", game, settings.hyper, 1), settings.run, ranks)
        for ranks in threads(2)
    ]

    def add(rank: BufferedOptimizer, number: int) -> bool:
        rows = np.ones((number, game.pbs_inputs), np.float32)
        rank.add(Values(rows, np.zeros((number, game.hands), np.float32)))
        return rank.due

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(add, both, (5, 3))) == [False, False]
        assert list(pool.map(add, both, (0, 1))) == [True, True]
        metrics = list(pool.map(BufferedOptimizer.learn, both))
    assert metrics[0] == metrics[1] and not any(rank.due for rank in both)
    assert [(rank.added, rank.buffer.size, len(rank.buffer)) for rank in both] == [
        (9, 3, 3),
        (9, 4, 4),
    ]
