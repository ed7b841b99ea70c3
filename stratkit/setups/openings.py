"""Openings of games from a file of setups."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import BinaryIO

import numpy as np

from stratkit.arrays import Int32s
from stratkit.engine.stratego import placements, variant
from stratkit.errors import InputError
from stratkit.notation.setups import all_setups

Opening = Callable[[int], Int32s]


def read_openings(stream: BinaryIO, name: str, game: str) -> tuple[Opening, str]:
    """The openings of a stream of setups, and the setups' SHA-256. `name` is for messages.

    An opening is the actions int32 [k] of both deployments. Game k begins from setups 2k (red's)
    and 2k + 1 (blue's), counted from 0; after the last setup comes the first again. Raises
    `InputError` for the first line that is no setup of `game`, and for an odd number of setups."""
    kind = variant(game)
    setups = all_setups(stream, name, kind)
    if not setups or len(setups) % 2:
        what = f"every game needs two setups, red's and blue's, but there are {len(setups)}"
        raise InputError(what, file=name)
    actions = [placements(kind, setup) for setup in setups]
    digest = hashlib.sha256(b"".join(setup.tobytes() for setup in setups)).hexdigest()

    def opening(number: int) -> Int32s:
        first = 2 * number % len(actions)
        return np.concatenate(actions[first : first + 2])

    return opening, digest
