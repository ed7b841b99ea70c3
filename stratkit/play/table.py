"""Games in lockstep: the loop that self-play and matches share.

It knows the game interface and no game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch, Game
from stratkit.engine.batch import CHANCE
from stratkit.play.finished import Finished, GameNote
from stratkit.play.search_log import SearchLog
from stratkit.play.seating import GameSource, Seated
from stratkit.players.player import Decision, Games, Player, Sides, Views, decide
from stratkit.storage.columns import Episodes, PolicyTargets
from stratkit.storage.slices import GOES_ON

CUT = "cut"  # the ending of a game that reached `max_actions`: its code follows on the game's own

Rows: TypeAlias = npt.NDArray[np.int64]

RESIGNED = GameNote("resigned", "player")  # who gave up before it had to
AGREED = GameNote("agreed", "player")  # both wanted a draw
OUT_OF_TIME = GameNote("clock", "referee")  # whose clock ran out


class Adjudicator(Protocol):
    """Ends games early, by the values that players return with their decisions."""

    def begin(self, rows: Rows) -> None:
        """Games begin in these rows."""

    def observe(
        self,
        rows: Rows,
        sides: npt.NDArray[np.int8],
        values: npt.NDArray[np.float32],
    ) -> None:
        """What the acting sides expect, [n] each."""

    def adjudicate(self, row: int) -> tuple[npt.NDArray[np.float32], GameNote] | None:
        """The returns, float32 [players], and why, if the game in `row` is decided."""


def returns_of_loss(players: int, loser: int, unit: float = 1) -> npt.NDArray[np.float32]:
    """Float32 [players] of a game that one player has lost: a whole `unit`, which the others
    share."""
    returns = np.full(players, unit / max(1, players - 1), np.float32)
    returns[loser] = -unit
    return returns


class Table:
    """`slots` games in lockstep.

    players       what seatings point to; None: somebody who sits at no game here
    source        says which games to begin
    max_actions   longer games are cut (return 0); None: none is
    seed          chance's
    adjudicator   may end games from their first ply on
    slice_length  hand on games that go on, too, after so many actions since the last time
    true_sight    asked before every round whether worlds are copies of the true state for the
                  first player, which only self-play may want ("TrueSight learning", AlphaZe**)
    start         the position that games begin at, as an episode has it; empty: the game's own
    """

    def __init__(
        self,
        game: Game,
        players: Sequence[Player | None],
        source: GameSource,
        slots: int,
        threads: int = 1,
        max_actions: int | None = None,
        seed: int = 0,
        adjudicator: Adjudicator | None = None,
        slice_length: int | None = None,
        true_sight: Callable[[], bool] = lambda: False,
        start: bytes = b"",
    ) -> None:
        self.game, self.players, self.source, self.start = game, players, source, start
        self.max_actions, self.seed, self.adjudicator = max_actions, seed, adjudicator
        self.batch = Batch(game, slots, threads)
        self._steps = np.full(slots, -1, np.int64)  # of the policy when the game began
        self._actors = np.empty(slots, np.int8)
        self._legal = np.empty((slots, game.actions), np.uint8)
        self._observations = np.empty((slots, game.observation_bytes), np.uint8)
        self._games = np.zeros(slots, np.int64)
        self._numbers = np.zeros(slots, np.int32)
        self._seats = np.full((slots, game.players), -1, np.int32)
        self.slice_length, self.true_sight = slice_length, true_sight
        self._search_logs: dict[int, SearchLog] = {}  # by row, of the games that a search plays
        self._first = np.zeros(slots, np.int64)  # where each game's slice begins
        self._opening = np.zeros(slots, np.int32)  # length of each game's opening
        self._live = np.zeros(slots, bool)
        self._resigned = np.zeros(slots, bool)  # the acting side gives up
        self._agreed = np.zeros(slots, bool)  # it accepts a draw
        self._late = np.zeros(slots, bool)  # its clock has run out
        self._actions = np.zeros((slots, 256), np.int32)
        self._mu = np.full((slots, 256), np.nan, np.float32)

    def rounds(self) -> Iterator[Finished | None]:
        """Plays one action in every game at a time; yields the games that ended in each round.
        None: no game did, or the source waits."""
        try:
            while True:
                self._begin_games()
                live = int(self._live.sum())
                if not live and self.source.ended:
                    return
                if live and self.source.worth_playing(live):
                    yield self._round()
                else:
                    self.source.wait()
                    yield None
        finally:  # nobody plays the others on
            self._leave(np.flatnonzero(self._live))

    def _round(self) -> Finished | None:
        """One action in every live game."""
        chosen, turns = self._ask()
        values = self.adjudicator is not None
        self._act(chosen, [(mine, decide(player, views, values)) for mine, player, views in turns])
        return self._collect()

    def _begin_games(self) -> None:
        free = np.flatnonzero(~self._live)
        seated = self.source.take(len(free))
        if len(seated.numbers):
            self._seat(free[: len(seated.numbers)], seated)

    def _seat(self, rows: Rows, seated: Seated) -> None:
        self.batch.reset(rows)
        for row in rows.tolist() if self.start else ():
            self.batch.start(row, self.start)
        self._games[rows], self._seats[rows] = seated.numbers, seated.seats
        self._opening[rows] = [len(opening) for opening in seated.openings] or 0
        self._numbers[rows] = self._first[rows] = 0
        self._resigned[rows] = self._agreed[rows] = self._late[rows] = False
        if self.adjudicator:
            self.adjudicator.begin(rows)
        self._steps[rows] = seated.steps
        for row in rows.tolist() if self._search_logs else ():
            self._search_logs.pop(row, None)
        for player, games, sides in self._seated(rows):
            player.begin(games, sides)
        self._live[rows] = True  # from now on an interrupt has these games to end
        longest = int(self._opening[rows].max())
        if longest > self._actions.shape[1]:
            self._grow(longest)
        for row, opening in zip(rows.tolist(), seated.openings, strict=bool(longest)):
            self._actions[row, : len(opening)] = opening

    def _leave(self, rows: Rows) -> None:
        """The games in these rows are over."""
        self._live[rows] = False
        for player, games, sides in self._seated(rows):
            player.end(games, sides)

    def _seated(self, rows: Rows) -> Iterator[tuple[Player, Games, Sides]]:
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

    def _ask(self) -> tuple[npt.NDArray[np.int32], list[tuple[Rows, Player, Views]]]:
        """The actions that nobody decides, int32 [slots] (-1: none), and which rows each player
        decides, with its views."""
        if int(self._numbers.max()) >= self._actions.shape[1]:
            self._grow(0)
        self.batch.view(self._actors, self._legal, self._observations)
        rows = np.arange(len(self._live))
        forced = self._live & (self._numbers < self._opening)
        choosing = self._live & ~forced & (self._actors >= 0)
        chosen = np.full(len(rows), -1, np.int32)
        if (self._actors == CHANCE).any():
            self.batch.draw_chance(self.seed, self._games, self._numbers, chosen)
            chosen[~self._live] = -1
        chosen[forced] = self._actions[rows[forced], self._numbers[forced]]
        seat = self._seats[rows, np.maximum(self._actors, 0)]
        turns: list[tuple[Rows, Player, Views]] = []
        for index, player in enumerate(self.players):
            mine = rows[choosing & (seat == index)]
            if player is not None and len(mine):
                truth = index == 0 and self.true_sight()
                turns.append((mine, player, self._views(mine, truth)))
        return chosen, turns

    def _act(
        self, chosen: npt.NDArray[np.int32], decisions: Sequence[tuple[Rows, Decision]]
    ) -> None:
        """Applies what was chosen, and what the players decided for their rows."""
        mu = np.full(len(self._live), np.nan, np.float32)
        for mine, decision in decisions:
            actions = decision.actions
            for ended, instead in (
                (self._resigned, decision.resigned),
                (self._agreed, decision.agreed),
                (self._late, decision.out_of_time),
            ):
                if instead is not None:
                    ended[mine] = instead
                    actions = np.where(instead, -1, actions)
            chosen[mine], mu[mine] = actions, decision.mu
            if decision.targets is not None and decision.root_value is not None:
                self._note(mine, decision.targets, decision.root_value)
            if self.adjudicator and decision.values is not None:
                self.adjudicator.observe(mine, self._actors[mine], decision.values)
        self.batch.apply(chosen)
        live = np.flatnonzero(self._live & ~(self._resigned | self._agreed | self._late))
        self._actions[live, self._numbers[live]] = chosen[live]
        self._mu[live, self._numbers[live]] = mu[live]
        self._numbers[live] += 1

    def _note(self, rows: Rows, targets: PolicyTargets, values: npt.NDArray[np.float32]) -> None:
        """What networks are to learn of the search of these rows."""
        for k, row in enumerate(rows.tolist()):
            if not np.isnan(values[k]):
                log = self._search_logs.setdefault(row, SearchLog())
                log.note(int(self._numbers[row]), targets.take(slice(k, k + 1)), values[k])

    def _views(self, rows: Rows, true_sight: bool) -> Views:
        seen = self._actors[rows], self._legal[rows], self._observations[rows]
        return Views.of_batch(
            self.batch,
            rows,
            self._games[rows],
            self._numbers[rows],
            seen,
            None if self.start else lambda row: self._actions[row, : self._numbers[row]],
            true_sight,
        )

    def _collect(self) -> Finished | None:
        returns, endings, plies = self.batch.result()
        over = endings > 0
        if self.max_actions is not None:
            over |= self._numbers >= self.max_actions
        notes = self._adjudicated(returns, over, plies)
        over &= self._live
        sliced = np.zeros_like(over)
        if self.slice_length is not None:
            sliced = self._live & ~over & (self._numbers - self._first >= self.slice_length)
        rows = np.flatnonzero(over | sliced)
        if not len(rows):
            return None
        self._leave(np.flatnonzero(over))
        cut = np.where(sliced, GOES_ON, len(self.game.endings))
        episodes = self._episodes(rows, np.where(endings > 0, endings, cut), returns)
        if sliced.any():
            self._go_on(np.flatnonzero(sliced))
        return Finished(episodes, self._seats[rows], plies[rows], notes)

    def _episodes(
        self, rows: Rows, endings: npt.NDArray[np.int_], returns: npt.NDArray[np.float32]
    ) -> Episodes:
        length = self._numbers[rows].astype(np.int64)
        longest = int(length.max())
        played = np.arange(longest) < length[:, None]
        return Episodes(
            number=self._games[rows],
            step=self._steps[rows],
            ending=endings[rows].astype(int),
            returns=returns[rows],
            length=length,
            start_length=np.full(len(rows), len(self.start), np.int64),
            actions=self._actions[rows, :longest][played],
            mu=self._mu[rows, :longest][played],
            start=np.frombuffer(self.start * len(rows), np.uint8),
            first=None if self.slice_length is None else self._first[rows],
            **self._search_targets(rows, length),
        )

    def _search_targets(self, rows: Rows, length: npt.NDArray[np.int64]) -> dict[str, Any]:
        """The columns of a search, if there was any. Slices have none."""
        logs = [self._search_logs.get(row) for row in rows.tolist()] if self._search_logs else []
        if self.slice_length is not None or not any(logs):
            return {}
        parts = [(log or SearchLog()).columns(n) for log, n in zip(logs, length, strict=True)]
        targets, values = zip(*parts, strict=True)
        return {"targets": PolicyTargets.concat(targets), "root_value": np.concatenate(values)}

    def _go_on(self, rows: Rows) -> None:
        """A slice of the games in these rows was handed on; the next one begins."""
        self._first[rows] = self._numbers[rows]
        step = self.source.go_on(len(rows))
        if step is not None:
            self._steps[rows] = step

    def _adjudicated(
        self,
        returns: npt.NDArray[np.float32],
        over: npt.NDArray[np.bool_],
        plies: npt.NDArray[np.int32],
    ) -> dict[int, GameNote]:
        """Ends the games that a player gave up or lost by its clock, that both agreed to draw, or
        that the adjudicator decides: sets their `returns` and `over`; notes on them by number."""
        notes = {}
        for row in np.flatnonzero(self._live & self._agreed).tolist():
            returns[row], over[row] = 0, True
            notes[int(self._games[row])] = AGREED
        for lost, note in ((self._resigned, RESIGNED), (self._late, OUT_OF_TIME)):
            for row in np.flatnonzero(self._live & lost).tolist():
                loser = int(self._actors[row])
                returns[row] = returns_of_loss(self.game.players, loser, self.game.unit)
                notes[int(self._games[row])] = note
                over[row] = True
        if self.adjudicator:
            for row in np.flatnonzero(self._live & ~over & (plies > 0)).tolist():
                if decided := self.adjudicator.adjudicate(row):
                    returns[row], notes[int(self._games[row])] = decided
                    over[row] = True
        return notes
