"""What the side that acts in a game may ask of it, beside its observation and legal actions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch, known_actions, past_actions, worlds

Actions = npt.NDArray[np.int32]


@dataclass(frozen=True)
class SideState:
    """A game whose true state stays out of reach: answers depend on what the side knows, and on
    nothing else. They are true until the game goes on.

    side    who acts in it
    game    its number, which with `number` keys every random draw
    number  of the action in the game
    """

    _batch: Batch | None  # None: there is no game to ask
    _row: int  # where it is in the batch
    side: int
    game: int
    number: int
    _actions: Actions | None = None  # int32 [k], what was played; None: nobody can say
    _true_sight: bool = False  # worlds copy the true state ("TrueSight learning", AlphaZe**)

    def moves(self) -> list[tuple[int, int]]:
        """Of a game where a move is several actions, the legal moves (square, destination) in the
        side's frame, if a move begins here."""
        return [] if self._batch is None else self._batch.moves(self._row, self.side)

    def worlds(self, n: int, seed: int = 0) -> Batch:
        """`n` states that the side cannot tell from the true one (`stratkit.engine.worlds`): a
        function of what it knows, of `seed`, game and number. `ValueError`: there are none."""
        if self._batch is None:
            raise ValueError("these views have no worlds")
        if self._true_sight:
            return Batch.gathered([(self._batch, np.full(n, self._row))])
        return worlds(self._batch, self._row, n, seed, self.game, self.number)

    def history(self) -> Actions | None:
        """int32 [k], the game's actions so far, each in its side's frame, as this side knows them
        (`stratkit.engine.known_actions`); None: they cannot be told so."""
        if self._batch is None or self._actions is None:
            return None
        return known_actions(self._batch.game, self._actions, self.side)

    def past(self) -> Actions | None:
        """int32 [k], the actions before the simultaneous turn that the side is in, which everybody
        knows (`stratkit.engine.past_actions`); None: nobody can tell them."""
        if self._batch is None or self._actions is None:
            return None
        return past_actions(self._batch.game, self._actions)

    def turn(self) -> Batch | None:
        """One state, where the simultaneous turn began that the side is in, which everybody knows
        (`Batch.rewind`); None where players move in turn. `ValueError`: nobody can say."""
        if self._batch is None:
            raise ValueError("these views have no turns")
        begun = Batch.gathered([(self._batch, [self._row])])
        if begun.turns()[0] < 0:
            return None
        begun.rewind()
        return begun
