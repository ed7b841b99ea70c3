"""A page in a browser, as the front end of a person. The match waits for its words in one thread;
another one serves the page, which asks for the state again and again."""

from __future__ import annotations

import json
import pathlib
import re
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from stratkit.errors import printable
from stratkit.humans.choice import Choice
from stratkit.humans.observed_game import Offer, Turn
from stratkit.humans.page_server import PageModel, PageServer
from stratkit.humans.scenes import advice_scene, choice_scene, offer_scene, turn_scene
from stratkit.humans.session import Ended, FrontEnd
from stratkit.notation.replay_page import board_parts, replay_page
from stratkit.players.player import Explanation

# What the page says; what names a file is no word here.
WORDS = re.compile(
    r"|another|mirror|swap( [A-K]\d{1,2}){2}|([A-K]\d{1,2}){2}|\?|resign|undo|save", re.A
)
LONG_POLL_S = (
    20.0  # seconds until the page, which waits for something new, is told that it should wait
)
DRAIN_S = 5.0  # seconds that a page has to fetch how the match ended
IDLE_S = 1.0  # seconds without a request after which there is no page


class Browser(FrontEnd, PageModel):
    """The front end, and what its page is about; `match` tells the page what does not change.

    The state is one JSON object, of which every change has a higher version. A word is said to a
    version: of two pages with the same question only one can answer it. It is served from `open` to
    `close`; `write` is called with the address when there is something to see.
    """

    def __init__(self, match: dict[str, Any], write: Callable[[str], None]) -> None:
        self._write = write
        self._changed = threading.Condition()
        self._version, self._seen = 0, 0  # the version that some page has
        self._state: dict[str, Any] = {"match": match, "phase": "wait", "ended": []}
        self._messages: list[str] = []
        self._games: dict[int, str] = {}
        self._fetched: set[int] = set()
        self._waiting, self._last_poll = 0, 0.0  # pages that wait, and when one was answered last
        self._word: str | None = None
        self._last = ""
        self._server: PageServer | None = None

    def open(self, port: int) -> None:
        """Serves the page. `InputError`: not at this port."""
        self._server = PageServer(self, port)

    def close(self, failed: bool) -> None:
        """Tells the page that the match is over (or was left, or has `failed`), and ends it."""
        left = "stopped" if failed else "left" if self._last == "save" else "over"
        self._publish(phase=left)
        deadline = time.monotonic() + DRAIN_S
        with self._changed:
            while not self._is_delivered() and time.monotonic() < deadline and self._has_reader():
                self._changed.wait(IDLE_S / 10)
        assert self._server is not None
        self._server.close()

    def _has_reader(self) -> bool:
        """Whether some page waits, or has asked just now."""
        return self._waiting > 0 or time.monotonic() < self._last_poll + IDLE_S

    def _is_delivered(self) -> bool:
        """Whether some page knows how the match ended, and has the games."""
        return self._seen == self._version and self._fetched >= self._games.keys()

    # ---- what the match shows and asks ----

    def show(self, scene: Offer | Turn | Choice | Ended) -> None:
        if self._version == 0 and self._server is not None:
            self._write(f"{self._server.address}\n")
        if isinstance(scene, Ended):
            self._end(scene)
            return
        match scene:
            case Offer():
                state = offer_scene(scene)
            case Choice():
                state = choice_scene(scene)
            case Turn():
                state = turn_scene(scene)
        self._state |= {"scene": state, "advice": None}

    def _end(self, ended: Ended) -> None:
        game, plies = ended.game + 1, None
        if ended.shown is not None:
            self._games[game] = replay_page([ended.shown])
            plies = ended.shown.played.log.plies
        told = [printable(line) for line in ended.told]
        shown = {"game": game, "result": printable(ended.result), "plies": plies, "told": told}
        self._publish(ended=[*self._state["ended"], shown], scene=None, advice=None)

    def advise(self, turn: Turn, advice: Sequence[Explanation], every: bool) -> None:
        self._state["advice"] = advice_scene(turn, advice[0])

    def tell(self, text: str) -> None:
        self._messages.append(printable(text))

    def help(self, scene: Offer | Turn | Choice) -> None:
        """The page needs no words."""

    def ask(self, prompt: str) -> str | None:
        self._publish(phase="ask", messages=self._messages)
        with self._changed:
            while self._word is None:
                self._changed.wait(1.0)  # Ctrl-C just before a wait without end would go unseen
            self._last, self._word = self._word, None
            self._messages = []
            self._publish(phase="wait")  # before another page can say a word to this question
        return self._last

    def _publish(self, **changes: Any) -> None:
        with self._changed:
            self._state |= changes
            self._version += 1
            self._changed.notify_all()

    # ---- what the page asks and says ----

    def page(self) -> str:
        style, script = board_parts()
        template = pathlib.Path(__file__).with_name("play.html").read_text("utf-8")
        return template.replace("/* board.css */", style).replace("/* board.js */", script)

    def state(self, after: int) -> str | None:
        with self._changed:
            self._waiting += 1
            self._changed.wait_for(lambda: self._version > after, LONG_POLL_S)
            self._waiting -= 1
            if self._version <= after:
                return None
            self._seen, self._last_poll = self._version, time.monotonic()
            self._changed.notify_all()
            return json.dumps({"version": self._version, **self._state}, separators=(",", ":"))

    def game(self, number: int) -> str | None:
        with self._changed:
            self._fetched.add(number)
            self._last_poll = time.monotonic()
            self._changed.notify_all()
        return self._games.get(number)

    def say(self, version: int, word: str) -> bool:
        with self._changed:
            waits = self._state["phase"] == "ask" and self._word is None
            if not waits or version != self._version or not self._is_word(word):
                return False
            self._word = word
            self._changed.notify_all()
        return True

    def _is_word(self, word: str) -> bool:
        """Whether the page may say it now: what names a file is no word here."""
        scene = self._state.get("scene") or {}
        if word in scene.get("favourites", ()):
            return True
        actions = scene.get("actions")
        return word in ("save", "resign", *actions) if actions else bool(WORDS.fullmatch(word))
