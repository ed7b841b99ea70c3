"""The log of how moves come about."""

from __future__ import annotations

import pathlib
import sys
import threading
from collections.abc import Callable
from typing import Any

from stratkit.engine import Game
from stratkit.humans.move_log import open_log
from stratkit.players.player import Player, WrappingPlayer
from stratkit.players.spec import Contestant

LINE = "x" * 5000  # as long as the explanation of a turn


class Talker(WrappingPlayer):
    """It logs whatever it is asked."""

    def __init__(self, log: Callable[[str], None] = str) -> None:
        self.log = log

    def _decide(self, views: Any, values: bool) -> Any:
        self.log(LINE)

    def logged(self, log: Callable[[str], None]) -> Player:
        return Talker(log)


def test_games_in_threads_lose_no_line(tmp_path: pathlib.Path) -> None:
    interval = sys.getswitchinterval()
    file, threads, turns = tmp_path / "log", 4, 1000
    try:
        sys.setswitchinterval(1e-5)
        with open_log(str(file), Game("kuhn"), resume=False, force=False) as log:
            (one,) = log.begin([Contestant("one", Talker(), "talker")])

            def play() -> None:
                for _ in range(turns):
                    one.player.act(None)

            games = [threading.Thread(target=play) for _ in range(threads)]
            for game in games:
                game.start()
            for game in games:
                game.join()
    finally:
        sys.setswitchinterval(interval)
    text = file.read_text()
    assert text == f"one: {LINE}\n\n" * (threads * turns)
