"""Games that were played, and what is to be said of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from stratkit.storage.columns import Episode, Episodes

NOT_PLAYED = "not_played"  # the reason of a game whose player is no longer asked


@dataclass(frozen=True)
class GameNote:
    """What an episode does not say of its game. A game that was not played out ended for a
    `reason`, by an `adjudicator`; `fault` is what the loser's program did wrong; `times` are the
    seconds that each side used. None: nothing to say."""

    reason: str | None = None
    adjudicator: str | None = None
    fault: str | None = None
    times: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Finished:
    """n games that were played: their episodes, who played each side (`seats`, indices of players,
    int32 [n, players]), their plies, int32 [n], and notes on some of them, by number."""

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
    def together(parts: Sequence[Finished]) -> Finished:
        """One after the other; at least one."""
        return Finished(
            Episodes.together([part.episodes for part in parts]),
            np.concatenate([part.seats for part in parts]),
            np.concatenate([part.plies for part in parts]),
            {number: note for part in parts for number, note in part.notes.items()},
        )


def in_order(
    rounds: Iterator[Finished | None], numbers: Iterator[int]
) -> Iterator[Finished | None]:
    """The same games in the order of `numbers`, each as soon as all before it are there."""
    waiting: dict[int, tuple[Finished, int]] = {}  # number -> the round it ended in, its row there
    expected = next(numbers, None)
    for finished in rounds:
        if finished is not None:
            found = finished.episodes.number.tolist()
            waiting.update(zip(found, ((finished, row) for row in range(len(found))), strict=True))
        ready = []
        while expected in waiting:
            ready.append(waiting.pop(expected))
            expected = next(numbers, None)
        yield _gathered(ready) if ready else None


def _gathered(places: Sequence[tuple[Finished, int]]) -> Finished:
    """The games at these places, in this order."""
    rounds = {id(finished): finished for finished, _ in places}
    rows: dict[int, list[int]] = {key: [] for key in rounds}
    order: dict[int, list[int]] = {key: [] for key in rounds}
    for position, (finished, row) in enumerate(places):
        rows[id(finished)].append(row)
        order[id(finished)].append(position)
    games = Finished.together([rounds[key].take(np.array(rows[key])) for key in rounds])
    return games.take(np.argsort(np.concatenate([order[key] for key in rounds])))
