"""Self-play by search at public belief states: examples for the learner of a value network."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO

from stratkit.declared import options_text
from stratkit.engine import Game
from stratkit.errors import Say, UsageError
from stratkit.models.open_model import Model, ValueModel, open_published
from stratkit.play.options import RANDOM, SelfplayOptions
from stratkit.players.registry import parse_player
from stratkit.players.searching.options import PBS_WORDS, SearchOptions
from stratkit.players.searching.pbs import open_tree, search_of
from stratkit.search.generate import Generator
from stratkit.search.leaves import ExactLeaves, NetworkLeaves
from stratkit.search.subgame import Leaves
from stratkit.storage.examples import VERSION, WITH_POLICIES, ExampleHeader, ExampleWriter
from stratkit.storage.streams import check_reader

GAMES = 256  # played at a time
DEPTH = 2  # of their subgames, where nothing else says it
POLL = 0.005  # seconds between two looks at the learner


def parse_search(text: str) -> SearchOptions:
    """What `--search cfr,iterations=128` asks for. `UsageError`: it is no search of public belief
    states, or has a key that says nothing of self-play."""
    if text.partition(",")[0] not in PBS_WORDS:
        what = f"--search takes searches of public belief states: {', '.join(PBS_WORDS)}"
        raise UsageError(what, text=text)
    try:
        options: SearchOptions = parse_player(f"search={text},{RANDOM}").options
    except UsageError as error:
        raise UsageError(error.what, where="--search", text=text) from None
    if options.mode != "safe":
        raise UsageError("self-play goes on by random iterations: mode=safe", text=text)
    if options.opening is not None:
        raise UsageError("opening= is for play: self-play searches all subgames alike", text=text)
    return options


class ValueSelfplay:
    """Plays as `options` ask and writes examples. `say` is told when it waits, `warn` when long."""

    def __init__(self, options: SelfplayOptions, say: Say, warn: Say) -> None:
        assert options.search is not None
        self.options, self.say, self.warn = options, say, warn
        self.search_options = parse_search(options.search)
        self.game = Game(options.game)
        search = search_of(self.search_options)
        self.tree = open_tree(self.game, search)
        games = options.slots or GAMES
        if search.depth is None and self.search_options.states is None:
            search = replace(search, depth=DEPTH)
        self.generator = Generator(self.tree, search, games, options.seed)
        self.leaves: Leaves = ExactLeaves()
        if search.warm and not options.by_network:
            raise UsageError("warm= takes --policy, a network with a policy head")
        self.output: int | None = None  # the descriptor to which examples go
        if options.by_network and not options.follow:
            self._open_policy()

    def _open_policy(self) -> None:
        """A network that stays as it is: of a RUN the one published, else the newest."""
        self.take(open_published(self.options.policy))

    def take(self, model: Model) -> None:
        """Values leaves by this network from now on. `InputError`: it is no value network."""
        policies = bool(self.search_options.warm)
        leaves = NetworkLeaves(model.must_be(ValueModel).network(self.game, policies))
        if self.options.device != "cpu" or self.options.bf16:
            import torch

            leaves.place(
                self.options.device, torch.bfloat16 if self.options.bf16 else torch.float32
            )
        self.leaves = leaves

    def run(self, stream: BinaryIO, done: Callable[[int], None]) -> None:
        """Plays until so many games have ended, or without end; `done` is told of games that
        end."""
        game, limit = self.game, self.options.games
        policies = self.search_options.warm is not None
        header = ExampleHeader(
            version=WITH_POLICIES if policies else VERSION,
            actions=game.actions if policies else 0,
            game=game.name,
            rules=game.rules,
            inputs=game.pbs_inputs,
            hands=game.hands,
            search=options_text(self.search_options).rstrip(","),
            seed=self.options.seed,
        )
        with ExampleWriter(stream, header) as writer:  # the header tells a learner the game
            learner = _Learner(self, header.origin) if self.options.follow else None
            while limit is None or self.generator.ended < limit:
                if learner:
                    learner.wait()
                before = self.generator.ended
                examples = self.generator.examples(self.leaves)
                writer.write(examples.rows, examples.values)
                if learner:
                    learner.pressure.begun += len(examples)
                done(self.generator.ended - before)


class _Learner:
    """The learner whose newest weights value leaves, and of whose examples at most so many may be
    in flight before another round of games is played."""

    def __init__(self, play: ValueSelfplay, origin: str) -> None:
        from stratkit.play.backpressure import BackPressure
        from stratkit.play.follower import Follower

        self.play = play
        self.follower = Follower(play.options.policy, play.game)
        self.follower.await_first(self._pause, play.say, play.warn)
        play.take(self.follower.model)
        self.pressure = BackPressure(self.follower, play.options.max_ahead, 1, origin=origin)

    def wait(self) -> None:
        """Until the learner has consumed enough; takes over what it has published."""
        self._look()
        if self.follower.publish_every > 1:  # else the learner publishes after every frame
            self.pressure.check()
        while self.pressure.in_flight >= self.pressure.max_ahead:
            self._pause()
            self._look()

    def _look(self) -> None:
        if self.follower.refresh():
            self.play.take(self.follower.model)

    def _pause(self) -> None:
        check_reader(self.play.output)
        time.sleep(POLL)
