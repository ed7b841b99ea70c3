"""Games in threads of their own: a slow one holds back few others, and no thoughts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from players.sharp import sharp_player
from running import PATIENCE
from stratkit.arrays import Float32s
from stratkit.declared import read_options
from stratkit.engine import Game, Subgames
from stratkit.nets.evaluator import Evaluator
from stratkit.play.finished import Finished
from stratkit.play.seating import Seating
from stratkit.players.baselines import RandomPlayer
from stratkit.players.factory import open_player
from stratkit.players.player import Decision, Player, Views
from stratkit.players.registry import parse_player
from stratkit.players.searching.options import SearchOptions
from stratkit.players.searching.pbs import PBSPlayer
from stratkit.players.searching.stage import SearchStage
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.pipeline import PostprocessedPlayer
from stratkit.ucc.engine_pool import MAX_AHEAD, ProgramGames

CONCURRENCY = 2
LAST = MAX_AHEAD * CONCURRENCY  # of the games that may begin while game 0 goes on
WAIT = PATIENCE / 6  # seconds that a game holds up its player at most, for another one to get on


class Slow(RandomPlayer):
    """Waits in game 0 until the last game that may begin has begun, and then for a later one."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.last, self.later = threading.Event(), threading.Event()
        self.seen: tuple[bool, bool] | None = None

    def act(self, views: Views) -> Decision:
        number = int(views.games[0])
        if number >= LAST:
            (self.later if number > LAST else self.last).set()
        if number == 0 and self.seen is None:
            self.seen = self.last.wait(PATIENCE), self.later.wait(0.5)
        return super().act(views)


def test_few_games_overtake_a_slow_one() -> None:
    slow, quick = Slow(1), RandomPlayer(2)
    games = ProgramGames(Game("nano"), [slow, quick], ["slow", "quick"], CONCURRENCY, print)
    seatings = (Seating(number, (0, 1)) for number in range(2 * LAST))
    ended = [int(f.episodes.number[0]) for f in games.rounds(seatings) if f is not None]
    assert slow.seen == (True, False)
    assert sorted(ended) == list(range(2 * LAST))


class Held:
    """`compute`, in which the first thread waits until another one has asked for it, too."""

    def __init__(self, compute: Callable[..., Any]) -> None:
        self.compute = compute
        self.passed = threading.Event()
        self.in_time: bool | None = None
        self._lock, self._first = threading.Lock(), 0

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        me = threading.get_ident()
        with self._lock:
            holds, self._first = not self._first, self._first or me
        if holds:
            self.in_time = self.passed.wait(WAIT)
        elif me != self._first:
            self.passed.set()
        return self.compute(*arguments, **more)


def two_games(game: Game, player: Player) -> list[Finished]:
    """Both at a time, against a player that chooses at random."""
    names = ["ours", "random"]
    games = ProgramGames(game, [player, RandomPlayer(2)], names, CONCURRENCY, print)
    seatings = (Seating(number, (0, 1)) for number in range(2))
    return [finished for finished in games.rounds(seatings) if finished]


def of_network() -> tuple[PostprocessedPlayer, Held]:
    """A network's policy, post-processed."""
    game = Game("nano")
    raw = sharp_player(game)
    held = Held(raw.evaluator.evaluate)
    raw.evaluator.evaluate = held  # type: ignore[method-assign]
    return PostprocessedPlayer(raw.evaluator, game, 1, PostProcessing(threshold=0.01)), held


def of_search() -> tuple[PostprocessedPlayer, Held]:
    """A network's policy, and a search, in which it is held up."""
    game = Game("nano")
    raw = sharp_player(game)
    rollouts = Evaluator("plain", raw.evaluator.network, 16)
    held = Held(rollouts.evaluate_distinct)
    rollouts.evaluate_distinct = held  # type: ignore[method-assign]
    asked = read_options(SearchOptions, {"search": "mmd", "rollouts": "8", "depth": "1"})
    search = SearchStage(game, rollouts, asked, 1)
    return PostprocessedPlayer(raw.evaluator, game, 1, PostProcessing(), None, search), held


def of_public_beliefs() -> tuple[PBSPlayer, Held]:
    """A search of public belief states, all of whose leaves are worth nothing."""
    asked = parse_player("search=cfr,iterations=4,depth=1,random")
    player = open_player(asked, Game("nano"), 1, 8).player
    assert isinstance(player, PBSPlayer)

    def nothing(subgames: Subgames, player: int, reach: object) -> Float32s:
        return np.zeros((subgames.leaves, subgames.tree.game.hands), np.float32)

    player.leaves = held = Held(nothing)
    return player, held


@pytest.mark.parametrize("opened", [of_network, of_search, of_public_beliefs])
def test_a_player_thinks_on_several_games_at_a_time(
    opened: Callable[[], tuple[Player, Held]],
) -> None:
    """Nor does a game's time count what another one waits for."""
    player, held = opened()
    ended = two_games(Game("nano"), player)
    assert held.in_time
    times = [note.times[0] for one in ended for note in one.notes.values() if note.times]
    assert len(times) == 2 and min(times) < WAIT / 2
