"""A person's place at a front end: what is shown and asked there, and what is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from stratkit.humans.draws import DrawOffers
from stratkit.players.player import Explanation, Player, Views

if TYPE_CHECKING:
    from stratkit.engine.stratego import Position
    from stratkit.humans.choice import Choice
    from stratkit.humans.live_clock import LiveClock
    from stratkit.humans.observed_game import Offer, Turn
    from stratkit.humans.phase import Phase
    from stratkit.notation.replay_page import Shown


# Instead of an action: the game is given up, agreed to be drawn, or lost by the clock.
RESIGN, AGREE, OUT_OF_TIME = -1, -2, -3


class Saved(Exception):
    """The person leaves, and will go on."""


class Undone(Exception):
    """The person has taken back a move: its game is led to the turn before."""


@dataclass(frozen=True)
class Ended:
    """A game that is over: `result` says in words how it ended for the person, who was on `side`;
    `shown` has its boards with both armies (None: it has none, or ended before the setups were
    complete). `told` has its actions in words, with all that was hidden. `news` are lines about its
    last phases, and `page` shows them all, `pages` in number, in games of phases."""

    game: int
    side: int
    result: str
    shown: Shown | None
    told: Sequence[str] = ()
    news: Sequence[str] = ()
    page: str | None = None
    pages: int = 0


class FrontEnd(Protocol):
    """Where a person plays: a terminal, or a page in a browser. What it gets to `show` and to
    `advise` is all that the person may know."""

    def show(self, scene: Offer | Turn | Choice | Phase | Ended) -> None:
        """Shows a setup that the person may take, the person's turn, or the end of a game."""

    def advise(self, turn: Turn, advice: Sequence[Explanation], every: bool) -> None:
        """Shows what another player would do at this turn: its best moves, or `every` one."""

    def tell(self, text: str) -> None:
        """Says something in words."""

    def help(self, scene: Offer | Turn | Choice | Phase) -> None:
        """Explains the words that may be said there."""

    def ask(self, prompt: str, clock: LiveClock | None = None) -> str | None:
        """The next line that the person types, or what stands for it; None: there are no more. Who
        need not wait for it returns any line when the `clock` has run out."""


# Of what was kept of a match that a person has left.
MISFIT = "does not fit this game, which begins again without this file"


@dataclass(frozen=True)
class Session:
    """A person's place at a front end. `said`: by game, the words that were said before the match
    was left, and since; `keep` keeps new ones, in `file`. `hint`: what another player thinks of the
    positions in views; None: nobody can be asked. `undoes`: a move may be taken back; `consent`: by
    leave of who this asks, with the number of the game. `draws`: what
    player `me` and the other one have offered. `clock`: the person's, if it has one. `start`: the
    position that games begin at, if not with setups. `begin` is called with each game and the
    person's side in it."""

    front: FrontEnd
    said: Mapping[int, Sequence[str]] = field(default_factory=dict)
    keep: Callable[[int, str], None] = lambda game, word: None
    hint: Callable[[Views], list[Explanation]] | None = None
    file: str | None = None
    undoes: bool = False
    draws: DrawOffers = field(default_factory=DrawOffers)
    me: int = 0
    clock: LiveClock | None = None
    begin: Callable[[int, int], None] = lambda game, side: None
    consent: Callable[[int], bool] | None = None
    start: Position | None = None


@runtime_checkable
class Interactive(Player, Protocol):
    """A person, who plays one game at a time at a front end."""

    def sit_down(self, session: Session) -> None:
        """Plays there from now on."""
        ...
