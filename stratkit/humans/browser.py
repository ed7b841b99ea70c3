"""A page in a browser, as the front end of a person. The match waits for its words in one thread;
another one serves the page, which asks for the state again and again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from stratkit.errors import InputError, printable
from stratkit.humans.choice import Choice
from stratkit.humans.live_clock import LiveClock
from stratkit.humans.live_page import LivePage
from stratkit.humans.observed_game import Offer, Turn
from stratkit.humans.phase import Phase
from stratkit.humans.scenes import (
    advice_scene,
    choice_scene,
    offer_scene,
    phase_scene,
    turn_scene,
)
from stratkit.humans.session import Ended, FrontEnd
from stratkit.notation.squares import parse_move
from stratkit.players.player import Explanation

# What the page says; what names a file is no word here.
WORDS = re.compile(
    r"|another|mirror|swap( [A-K]\d{1,2}){2}|([A-K]\d{1,2}){2}|\?|resign|undo|save|draw|decline",
    re.A,
)
MAX_ORDERS = 1000  # characters of a line of orders, of which the person is told what is wrong
REMATCH, LEAVE = "rematch", "leave"  # said to a match that is over
GONE_S = 60.0  # seconds without a request after which nobody will say either


class Browser(LivePage, FrontEnd):
    """The front end, and what its page is about. A word is said to a version of the state: of two
    pages with the same question only one can answer it. `begin` is called when there is something
    to see.
    """

    def __init__(self, match: dict[str, Any], begin: Callable[[], None] = lambda: None) -> None:
        super().__init__(match)
        self._begin = begin
        self._messages: list[str] = []
        self._word: str | None = None
        self._last = ""

    @property
    def left(self) -> bool:
        """Whether the person has left the match, to go on later."""
        return self._last.strip().lower() == "save"

    # ---- what the match shows and asks ----

    def show(self, scene: Offer | Turn | Choice | Phase | Ended) -> None:
        self._begin()
        if isinstance(scene, Ended):
            self.end(scene)
            return
        match scene:
            case Offer():
                state = offer_scene(scene)
            case Choice():
                state = choice_scene(scene)
            case Phase():
                state = phase_scene(scene)
            case Turn():
                state = turn_scene(scene)
        self._state |= {"scene": state, "advice": None}

    def advise(self, turn: Turn, advice: Sequence[Explanation], every: bool) -> None:
        self._state["advice"] = advice_scene(turn, advice[0])

    def tell(self, text: str) -> None:
        self._messages.append(printable(text))

    def meet(self, name: str) -> None:
        """Who is met from now on."""
        self._state["match"] = {**self._state["match"], "against": printable(name)}

    def help(self, scene: Offer | Turn | Choice | Phase) -> None:
        """The page needs no words."""

    def ask(self, prompt: str, clock: LiveClock | None = None) -> str | None:
        self._publish(phase="ask", messages=self._messages)
        with self._changed:
            while self._word is None and (clock is None or clock.left):
                # Ctrl-C just before a wait without end would go unseen.
                self._changed.wait(1.0 if clock is None else min(1.0, clock.left))
            self._last, self._word = self._word or "", None
            self._messages = []
            scene = self._state.get("scene")
            if scene and scene["kind"] == "turn":
                self._state["going"] = _moved(self._last, scene)
            # Before another page can say a word to this question.
            self._publish(phase="wait", messages=[])
        return self._last

    def refresh(self, stands: bool) -> None:
        """The page, which waits, gets what was shown last; the person's move after it `stands`, or
        is taken back."""
        if not stands:
            self._state["going"] = None
        self._publish(phase="wait")

    def finish(self, phase: str) -> None:
        self._publish(phase=phase, rematch=None, messages=self._messages)

    # ---- when all games are played ----

    def offer_rematch(self) -> None:
        """Asks for another pair of games."""
        self._word = None
        self._publish(phase="over", rematch="asked", messages=self._messages)

    def show_rematch(self, wanted: str) -> None:
        """Who wants one so far: the person, or the other one."""
        if self._state["rematch"] != wanted:
            self._publish(rematch=wanted)

    @property
    def answer(self) -> str | None:
        """What the person has said to it. Who has gone has left."""
        return self._word if self._word or self.is_open(GONE_S) else LEAVE

    def begin_rematch(self, games: int) -> None:
        """The match goes on to so many games."""
        self._word, self._messages = None, []
        match = {**self._state["match"], "games": games}
        self._publish(phase="wait", rematch=None, messages=[], match=match)

    # ---- what the page says ----

    def say(self, version: int, word: str) -> bool:
        with self._changed:
            waits = self._state["phase"] == "ask" or self._state.get("rematch") is not None
            if not waits or self._word is not None or not self._is_word(version, word):
                return False
            self._word = word
            self._changed.notify_all()
        return True

    def _is_word(self, version: int, word: str) -> bool:
        """Whether the page may say it now: what names a file is no word here, and no order."""
        if self._state["phase"] != "ask":
            return word in (REMATCH, LEAVE)  # that the other one wants one is no other question
        scene = self._state.get("scene") or {}
        actions = scene.get("actions")
        if scene.get("kind") == "phase":
            return 0 < len(word) <= MAX_ORDERS and version == self._version
        known = word in ("save", "resign", *actions) if actions else bool(WORDS.fullmatch(word))
        return (known or word in scene.get("favourites", ())) and version == self._version


def _moved(word: str, scene: dict[str, Any]) -> tuple[int, int] | None:
    """The move that a word is at this turn, for pages that show it while the person waits."""
    try:
        return parse_move(word, scene["width"], scene["height"])
    except InputError:
        return None
