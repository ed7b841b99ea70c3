"""Liar's dice: bids by name."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import numpy.typing as npt

from stratkit.arrays import Bytes
from stratkit.games.kit import Kit, TurnText


class DiceKit(Kit):
    """A bid is a number of dice and their face, as `2x5`; the next one may be called a liar."""

    dealt = "dice"
    stakes = False

    def action_names(self) -> npt.NDArray[Any]:
        names = super().action_names()
        dice, faces = map(int, self.game.name.partition(":")[2].split("x"))
        rolled = range(1, faces + 1)
        bids = [f"{n}x{face}" for n in range(1, 2 * dice + 1) for face in rolled]
        names[:-1, : len(bids) + 1] = [*bids, "liar"]
        hands = [" ".join(map(str, hand)) for hand in combinations_with_replacement(rolled, dice)]
        names[-1, : len(hands)] = hands
        return names

    def turn(self, side: int, packed: Bytes) -> TurnText:
        """An observation has whose turn it is, how many own dice show each face, and for each bid
        whether it was made. Bids rise, and player 0 begins."""
        faces = int(self.game.name.partition("x")[2])
        dice = np.repeat(np.arange(1, faces + 1), packed[2 : 2 + faces]).tolist()
        bids = np.flatnonzero(packed[2 + faces :])
        names = self.action_names()[side]
        told = [f"{('you', 'they')[at % 2 != side]} {names[bid]}" for at, bid in enumerate(bids)]
        lines = [f"your dice: {' '.join(map(str, dice))}; {faces} counts as any face"]
        lines += ["2x1 says that two of all dice show 1; liar doubts the last bid"]
        lines += [f"bids: {', '.join(told)}"] * bool(told)
        facts = "".join(f"{line}\n" for line in lines)
        return TurnText("", "bid", super().turn(side, packed).name, facts)
