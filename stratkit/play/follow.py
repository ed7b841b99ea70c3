"""Self-play by a network: one that stays as it is, or one that a learner goes on improving."""

from __future__ import annotations

import os
from collections.abc import Iterator

from stratkit.engine import Game
from stratkit.errors import InputError, in_file
from stratkit.play.table import Seating
from stratkit.players.network import NetworkPlayer, network_player
from stratkit.players.open import Entrant, open_player
from stratkit.players.player import Player
from stratkit.players.spec import PlayerSpec, parse_player
from stratkit.storage.checkpoints import POLICY_FILE, policy_stamp, read_policy


def open_policy(path: str, game: Game, seed: int, rows: int) -> Entrant[Player]:
    """The online network of a checkpoint, or the newest that a RUN has published."""
    published = os.path.join(path, POLICY_FILE)
    file = published if os.path.isfile(published) else path
    return open_player(PlayerSpec(path, file, {"net": "online"}), game, seed, rows)


class Follower:
    """The policy that a learner publishes in RUN, and how many episodes it has consumed."""

    def __init__(self, run: str, game: Game) -> None:
        self.run, self.game = run, game
        self.player: NetworkPlayer | None = None
        self.step, self.episodes, self.batch, self.net = -1, 0, 1, ""
        self._stamp: object = None

    def make_player(self, seed: int, rows: int) -> NetworkPlayer:
        """The player that plays by the published weights, now and later."""
        with in_file(self.run):
            self.player = network_player(self.net, self.weights, self.game, seed, rows)
            self.player.processing = self.processing
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
                self.player.load(weights)
            self.player.processing = processing
        self.step, self.episodes = int(metadata["step"]), int(metadata["episodes"])
        self.batch = int(metadata["batch"])
        self.net = str(metadata["net"])
        self.processing = processing
        self._stamp = stamp
        self.weights = weights
        return True


def _processing(post: str) -> tuple[float, int]:
    """Threshold and quanta of what a learner wants done to the policy that it publishes."""
    if post == "none":
        return 0.0, 0
    return parse_player(f"{post},policy").corrections.processing(deploying=False)


class Pace:
    """How far self-play may run ahead of the learner, and when a round is worth its price."""

    def __init__(self, follower: Follower, lead: int, slots: int) -> None:
        self.follower, self.lead, self.slots = follower, lead, slots
        self._before = follower.episodes
        self.begun = 0
        self.delivered = 0  # episodes that were handed on

    @property
    def consumed(self) -> int:
        """What the learner has consumed since self-play began. A learner that goes on from a
        checkpoint begins with fewer episodes than its RUN had published."""
        self._before = min(self._before, self.follower.episodes)
        return self.follower.episodes - self._before

    def bounded(self, games: Iterator[Seating]) -> Iterator[Seating | None]:
        """Begins no game that is more than `lead` episodes beyond what was consumed."""
        for seating in games:
            while self.begun - self.consumed >= self.lead:
                yield None
            self.begun += 1
            yield seating

    def worth_playing(self, live: int) -> bool:
        """A round costs a network the same for few games as for many. While the learner has enough
        to do, self-play waits until half of the slots are taken."""
        has_enough = self.delivered - self.consumed >= 2 * self.follower.batch
        return live >= self.slots // 2 or not has_enough
