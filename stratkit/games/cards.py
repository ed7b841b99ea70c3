"""Kuhn and Leduc poker: cards, and bets by name."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from stratkit.games.kit import Kit

RANKS = "A23456789TJQK"  # a deck of fewer ranks has the last ones
KUHN = ("pass", "bet")
LEDUC = ("fold", "call", "raise")
WITH_STACKS = ("fold", "call", "half pot", "pot", "all in")


class CardsKit(Kit):
    """A player bets, and chance deals a rank."""

    def action_names(self) -> npt.NDArray[Any]:
        names = super().action_names()
        kind, colon, _ = self.game.name.partition(":")
        bets = KUHN if kind == "kuhn" else WITH_STACKS if colon else LEDUC
        ranks = RANKS[-self.game.hands :]
        names[:-1, : len(bets)] = bets
        names[-1, : len(ranks)] = list(ranks)
        return names
