"""Games in lockstep: the loop that self-play and matches share.

It knows the game interface and no game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch, Game
from stratkit.engine.batch import CHANCE
from stratkit.players.player import Decision, Games, Player, Sides, Views, decide
from stratkit.storage.columns import Episode, Episodes

CUT = "cut"  # the ending of a game that reached `max_actions`: its code follows on the game's own

_NO_ACTIONS = np.empty(0, np.int32)


@dataclass(frozen=True)
class Seating:
    """A game to be played: its number, who plays each side (indices of players), and actions that
    begin it, int32 [k], which nobody chooses (given setups)."""

    number: int
    seats: tuple[int, ...]
    opening: npt.NDArray[np.int32] = field(default_factory=lambda: _NO_ACTIONS)


@dataclass(frozen=True)
class Note:
    """What there is to say of a game besides. One that was not played out ended for a `reason`,
    said by an `adjudicator`; `fault` is what the loser's program did wrong. `times` are the seconds
    that each side took, where somebody measured."""

    reason: str | None = None
    adjudicator: str | None = None
    fault: str | None = None
    times: tuple[float, ...] | None = None


RESIGNED = Note("resigned", "player")  # who gave up before it had to


@dataclass(frozen=True)
class Finished:
    """n games that were played: the episodes, who played each side (indices of players, int32
    [n, players]), and their plies, int32 [n]. Some games, by number, have `notes`."""

    episodes: Episodes
    seats: npt.NDArray[np.int32]
    plies: npt.NDArray[np.int32]
    notes: Mapping[int, Note] = field(default_factory=dict)

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


class Judge(Protocol):
    """Ends games early (`adjudicate.Adjudicator`)."""

    def begin(self, rows: npt.NDArray[np.int64]) -> None:
        """Games begin in these rows."""

    def note(
        self,
        rows: npt.NDArray[np.int64],
        sides: npt.NDArray[np.int8],
        values: npt.NDArray[np.float32],
    ) -> None:
        """What the sides on turn expect."""

    def verdict(self, row: int) -> tuple[npt.NDArray[np.float32], Note] | None:
        """Returns and why, if the game in `row` is decided."""


class Table:
    """`slots` games in lockstep.

    `players` are what seatings point to; None is somebody who sits at no game here.
    `schedule` yields the games to begin, or None for "none at the moment"; it ends when there
    are no more. `max_actions` cuts longer games (return 0), None cuts none. `seed` is chance's.
    `judge`, if any, may end games from their first ply on.
    """

    def __init__(
        self,
        game: Game,
        players: Sequence[Player | None],
        schedule: Iterator[Seating | None],
        slots: int,
        threads: int = 1,
        max_actions: int | None = None,
        seed: int = 0,
        judge: Judge | None = None,
    ) -> None:
        self.game, self.players, self.schedule = game, players, schedule
        self.max_actions, self.seed, self.judge = max_actions, seed, judge
        self.batch = Batch(game, slots, threads)
        self.steps = np.full(slots, -1, np.int64)  # of the policy when the game began
        self.policy_step = -1
        self.ended = False  # the schedule
        self.waiting = self.over = False
        # Whether a round with so many live games is to be played now: whoever follows a learner has
        # reasons to wait for more.
        self.worth_playing: Callable[[int], bool] = lambda live: True
        self._actors = np.empty(slots, np.int8)
        self._legal = np.empty((slots, game.actions), np.uint8)
        self._observations = np.empty((slots, game.observation_bytes), np.uint8)
        self._games = np.zeros(slots, np.int64)
        self._numbers = np.zeros(slots, np.int32)
        self._seats = np.full((slots, game.players), -1, np.int32)
        self._opening = np.zeros(slots, np.int32)  # length of each game's opening
        self._live = np.zeros(slots, bool)
        self._resigned = np.zeros(slots, bool)  # the acting side gives up
        self._actions = np.zeros((slots, 256), np.int32)
        self._mu = np.full((slots, 256), np.nan, np.float32)
        # Of the round that is being played.
        self._chosen = np.empty(0, np.int32)
        self._questions: list[tuple[npt.NDArray[np.int64], Player, Views]] = []
        self._decisions: list[tuple[npt.NDArray[np.int64], Decision]] = []

    def rounds(self) -> Iterator[Finished | None]:
        """Plays one action in every game at a time; yields the games that ended in each round,
        None if none did. While there is nothing worth playing it is `waiting`."""
        try:
            while self.begin() or not self.over:
                if self.waiting:
                    yield None
                else:
                    self.think()
                    yield self.end()
        finally:  # nobody plays the others on
            self._leave(np.flatnonzero(self._live))

    # ---- a round in three parts, for those who do something else meanwhile (`Groups`) ----

    def begin(self) -> bool:
        """Seats the games that are due and puts the question in every game. False: there is nothing
        worth playing, at the moment (it is `waiting`) or any more (it is `over`)."""
        self._fill()
        live = int(self._live.sum())
        self.over = self.ended and not live
        self.waiting = not self.over and (not live or not self.worth_playing(live))
        if self.over or self.waiting:
            return False
        self._ask()
        return True

    def think(self) -> None:
        """The players decide. No game changes meanwhile: this may be done in another thread."""
        self._decisions = [
            (mine, decide(player, views, values=self.judge is not None))
            for mine, player, views in self._questions
        ]

    def end(self) -> Finished | None:
        """Does what was decided; returns the games that it ended."""
        self._act()
        return self._collect()

    def _fill(self) -> None:
        free = np.flatnonzero(~self._live)
        seatings: list[Seating] = []
        while len(seatings) < len(free) and not self.ended:
            try:
                seating = next(self.schedule)
            except StopIteration:
                self.ended = True
                break
            if seating is None:
                break
            seatings.append(seating)
        if seatings:
            self._seat(free[: len(seatings)], seatings)

    def _seat(self, rows: npt.NDArray[np.int64], seatings: Sequence[Seating]) -> None:
        self.batch.reset(rows)
        self._games[rows] = [seating.number for seating in seatings]
        self._seats[rows] = [seating.seats for seating in seatings]
        self._opening[rows] = [len(seating.opening) for seating in seatings]
        self._numbers[rows] = 0
        self._live[rows], self._resigned[rows] = True, False
        if self.judge:
            self.judge.begin(rows)
        self.steps[rows] = self.policy_step
        for player, games, sides in self._seated(rows):
            player.begin(games, sides)
        longest = int(self._opening[rows].max())
        if longest > self._actions.shape[1]:
            self._grow(longest)
        if longest:
            for row, seating in zip(rows.tolist(), seatings, strict=True):
                self._actions[row, : len(seating.opening)] = seating.opening

    def _leave(self, rows: npt.NDArray[np.int64]) -> None:
        """The games in these rows are over."""
        self._live[rows] = False
        for player, games, sides in self._seated(rows):
            player.end(games, sides)

    def _seated(self, rows: npt.NDArray[np.int64]) -> Iterator[tuple[Player, Games, Sides]]:
        """Who plays the games in these rows, each with his games and sides."""
        seats = self._seats[rows]
        for index, player in enumerate(self.players):
            games, sides = np.nonzero(seats == index)
            if player is not None and len(games):
                yield player, self._games[rows[games]], sides.astype(np.int8)

    def _grow(self, least: int) -> None:
        wider = max(least, 2 * self._actions.shape[1])
        extra = wider - self._actions.shape[1]
        self._actions = np.pad(self._actions, ((0, 0), (0, extra)))
        self._mu = np.pad(self._mu, ((0, 0), (0, extra)))

    def _ask(self) -> None:
        """What is to be decided, and by whom; what nobody decides is known at once."""
        if int(self._numbers.max()) >= self._actions.shape[1]:
            self._grow(0)
        self.batch.view(self._actors, self._legal, self._observations)
        rows = np.arange(len(self._live))
        forced = self._live & (self._numbers < self._opening)
        choosing = self._live & ~forced & (self._actors >= 0)
        self._chosen = np.full(len(rows), -1, np.int32)
        if (self._actors == CHANCE).any():
            self.batch.draw_chance(self.seed, self._games, self._numbers, self._chosen)
            self._chosen[~self._live] = -1
        self._chosen[forced] = self._actions[rows[forced], self._numbers[forced]]
        seat = self._seats[rows, np.maximum(self._actors, 0)]
        self._questions = []
        for index, player in enumerate(self.players):
            mine = rows[choosing & (seat == index)]
            if player is not None and len(mine):
                self._questions.append((mine, player, self._views(mine)))

    def _act(self) -> None:
        """One action in every live game."""
        chosen, mu = self._chosen, np.full(len(self._live), np.nan, np.float32)
        for mine, decision in self._decisions:
            if decision.resigned is not None:
                self._resigned[mine] = decision.resigned
            chosen[mine], mu[mine] = decision.actions, decision.mu
            if self.judge and decision.values is not None:
                self.judge.note(mine, self._actors[mine], decision.values)
        self.batch.apply(chosen)
        live = np.flatnonzero(self._live & ~self._resigned)
        self._actions[live, self._numbers[live]] = chosen[live]
        self._mu[live, self._numbers[live]] = mu[live]
        self._numbers[live] += 1

    def _views(self, rows: npt.NDArray[np.int64]) -> Views:
        def moves(index: int) -> list[tuple[int, int]]:
            row = int(rows[index])
            return self.batch.moves(row, int(self._actors[row]))

        return Views(
            self._games[rows],
            self._actors[rows],
            self._numbers[rows],
            self._legal[rows],
            self._observations[rows],
            moves,
        )

    def _collect(self) -> Finished | None:
        returns, endings, plies = self.batch.result()
        over = endings > 0
        if self.max_actions is not None:
            over |= self._numbers >= self.max_actions
        notes = self._judged(returns, over, plies)
        rows = np.flatnonzero(self._live & over)
        if not len(rows):
            return None
        self._leave(rows)
        length = self._numbers[rows].astype(np.int64)
        longest = int(length.max())
        played = np.arange(longest) < length[:, None]
        episodes = Episodes(
            number=self._games[rows],
            step=self.steps[rows],
            ending=np.where(endings[rows] > 0, endings[rows], len(self.game.endings)).astype(int),
            returns=returns[rows],
            length=length,
            start_length=np.zeros(len(rows), np.int64),
            actions=self._actions[rows, :longest][played],
            mu=self._mu[rows, :longest][played],
            start=np.empty(0, np.uint8),
        )
        return Finished(episodes, self._seats[rows], plies[rows], notes)

    def _judged(
        self,
        returns: npt.NDArray[np.float32],
        over: npt.NDArray[np.bool_],
        plies: npt.NDArray[np.int32],
    ) -> dict[int, Note]:
        """Notes on the games that a player gave up or the judge ends now, whose `returns` it sets
        and which are `over`."""
        notes = {}
        for row in np.flatnonzero(self._live & self._resigned).tolist():
            returns[row] = 1
            returns[row, self._actors[row]] = -1
            notes[int(self._games[row])] = RESIGNED
            over[row] = True
        if self.judge:
            for row in np.flatnonzero(self._live & ~over & (plies > 0)).tolist():
                if decided := self.judge.verdict(row):
                    returns[row], notes[int(self._games[row])] = decided
                    over[row] = True
        return notes


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
