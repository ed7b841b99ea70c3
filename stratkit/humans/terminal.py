"""The terminal at which a person plays: what is shown there, drawn with characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from stratkit.engine import Game
from stratkit.engine.stratego import RED, TYPES, Variant
from stratkit.errors import printable
from stratkit.humans.choice import SEATS, Choice
from stratkit.humans.live_clock import LiveClock
from stratkit.humans.observed_game import Counts, Offer, Turn, played_ply
from stratkit.humans.phase import Phase
from stratkit.humans.session import Ended, FrontEnd
from stratkit.notation.drawing import STYLES, Style, draw
from stratkit.notation.fenfs import OBSERVER, fenfs_of
from stratkit.notation.setups import setup_text
from stratkit.notation.squares import LETTER_ORDER, letter
from stratkit.players.player import Explanation
from stratkit.players.testtime.explain import text as explanation_text

SETUP_HELP = """Return takes the setup that is drawn. Other words:
another  draws another one    mirror  exchanges left and right    swap A1 B3  exchanges two squares
FILE  offers the first setup of a file, FILE#NAME the one called so    save  leave, and go on later
NAME  offers a favourite, as favourites=FILE,human has them    help  this
Or the letters of a setup, its back rank first, from your left:"""
HELP = """A move is written like A4A5, or A4 A5. Other words:
?  the five best moves of the other player's network for you, with its value    ? all  all of them
moves  all legal moves    board  draws it again    resign    undo  takes back your last move
draw  offers a draw, or accepts one    decline  declines it
save  leave, and go on later    help  this"""
ORDERS_HELP = """Moves are like A PAR-BUR, F STP(SC)-BOT or, by convoy, A LON-NWY VIA CONVOY.
Supports are like A MAR S A PAR-BUR or A MAR S A BUR, convoys like F NTH C A LON-NWY; A PAR H holds.
Retreats are like A BUR-PAR or A BUR D, builds A PAR B or F STP/NC B, disbands A PAR D; waive builds
nothing. Types can be left out: par-bur. Words do for signs: army par to bur, build a par.
Several go with ; between them. A later order of a unit replaces the one before. Other words:
send  sends the orders; units without one hold    orders  those given so far    clear  drops them
legal  what each unit may do, legal A PAR one of them    board  shows the phase again
undo  takes back what was sent last    save  leave, and go on later    help  this"""
BEST = 5  # moves that `?` shows
DRAWS = {
    "theirs": "they offer a draw: draw accepts it, decline or a move declines it",
    "declined": "they have declined the draw",
}


@dataclass(frozen=True)
class Terminal(FrontEnd):
    """`read` gives the next line (None: there are no more), `write` writes text. Boards are drawn
    in a style of `fenfs show`, in colour or not."""

    read: Callable[[], str | None]
    write: Callable[[str], None]
    style: Style = STYLES["ascii"]
    colour: bool = False

    def ask(self, prompt: str, clock: LiveClock | None = None) -> str | None:
        self.write(prompt)
        return self.read()

    def tell(self, text: str) -> None:
        self.write(f"{text}\n")

    def show(self, scene: Offer | Turn | Choice | Phase | Ended) -> None:
        match scene:
            case Offer():
                self._show_offer(scene)
            case Choice():
                self._show_choice(scene)
            case Phase():
                self._show_phase(scene)
            case Turn():
                self._show_turn(scene)
            case Ended():
                self._show_end(scene)

    def advise(self, turn: Turn, advice: Sequence[Explanation], every: bool) -> None:
        game = Game(turn.position.variant.name)
        for one in advice:
            most = len(one.moves) if every else BEST
            self.write(explanation_text(one, game, most, False))

    def help(self, scene: Offer | Turn | Choice | Phase) -> None:
        if isinstance(scene, Choice):
            words = ["resign", "save", "help"] if scene.resigns else ["save", "help"]
            self.tell(f"{scene.column}: {', '.join(scene.actions)}\nor: {', '.join(words)}")
        elif isinstance(scene, Offer):
            self.tell(f"{SETUP_HELP}\n{letters_text(scene.variant)}")
        elif isinstance(scene, Phase):
            self.tell(ORDERS_HELP)
        else:
            self.tell(f"{HELP}\n{self.style.key}")

    def _show_offer(self, offer: Offer) -> None:
        title = f"game {offer.game + 1}: you play {('red', 'blue')[offer.side]}"
        fenfs = fenfs_of(offer.position, offer.side)
        self.write(draw(fenfs, offer.side, self.colour, self.style, title=title))
        self.tell(f"in letters: {setup_text(offer.setup)}")
        if offer.favourites:
            self.tell(f"favourites, by name: {', '.join(map(printable, offer.favourites))}")

    def _show_choice(self, choice: Choice) -> None:
        self.tell(f"game {choice.game + 1}: you act {SEATS[choice.side]}")
        self.write(choice.facts + choice.board)
        if not choice.board:
            self.tell(f"{choice.column}: {', '.join(choice.actions)}")

    def _show_phase(self, phase: Phase) -> None:
        if phase.fresh:
            for name, lines in phase.past[len(phase.past) - phase.new :]:
                self.write("".join(f"{line}\n" for line in (f"{name}:", *lines)))
            self.tell(f"game {phase.game + 1}: you play {phase.power}, {phase.name}: {phase.asks}")
            self.write(phase.drawn + "".join(f"{line}\n" for line in phase.standing))
            self.tell("send sends the orders, help tells the words")
        self.tell(f"ordered: {'; '.join(phase.texts) or 'nothing'}")
        if phase.missing:
            self.tell(f"without an order: {', '.join(phase.missing)} ({phase.default})")
        elif len(phase.orders) < abs(phase.owed):
            self.tell(f"without another order {phase.default}")

    def _show_turn(self, turn: Turn) -> None:
        variant, fenfs = turn.position.variant, fenfs_of(turn.position, turn.side)
        self.write(draw(fenfs, turn.side, self.colour, self.style, turn.last))
        own, theirs = turn.lost if turn.side == RED else turn.lost[::-1]
        rows = {"you lost": own, "they lost": theirs, "they hide": turn.hidden}
        self.write(counts_text(variant, self.style, rows))
        for ply in turn.plies[len(turn.plies) - turn.new :]:
            if ply.enemy is not None or ply.side != turn.side:
                self.tell(ply.told(turn.side, variant))
        if turn.draw in DRAWS:
            self.tell(DRAWS[turn.draw])

    def _show_end(self, ended: Ended) -> None:
        if ended.told:
            self.tell("; ".join(ended.told))
        self.write("".join(f"{line}\n" for line in ended.news))
        if ended.shown is None:
            return
        played = ended.shown.played
        last, variant = len(played.boards) - 1, played.log.variant
        plies = [played_ply(played, ply) for ply in range(max(last - 2, 0), last)]
        for ply in plies:
            if ply.enemy is not None:
                self.tell(ply.told(ended.side, variant))
        end = (plies[-1].start, plies[-1].end) if plies else None
        position = played.position(last)
        title = f"the end of game {ended.game + 1}, ply {position.plies}: both armies"
        board = draw(fenfs_of(position), OBSERVER, self.colour, self.style, end, title, ended.side)
        self.write(board)


def counts_text(variant: Variant, style: Style, rows: dict[str, Counts]) -> str:
    """A table of pieces by type, for types that the variant has; lines ended by a line feed."""
    types = np.flatnonzero(variant.counts).tolist()
    lines = [" " * 9 + "".join(f"{style.ranks[type_]:>4}" for type_ in types)]
    for name, counts in rows.items():
        cells = "".join(f"{counts[type_] or style.empty:>4}" for type_ in types)
        lines.append(f"{name:9}{cells}")
    return "".join(f"{line}\n" for line in lines)


def letters_text(variant: Variant) -> str:
    """What the letters of a setup mean."""
    names = [name for name in LETTER_ORDER if variant.counts[TYPES.index(name)]]
    pieces = ", ".join(f"{letter(RED, TYPES.index(name))} {name}" for name in names)
    return f"A an empty square, {pieces}"
