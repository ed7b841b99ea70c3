"""The games of a match: those among our own players in lockstep, those with programs in threads."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from stratkit.engine import Game
from stratkit.match.adjudicate import ValueAdjudicator
from stratkit.match.options import MatchOptions
from stratkit.match.schedule import Schedule
from stratkit.play.finished import Finished, in_order
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.player import Player

if TYPE_CHECKING:
    from stratkit.ucc.engine_pool import ProgramGames
    from stratkit.ucc.process import Program


class MatchGames:
    """The games of a `schedule` between `players`, who have `names`.

    Games among our own players are played `slots` at a time in lockstep, by `options.concurrency`
    threads of the engine; of those with programs so many are played at a time, or one, in this
    thread (`alone`). `warn` is called with what the user has to know at once. `start`: the position
    that the games among our own players begin at, as `Table` takes it.
    """

    def __init__(
        self,
        game: Game,
        schedule: Schedule,
        players: Sequence[Player | Program],
        names: Sequence[str],
        options: MatchOptions,
        slots: int,
        warn: Callable[[str], None],
        alone: bool = False,
        start: bytes = b"",
    ) -> None:
        self.alone, self.start = alone, start
        self.game, self.schedule, self.players, self.names = game, schedule, players, names
        self.options, self.slots, self.warn = options, slots, warn
        self._ours = [player if isinstance(player, Player) else None for player in players]

    @cached_property
    def _with_programs(self) -> ProgramGames:
        from stratkit.ucc.engine_pool import ProgramGames

        options = self.options
        return ProgramGames(
            self.game,
            self.players,
            self.names,
            options.concurrency,
            self.warn,
            self._adjudicator,
            self.alone,
        )

    def _adjudicator(self, rows: int) -> ValueAdjudicator | None:
        """What may end `rows` games early."""
        limits = self.options.limits
        return ValueAdjudicator(rows, self.game.players, *limits) if any(limits) else None

    def rounds(self, numbers: Iterable[int]) -> Generator[Finished | None, None, None]:
        """Plays the games `numbers`, ascending; yields them in this order, some at a time. Closing
        it ends all programs."""
        to_play, expected = itertools.tee(numbers)
        with contextlib.closing(self._as_they_end(to_play)) as played:
            yield from in_order(played, expected)

    def _as_they_end(self, numbers: Iterable[int]) -> Generator[Finished | None, None, None]:
        for programs, some in itertools.groupby(numbers, self._needs_programs):
            seatings = map(self.schedule.seating, some)
            if programs:
                yield from self._with_programs.rounds(seatings)
            else:
                yield from self._table(seatings).rounds()

    def _needs_programs(self, number: int) -> bool:
        return any(self._ours[seat] is None for seat in self.schedule.seats(number))

    def _table(self, seatings: Iterator[Seating]) -> Table:
        return Table(
            self.game,
            self._ours,
            Seatings(seatings),
            self.slots,
            self.options.concurrency,
            seed=self.options.seed,
            adjudicator=self._adjudicator(self.slots),
            start=self.start,
        )
