"""AlphaZe**'s planes and head: moves as the rules have them, and actions' policies from them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from nets.drawn import drawn
from nets.test_whole_moves import moves_of, one_by_one
from stratkit.engine import Batch, Game, hidden_types, sample
from stratkit.engine.stratego import NO_PIECE, TYPES, free_game
from stratkit.errors import InputError
from stratkit.nets import build
from stratkit.nets.alphaze import SEEN, AlphaZeNet
from stratkit.nets.evaluator import Evaluator

NET = "alphaze:8x2"


def played(game: Game, n: int, plies: int) -> Batch:
    """Between two plies, without repetition rules."""
    batch, numbers = Batch(game, n), np.arange(n, dtype=np.int64)
    placed = 0
    while placed < 2 * plies or (batch.observe()[batch.actors() >= 0, 8] == 1).any():
        action = np.full(n, placed, np.int32)
        batch.apply(sample(None, batch.legal(), 4, numbers, action)[0])
        placed += 1
    return Batch.gathered([(batch, np.flatnonzero(batch.actors() >= 0))])


@pytest.mark.parametrize(("name", "plies"), [("mini", 30), ("nano", 6), ("barrage:C5D5E6I7", 40)])
def test_possible_moves_are_the_legal_ones(name: str, plies: int) -> None:
    """Where no rule of repetition forbids one."""
    game = free_game(name)
    batch = played(game, 6, plies)
    network = build(NET, game, 1)
    assert isinstance(network, AlphaZeNet)
    inputs = network.prepare(torch.from_numpy(batch.observe()))
    squares = math.prod(network.board)
    legal = np.zeros((batch.size, 4 * network.reach, squares), bool)
    for row, source, target in moves_of(batch):
        legal[row, network.numbers[source, target], source] = True
    assert legal.any() and np.array_equal(inputs.possible.flatten(2).numpy(), legal)


def test_both_actions_have_the_policy_of_whole_moves() -> None:
    game = free_game("mini")
    batch, network = played(game, 20, 30), drawn(build(NET, game, 1))
    evaluator, moves = Evaluator(NET, network, 24), moves_of(batch)
    assert evaluator.tells_moves
    priors, values = evaluator.evaluate_moves(batch.observe(), batch.legal(), moves)
    np.testing.assert_allclose(priors, one_by_one(evaluator, batch, moves), rtol=1e-4, atol=1e-6)
    inputs = network.prepare(torch.from_numpy(batch.observe()))
    with torch.inference_mode():
        logits = network.embed(inputs).moves
    logits = logits.masked_fill(~inputs.possible.flatten(2), -torch.inf)
    whole = logits.flatten(1).softmax(1).view_as(logits)
    row, source, target = moves.T
    expected = whole[row, network.numbers[source, target], source]
    np.testing.assert_allclose(priors, expected.numpy(), rtol=1e-4, atol=1e-6)
    assert np.ptp(priors) > 0.01 and np.ptp(values) > 0.001


def test_the_planes_are_those_of_the_paper() -> None:
    game = Game("mini")
    batch = played(game, 8, 20)
    network, types = build(NET, game, 1), hidden_types(batch)
    for seen in (batch.observe(), batch.observe_face_up()):
        planes = network.prepare(torch.from_numpy(seen)).planes
        assert planes.shape == (batch.size, SEEN, 6, 6)
        own, enemy, mine, theirs, empty, lakes, turn = planes.split([12, 12, 1, 1, 1, 1, 1], 1)
        somebody = own.sum(1) + enemy.sum(1) + empty[:, 0] + lakes[:, 0]
        torch.testing.assert_close(somebody, torch.ones_like(somebody))
        hidden = torch.from_numpy(types != NO_PIECE).view(-1, 6, 6)
        assert torch.equal(theirs[:, 0].bool(), hidden)  # sampled types stay marked as hidden
        assert (mine[:, 0] <= own.sum(1)).all() and mine.any()
        assert torch.equal(turn.amax((1, 2, 3)), torch.from_numpy(batch.actors()).float())
    of_world = enemy.argmax(1)[hidden]
    assert torch.equal(of_world, torch.from_numpy(types[types != NO_PIECE]).long())
    assert len(TYPES) == 12


def test_a_deployment_is_uniform_and_gradients_are_finite() -> None:
    game = Game("mini")
    network = drawn(build(NET, game, 1))
    start = Batch(game, 2)
    logits, _ = network(torch.from_numpy(start.observe()), torch.from_numpy(start.legal()))
    assert (logits[torch.from_numpy(start.legal()).bool()] == 0).all()
    batch = played(game, 6, 20)
    logits, values = network(torch.from_numpy(batch.observe()), torch.from_numpy(batch.legal()))
    loss = logits.masked_fill(logits.isinf(), 0).sum() + values.sum()
    loss.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in network.parameters())


def test_the_head_of_the_paper_has_3600_moves() -> None:
    network = build("alphaze", Game("barrage"), 1)
    assert isinstance(network, AlphaZeNet)
    assert network.policy.out_channels * 100 == 3600 and len(network.blocks) == 13
    assert network.entry[0].in_channels == 29 and network.entry[0].out_channels == 256


@pytest.mark.parametrize("name", ["phantom_ttt", "leduc", "kuhn"])
def test_other_games_have_no_such_planes(name: str) -> None:
    with pytest.raises(InputError, match=f"boards of Stratego and of Hex, not of {name}"):
        build("alphaze:8x2", Game(name), 1)
