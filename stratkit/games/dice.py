"""Liar's dice: bids by name."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from stratkit.games.kit import Kit


class DiceKit(Kit):
    """A bid is a number of dice and their face, as `2x5`; the next one may be called a liar."""

    def action_names(self) -> npt.NDArray[Any]:
        names = super().action_names()
        dice, faces = map(int, self.game.name.partition(":")[2].split("x"))
        bids = [f"{n}x{face}" for n in range(1, 2 * dice + 1) for face in range(1, faces + 1)]
        names[:-1, : len(bids) + 1] = [*bids, "liar"]
        return names
