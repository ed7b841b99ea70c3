"""What a side learns of the enemy's pieces from one of its turns to the next."""

from __future__ import annotations

from collections.abc import Sequence


def attacked_type(before: Sequence[int], now: Sequence[int], answered: int | None) -> int:
    """The type of the hidden piece that the own ply attacked.

    before, now  [12] hidden enemy pieces of each type, at the own turn and at the next
    answered     type of the hidden piece that the enemy's answer revealed; None: it revealed none

    The attacked piece is the other one that is missing. Type 0: none is.
    """
    missing = [old - new for old, new in zip(before, now, strict=True)]
    if answered is not None:
        missing[answered] -= 1
    return missing.index(1) if 1 in missing else 0
