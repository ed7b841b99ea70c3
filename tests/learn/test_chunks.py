"""Whole episodes in two passes, chunk by chunk: the same as at once, with less memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from learn.games import as_parts, episodes, gradient, optimizer
from learn.test_rnad_update import setting, vector_batch
from stratkit.engine import Game
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.data import StepBatch, make_batch
from stratkit.learn.memory import saved_bytes
from stratkit.learn.optimizer import Optimizer
from stratkit.learn.rnad import NETWORKS
from stratkit.learn.v_trace import scan, scan_by_doubling


def test_a_graph_keeps_the_inputs_and_masks_of_its_layers() -> None:
    layers = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 30))
    views = torch.zeros(7, 10)
    # The inputs of both layers; relu remembers its output, which is the second one.
    kept = saved_bytes(lambda: layers(views), layers.parameters())
    assert kept == 7 * (10 + 20) * 4
    assert saved_bytes(lambda: layers(views).detach(), layers.parameters()) == kept
    with torch.no_grad():
        assert saved_bytes(lambda: layers(views), layers.parameters()) == 0


def test_a_chunk_fills_half_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    (whole, parts), batch = learners("tiny", 2, 10**6, 0)
    views = len(batch.observations)
    monkeypatch.setattr("stratkit.learn.memory.free_bytes", lambda device: 10**12)
    parts.update(batch)
    most = parts.chunk
    torch.testing.assert_close(gradient(parts), whole.update(batch) and gradient(whole))
    parts.chunk = 0
    monkeypatch.setattr("stratkit.learn.memory.free_bytes", lambda device: 10**12 * 20 // most)
    parts.update(batch)
    assert parts.chunk == pytest.approx(20, abs=1) and len(parts._split(views)) > 2


def learners(
    net: str, threads: int, *chunks: int, **options: object
) -> tuple[list[Optimizer], StepBatch]:
    """A learner for each size of a chunk, five updates old, so that all networks differ."""
    if net.startswith("mlp"):
        game, batch = Game("kuhn"), vector_batch(rows=64)[1]
    else:
        game, found = episodes("nano", 6)
        batch = make_batch(game, as_parts(game, found), BatchSpec(64))
    old = optimizer(net, game, setting(sizes=(4,), lr=1e-3, **options))
    for _ in range(5):
        old.update(batch)
    out = []
    for chunk in chunks:
        config = setting(sizes=(4,), chunk=chunk, threads=threads, **options)
        out.append(optimizer(net, game, config))
        out[-1].load({name: t.copy() for name, t in old.tensors().items()}, 5)
    return out, batch


@pytest.mark.parametrize(
    ("net", "threads", "options"),
    [
        ("plain", 1, {}),
        ("plain", 2, {"threshold": 0.1, "quanta": 8}),
        ("tiny", 1, {"grad_norm": 0.1}),
        ("mlp:16", 1, {}),
    ],
)
def test_chunks_are_as_the_whole(net: str, threads: int, options: dict[str, Any]) -> None:
    (whole, parts), batch = learners(net, threads, 10**6, 30, **options)
    assert len(parts._split(len(batch.observations))) > 2
    metrics, again = whole.update(batch), parts.update(batch)
    assert metrics["alpha"] == 0.5 and metrics["kl"] != 0
    assert metrics == pytest.approx(again, rel=1e-5, abs=1e-5)
    torch.testing.assert_close(gradient(parts), gradient(whole), rtol=1e-5, atol=1e-5)


def test_chunks_of_a_long_game() -> None:
    game, found = episodes("classic", 1)
    batch = make_batch(game, as_parts(game, found))
    assert batch.time > 1000
    (metrics, whole), (again, parts) = (
        (learner.update(batch), gradient(learner))
        for learner in (optimizer("plain", game, setting(chunk=chunk)) for chunk in (10**6, 700))
    )
    assert metrics == pytest.approx(again, rel=1e-5, abs=1e-5)
    torch.testing.assert_close(parts, whole, rtol=1e-5, atol=1e-5)


def test_no_network_looks_twice_but_the_one_that_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    """And none sees more than a chunk, nor keeps a graph of more."""
    (whole, parts), batch = learners("plain", 1, 10**6, 60)
    rows = len(batch.observations)
    seen: dict[str, list[int]] = {}

    def count(learner: Optimizer) -> None:
        seen.clear()
        for name in NETWORKS:
            network = learner.algorithm.networks[name]
            embed = type(network).embed

            def counted(inputs: Any, name: str = name, network: Any = network) -> Tensor:
                seen.setdefault(name, []).append(len(inputs))
                return embed(network, inputs)  # noqa: B023

            monkeypatch.setattr(network, "embed", counted)
        learner.update(batch)

    count(whole)
    once = {"online": rows, "target": rows, "regularization": rows, "previous": rows}
    assert {name: sum(sizes) for name, sizes in seen.items()} == once
    count(parts)
    assert {name: sum(sizes) for name, sizes in seen.items()} == {**once, "online": 2 * rows}
    assert max(map(max, seen.values())) <= 60


def test_memory_does_not_grow_with_the_number_of_states() -> None:
    """What autograd keeps at a time, for games once and four times as long."""
    kept, most = 0, 0

    class Kept:
        def __init__(self, tensor: Tensor) -> None:
            nonlocal kept, most
            self.tensor, self.size = tensor, tensor.nbytes
            kept += self.size
            most = max(most, kept)

        def __del__(self) -> None:
            nonlocal kept
            kept -= self.size

    found = []
    for number in (8, 32):
        game, games = episodes("nano", number)
        batch = make_batch(game, as_parts(game, games))
        learner = optimizer("plain", game, setting(chunk=32))
        most = 0
        with torch.autograd.graph.saved_tensors_hooks(Kept, lambda kept: kept.tensor):
            learner.update(batch)
        found.append((batch.states, most))
    (few, memory), (many, more) = found
    assert many > 3 * few and 0 < more < 1.1 * memory


def test_the_scan_by_doubling_of_the_longest_games() -> None:
    """Classic has up to 4,080 actions; float32, and nothing is cut off (c = 1), as the learner."""
    draw = np.random.default_rng(1)
    steps = 4080
    a = torch.from_numpy(draw.normal(size=(steps, 4, 2)).astype(np.float32)) / 64
    b = torch.from_numpy(draw.choice([1.0, 1.0, 0.9, 0.0], (steps, 4, 2)).astype(np.float32))
    b[:, 0] = 1
    exact = scan(a.double(), b.double(), torch.tensor([1.0, -1.0], dtype=torch.float64))
    last = torch.tensor([1.0, -1.0])
    for found in (scan(a, b, last), scan_by_doubling(a, b, last)):
        torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=1e-5)


@given(st.integers(1, 40), st.integers(0, 10**6))
@settings(max_examples=40)
def test_the_scan_by_doubling_is_the_scan(steps: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    a, b = (torch.from_numpy(draw.normal(size=(steps, 3, 2))) for _ in range(2))
    b[torch.from_numpy(draw.random((steps, 3, 2)) < 0.2)] = 0
    last = torch.tensor([0.5, 1.0])
    x = scan(a, b, last)
    torch.testing.assert_close(scan_by_doubling(a, b, last), x, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(x[:-1], a + b * x[1:])
    every_other = a[:, ::2], b[:, :1].expand_as(a[:, ::2])  # neither lies in one piece
    torch.testing.assert_close(scan(*every_other, last), scan_by_doubling(*every_other, last))
