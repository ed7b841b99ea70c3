"""The policy of self-play: a network that stays as it is, or one that a learner publishes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta

from stratkit.engine import Game
from stratkit.errors import InputError, error_context
from stratkit.players.network import NetworkPlayer, network_player
from stratkit.players.open import Entrant, open_player
from stratkit.players.player import Player
from stratkit.players.registry import NETWORK, SHIPPED, NetworkOptions
from stratkit.players.spec import PlayerSpec, parse_player
from stratkit.storage import schema
from stratkit.storage.checkpoints import POLICY_FILE, policy_stamp, read_policy
from stratkit.storage.schema import Count, Positive


def open_policy(path: str, game: Game, seed: int, rows: int) -> Entrant[Player]:
    """The online network of a checkpoint, or the newest that a RUN has published."""
    published = os.path.join(path, POLICY_FILE)
    file = published if path not in SHIPPED and os.path.isfile(published) else path
    spec = PlayerSpec(path, file, NETWORK, NetworkOptions(net="online"))
    return open_player(spec, game, seed, rows)


@dataclass(frozen=True)
class _Pacing:
    """What self-play needs of the published metadata to keep pace; older learners do not say it."""

    publish_every: Positive = 1
    learned: Annotated[list[Count], Meta(min_length=1)] = field(default_factory=lambda: [0])
    began: tuple[Count, Count] = (0, 0)


class Follower:
    """What a learner publishes in the folder RUN: its policy, and how many `episodes` it has
    consumed. `learned`: of those, how many each of its ranks has from the files in its folder.
    `began`: with how many episodes consumed it began, and when."""

    def __init__(self, run: str, game: Game) -> None:
        self.run, self.game = run, game
        self.player: NetworkPlayer | None = None
        self.step, self.episodes, self.net = -1, 0, ""
        self.batch = self.publish_every = 1
        self.learned: list[int] = [0]
        self.began = (0, 0)
        self._stamp: object = None

    @property
    def period(self) -> int:
        """Episodes from one publication to the next, if each rank consumes as many as the one that
        consumes most."""
        ranks = len(self.learned)
        return self.publish_every * -(-self.batch // ranks) * ranks

    def make_player(self, seed: int, rows: int) -> NetworkPlayer:
        """The player that plays by the weights published now, and after a `refresh` by later
        ones."""
        with error_context(self.run):
            self.player = network_player(
                self.net, self.weights, self.game, seed, rows, self.processing, elastic=True
            )
        return self.player

    def refresh(self) -> bool:
        """Reads what was published since the last call, if anything: whether there was something.

        Raises `InputError` when it is damaged, gone, or of another game or network.
        """
        stamp = policy_stamp(self.run)
        if stamp is None and self._stamp is not None:
            raise InputError("the learner's weights are gone", file=self.run)
        if stamp is None or stamp == self._stamp:
            return False
        weights, metadata = read_policy(self.run)
        with error_context(self.run):
            self._take(weights, metadata)
        self._stamp = stamp
        return True

    def _take(self, weights: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        """Takes over what was published. `InputError`: it is of another game or network."""
        if (metadata["game"], metadata["rules"]) != (self.game.name, self.game.rules):
            what = f"the learner plays {metadata['game']}, not {self.game.name}, or by other rules"
            raise InputError(what)
        processing = _processing(str(metadata.get("post", "none")))
        if self.player is not None:
            if metadata["net"] != self.net:
                what = f"the learner had the network {self.net} before, and now another one"
                raise InputError(what, text=metadata["net"])
            self.player.load(weights, processing)
        self.step, self.episodes = int(metadata["step"]), int(metadata["episodes"])
        self.batch = int(metadata["batch"])
        pace = schema.convert(metadata, _Pacing, "metadata")
        self.publish_every, self.learned, self.began = pace.publish_every, pace.learned, pace.began
        self.net, self.processing, self.weights = str(metadata["net"]), processing, weights
        self.metadata = metadata


def _processing(post: str) -> tuple[float, int]:
    """Threshold and quanta by which the learner wants its policy to be played."""
    if post == "none":
        return 0.0, 0
    asked: NetworkOptions = parse_player(f"{post},policy").options
    return asked.post.processing(deploying=False)
