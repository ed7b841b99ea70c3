"""The belief network against all worlds there are."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
import torch

from stratkit.engine import Batch, Game, assign_types, hidden_types, sample, worlds
from stratkit.engine.observation import CELLS, ENEMY_UNREVEALED, ONLY_ATTACKS
from stratkit.engine.stratego import BOMB, FLAG, MOVED, NO_PIECE, variant
from stratkit.errors import InputError
from stratkit.nets.belief import BeliefEvaluator, BeliefNet


def positions(name: str, plies: int, n: int = 60, seed: int = 5) -> Batch:
    """States of random games that are still on after so many plies."""
    game = Game(name)
    batch = Batch(game, n)
    for number in range(2 * (variant(name).pieces + plies)):
        keys = np.arange(n), np.full(n, number, np.int32)
        batch.apply(sample(None, batch.legal(), seed, *keys)[0])
    return Batch.gathered([(batch, np.flatnonzero(batch.actors() >= 0))])


def all_types(observation: np.ndarray, types: np.ndarray) -> np.ndarray:
    """Of one view: all types of hidden pieces that public information allows, uint8 [k, S]; found
    by trying all orders."""
    squares = np.flatnonzero(types != NO_PIECE)
    counts = observation[ENEMY_UNREVEALED:ONLY_ATTACKS]
    pieces = np.repeat(np.arange(12), counts)
    moved = observation[CELLS:][squares] & MOVED > 0
    found = set()
    for order in set(itertools.permutations(pieces.tolist())):
        if not any(m and t in (FLAG, BOMB) for m, t in zip(moved, order, strict=True)):
            found.add(order)
    out = np.full((len(found), len(types)), NO_PIECE, np.uint8)
    out[:, squares] = sorted(found)
    return out


@functools.cache
def network(name: str, net: str = "plain:8x1", told: float = 0.5) -> BeliefEvaluator:
    made = BeliefNet(net, Game(name), 1)
    with torch.no_grad():
        torch.manual_seed(2)
        made.last.weight.normal_(std=told)
        made.near.normal_(std=told)
    return BeliefEvaluator(made)


@pytest.mark.parametrize(("name", "plies", "net"), [
    ("nano", 3, "fromto:8x1"), ("mini", 24, "plain:8x1"), ("mini", 30, "tiny"),
    ("barrage", 20, "plain:8x1"),
])  # fmt: skip
def test_probabilities_of_all_worlds_sum_to_one(name: str, plies: int, net: str) -> None:
    batch = positions(name, plies)
    seen, truths, most = batch.observe(), hidden_types(batch), 0
    for observation, truth in zip(seen, truths, strict=True):
        if (truth != NO_PIECE).sum() > 6:
            continue
        types = all_types(observation, truth)
        most = max(most, len(types))
        views = np.repeat(observation[None], len(types), 0)
        log_p = network(name, net).log_probabilities(views, types)
        assert np.exp(log_p).sum() == pytest.approx(1, abs=1e-5)
        alike = network(name, net, told=0.0).log_probabilities(views, types)
        np.testing.assert_allclose(alike, -np.log(len(types)), atol=1e-5)  # untrained
        assert len(types) < 3 or np.ptp(log_p) > 0.05
    assert most > 3


def test_what_is_impossible_has_no_probability() -> None:
    batch = positions("mini", 12)
    seen, truths = batch.observe(), hidden_types(batch)
    moved = (seen[:, CELLS:] & MOVED > 0) & (truths != NO_PIECE)
    rows = np.flatnonzero(moved.any(1) & (truths == FLAG).any(1))
    for row in rows[:9]:
        a, b = np.flatnonzero(moved[row])[0], np.flatnonzero(truths[row] == FLAG)[0]
        wrong = truths[row].copy()
        wrong[[a, b]] = wrong[[b, a]]  # the flag has moved
        log_p = network("mini").log_probabilities(seen[row : row + 1], wrong[None])
        assert log_p[0] == -np.inf
    assert len(rows) > 3


@pytest.mark.parametrize("plies", [2, 5])
def test_worlds_are_drawn_by_their_probability(plies: int) -> None:
    batch, n = positions("nano", plies), 4000
    views = batch.observe()[:2]
    u = np.random.default_rng(3).random((2 * n, 3))
    drawn = network("nano").draw(views, np.repeat([0, 1], n), u)
    for row in (0, 1):
        types = all_types(views[row], hidden_types(batch)[row])
        odds = np.exp(
            network("nano").log_probabilities(np.repeat(views[row : row + 1], len(types), 0), types)
        )
        some = drawn[row * n : (row + 1) * n]
        counts = np.array([(some == one).all(1).sum() for one in types])
        assert counts.sum() == n and len(types) > 1
        assert (((counts - n * odds) ** 2) / (n * odds)).sum() < 5 * len(types) + 15


def test_a_world_looks_alike_whatever_types_it_gets() -> None:
    batch = positions("barrage", 10)
    for row in range(4):
        drawn = worlds(batch, row, 50, seed=1)
        before, truth = drawn.observe(), hidden_types(drawn)
        u = np.random.default_rng(row).random((50, 8))
        types = network("barrage").draw(before[:1], np.zeros(50, np.int64), u)
        assign_types(drawn, types)
        np.testing.assert_array_equal(drawn.observe(), before)
        np.testing.assert_array_equal(drawn.legal(), np.repeat(drawn.legal()[:1], 50, 0))
        np.testing.assert_array_equal(hidden_types(drawn), types)
        assert (types != truth).any()
        # It is the state that it would have been from the start: so the enemy sees it, too.
        one = np.flatnonzero((types != types[0]).any(1))[0]
        drawn.apply(np.repeat(drawn.legal()[0].argmax(), 50).astype(np.int32))
        drawn.apply(drawn.legal().argmax(1).astype(np.int32))
        rows = np.flatnonzero(drawn.actors() >= 0)
        assert len(np.unique(drawn.observe()[rows], axis=0)) > 1 and one


def test_types_that_cannot_be_are_refused() -> None:
    batch = positions("nano", 2)
    drawn = worlds(batch, 0, 3, seed=1)
    before = hidden_types(drawn)
    for change in ("another", "more", "moved"):
        types = before.copy()
        squares = np.flatnonzero(types[1] != NO_PIECE)
        if change == "another":
            types[1, squares[0]] = 5
        elif change == "more":
            types[1, np.flatnonzero(types[1] == NO_PIECE)[0]] = 1
        else:
            moved = drawn.observe()[1, CELLS:] & MOVED > 0
            (at,) = np.flatnonzero(moved & (types[1] != NO_PIECE))
            flag = np.flatnonzero(types[1] == FLAG)[0]
            types[1, [at, flag]] = types[1, [flag, at]]
        with pytest.raises(ValueError, match="types are not those of hidden pieces, in row 1"):
            assign_types(drawn, types)
        np.testing.assert_array_equal(hidden_types(drawn), before)
    with pytest.raises(ValueError, match="kuhn is no Stratego"):
        hidden_types(Batch(Game("kuhn"), 1))


def test_weights_of_another_network_are_refused() -> None:
    weights = {k: v.numpy() for k, v in network("mini").network.state_dict().items()}
    with pytest.raises(InputError, match="not this network's"):
        BeliefEvaluator(BeliefNet("plain:8x2", Game("mini"), 1)).load(weights)
