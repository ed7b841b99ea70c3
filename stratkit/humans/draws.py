"""Offers of a draw between the two at a board. An offer goes with a move: the other one answers it
at its turn, and a move of its own declines it."""

from __future__ import annotations


class DrawOffers:
    """What stands between player 0 and player 1 of one game at a time."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """A game begins, in which nothing was offered."""
        self._by: int | None = None
        self._declined: int | None = None  # whose offer was

    def offer(self, me: int) -> None:
        """This player offers a draw."""
        self._by, self._declined = me, None

    def is_offered_to(self, me: int) -> bool:
        """Whether the other one's offer stands."""
        return self._by == 1 - me

    def is_offered_by(self, me: int) -> bool:
        """Whether this player's offer stands."""
        return self._by == me

    def decline(self, me: int) -> None:
        """This player declines what it was offered, if it was."""
        if self._by == 1 - me:
            self._by, self._declined = None, 1 - me

    def take_refusal(self, me: int) -> bool:
        """Whether this player's offer was declined, which it is told once."""
        told = self._declined == me
        self._declined = None if told else self._declined
        return told


class DeclinedOffers(DrawOffers):
    """Against a program, whose protocol has no word for a draw: it declines each at once."""

    def offer(self, me: int) -> None:
        self._declined = me
