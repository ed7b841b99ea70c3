"""Identical games: the same players with the same colours, the same setups and moves and the same
end.

Players without chance repeat a game whenever they begin alike, so a repetition tells nothing new.
Whether they are such is seen: never did the same beginning, of the same setups, lead to two
different games. Then each game counts once. Where one beginning had two games, chance decides, and
all games count: in a small game chance repeats some of them, too. A game without moves is like no
other one.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np

from stratkit.errors import counted
from stratkit.rating.pool import Ints, Mask, pair_codes
from stratkit.storage.records import GameRecord


def beginning_and_game(record: GameRecord) -> tuple[int, int]:
    """Hashes, within a process, of how a game began and of all that was played; 0, 0: of nothing
    that can be compared."""
    if not record.moves:
        return 0, 0
    return hash(record.setups), hash((record.setups, record.moves, record.returns))


@dataclass
class Distinct:
    """Counts the distinct games of two players. `by_chance`: they can play differently from the
    same beginning."""

    games: int = 0
    by_chance: bool = False
    _met: set[Hashable] = field(default_factory=set)
    _first: dict[Hashable, Hashable] = field(default_factory=dict)

    def add(self, colours: tuple[int, ...], record: GameRecord) -> bool:
        """Whether this game, in which the players sit so, is a new one."""
        begun, played = beginning_and_game(record)
        key = colours, played
        if played:
            self.by_chance |= self._first.setdefault((colours, begun), played) != played
        if played and key in self._met:
            return False
        self._met.add(key)
        self.games += 1
        return True


def repeated(red: Ints, blue: Ints, begun: Ints, played: Ints) -> tuple[Mask, Mask]:
    """Which games are like one before them, and which of these are between players whom no chance
    was seen to part. All int64 [games]; the last two as `beginning_and_game` has them."""
    colours = pair_codes(red, blue)
    pairing = pair_codes(np.minimum(red, blue), np.maximum(red, blue))
    known = played != 0
    game = pair_codes(colours, np.where(known, played, np.arange(len(red))))
    new = np.zeros(len(red), bool)
    new[np.unique(game, return_index=True)[1]] = True
    again = known & ~new
    _, one, beginning = np.unique(
        pair_codes(colours, begun), return_index=True, return_inverse=True
    )
    differs = known & (played != played[one[beginning]])
    chance = np.zeros(len(red), bool)
    chance[pairing[differs]] = True
    return again, again & ~chance[pairing]


def distinct_text(games: int, alike: int, left_out: int) -> str:
    """How many games are distinct if so many are like others, and what follows."""
    what = f"{games - alike} of {counted(games, 'game')} distinct"
    if not left_out:
        return f"{what}; all count, as chance decides"
    return f"{what}; {counted(left_out, 'repetition')} left out, as nothing is left to chance"
