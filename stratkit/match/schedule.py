"""Matches: players meet in pairs of games with colours swapped, or one of them among others."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property

from stratkit.match.seats import turned_seats
from stratkit.play.seating import NO_ACTIONS, Opening, Seating


@dataclass(frozen=True)
class Schedule:
    """All games of a match.

        players    how many
        games      of each pairing: here, an even number
        opening    pair -> actions that begin both its games: each player has each setup once
        gauntlet   whether the first player meets all others; else everybody meets everybody

    Games are numbered pairing by pairing. Game k of a pairing belongs to pair k // 2; in its first
    game the player named first has the first move.
    """

    players: int
    games: int
    opening: Opening | None = None
    gauntlet: bool = False

    @cached_property
    def pairings(self) -> list[tuple[int, int]]:
        """Players who meet, as indices."""
        pairings = itertools.combinations(range(self.players), 2)
        return [pairing for pairing in pairings if pairing[0] == 0 or not self.gauntlet]

    def __len__(self) -> int:
        return len(self.pairings) * self.games

    def pair(self, number: int) -> int:
        """The pair that game `number` belongs to."""
        return number // 2

    def seats(self, number: int) -> tuple[int, ...]:
        """Who plays game `number`, who moves first named first."""
        first, second = self.pairings[number // self.games]
        return (first, second) if number % 2 == 0 else (second, first)

    def seating(self, number: int) -> Seating:
        """Who plays game `number`, and how it begins."""
        actions = self.opening(self.pair(number)) if self.opening else NO_ACTIONS
        return Seating(number, self.seats(number), actions)

    def missing(self, played: Container[int]) -> Iterator[int]:
        """The numbers of the games that are not among `played`, ascending."""
        return (number for number in range(len(self)) if number not in played)


@dataclass(frozen=True)
class OneAmongOthers(Schedule):
    """All games of a match with `sides` seats a game: `alone` copies of one player sit among copies
    of another one, in each seat equally often. `games` is a multiple of the seats.

    Every player is the one among copies of each other, or, in a `gauntlet`, the first one is among
    all others. Games belong together, as a pair's do, if the same seats are only turned around.
    """

    sides: int = 2
    alone: int = 1

    @cached_property
    def pairings(self) -> list[tuple[int, int]]:
        """The one, and the other one, as indices."""
        pairings = itertools.permutations(range(self.players), 2)
        return [pairing for pairing in pairings if pairing[0] == 0 or not self.gauntlet]

    def pair(self, number: int) -> int:
        return number // self.sides

    @cached_property
    def _places(self) -> list[tuple[int, ...]]:
        """Of the one, before they are turned around; as many together as make all of them."""
        return turned_seats(self.alone, self.sides)

    def seats(self, number: int) -> tuple[int, ...]:
        """Who plays game `number`, in the order of seats."""
        one, others = self.pairings[number // self.games]
        places = self._places[self.pair(number) % len(self._places)]
        mine = {(place + number) % self.sides for place in places}
        return tuple(one if i in mine else others for i in range(self.sides))


@dataclass(frozen=True)
class NamedSeats(Schedule):
    """All games of a match in which everybody always has the same seats."""

    seating_of_all: tuple[int, ...] = ()

    @cached_property
    def pairings(self) -> list[tuple[int, int]]:
        """One, of the first two players: they all meet."""
        return [(0, 1)]

    def pair(self, number: int) -> int:
        return number

    def seats(self, number: int) -> tuple[int, ...]:
        return self.seating_of_all
