"""A person at a terminal, as a player."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from stratkit.engine import Game, observation_dtype, sample
from stratkit.engine.observation import NO_SQUARE
from stratkit.engine.random_streams import Stream
from stratkit.engine.stratego import (
    BLUE,
    PIECE,
    SIDE,
    Position,
    flip_cells,
    placements,
    setup_of,
    variant,
)
from stratkit.errors import InputError, error_context
from stratkit.notation.drawing import KEY, draw
from stratkit.notation.fenfs import fenfs_of
from stratkit.notation.setups import parse_setup, read_setups, setup_text
from stratkit.notation.squares import move_text, parse_move, square_text
from stratkit.players.open import Entrant, check_board
from stratkit.players.options import options_text
from stratkit.players.player import Decision, Games, Player, Sides, Terminal, Views
from stratkit.players.registry import Setting
from stratkit.players.spec import PlayerSpec

HELP = """A move is written like A4 A5. Other words:
?  what the other player's network would play here     moves  all legal moves
board  draws it again    resign    save  leave, and go on later    help  this"""
RESIGN = -1  # instead of an action


class Saved(Exception):
    """The person leaves, and will go on."""


class HumanPlayer(Player):
    """Asks for whole moves and answers with their actions, one game at a time.

    `setup`: letters as in a `.setups` file, or None: a uniformly random one is offered. A person
    has chosen with probability 1.
    """

    def __init__(self, game: Game, seed: int, setup: npt.NDArray[np.uint8] | None = None) -> None:
        self.game, self.seed, self.setup = game, seed, setup
        self.variant = variant(game.name)
        self.dtype = observation_dtype(self.variant.squares)
        self.terminal = Terminal(ask=lambda: None, show=lambda text: None)
        self._words = 0  # that were said in this game
        self._placements: list[int] = []
        self._destination = -1

    def sit_down(self, terminal: Terminal) -> None:
        self.terminal = terminal

    def begin(self, games: Games, sides: Sides) -> None:
        self._words = 0

    def act(self, views: Views) -> Decision:
        actions = np.array([self._action(views, row) for row in range(len(views))], np.int32)
        mu = np.ones(len(views), np.float32)
        return Decision(actions, mu, resigned=actions == RESIGN)

    def _action(self, views: Views, row: int) -> int:
        seen = views.observations[row].view(self.dtype)[0]
        if seen["phase"]:
            return self._place(views, row)
        if seen["stage"]:
            return self._destination
        move = self._move(views, row, int(views.sides[row]))
        if move is None:
            return RESIGN
        start, self._destination = move
        return start

    # ---- deployment ----

    def _place(self, views: Views, row: int) -> int:
        done = int(views.numbers[row]) % self.variant.pieces
        if done == 0:
            setup = self._choose_setup(views, row)
            self._placements = placements(self.variant, setup).tolist()
        return self._placements[done]

    def _choose_setup(self, views: Views, row: int) -> npt.NDArray[np.uint8]:
        """The setup that was given, or one that the person types or agrees to."""
        number = int(views.games[row])
        if self.setup is not None:
            return self.setup
        offered = self._drawn(number)
        letters = setup_text(offered)
        for word in self._lines(number, f"Your setup (return: {letters})> "):
            try:
                setup = parse_setup(word, self.variant) if word else offered
            except InputError as error:
                self.terminal.show(f"{error}\n")
                continue
            self._keep(number, word)
            return setup
        raise Saved

    def _drawn(self, number: int) -> npt.NDArray[np.uint8]:
        """A uniformly random setup."""
        free = np.zeros((1, self.variant.squares), np.uint8)
        free[0, : self.variant.zone] = 1
        actions = np.zeros(self.variant.pieces, np.int32)
        for at in range(len(actions)):
            games, numbers = np.array([number], np.int64), np.array([at], np.int32)
            actions[at] = sample(None, free, self.seed, games, numbers, Stream.HUMAN_SETUP)[0][0]
            free[0, actions[at]] = 0
        return setup_of(self.variant, actions)

    # ---- play ----

    def _move(self, views: Views, row: int, side: int) -> tuple[int, int] | None:
        """What the person moves; None: the game is given up."""
        number, moves = int(views.games[row]), views.moves(row)
        self._show(views, row, side)
        for word in self._lines(number, f"{('red', 'blue')[side]}> "):
            if word == "resign":
                self._keep(number, word)
                return None
            try:
                move = self._understand(word, views, row, side)
            except InputError as error:
                self.terminal.show(f"{error}\n")
                continue
            if move is None:
                continue
            if move not in moves:
                self.terminal.show(f"{word}: not a legal move ({self._why(views, row, move)})\n")
                continue
            self._keep(number, word)
            return move
        raise Saved

    def _understand(self, word: str, views: Views, row: int, side: int) -> tuple[int, int] | None:
        """The move that a word means, in the side's frame; None: it meant something else."""
        if word == "?":
            self.terminal.show(self._hint(views, row, side))
        elif word == "moves":
            text = " ".join(self._text(move, side) for move in views.moves(row))
            self.terminal.show(f"{text}\n")
        elif word == "board":
            self._show(views, row, side)
        elif word == "save":
            raise Saved
        elif word in ("help", ""):
            self.terminal.show(f"{HELP}\n{KEY}\n")
        else:
            move = parse_move(word.upper(), self.variant.width, self.variant.height)
            return self._turned(move, side)
        return None

    def _hint(self, views: Views, row: int, side: int) -> str:
        if self.terminal.hint is None:
            return "nobody here can be asked\n"
        some = replace(views.take(slice(row, row + 1)), moves=lambda _: views.moves(row))
        return self.terminal.hint(some, side)

    def _why(self, views: Views, row: int, move: tuple[int, int]) -> str:
        cells = views.observations[row].view(self.dtype)["cells"][0]
        own = cells[move[0]] & (PIECE | SIDE) == PIECE
        if not own:
            return "no piece of yours stands there"
        ends = [end for start, end in views.moves(row) if start == move[0]]
        return "this piece cannot go there now" if ends else "this piece cannot move now"

    def _text(self, move: tuple[int, int], side: int) -> str:
        return move_text(*self._turned(move, side), self.variant.width)

    def _turned(self, move: tuple[int, int], side: int) -> tuple[int, int]:
        """A move in the side's frame as one on the board, or the other way round."""
        return self.variant.framed(side, move[0]), self.variant.framed(side, move[1])

    def _show(self, views: Views, row: int, side: int) -> None:
        """The board, and what the enemy has just done."""
        seen = views.observations[row].view(self.dtype)[0]
        cells = seen["cells"].copy()
        if side == BLUE:
            cells = flip_cells(cells)
        position = Position(self.variant, cells, side, int(seen["plies"]))
        start, end, attacker = (int(x) for x in seen["moves"][0])
        text = draw(fenfs_of(position, side), side)
        if start != NO_SQUARE:
            what = "attacked" if attacker != NO_SQUARE else "went to"
            squares = self._turned((start, end), side)
            names = [square_text(square, self.variant.width) for square in squares]
            text += f"{names[0]} {what} {names[1]}\n"
        self.terminal.show(text)

    # ---- what is said ----

    def _lines(self, number: int, prompt: str) -> Iterator[str]:
        """What was said before, then what the person types."""
        before = self.terminal.said.get(number, ())
        if self._words < len(before):
            yield before[self._words]  # who accepts it asks for no other line
            raise InputError("what was said does not fit this game", text=before[self._words])
        while True:
            self.terminal.show(prompt)
            line = self.terminal.ask()
            if line is None:
                return
            yield " ".join(line.split())

    def _keep(self, number: int, word: str) -> None:
        """A word that counts: it is said again when the match is resumed."""
        if self._words >= len(self.terminal.said.get(number, ())):
            self.terminal.keep(number, word)
        self._words += 1


def open_human(spec: PlayerSpec, game: Game, setting: Setting) -> Entrant[Player]:
    """The person that `spec` asks for."""
    check_board(spec, game)
    file = spec.options.setup
    setup = read_setup(file, game) if file else None
    player = HumanPlayer(game, setting.seed, setup)
    return Entrant(spec.name or spec.spec, player, f"{options_text(spec.options)}{spec.spec}")


def read_setup(file: str, game: Game) -> npt.NDArray[np.uint8]:
    """The first setup of a `.setups` file."""
    with error_context(file, only=OSError), open(file, "rb") as stream:
        for _, setup in read_setups(stream, file, variant(game.name)):
            if isinstance(setup, InputError):
                raise setup
            return setup
    raise InputError("no setup in it", file=file)
