"""Between two people a move is taken back if the other one agrees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stratkit.humans.choice import Choice
from stratkit.humans.human import HumanPlayer
from stratkit.humans.session import FrontEnd, Saved

COLUMN = "answer"
GIVE, DECLINE = "give it back", "decline"


@dataclass(frozen=True)
class Consent:
    """Asks `other`, who sits at `front`, whether the person called `name` may take a move back.
    `refresh` lets the other one see again what it saw before, and its move if that stands."""

    name: str
    other: HumanPlayer
    front: FrontEnd
    refresh: Callable[[bool], None]

    def __call__(self, game: int) -> bool:
        """`Saved`: the other one leaves."""
        facts = f"{self.name} asks to take back the last move, and yours after it\n"
        names, shown = {GIVE: 0, DECLINE: 1}, self.other.shown
        scene = Choice(
            game, shown.side if shown else 0, COLUMN, facts, "", None, names, resigns=False
        )
        self.front.show(scene)
        while (line := self.front.ask(f"{COLUMN}> ")) is not None:
            word = " ".join(line.lower().split())
            if word == "save":
                break
            if word in names:
                if shown is not None:
                    self.front.show(shown)
                self.refresh(word == DECLINE)
                return word == GIVE
            self.front.help(scene)
        raise Saved
