"""Networks tell the policy of whole moves as they tell that of both actions, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from nets.drawn import drawn
from stratkit.engine import Batch, Game, sample
from stratkit.engine.stratego import VARIANTS
from stratkit.nets import build
from stratkit.nets.choice import network_with
from stratkit.nets.evaluator import Evaluator
from stratkit.threads import use_threads

NETS = ("fromto:8x1", "fromto:8x1+deployment", "fromto:8x1+mirrored")


def positions(game: Game, n: int) -> Batch:
    """Between two plies."""
    batch, numbers = Batch(game, n), np.arange(n, dtype=np.int64)
    for action in range(2 * VARIANTS[game.name].pieces + 20):
        batch.apply(sample(None, batch.legal(), 4, numbers, np.full(n, action, np.int32))[0])
    return Batch.gathered([(batch, np.flatnonzero(batch.actors() >= 0))])


def moves_of(batch: Batch) -> np.ndarray:
    return np.array(
        [
            (row, *move)
            for row in range(batch.size)
            for move in batch.moves(row, int(batch.actors()[row]))
        ],
        np.int32,
    )


def one_by_one(evaluator: Evaluator, batch: Batch, moves: np.ndarray) -> np.ndarray:
    first = evaluator.policy(batch.observe(), batch.legal())
    selected = Batch.gathered([(batch, moves[:, 0])])
    selected.apply(np.ascontiguousarray(moves[:, 1]))
    second = evaluator.policy(selected.observe(), selected.legal())
    return first[moves[:, 0], moves[:, 1]] * second[np.arange(len(moves)), moves[:, 2]]


@pytest.mark.parametrize("backend", ["torch", "onnx", "engine"])
@pytest.mark.parametrize("net", NETS)
def test_whole_moves_have_the_policy_of_their_actions(
    net: str, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In more than one block of positions, some of them mirror images."""
    monkeypatch.setenv("STRATKIT_BACKEND", backend)
    game = Game("mini")
    weights = {name: w.numpy() for name, w in drawn(build(net, game, 1)).state_dict().items()}
    evaluator = Evaluator(net, network_with(net, game, weights), 72)
    batch = positions(game, 90)
    moves = moves_of(batch)
    assert evaluator.tells_moves and evaluator.backend.name == backend
    priors, values = evaluator.evaluate_moves(batch.observe(), batch.legal(), moves)
    np.testing.assert_allclose(priors, one_by_one(evaluator, batch, moves), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(values, evaluator.values(batch.observe()), atol=1e-5)
    assert np.ptp(priors) > 0.01 and np.ptp(values) > 0.01
    np.testing.assert_allclose(np.bincount(moves[:, 0], priors), 1, atol=1e-5)
    same = evaluator.evaluate_moves(batch.observe()[:9], batch.legal()[:9], moves[moves[:, 0] < 9])
    if backend != "torch":  # of others, outputs do not depend on what is beside a row
        assert np.array_equal(same[0], priors[: len(same[0])])
        assert np.array_equal(same[1], values[:9])


def test_threads_change_nothing() -> None:
    game = Game("mini")
    evaluator = Evaluator("fromto:8x1", drawn(build("fromto:8x1", game, 1)), 200)
    batch = positions(game, 150)
    found = []
    for threads in (1, 3):
        use_threads(threads)
        found.append(evaluator.evaluate_moves(batch.observe(), batch.legal(), moves_of(batch)))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


def test_other_networks_do_not_tell() -> None:
    evaluator = Evaluator("plain:8x1", build("plain:8x1", Game("mini"), 1), 8)
    assert not evaluator.tells_moves
