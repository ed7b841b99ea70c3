"""Kuhn and Leduc poker: cards, and bets by name."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from stratkit.arrays import Bytes
from stratkit.games.kit import Kit, TurnText

RANKS = "A23456789TJQK"  # a deck of fewer ranks has the last ones
KUHN = ("pass", "bet")
LEDUC = ("fold", "call", "raise")
WITH_STACKS = ("fold", "call", "half pot", "pot", "all in")
ROUNDS = ("first round", "second round")


class CardsKit(Kit):
    """A player bets, and chance deals a rank."""

    dealt = "card"

    @property
    def _public(self) -> bool:
        """Whether there is a public card, and a second round."""
        return not self.game.name.startswith("kuhn")

    @property
    def _bets(self) -> tuple[str, ...]:
        return (WITH_STACKS if ":" in self.game.name else LEDUC) if self._public else KUHN

    @property
    def _ranks(self) -> str:
        return RANKS[-self.game.hands :]

    def action_names(self) -> npt.NDArray[Any]:
        names = super().action_names()
        names[:-1, : len(self._bets)] = self._bets
        names[-1, : len(self._ranks)] = list(self._ranks)
        return names

    def turn(self, side: int, packed: Bytes) -> TurnText:
        """An observation has whose turn it is, the own card, the public one, and each bet but a
        fold, one-hot. Player 0 begins each round."""
        hands = self.game.hands
        lines = [f"your card: {self._rank(packed[2 : 2 + hands])}"]
        if self._public:
            public = self._rank(packed[2 + hands : 2 + 2 * hands])
            lines.append(f"public card: {public or 'not dealt yet'}")
        first = 2 + hands * (1 + self._public)
        kinds = self._bets[self._public :]
        rounds = packed[first:].reshape(1 + self._public, -1, len(kinds))
        for name, bets in zip(ROUNDS, rounds, strict=False):
            told = [
                f"{('you', 'they')[at % 2 != side]} {kinds[int(bet.argmax())]}"
                for at, bet in enumerate(bets)
                if bet.any()
            ]
            lines += [f"{name}: {', '.join(told)}"] * bool(told)
        facts = "".join(f"{line}\n" for line in lines)
        return TurnText("", "bet", super().turn(side, packed).name, facts)

    def _rank(self, shown: Bytes) -> str:
        return self._ranks[int(shown.argmax())] if shown.any() else ""
