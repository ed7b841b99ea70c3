"""Games in threads of their own: a slow one holds back few others."""

from __future__ import annotations

import threading

from running import PATIENCE
from stratkit.engine import Game
from stratkit.play.seating import Seating
from stratkit.players.baselines import RandomPlayer
from stratkit.players.player import Decision, Views
from stratkit.ucc.engine_pool import MAX_AHEAD, ProgramGames

CONCURRENCY = 2
LAST = MAX_AHEAD * CONCURRENCY  # of the games that may begin while game 0 goes on


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
