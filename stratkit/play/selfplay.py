"""Self-play: one policy on every seat, its games as episodes, in the order of their numbers."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.nets import build
from stratkit.play.table import CUT, Finished, Seating, Table, in_order
from stratkit.players.network import NetworkPlayer
from stratkit.players.open import open_player
from stratkit.players.player import Player
from stratkit.players.spec import PlayerSpec
from stratkit.storage.checkpoints import POLICY_FILE, policy_stamp, read_policy
from stratkit.storage.episodes import Episode

Opening = Callable[[int], npt.NDArray[np.int32]]  # game number -> actions that begin the game


def ending_names(game: Game) -> tuple[str, ...]:
    """The endings of self-play episodes: the game's, and `cut`."""
    return (*game.endings, CUT)


def as_episode(game: Game, finished: Finished) -> Episode:
    """A finished game as the episode to store."""
    return Episode(
        number=finished.seating.number,
        step=finished.step,
        ending=finished.ending or len(game.endings),
        returns=finished.returns,
        actions=finished.actions,
        mu=finished.mu,
    )


def seatings(game: Game, numbers: Iterable[int], opening: Opening | None) -> Iterator[Seating]:
    """The games `numbers`, the same player on every seat."""
    seats = (0,) * game.players
    for number in numbers:
        yield Seating(number, seats, opening(number)) if opening else Seating(number, seats)


class Follower:
    """The policy that a learner publishes in RUN, and how many episodes it has consumed."""

    def __init__(self, run: str, game: Game) -> None:
        self.run, self.game = run, game
        self.player: NetworkPlayer | None = None
        self.step, self.episodes, self.batch = -1, 0, 1
        self._stamp: object = None

    def make_player(self, seed: int, rows: int) -> NetworkPlayer:
        """The player that plays by the published weights, now and later."""
        self.player = NetworkPlayer(build(self.net, self.game.shape, seed=0), seed, rows)
        self.player.load(self.weights)
        return self.player

    def refresh(self) -> bool:
        """Looks whether something new was published, and plays by it from now on."""
        stamp = policy_stamp(self.run)
        if stamp is None or stamp == self._stamp:
            return False
        weights, metadata = read_policy(self.run)
        if (metadata["game"], metadata["rules"]) != (self.game.name, self.game.rules):
            raise InputError(
                f"the learner plays {metadata['game']}, not {self.game.name}, or by other rules",
                file=self.run,
            )
        self.step, self.episodes = int(metadata["step"]), int(metadata["episodes"])
        self.batch = int(metadata["batch"])
        self.net = str(metadata["net"])
        self._stamp = stamp
        self.weights = weights
        if self.player is not None:
            self.player.load(weights)
        return True


def open_policy(
    path: str, game: Game, seed: int, rows: int
) -> tuple[Player, str | None, int]:
    """The online network of a checkpoint, or the newest that a RUN has published, as a player; the
    SHA-256 of its file, and its step."""
    published = os.path.join(path, POLICY_FILE)
    file = published if os.path.isfile(published) else path
    entrant = open_player(PlayerSpec(path, file, {"net": "online"}), game, seed, rows)
    return entrant.player, entrant.sha256, entrant.step


def bounded(
    games: Iterator[Seating], follower: Follower, lead: int
) -> Iterator[Seating | None]:
    """Begins no game that is more than `lead` episodes beyond what the learner has consumed."""
    before = follower.episodes
    for begun, seating in enumerate(games):
        while begun - (follower.episodes - before) >= lead:
            yield None
        yield seating


def play_episodes(
    table: Table, numbers: Iterable[int], follower: Follower | None = None
) -> Iterator[list[Episode]]:
    """Plays all games of the table; yields, after every round, the episodes whose turn it is. An
    empty list while the table is idle means: waiting for the learner."""

    def rounds() -> Iterator[list[Finished]]:
        for finished in table.rounds():
            yield finished
            if follower is not None:
                follower.refresh()
                table.policy_step = follower.step

    for ready in in_order(rounds(), iter(numbers)):
        yield [as_episode(table.game, finished) for finished in ready]


def numbers_of(first: int, count: int | None) -> Iterable[int]:
    """The game numbers from `first` on, without end when `count` is None."""
    return itertools.count(first) if count is None else range(first, first + count)


def part_of(games: int, part: int, parts: int) -> tuple[int, int]:
    """The first game and the number of games of part `part` (from 1) when `games` games are divided
    into `parts` runs of neighbours."""
    first = games * (part - 1) // parts
    return first, games * part // parts - first
