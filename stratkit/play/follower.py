"""The policy that a learner publishes, for self-play: as it is, post-processed or with a search."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta

from stratkit.engine import Game
from stratkit.errors import InputError, Say, UsageError, error_context, named
from stratkit.models.open_model import Model, PolicyModel, model_of
from stratkit.play.acting import ActingPolicy, acting_policy
from stratkit.players.factory import check_post, post_processed
from stratkit.players.network import NetworkPlayer
from stratkit.players.player import Player
from stratkit.players.registry import NetworkOptions
from stratkit.players.searching.stage import SearchStage
from stratkit.players.testtime.pipeline import PostprocessedPlayer
from stratkit.storage import schema
from stratkit.storage.checkpoints import policy_stamp, read_policy
from stratkit.storage.schema import Count, Positive, Text

PATIENCE = 15.0  # seconds in which a learner has published


@dataclass(frozen=True)
class _Pacing:
    """What published metadata say that self-play needs to keep pace, if they say it."""

    publish_every: Positive = 1
    learned: Annotated[list[Count], Meta(min_length=1)] = field(default_factory=lambda: [0])
    began: tuple[Count, Count] = (0, 0)
    passed: dict[Text, Count] | None = None


class Follower:
    """What a learner publishes in the folder RUN: its policy, and how many `episodes` it has
    consumed. `learned`: of those, how many each of its ranks has from the files in its folder.
    `began`: with how many episodes consumed it began, and when. `passed`: if it reads pipes, how
    many it has consumed from them since then, by the origin of their streams. `given`: keys of a
    PLAYER by which its policy is played, instead of those that it publishes."""

    def __init__(self, run: str, game: Game, given: str | None = None) -> None:
        self.run, self.game, self.given = run, game, given
        self.player: NetworkPlayer | None = None
        self.stage: SearchStage | None = None
        self.step, self.episodes = -1, 0
        self.batch = self.publish_every = 1
        self.learned: list[int] = [0]
        self.began = (0, 0)
        self.passed: Mapping[str, int] | None = None
        self._stamp: object = None
        self.model: Model
        self.acting = self._acting(given or "none")

    def _published(self, metadata: Mapping[str, Any]) -> ActingPolicy:
        """What a learner's metadata ask for. `InputError`: nothing that self-play may do."""
        keys = str(metadata.get("post", "none"))
        try:
            acting = self._acting(keys)
        except UsageError as error:
            raise InputError(f"post: {error.what}", text=error.text) from None
        if acting.searching.belief_file is not None:
            what = "post: published weights name no file: give belief=FILE to --actors"
            raise InputError(what, text=keys)
        return acting

    def _acting(self, keys: str) -> ActingPolicy:
        """What the keys ask for. `UsageError`: a network of this game cannot be played so."""
        acting = acting_policy(keys)
        searching = acting.searching
        if searching.of_beliefs:
            what = f"search={searching.search} takes a network of train --algorithm rebel"
            raise UsageError(what, text=keys)
        check_post(acting.options.post, self.game, keys)
        return acting

    @property
    def period(self) -> int:
        """Episodes from one publication to the next, if each rank consumes as many as the one that
        consumes most."""
        ranks = len(self.learned)
        return self.publish_every * -(-self.batch // ranks) * ranks

    def counted(self, origin: str) -> tuple[int, int]:
        """Of a writer's episodes, how many the learner has consumed: now, and when it began. By a
        learner that does not tell writers apart, those of all."""
        if self.passed is None:
            return self.episodes, self.began[0]
        return self.passed.get(origin, 0), 0

    def make_player(self, seed: int, rows: int) -> Player:
        """The player that plays by the weights published now, and after a `refresh` by later
        ones. Only what asks for more than threshold and quanta needs stages."""
        options: NetworkOptions = self.acting.options
        self.rows = rows
        evaluator = self.model.must_be(PolicyModel).evaluator(self.game, rows, elastic=True)
        self.player = NetworkPlayer(evaluator, self.game, seed, self._processing)
        if self.acting.stages is None:
            return self.player
        player = post_processed(self.player, options.searching, options.post, rows)
        assert isinstance(player, PostprocessedPlayer)
        self.stage = player.search
        return player

    @property
    def _processing(self) -> tuple[float, int]:
        processing: tuple[float, int] = self.acting.options.post.processing(deploying=False)
        return processing

    @property
    def is_stale(self) -> bool:
        """Whether something was published, or is gone, since it was last read."""
        return policy_stamp(self.run) != self._stamp

    def await_first(self, pause: Callable[[], None], say: Say, warn: Say) -> None:
        """Reads the first weights, for which it waits. A learner takes moments to start: if there
        are none after `PATIENCE` seconds, its folder may be another one, and `warn` is told."""
        began, warned = time.monotonic(), False
        if self.refresh():
            return
        say(f"selfplay: waits for the learner to publish weights in {named(self.run)}")
        while not self.refresh():
            if not warned and time.monotonic() - began > PATIENCE:
                warn(f"{named(self.run)}: no weights yet; does a learner train --out there?")
                warned = True
            pause()

    def refresh(self) -> bool:
        """Reads what was published since the last call, if anything: whether there was something.

        Raises `InputError` when it is damaged, gone, or of another game or network.
        """
        stamp = policy_stamp(self.run)
        if stamp is None and self._stamp is not None:
            raise InputError("the learner's weights are gone", file=self.run)
        if stamp is None or stamp == self._stamp:
            return False
        with error_context(self.run):
            self._take(model_of(self.run, *read_policy(self.run)))
        self._stamp = stamp
        return True

    def _take(self, model: Model) -> None:
        """Takes over what was published. `InputError`: it is of another game or network."""
        metadata = model.metadata
        if (metadata["game"], metadata["rules"]) != (self.game.name, self.game.rules):
            what = f"the learner plays {metadata['game']}, not {self.game.name}, or by other rules"
            raise InputError(what)
        before = self.acting
        if self.given is None:
            self.acting = self._published(metadata)
        if self.player is not None:
            if model.net != self.model.net:
                what = f"the learner had the network {self.model.net} before, and now another one"
                raise InputError(what, text=model.net)
            self.player.load(model.weights, self._processing)
            if self.stage is not None:
                self.stage.forget()
            if before != self.acting:
                self._play_otherwise(before, metadata.get("post"))
        self.step, self.episodes = model.step, int(metadata["episodes"])
        self.batch = int(metadata["batch"])
        pace = schema.convert(metadata, _Pacing, "metadata")
        self.publish_every, self.learned, self.began = pace.publish_every, pace.learned, pace.began
        self.passed = pace.passed
        self.model = model

    def _play_otherwise(self, before: ActingPolicy, post: object) -> None:
        """Another search, or threshold and quanta, from now on. `InputError`: stages are wanted
        that were not there before, or no longer, or other post-processing in them."""
        if before.stages != self.acting.stages:
            what = "the learner wants another kind of self-play than before: start it again"
            raise InputError(what, text=post)
        if self.stage is not None:
            self.stage.configure(self.acting.searching, self.rows)
