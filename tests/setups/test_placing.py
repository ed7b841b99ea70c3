"""Setups that a network makes, and how probable it makes them."""

from __future__ import annotations

import collections
import itertools
import math

import numpy as np
import pytest

from players.sharp import post_processed, sharp_player
from stratkit.engine import Batch, Game
from stratkit.engine.stratego import PLACING_ORDER, placements, variant
from stratkit.errors import UsageError
from stratkit.notation.setups import setup_text
from stratkit.players.baselines import RandomPlayer
from stratkit.players.player import Player, Views
from stratkit.players.testtime.options import PostProcessing
from stratkit.setups.constraints import Constraints, constraints_of
from stratkit.setups.deployed import PlayerPlacer
from stratkit.setups.numbering import how_many, setup_at
from stratkit.setups.placing import PlacedSetups
from stratkit.setups.source import Entropy
from stratkit.setups.uniform import UniformSetups


def corrected(game: Game, **constraints: object) -> Player:
    return post_processed(sharp_player(game, rows=64), PostProcessing(**constraints))  # type: ignore[arg-type]


def deployed(player: Player, constraints: Constraints) -> PlacedSetups:
    return PlacedSetups(PlayerPlacer(Game(constraints.variant.name), player), constraints)


def all_that_meet(constraints: Constraints) -> np.ndarray:
    """Every setup, found by drawing until none is missing."""
    source = UniformSetups(constraints, 1)
    found = np.unique(source.draw(0, 20 * source.size), axis=0)
    assert len(found) == source.size
    return found


def slow_logprob(player: Player, constraints: Constraints, setup: np.ndarray) -> float:
    """All orders of equal pieces, one by one, each action under the squares that are left to it:
    those from which the rest can still be placed, found by drawing no further than Hall."""
    kind = constraints.variant
    counts = [kind.counts[t] for t in PLACING_ORDER if kind.counts[t]]
    actions, total = placements(kind, setup), 0.0
    parts = np.split(actions, np.cumsum(counts)[:-1])
    source = deployed(player, constraints)
    for orders in itertools.product(*(itertools.permutations(part.tolist()) for part in parts)):
        batch, chance = Batch(Game(kind.name), 1), 1.0
        order = np.array(list(itertools.chain(*orders)), np.int32)
        for number, action in enumerate(order):
            legal = np.zeros((1, batch.game.actions), np.uint8)
            legal[:, : kind.zone] = source.legal(order[None, :number])
            views = Views(np.zeros(1, np.int64), batch.actors(), np.full(1, number, np.int32),
                          legal, batch.observe())  # fmt: skip
            chance *= float(player.policy(views)[0, action])  # type: ignore[attr-defined]
            batch.apply(np.array([action], np.int32))
        total += chance
    return math.log(total) if total else -math.inf


@pytest.mark.parametrize("processed", [False, True])
def test_nano_against_every_setup(processed: bool) -> None:
    """The probabilities add up to one, are those of the draws, and give the exact entropy."""
    game = Game("nano")
    player = corrected(game, deploy_threshold=0.34, deploy_quanta=5) if processed else None
    source = deployed(player or sharp_player(game, rows=256), constraints_of(variant("nano")))
    every = np.stack([setup_at(variant("nano"), n) for n in range(6)])
    logprobs = source.logprobs(every)
    p = np.exp(logprobs)
    assert p.sum() == pytest.approx(1, abs=1e-5)
    assert p.max() > 1.2 * p.min() and (p.min() == 0) == processed
    drawn = np.concatenate([source.draw(first, 250) for first in range(0, 2000, 250)])
    counts = collections.Counter(setup_text(setup) for setup in drawn)
    for setup, chance in zip(every, p, strict=True):
        spread = math.sqrt(len(drawn) * chance * (1 - chance))
        assert abs(counts[setup_text(setup)] - len(drawn) * chance) <= 4.5 * spread
    entropy = Entropy()
    entropy.add(source.logprobs(drawn[:500]))
    exact = -(p[p > 0] * np.log(p[p > 0])).sum()
    assert entropy.error is not None and 0 < entropy.error < 0.06
    assert abs(entropy.mean - exact) < 4.5 * entropy.error


def test_mini_against_every_setup_that_meets() -> None:
    """72 setups, two scouts: the sum is over both of their orders; the entropy is exact."""
    game, kind = Game("mini"), variant("mini")
    constraints = constraints_of(
        kind, ["M=B1", "B=A1,C1", "L=E2", "K=D2,C2", "A=D1,E1,F1"], ["D=F2"]
    )
    every = all_that_meet(constraints)
    player = sharp_player(game, rows=64)
    source = deployed(player, constraints)
    logprobs = source.logprobs(every)
    p = np.exp(logprobs)
    assert 40 < len(every) < 200 and p.sum() == pytest.approx(1, abs=1e-4)
    assert p.max() > 3 * p.min()
    for row in (0, 7, len(every) - 1):
        assert logprobs[row] == pytest.approx(slow_logprob(player, constraints, every[row]), 1e-4)
    drawn = source.draw(0, 300)
    assert constraints.met(drawn).all()
    entropy = Entropy()
    entropy.add(source.logprobs(drawn))
    assert entropy.error is not None
    assert abs(entropy.mean + (p * logprobs).sum()) < 4.5 * entropy.error < 0.3


@pytest.mark.parametrize("options", [{}, {"deploy_threshold": 0.01, "quanta": 200, "eager": 2.0}])
def test_the_orders_of_equal_pieces(options: dict[str, object]) -> None:
    """duel has 8 orders: all of them one by one, of setups that are made and of one that is not."""
    game, kind = Game("duel"), variant("duel")
    player = corrected(game, **options) if options else sharp_player(game, rows=32)
    source = deployed(player, constraints_of(kind))
    setups = np.concatenate([source.draw(0, 1), [setup_at(kind, how_many(kind) // 3)]])
    found = source.logprobs(setups)
    for setup, logprob in zip(setups, found, strict=True):
        assert logprob == pytest.approx(slow_logprob(player, source.constraints, setup), 1e-4)
    assert np.isfinite(found[:1]).all()
    # One order alone is less probable.
    canonical = Batch(game, 1)
    chance = 0.0
    for number, action in enumerate(placements(kind, setups[0])):
        views = Views(np.zeros(1, np.int64), canonical.actors(), np.full(1, number, np.int32),
                      canonical.legal(), canonical.observe())  # fmt: skip
        chance += math.log(max(1e-30, float(player.policy(views)[0, action])))
        canonical.apply(np.array([action], np.int32))
    assert chance < found[0] - 0.1


def test_classic_has_2_to_the_k_subsets_not_k_factorial_orders() -> None:
    """A player that chooses at random makes every setup with the same probability: exactly that
    comes out of 408 views a setup."""

    class Even(RandomPlayer):
        constraints, random_ties = 0, False

        def policy(self, views: Views) -> np.ndarray:
            self.constraints += len(views)
            return np.float32(views.legal / views.legal.sum(1, keepdims=True))

    kind, player = variant("classic"), Even(1)
    source = deployed(player, constraints_of(kind))
    setups = source.draw(0, 3)
    expected = -math.log(how_many(kind))
    assert source.logprobs(setups) == pytest.approx(expected, 1e-6)
    assert player.constraints == 3 * sum(2**n - 1 for n in kind.counts) == 3 * 408


def test_what_a_policy_may_not_do_it_does_not() -> None:
    """With constraints that leave ever fewer squares, every setup is complete and meets them."""
    game, kind = Game("barrage"), variant("barrage")
    constraints = constraints_of(
        kind, ["M=A1..C1", "B=A1..C1", "E=A1..C1", "D=K4,I4"], ["L=A2..K4"]
    )
    source = deployed(sharp_player(game, rows=64), constraints)
    drawn = source.draw(0, 64)
    assert constraints.met(drawn).all()
    free = deployed(sharp_player(game, rows=64), constraints_of(kind)).draw(0, 64)
    assert not constraints.met(free).all()
    again = np.concatenate([source.draw(0, 10), source.draw(10, 54)])
    assert np.array_equal(again, drawn)


def test_players_without_probabilities() -> None:
    game, constraints = Game("nano"), constraints_of(variant("nano"))
    for player, said in (
        (RandomPlayer(1), "has no probabilities"),
        (corrected(game, ties="random", quanta=4), "chance decides on the policy too"),
    ):
        source = deployed(player, constraints)
        with pytest.raises(UsageError, match=said):
            source.logprobs(source.draw(0, 2))
