"""What keys a player's random choices is nothing that the player cannot know.

Random games are played side by side. Wherever a player has seen and done the same in two of them,
it draws the same: actions, and worlds. In some games such pairs have had different numbers of
actions, because the opponents' tries are hidden.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from every_game import GAMES
from scale import scaled
from stratkit.engine import Batch, Game, has_worlds, sample
from stratkit.engine.batch import CHANCE
from stratkit.players.baselines import RandomPlayer
from stratkit.players.player import Views

MORE = ["dark_hex:2:classical", "dark_hex:3:classical", "diplomacy:fva", "diplomacy:pure"]
GAMES = [*GAMES, *MORE]
HIDDEN = {"dark_hex:2:classical", "dark_hex:3:classical", "phantom_ttt:classical"}
HIDDEN |= {"diplomacy:tiny", "diplomacy:fva", "diplomacy:pure"}


@dataclass(frozen=True)
class Drawn:
    """A decision: how many actions the game has had, and what a player of one seed draws there."""

    played: int
    number: int
    action: int
    world: bytes


def drawn_by_knowledge(game: Game, n: int, most: int) -> dict[object, list[Drawn]]:
    """The decisions of n games, of at most so many actions, by what the acting player knows."""
    batch, games, player = Batch(game, n), np.arange(n), RandomPlayer(3)
    knows: list[list[int]] = [[0] * game.players for _ in range(n)]
    found: dict[object, list[Drawn]] = {}
    worlds = has_worlds(game)
    for played in range(most):
        actors, legal, packed = batch.actors(), batch.legal(), batch.observe()
        numbers = np.full(n, played, np.int32)
        chosen, _ = sample(None, legal, 8, games, numbers)
        batch.draw_chance(8, games, numbers, chosen)
        rows = np.flatnonzero(actors > CHANCE)
        seen = actors[rows], legal[rows], packed[rows]
        views = Views.of_batch(batch, rows, np.full(len(rows), 5), numbers[rows], seen)
        actions = player.act(views).actions
        for i, row in enumerate(rows.tolist()):
            side = int(actors[row])
            now = hash((knows[row][side], side, legal[row].tobytes(), packed[row].tobytes()))
            knows[row][side] = hash((now, int(chosen[row])))
            world = views.state(i).worlds(1).observe().tobytes() if worlds else b""
            one = Drawn(played, int(views.numbers[i]), int(actions[i]), world)
            found.setdefault(now, []).append(one)
        batch.apply(chosen)
    return found


@pytest.mark.parametrize("name", GAMES)
def test_who_knows_the_same_draws_the_same(name: str) -> None:
    game = Game(name)
    found = drawn_by_knowledge(game, scaled(60), 40)
    for alike in found.values():
        assert len({(one.number, one.action, one.world) for one in alike}) == 1, alike
    pairs = [alike for alike in found.values() if len(alike) > 1]
    hidden = sum(len({one.played for one in alike}) > 1 for alike in pairs)
    print(f"\n{name}: {len(found):,} information states, {len(pairs):,} of them met again")
    assert pairs and (hidden > 0) == (name in HIDDEN)


@pytest.mark.parametrize("name", GAMES)
def test_no_two_decisions_of_a_game_share_a_number(name: str) -> None:
    """Where everybody knows how many actions there were, that is the number: it is pinned."""
    game = Game(name)
    batch, games, n = Batch(game, 20), np.arange(20), 20
    numbers: list[set[int]] = [set() for _ in range(n)]
    for played in range(scaled(150)):
        rows = np.flatnonzero(batch.actors() > CHANCE)
        was = np.full(n, played, np.int32)
        for row, number in zip(rows.tolist(), batch.numbers(rows, was[rows]), strict=True):
            assert int(number) not in numbers[row] and number >= 0
            assert name in HIDDEN or number == played
            numbers[row].add(int(number))
        chosen, _ = sample(None, batch.legal(), 2, games, was)
        batch.draw_chance(2, games, was, chosen)
        batch.apply(chosen)
    assert sum(map(len, numbers)) > n
