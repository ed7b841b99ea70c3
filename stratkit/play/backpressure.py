"""Self-play by a network: one that stays as it is, or one that a learner goes on improving."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping
from typing import Any

from stratkit.engine import Game
from stratkit.errors import InputError, UsageError, in_file
from stratkit.play.table import Seating
from stratkit.players.network import NetworkPlayer, network_player
from stratkit.players.open import Entrant, open_player
from stratkit.players.player import Player
from stratkit.players.registry import NETWORK, SHIPPED, NetworkOptions
from stratkit.players.spec import PlayerSpec, parse_player
from stratkit.storage import fields as check
from stratkit.storage.checkpoints import POLICY_FILE, policy_stamp, read_policy
from stratkit.storage.shards import waiting

LEAD = 8  # times what the learner consumes between two publications
LOOK = 0.05  # seconds between two looks at a folder, if they are not dear


def open_policy(path: str, game: Game, seed: int, rows: int) -> Entrant[Player]:
    """The online network of a checkpoint, or the newest that a RUN has published."""
    published = os.path.join(path, POLICY_FILE)
    file = published if path not in SHIPPED and os.path.isfile(published) else path
    return open_player(
        PlayerSpec(path, file, NETWORK, NetworkOptions(net="online")), game, seed, rows
    )


class Follower:
    """The policy that a learner publishes in RUN, and how many episodes it has consumed."""

    def __init__(self, run: str, game: Game) -> None:
        self.run, self.game = run, game
        self.player: NetworkPlayer | None = None
        self.step, self.episodes, self.net = -1, 0, ""
        self.batch = self.publish_every = 1
        self.learned: list[int] = [0]  # by each rank, of the files that the learner's folder has
        self.began = [0, 0]  # with so many episodes consumed, and when
        self._stamp: object = None

    @property
    def period(self) -> int:
        """Episodes that the learner consumes from one publication to the next, where each of its
        ranks has as many as that which has most."""
        ranks = len(self.learned)
        return self.publish_every * -(-self.batch // ranks) * ranks

    def make_player(self, seed: int, rows: int) -> NetworkPlayer:
        """The player that plays by the published weights, now and later."""
        with in_file(self.run):
            self.player = network_player(
                self.net, self.weights, self.game, seed, rows, self.processing
            )
        return self.player

    def refresh(self) -> bool:
        """Looks whether something new was published, and plays by it from now on.

        Raises `InputError` when that is damaged, gone, or of another game or network.
        """
        stamp = policy_stamp(self.run)
        if stamp is None and self._stamp is not None:
            raise InputError("the learner's weights are gone", file=self.run)
        if stamp is None or stamp == self._stamp:
            return False
        weights, metadata = read_policy(self.run)
        if (metadata["game"], metadata["rules"]) != (self.game.name, self.game.rules):
            raise InputError(
                f"the learner plays {metadata['game']}, not {self.game.name}, or by other rules",
                file=self.run,
            )
        with in_file(self.run):
            processing = _processing(str(metadata.get("post", "none")))
        if self.player is not None:
            if metadata["net"] != self.net:
                what = f"the learner had the network {self.net} before, and now another one"
                raise InputError(what, file=self.run, text=metadata["net"])
            with in_file(self.run):
                self.player.load(weights, processing)
        self.step, self.episodes = int(metadata["step"]), int(metadata["episodes"])
        self.batch = int(metadata["batch"])
        with in_file(self.run):
            self.publish_every = _told(metadata, "publish_every", check.whole(1), 1)
            self.learned = _told(metadata, "learned", check.list_of(check.whole()), [0])
            self.began = _told(metadata, "began", check.list_of(check.whole(), 2, 2), [0, 0])
        self.net = str(metadata["net"])
        self.processing = processing
        self._stamp = stamp
        self.weights = weights
        return True


def _processing(post: str) -> tuple[float, int]:
    """Threshold and quanta of what a learner wants done to the policy that it publishes."""
    if post == "none":
        return 0.0, 0
    asked: NetworkOptions = parse_player(f"{post},policy").options
    return asked.post.processing(deploying=False)


def _told(metadata: Mapping[str, Any], name: str, checked: check.Check, otherwise: Any) -> Any:
    """What the learner tells, or of an older one, which does not tell it: `otherwise`."""
    found = metadata.get(name, otherwise)
    if not checked(found):
        raise InputError(f"metadata {name!r} is wrong", text=found)
    return found


class Pace:
    """How far self-play may run ahead of the learner, and when a round is worth its price.
    `wanted`: the lead; or None: `LEAD`, also of what a learner consumes that began anew."""

    def __init__(self, follower: Follower, wanted: int | None, slots: int) -> None:
        self.follower, self.wanted, self.slots = follower, wanted, slots
        self._began, self._before = follower.began, follower.episodes
        self._consumed = 0
        self.begun = 0
        self.delivered = 0  # episodes that were handed on

    @property
    def lead(self) -> int:
        return self.wanted or LEAD * self.follower.period

    @property
    def ahead(self) -> int:
        """Episodes that were begun and that the learner has not consumed."""
        return self.begun - self.consumed

    @property
    def enough(self) -> bool:
        """Whether the learner has enough at hand for its next two publications."""
        return self.delivered - self.consumed >= 2 * self.follower.period

    @property
    def consumed(self) -> int:
        """What the learner has consumed since self-play began. One that goes on from a checkpoint
        begins with fewer episodes than its RUN had published; what it published first may have been
        missed."""
        if self.follower.began != self._began:
            self._began = self.follower.began
            self._before = self._began[0] - self._consumed
        self._before = min(self._before, self.follower.episodes)
        self._consumed = self.follower.episodes - self._before
        return self._consumed

    def check(self) -> None:
        """`UsageError` when the learner could not come to its next publication within the lead."""
        if self.lead < self.follower.period:
            number = self.follower.period
            what = f"--lead is less than the {number} episodes from one publication to the next"
            raise UsageError(what, text=self.lead)

    def bounded(self, games: Iterator[Seating]) -> Iterator[Seating | None]:
        """Begins no game that is more than `lead` episodes beyond what was consumed."""
        for seating in games:
            while self.ahead >= self.lead:
                self.check()  # a learner that began anew may have a larger batch
                yield None
            self.begun += 1
            yield seating

    def worth_playing(self, live: int) -> bool:
        """A round costs a network the same for few games as for many. While the learner has enough
        to do, self-play waits until half of the slots are taken."""
        return live >= self.slots // 2 or not self.enough


class FolderPace(Pace):
    """The same where several may write into one folder, and several ranks learn from it: what lies
    there counts, whoever wrote it, and of the ranks the one that has least."""

    def __init__(self, follower: Follower, wanted: int | None, slots: int, folder: str) -> None:
        super().__init__(follower, wanted, slots)
        self.folder = folder
        self.written = 0  # of the episodes begun
        self._fresh = -math.inf  # until when what was seen there will do
        self._waiting = [0]

    @property
    def parts(self) -> int:
        return len(self.follower.learned)

    @property
    def poorest(self) -> int:
        """The rank that has least."""
        return self._waiting.index(min(self._waiting))

    def look(self) -> int:
        """Episodes that wait in the folder: as if all ranks had as few as the poorest."""
        began = time.monotonic()
        self._waiting = waiting(self.folder, self.follower.learned)
        took = time.monotonic() - began
        self._fresh = began + took + max(LOOK, 10 * took)
        return min(self._waiting) * self.parts

    @property
    def there(self) -> int:
        """What `look` says, or said a moment ago."""
        if time.monotonic() > self._fresh or len(self._waiting) != self.parts:
            return self.look()
        return min(self._waiting) * self.parts

    @property
    def ahead(self) -> int:
        """Episodes that were begun here and are not written, and those that wait."""
        return self.begun - self.written + self.there

    @property
    def enough(self) -> bool:
        """Whether the learner has enough at hand for its next two publications."""
        return self.there >= 2 * self.follower.period

    @property
    def starving(self) -> bool:
        """Whether the learner cannot come to its next publication, while no game is played and none
        may be begun: then what is not written is what it waits for."""
        idle = self.begun == self.delivered and self.ahead >= self.lead
        return idle and self.there < self.follower.period
