"""A game as its log tells it, whatever file that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stratkit.engine.stratego import BLUE, RED, Position, Variant
from stratkit.errors import InputError
from stratkit.notation.setups import Setup
from stratkit.notation.squares import move_words

FREE = "classicfree"

# The endings that the board decides, as the engine names them.
ON_THE_BOARD = ("no_legal_move", "flag_captured", "no_movable_pieces")
LIMITS = ("max_plies", "max_quiet")  # rules that end games, and their endings


@dataclass(frozen=True)
class Log:
    """What one log says of one game.

    variant      the board
    kind         Gravon's word for the type of game; "": it has none
    setups       red's and blue's, uint8 [zone], from their owners' views; None: the game ended
                 before they were complete, or began at `start`
    moves        two bytes a move, its absolute squares
    players      nicks, red's and blue's
    reason       the ending in one word, the engine's where it has one
    winner       RED, BLUE or None (a draw)
    lines        by move, its line in the file; empty: it has none
    rescues      (moves before it, text) of what only puts a piece back
    stamp        the words of a .gsn's header that nothing else says
    remarks      faults that the reader survived
    broken       the fault that it did not survive: the moves before it were read
    late         how many of the last moves stand after END in the file: they belong to the game as
                 far as they are legal
    one_digit    whether every rank was written as one digit, which may count from 0
    open_types   types that both sides know from the start
    rules        by which it was played; None: nobody knows
    start        the position that it began at, if it did not begin with setups
    date         year, month and day when it ended; None: only its file's name may tell
    """

    variant: Variant
    kind: str
    setups: tuple[Setup, Setup] | None
    moves: bytes
    players: tuple[str, str]
    reason: str
    winner: int | None
    lines: Sequence[int] = ()
    rescues: tuple[tuple[int, str], ...] = ()
    stamp: tuple[str, str] = ("X38FA11", "1")
    remarks: tuple[InputError, ...] = ()
    broken: InputError | None = None
    late: int = 0
    one_digit: bool = False
    open_types: tuple[int, ...] = ()
    rules: Mapping[str, int] | None = None
    start: Position | None = None
    date: tuple[int, int, int] | None = None

    @property
    def has_board(self) -> bool:
        """Whether there is a board that the moves begin at."""
        return self.setups is not None or self.start is not None

    def mover(self, ply: int) -> int:
        """Who makes move `ply`, from 0."""
        return (ply + (self.start.side if self.start else RED)) % 2

    @property
    def plies(self) -> int:
        """The number of plies."""
        return len(self.moves) // 2

    @property
    def free(self) -> bool:
        """Whether the setups may have any pieces."""
        return self.kind == FREE

    @property
    def played_out(self) -> bool:
        """Whether the board decided, and not a player, a clock or the server."""
        return self.reason in ON_THE_BOARD

    @property
    def by_rules(self) -> bool:
        """Whether the board decided, or a limit of the rules."""
        return self.reason in (*ON_THE_BOARD, *LIMITS)

    @property
    def returns(self) -> tuple[float, float]:
        """Red's and blue's: 1, 0 or -1."""
        red = {RED: 1.0, BLUE: -1.0, None: 0.0}[self.winner]
        return red, -red

    @property
    def ending(self) -> str:
        """How the game ended, and for whom, in words."""
        won = {RED: "red won", BLUE: "blue won", None: "a draw"}[self.winner]
        return f"{self.reason.replace('_', ' ')}, {won}"

    def move_text(self, ply: int) -> str:
        """Move `ply` (from 0) as logs write it: A4-A5."""
        [text] = move_words(
            self.moves[2 * ply : 2 * ply + 2], self.variant.width, self.variant.height, "-"
        )
        return text

    def where(self, ply: int) -> str:
        """Where move `ply` (from 0) is, for messages."""
        line = f"line {self.lines[ply]}, " if self.lines else ""
        return f"{line}move {ply + 1}"
