"""Slices: parts of games that were handed on while the games went on (formats/episodes.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from stratkit.errors import InputError
from stratkit.storage.columns import Episode, Episodes

GOES_ON = 0  # the ending of a slice after which its game goes on
MAX_OPEN = 1 << 17  # games that go on at a time
MAX_ACTIONS = 1 << 27  # of all of them, with 8 bytes each


@dataclass
class _OpenGame:
    """A game that goes on.

    game    its slices, put together; None: a duplicate, of which nothing is kept
    length  actions so far
    """

    game: Episode | None
    length: int

    def add(self, part: Episode) -> None:
        self.length += len(part.actions)
        if self.game is not None:
            actions = np.concatenate([self.game.actions, part.actions])
            mu = np.concatenate([self.game.mu, part.mu])
            self.game = replace(
                self.game, actions=actions, mu=mu, ending=part.ending, returns=part.returns
            )


class OpenGames:
    """The games of a stream that go on. `whole`: whole games are wanted, and not slices. `fresh`
    says of the first slice of a game whether the game was not met before."""

    def __init__(self, whole: bool, fresh: Callable[[Episodes], npt.NDArray[np.bool_]]) -> None:
        self.whole, self.fresh = whole, fresh
        self.duplicates = 0  # slices that were left out
        self._open: dict[int, _OpenGame] = {}
        self._actions = 0  # of open games

    def take(self, parts: Episodes) -> Episodes | None:
        """The next slices, each as the game up to its end; or the whole games that they end.
        `parts` have the actions of the slices only.

        InputError: a slice does not begin where what is known of its game ends.
        """
        games = [one for part in parts if (one := self._add(part)) is not None]
        return Episodes.of(games) if games else None

    def _add(self, part: Episode) -> Episode | None:
        known, first = self._open.get(part.number), part.first or 0
        if known is None and first == 0:
            known = self._begin(part)
        elif known is None or first > known.length:
            before = (
                f"before it only {known.length} actions came" if known else "no such game goes on"
            )
            raise InputError(f"game {part.number}: a slice from action {first} on, and {before}")
        elif first + len(part.actions) <= known.length:
            self.duplicates += 1
            return None
        elif first < known.length:
            what = f"game {part.number}: a slice from action {first} on, of which"
            raise InputError(f"{what} {known.length} actions came already, and not all of it")
        else:
            known.add(part)
        self._actions += len(part.actions)
        if part.ending != GOES_ON:
            self._actions -= self._open.pop(part.number).length
        elif self._actions > MAX_ACTIONS:
            raise InputError(f"over {MAX_ACTIONS} actions of games that go on")
        if known.game is None:
            self.duplicates += 1
            return None
        if self.whole:
            return replace(known.game, first=None) if part.ending != GOES_ON else None
        return replace(known.game, step=part.step, first=first)

    def _begin(self, part: Episode) -> _OpenGame:
        if len(self._open) >= MAX_OPEN:
            raise InputError(f"over {MAX_OPEN} games that go on")
        fresh = bool(self.fresh(Episodes.of([part]))[0])
        made = self._open[part.number] = _OpenGame(part if fresh else None, len(part.actions))
        return made
