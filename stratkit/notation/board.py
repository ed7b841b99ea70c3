"""One game of Stratego in text: setups, moves as `A4A5`, positions as FENfS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np

from stratkit.arguments import checked
from stratkit.engine.arbiter import Arbiter, IllegalMove
from stratkit.engine.game import Game
from stratkit.engine.stratego import BLUE, RED, Position
from stratkit.errors import InputError
from stratkit.notation.actions import transcript
from stratkit.notation.fenfs import OBSERVER, complete, fenfs_of, parse_fenfs
from stratkit.notation.setups import parse_setup
from stratkit.notation.squares import letter, move_text, parse_move, parse_square

RESULTS = {RED: "red", BLUE: "blue", None: "draw"}

__all__ = ["Board", "IllegalMove"]


class Board(Arbiter):
    """A game of `variant`, from its setups or from a position, with all rules in force.

    `setups` are red's and blue's, each from its own side, back rank first, in red's letters
    (formats/setups.md); without them `place` gives them one by one. `rules` override the variant's,
    as in `Game`. Raises `InputError` for what is no variant, no rule or no setup of the variant.

    >>> board = Board("nano", setups=("MCL", "MCL"))
    >>> board.legal_moves
    ['B1B2', 'C1C2']
    >>> board.push("C1C2")
    >>> board.fenfs()
    'MCaaaLaaaXOY b 1'
    """

    @checked
    def __init__(
        self,
        variant: str = "classic",
        setups: Sequence[str] = (),
        rules: Mapping[str, int] | None = None,
        start: Position | None = None,
    ) -> None:
        super().__init__(Game(variant, rules), start)
        for setup in setups:
            self.place(setup)

    @classmethod
    @checked
    def from_fenfs(cls, text: str, rules: Mapping[str, int] | None = None) -> Self:
        """The game from this position on, without the history that the repetition rules need.

        Of a player's view, hidden pieces of the other side get any types that they can have: what
        the side to move may do and see does not depend on them. Raises `InputError`.
        """
        position = complete(parse_fenfs(text))
        return cls(position.variant.name, rules=rules, start=position)

    @checked
    def place(self, setup: str) -> None:
        """Places all pieces of the side whose turn it is. Raises `InputError`."""
        self.deploy(parse_setup(setup, self.variant))

    @checked
    def push(self, move: str) -> None:
        """Plays `A4A5` (or `A4 A5`, `A4-A5`).

        Raises `IllegalMove`, which says why, and `InputError` for what is no move; the game stays
        as it was.
        """
        try:
            self.move(*parse_move(move, self.variant.width, self.variant.height))
        except IllegalMove as error:
            raise IllegalMove(f"{move}: {error}") from None

    @property
    def legal_moves(self) -> list[str]:
        """The legal moves in the order of their squares. Raises `InputError` before the setups are
        complete."""
        if self.deploying:
            how = "board.place(SETUP) for red, then for blue, or Board(VARIANT, setups=(RED, BLUE))"
            raise InputError(f"nobody moves before both have set up: {how}")
        return [move_text(from_, to, self.variant.width) for from_, to in self.legal()]

    @property
    def result(self) -> str:
        """`red`, `blue` or `draw`; "" while the game runs. `ending` says how it ended."""
        return RESULTS[self.winner] if self.ending else ""

    @property
    def setups(self) -> tuple[str, str] | None:
        """Red's and blue's; None before they are complete, or when the game began later."""
        if self.deploying or self.start:
            return None
        return transcript(self.variant, np.array(self.actions, np.int32))[0]

    @checked
    def piece_at(self, square: str) -> str | None:
        """The StraDoS2 letter of the piece on `A4`, B to M red's, N to Y blue's, or None."""
        piece = self.pieces().get(parse_square(square, self.variant.width, self.variant.height))
        return letter(*piece) if piece else None

    @checked
    def fenfs(self, view: int | None = OBSERVER, extended: bool = False) -> str:
        """The position in one line (formats/fenfs.md), as RED, BLUE or an observer sees it.

        `extended` adds the squares of the pieces that have moved. Raises `ValueError` in
        deployment.
        """
        return str(fenfs_of(self.position(), view, extended))

    def _repr_svg_(self) -> str | None:
        """The board as notebooks draw it; None in deployment, where they show the text."""
        if self.deploying:
            return None
        from stratkit.notation.picture import picture, svg

        return svg(picture(parse_fenfs(self.fenfs()), OBSERVER))

    def __repr__(self) -> str:
        where = "in deployment" if self.deploying else self.fenfs()
        return f"<Board {self.variant.name}: {where}>"
