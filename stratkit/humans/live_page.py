"""The state of a page: one JSON object, of which every change has a higher version. The page asks
for the next version again and again."""

from __future__ import annotations

import json
import pathlib
import threading
import time
from typing import Any

from stratkit.errors import printable
from stratkit.humans.live_clock import LiveClock
from stratkit.humans.page_server import PageModel
from stratkit.humans.session import Ended
from stratkit.notation.replay_page import board_parts, replay_page

LONG_POLL_S = (
    20.0  # seconds until the page, which waits for something new, is told that it should wait
)
IDLE_S = 1.0  # seconds without a request after which there is no page


class LivePage(PageModel):
    """A page about a match, of which `match` tells what does not change. `armies`: games that are
    over are shown with all their pieces."""

    armies = True
    begins = "wait"  # the phase before anything is shown
    # The clocks of who is named first in the page, and of the other one.
    clocks: tuple[LiveClock | None, LiveClock | None] = (None, None)

    def __init__(self, match: dict[str, Any]) -> None:
        self._changed = threading.Condition()
        # A page has something to show from the start, perhaps that it waits; `_seen`: the version
        # that some page has.
        self._version, self._seen = 1, 0
        # What is written into `_state` is a draft until it is published: then pages get all of it.
        self._state: dict[str, Any] = {"match": match, "phase": self.begins, "ended": []}
        self._published = _json(self._state)
        self._games: dict[int, str] = {}
        self._fetched: set[int] = set()
        self._waiting, self._last_poll = 0, 0.0  # pages that wait, and when one was answered last

    def is_open(self, patience: float = IDLE_S) -> bool:
        """Whether some page waits, or has asked just now."""
        return self._waiting > 0 or time.monotonic() < self._last_poll + patience

    def is_delivered(self) -> bool:
        """Whether some page knows how the match stands, and has the games."""
        return self._seen == self._version and self._fetched >= self._games.keys()

    def finish(self, phase: str) -> None:
        """The match is over, was left, or has stopped."""
        self._publish(phase=phase, rematch=None)

    def end(self, ended: Ended) -> None:
        """A game is over."""
        game, plies = ended.game + 1, None
        if ended.shown is not None and self.armies:
            self._games[game] = replay_page([ended.shown])
            plies = ended.shown.played.log.plies
        elif ended.page is not None:
            self._games[game], plies = ended.page, ended.pages
        told = [printable(line) for line in (*ended.told, *ended.news)]
        side = ("red", "blue")[ended.side] if ended.page is None else ""
        shown = {"game": game, "side": side, "plies": plies, "told": told}
        shown["result"] = printable(ended.result)
        self._publish(ended=[*self._state["ended"], shown], scene=None, advice=None)

    def _publish(self, **changes: Any) -> None:
        with self._changed:
            self._state |= changes
            self._published = _json(self._state)
            self._version += 1
            self._changed.notify_all()

    # ---- what the page asks ----

    def page(self) -> str:
        style, script = board_parts()
        template = pathlib.Path(__file__).with_name("play.html").read_text("utf-8")
        return template.replace("/* board.css */", style).replace("/* board.js */", script)

    def state(self, after: int) -> str | None:
        with self._changed:
            self._waiting += 1
            self._changed.wait_for(lambda: self._version > after, LONG_POLL_S)
            self._waiting -= 1
            self._last_poll = time.monotonic()
            if self._version <= after:
                return None
            self._seen = self._version
            clocks = [clock and clock.shown() for clock in self.clocks]  # as they are now
            now = _json({"version": self._version, "clocks": clocks})
            return f"{now[:-1]},{self._published[1:]}"

    def game(self, number: int) -> str | None:
        with self._changed:
            self._fetched.add(number)
            self._last_poll = time.monotonic()
        return self._games.get(number)

    def say(self, version: int, word: str) -> bool:
        return False


def _json(state: dict[str, Any]) -> str:
    return json.dumps(state, separators=(",", ":"))
