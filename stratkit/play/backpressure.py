"""How far self-play may run ahead of the learner that it follows."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from stratkit.engine import Game
from stratkit.errors import UsageError
from stratkit.play.follower import Follower
from stratkit.play.seating import GameSource, Seated
from stratkit.storage.shards import Placement, unread

PERIODS_AHEAD = 8  # periods of the learner that self-play may be ahead, unless told otherwise
LOOKS = 16  # at what the learner publishes, while self-play waits
MOST_MOMENTS = 8  # between two looks
INTERVAL = 0.05  # seconds from one look at a folder to the next, at least


def periods_ahead(game: Game) -> int:
    """How many periods of the learner self-play may be ahead, unless told otherwise. Where a game
    is small, and so its observation a vector, it is played by the newest policy alone: older games
    keep the learner from its equilibrium. (Against frozen players nobody looks for one.)"""
    return PERIODS_AHEAD if len(game.shape) == 3 else 1


class BackPressure:
    """Holds self-play back.

    given       how many episodes it may be ahead of the learner; None: so many `periods` of the
                learner, which may change when it is started again, or more for many writers
    writers     how many know of each other, and share that equally
    origin      of the stream that is written here, by which the learner tells writers apart
    begun       episodes that self-play has begun
    delivered   episodes that have come to the learner
    """

    _each = ", for each"  # of several writers a period, as the message of `check` has it

    def __init__(
        self,
        follower: Follower,
        given: int | None,
        slots: int,
        periods: int = PERIODS_AHEAD,
        writers: int = 1,
        origin: str = "",
    ) -> None:
        self.follower, self.given, self.slots, self.periods = follower, given, slots, periods
        self.writers, self.origin = writers, origin
        self._began, self._before = follower.began, follower.counted(origin)[0]
        self._consumed = 0
        self.begun = self.delivered = 0

    @property
    def max_ahead(self) -> int:
        """The most episodes that may be in flight."""
        return self.given or max(self.periods * self.follower.period, self.enough)

    @property
    def least(self) -> int:
        """What `max_ahead` must be at least: then the learner could come to its next publication
        by the episodes of one writer alone."""
        return self.writers * self.follower.period

    @property
    def enough(self) -> int:
        """What it must be, unless it was given, to keep all writers busy."""
        return self.least

    @property
    def in_flight(self) -> int:
        """Episodes that were begun and that the learner has not consumed."""
        return self.begun - self.consumed

    @property
    def backlog(self) -> int:
        """Episodes that the learner has at hand and has not consumed."""
        return self.delivered - self.consumed

    @property
    def consumed(self) -> int:
        """Episodes that the learner has consumed since self-play began. A learner that resumes from
        a checkpoint begins with fewer than its RUN had published; its first publication may have
        been missed."""
        now, at_first = self.follower.counted(self.origin)
        if self.follower.began != self._began:
            self._began = self.follower.began
            self._before = at_first - self._consumed
        self._before = min(self._before, now)
        self._consumed = now - self._before
        return self._consumed

    @property
    def share(self) -> int:
        """The most episodes that may be in flight here."""
        return self.max_ahead // self.writers

    @property
    def _free(self) -> int:
        """How many more episodes may be begun, if it is above 0."""
        return self.share - self.in_flight

    def check(self) -> None:
        """`UsageError`: what was given is less than the `least`."""
        if self.max_ahead >= self.least:
            return
        interval = f"{self.follower.period} episodes from one publication to the next"
        if self.writers > 1:
            interval += f"{self._each} of {self.writers} writers ({self.least} at least)"
        raise UsageError(f"--max-ahead is less than the {interval}", text=self.max_ahead)

    def room(self) -> int:
        """How many more episodes may be begun. `UsageError` as from `check`: the learner may have
        been started again, with a larger batch."""
        free = self._free
        if free <= 0:
            self.check()
        return max(0, free)

    def worth_playing(self, live: int) -> bool:
        """Whether to play a round of `live` games. A network takes as long for few games as for
        many: while the learner has two periods at hand, self-play waits until half of the slots
        are taken."""
        return live >= self.slots // 2 or self.backlog < 2 * self.follower.period


class FolderBackPressure(BackPressure, Placement):
    """The same through a folder, into which several processes may write and from which several
    ranks of a learner may read. Its files count, whoever wrote them, as if every rank had as few as
    the one that has fewest.

    `writers`: how many know of each other. All of them together are ahead by no more than one
    alone might be: each has its share, and leaves room for those of all others. `written`: of the
    episodes begun here, those that are in files.
    """

    _each = ", and one for each"

    def __init__(
        self,
        follower: Follower,
        given: int | None,
        slots: int,
        folder: str,
        periods: int = PERIODS_AHEAD,
        writers: int = 1,
    ) -> None:
        super().__init__(follower, given, slots, periods, writers)
        self.folder = folder
        self.written = 0
        self._fresh = -math.inf  # until when the last look at the folder will do
        self._unread = [0]  # episodes for each rank

    @property
    def least(self) -> int:
        """A period, and where there are several writers, a `share` of one episode for each."""
        period, writers = self.follower.period, self.writers
        if writers == 1:
            return period
        return min(2 * period + writers, max(period + writers, 2 * writers - 1))

    @property
    def enough(self) -> int:
        """Several writers share a period, while another one waits in the folder."""
        return max(self.least, min(2, self.writers) * self.follower.period)

    @property
    def ranks(self) -> int:
        """Ranks of the learner."""
        return len(self.follower.learned)

    @property
    def least_loaded(self) -> int:
        """The rank that has the fewest episodes to read."""
        return self._unread.index(min(self._unread))

    @property
    def starved(self) -> bool:
        """Whether no game is played and none may be begun, and yet the learner cannot come to its
        next publication: then it waits for what is not written."""
        idle = self.begun == self.delivered and self._free <= 0
        return idle and self.backlog < self.follower.period

    @property
    def share(self) -> int:
        """The most episodes that may be begun here and in no file. Of several writers each has an
        equal part of what is not for the episodes that wait in the folder, of which two periods
        keep the learner busy."""
        if self.writers == 1:
            return self.max_ahead
        period = self.follower.period
        waiting = min(2 * period, max(period, self.max_ahead // 2))
        return (self.max_ahead - waiting) // self.writers

    @property
    def _free(self) -> int:
        others = (self.writers - 1) * self.share
        own = self.begun - self.written
        return min(self.share - own, self.max_ahead - others - self.in_flight)

    @property
    def in_flight(self) -> int:
        """Episodes that were begun here and are not written, and those that wait in the folder."""
        return self.begun - self.written + self.backlog

    @property
    def backlog(self) -> int:
        """Episodes that wait in the folder, as of a moment ago."""
        if time.monotonic() > self._fresh or len(self._unread) != self.ranks:
            return self.look()
        return min(self._unread) * self.ranks

    def look(self) -> int:
        """Episodes that wait in the folder now."""
        began = time.monotonic()
        self._unread = unread(self.folder, self.follower.learned)
        took = time.monotonic() - began
        self._fresh = began + took + max(INTERVAL, 10 * took)
        return min(self._unread) * self.ranks

    # --- where shards go ---

    def shard_size(self, most: int) -> int:
        """Two shards for each rank are in what may be ahead, and two in a writer's share."""
        own = self.share // 2 if self.writers > 1 else most
        return max(1, min(most, own, self.max_ahead // (2 * self.ranks)))

    def place(self) -> tuple[int, int]:
        self.look()
        return self.least_loaded, self.ranks

    def count_written(self, episodes: int) -> None:
        self.written += episodes
        self.look()


class FollowedGames(GameSource):
    """The games of another source, begun when the back-pressure allows it, each with the step of
    the policy that the learner has published by then. `pause` waits so many moments."""

    def __init__(
        self, games: GameSource, pressure: BackPressure, pause: Callable[[int], object]
    ) -> None:
        self._games, self._pressure, self._pause = games, pressure, pause
        self._waits = 0  # since games began
        self._sliced = False

    @property
    def ended(self) -> bool:  # type: ignore[override]
        return self._games.ended

    def take(self, free: int) -> Seated:
        pressure = self._pressure
        pressure.follower.refresh()
        seated = self._games.take(min(free, pressure.room()) if free else 0)
        seated.steps[:] = pressure.follower.step
        pressure.begun += len(seated.numbers)
        self._waits = 0 if len(seated.numbers) else self._waits
        return seated

    def worth_playing(self, live: int) -> bool:
        """Whole games are held back before they begin; slices of games that go on, here."""
        pressure = self._pressure
        if self._sliced and pressure.in_flight > pressure.share:
            return pressure.backlog < pressure.follower.period
        # Slots that nothing fills any more are not waited for.
        return self.ended or pressure.worth_playing(live)

    def wait(self) -> None:
        """Until the learner publishes, or some moments. A look costs less than all else that is
        done between two rounds. Who has waited long looks less often."""
        self._waits += 1
        for _ in range(LOOKS):
            self._pause(min(self._waits, MOST_MOMENTS))
            if self._pressure.follower.is_stale:
                return

    def go_on(self, games: int) -> int | None:
        """The next slices of these games are episodes that begin."""
        self._sliced = True
        self._pressure.begun += games
        return self._pressure.follower.step
