"""Games that were played, and what is to be said of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from stratkit.storage.columns import Episode, Episodes

NOT_PLAYED = "not_played"  # the reason of a game whose player is no longer asked


@dataclass(frozen=True)
class GameNote:
    """What an episode does not say of its game. None: nothing to say.

    reason        why a game ended that was not played out
    adjudicator   who ended it
    fault         what the loser's program did wrong
    times         seconds that each side used
    """

    reason: str | None = None
    adjudicator: str | None = None
    fault: str | None = None
    times: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Finished:
    """n games that were played.

    episodes   [n]
    seats      int32 [n, players], who played each side, as indices of players
    plies      int32 [n]
    notes      on some of them, by number
    """

    episodes: Episodes
    seats: npt.NDArray[np.int32]
    plies: npt.NDArray[np.int32]
    notes: Mapping[int, GameNote] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.plies)

    def __iter__(self) -> Iterator[tuple[Episode, tuple[int, ...], int]]:
        """Game by game: the episode, its seats, its plies."""
        return zip(self.episodes, map(tuple, self.seats.tolist()), self.plies.tolist(), strict=True)

    def take(self, rows: npt.NDArray[np.int64]) -> Finished:
        """The games `rows` int64 [m], in that order."""
        return Finished(self.episodes.take(rows), self.seats[rows], self.plies[rows], self.notes)

    @staticmethod
    def concat(parts: Sequence[Finished]) -> Finished:
        """One after the other; at least one."""
        return Finished(
            Episodes.concat([part.episodes for part in parts]),
            np.concatenate([part.seats for part in parts]),
            np.concatenate([part.plies for part in parts]),
            {number: note for part in parts for number, note in part.notes.items()},
        )


def in_order(
    rounds: Iterator[Finished | None], numbers: Iterator[int]
) -> Iterator[Finished | None]:
    """The same games in the order of `numbers`, ascending, each as soon as all before it are there.
    Games are columns here, too: thousands of short ones end in a second."""
    parts: dict[int, Finished] = {}  # rounds in which games ended whose turn has not come
    waiting = np.empty((3, 0), np.int64)  # their numbers, ascending; their rounds, and rows there
    turns = np.empty(0, np.int64)  # as many of the next numbers
    for count, finished in enumerate(rounds):
        if finished is not None:
            n = len(finished)
            parts[count] = finished
            ended = np.stack([finished.episodes.number, np.full(n, count), np.arange(n)])
            waiting = np.concatenate([waiting, ended], axis=1)
            waiting = waiting[:, np.argsort(waiting[0])]
            turns = np.append(turns, np.fromiter(itertools.islice(numbers, n), np.int64))
        differ = np.flatnonzero(waiting[0] != turns)
        turn = int(differ[0]) if len(differ) else len(turns)
        yield _gathered(parts, *waiting[1:, :turn]) if turn else None
        waiting, turns = waiting[:, turn:], turns[turn:]
        for old in set(parts).difference(waiting[1].tolist()):
            del parts[old]


def _gathered(
    parts: Mapping[int, Finished], part: npt.NDArray[np.int64], row: npt.NDArray[np.int64]
) -> Finished:
    """Games of these parts, and rows there, in this order."""
    order = np.argsort(part, kind="stable")
    games = Finished.concat([parts[k].take(row[part == k]) for k in np.unique(part).tolist()])
    return games.take(np.argsort(order))
