"""What computes the same for all observations is recorded on a GPU, and launched as one."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import torch

from nets.drawn import drawn
from stratkit.engine import Batch, Game, sample
from stratkit.nets import build
from stratkit.nets.evaluator import Evaluator
from stratkit.nets.network import Network

GAME, N = Game("barrage"), 96
RECORDED = ["plain", "fromto", "rise:32x2", "fromto+deployment", "fromto+mirrored", "tiny"]
RECORDED += ["tiny+deployment", "tiny+eq6"]


def _compute(network: Network) -> None:
    """As an `Evaluator` does, on a device that holds no numbers: whoever asks it for one fails."""
    packed, legal = (
        torch.empty((8, width), dtype=torch.uint8, device="meta")
        for width in (GAME.observation_bytes, GAME.actions)
    )
    with torch.inference_mode():
        inputs = network.prepare(packed)
        embedding = network.embed(inputs)
        network.logits(embedding, inputs, legal)
        network.value(embedding, inputs)


@pytest.mark.parametrize("net", RECORDED)
def test_who_is_the_same_for_all_waits_for_no_number(
    net: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "autocast", lambda *args, **given: nullcontext())  # none there
    network = build(net, GAME, 1).to("meta")
    assert network.same_for_all
    _compute(network)


def test_a_u_net_that_learns_asks_how_many_rows_a_phase_has() -> None:
    """So its heads look at no other rows: it costs less."""
    packed = torch.empty((8, GAME.observation_bytes), dtype=torch.uint8, device="meta")
    network = build("tiny", GAME, 1).to("meta")
    with torch.no_grad(), pytest.raises(RuntimeError, match="meta"):
        network.prepare(packed)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("net", RECORDED)
@pytest.mark.parametrize("elastic", [False, True])
def test_recorded_as_launched_one_by_one(net: str, precision: torch.dtype, elastic: bool) -> None:
    batch, games = Batch(GAME, N), np.arange(N)
    evaluator = Evaluator(net, drawn(build(net, GAME, 1)), 40, elastic)
    evaluator.place("cuda", precision)
    rng = np.random.default_rng(1)
    for number in range(30):
        if number % 10 == 0:  # what was recorded reads the weights where they are
            weights = drawn(build(net, GAME, number)).state_dict()
            evaluator.load({name: w.numpy() for name, w in weights.items()})
        seen = batch.observe(), batch.legal(), rng.random(N)
        found = []
        for recorded in (True, False):
            evaluator.network.same_for_all = recorded
            found.append(evaluator.draw(*seen, lambda policy: policy, values=True))
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one, other)
        batch.apply(sample(None, seen[1], 1, games, np.full(N, number, np.int32))[0])
    assert evaluator.backend._captured
