"""Chance, vector observations and a game without start positions, on Kuhn poker."""

from __future__ import annotations

import numpy as np
import pytest

from stratkit.engine import Batch, Game, expand_planes, replay_many, sample
from stratkit.engine.batch import CHANCE, OVER
from stratkit.errors import InputError


def play(n: int, seed: int) -> tuple[list[list[int]], np.ndarray]:
    """The actions of n uniformly random games, and their returns."""
    batch, games = Batch(Game("kuhn"), n), np.arange(n, dtype=np.int64)
    actions: list[list[int]] = [[] for _ in range(n)]
    for number in range(5):
        numbers = np.full(n, number, np.int32)
        chosen, _ = sample(None, batch.legal(), seed, games, numbers)
        batch.draw_chance(seed, games, numbers, chosen)
        batch.apply(chosen)
        for row in np.flatnonzero(chosen >= 0):
            actions[row].append(int(chosen[row]))
    assert (batch.actors() == OVER).all()
    return actions, batch.returns()


def payoff(cards: list[int], bets: list[int]) -> float:
    """To the first player, from the rules."""
    higher = 1 if cards[0] > cards[1] else -1
    return {
        (0, 0): higher,
        (1, 0): 1,
        (1, 1): 2 * higher,
        (0, 1, 0): -1,
        (0, 1, 1): 2 * higher,
    }[tuple(bets)]


def test_games_end_as_the_rules_say_and_all_deals_are_alike() -> None:
    actions, returns = play(30_000, 1)
    for game, (first, second) in zip(actions, returns, strict=True):
        assert first == -second == payoff(game[:2], game[2:])
    deals = [tuple(game[:2]) for game in actions]
    counts = {deal: deals.count(deal) for deal in set(deals)}
    assert len(counts) == 6
    assert all(abs(n - 5000) < 5 * np.sqrt(5000 * 5 / 6) for n in counts.values())


def test_the_same_chance_whatever_the_row() -> None:
    actions, _ = play(50, 3)
    assert play(200, 3)[0][:50] == actions
    assert play(50, 4)[0] != actions


def test_a_player_sees_its_card_and_the_bets() -> None:
    batch = Batch(Game("kuhn"), 1)
    seen = []
    for action in (2, 0, 0, 1, 0):
        seen.append((int(batch.actors()[0]), batch.observe()[0].tolist()))
        batch.apply(np.array([action], np.int32))
    assert [actor for actor, _ in seen] == [CHANCE, CHANCE, 0, 1, 0]
    assert not any(seen[0][1])
    #                        player   card       bets: pass or bet, three times
    assert seen[2][1] == [*(1, 0), *(0, 0, 1), *(0, 0), *(0, 0), *(0, 0)]
    assert seen[3][1] == [*(0, 1), *(1, 0, 0), *(1, 0), *(0, 0), *(0, 0)]
    assert seen[4][1] == [*(1, 0), *(0, 0, 1), *(1, 0), *(0, 1), *(0, 0)]
    assert batch.returns()[0].tolist() == [-1, 1]


def test_replay_goes_through_chance() -> None:
    actions, returns = play(20, 5)
    episodes = [(b"", np.array(game, np.int32)) for game in actions]
    played = replay_many(Game("kuhn"), episodes)
    np.testing.assert_array_equal(played.returns, returns)
    assert (played.actors.reshape(-1)[:2] == CHANCE).all()


def test_what_kuhn_does_not_have() -> None:
    with pytest.raises(ValueError, match="no start positions"):
        Batch(Game("kuhn"), 1).save(0)
    with pytest.raises(InputError, match="no rules"):
        Game("kuhn", {"two_squares": 3})
    assert Game("kuhn").shape == (11,)


def test_every_row_of_vectors_is_expanded() -> None:
    game = Game("kuhn")
    packed = np.arange(3 * game.observation_bytes, dtype=np.uint8).reshape(3, -1)
    np.testing.assert_array_equal(expand_planes(game, packed), packed)
