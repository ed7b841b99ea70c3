"""Two people at one terminal: between their turns a screen hides the board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from stratkit.humans.choice import Choice
from stratkit.humans.live_clock import LiveClock
from stratkit.humans.observed_game import Offer, Turn
from stratkit.humans.phase import Phase
from stratkit.humans.session import Ended, FrontEnd
from stratkit.players.player import Explanation

CLEAR = "\x1b[H\x1b[2J\x1b[3J"  # a terminal's screen, and what was scrolled out of it
ROWS = 60  # empty lines that hide a board where nothing can be cleared


@dataclass
class Screen:
    """What both sit at. `holder`: whose pieces may be seen."""

    front: FrontEnd
    write: Callable[[str], None]
    clears: bool
    holder: str | None = None

    def hand_over(self, name: str) -> None:
        """Shows nothing of what was, until `name` has come."""
        self.write(CLEAR if self.clears else "\n" * ROWS)
        self.front.ask(f"hand over to {name}, who presses return> ")
        self.holder = name


@dataclass
class SharedFront(FrontEnd):
    """The place of the person `name` at the screen."""

    name: str
    screen: Screen
    _told: list[str] = field(default_factory=list)  # before the person had come

    def show(self, scene: Offer | Turn | Choice | Phase | Ended) -> None:
        if isinstance(scene, Ended):
            if self.screen.holder == self.name:  # both armies are shown once
                self.screen.front.show(scene)
            return
        if self.screen.holder != self.name:
            self.screen.hand_over(self.name)
        self.screen.front.show(scene)
        told, self._told = self._told, []
        for text in told:
            self.screen.front.tell(text)

    def advise(self, turn: Turn, advice: Sequence[Explanation], every: bool) -> None:
        self.screen.front.advise(turn, advice, every)

    def tell(self, text: str) -> None:
        if self.screen.holder == self.name:
            self.screen.front.tell(text)
        else:
            self._told.append(text)

    def help(self, scene: Offer | Turn | Choice | Phase) -> None:
        self.screen.front.help(scene)

    def ask(self, prompt: str, clock: LiveClock | None = None) -> str | None:
        return self.screen.front.ask(f"{self.name}, {prompt}", clock)
