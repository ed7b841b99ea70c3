"""Setups from a file as the actions that begin games."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from stratkit.engine.stratego import placements, variant
from stratkit.errors import InputError
from stratkit.notation.setups import read_setups
from stratkit.storage.streams import input_name, open_input

Opening = Callable[[int], npt.NDArray[np.int32]]


def read_openings(path: str, game: str) -> tuple[Opening, str]:
    """Two setups a game, red's and blue's, in the order of the file (`-`: stdin), which begins
    again when it is at its end; and the SHA-256 of the setups.

    Raises `InputError` for the first line that is no setup of `game`.
    """
    kind = variant(game)
    setups = []
    with open_input(path) as stream:
        for _, setup in read_setups(stream, input_name(path), kind):
            if isinstance(setup, InputError):
                raise setup
            setups.append(setup)
    if not setups or len(setups) % 2:
        raise InputError(
            f"two setups a game are needed, red's and blue's, but it has {len(setups)}",
            file=input_name(path),
        )
    actions = [placements(kind, setup) for setup in setups]
    digest = hashlib.sha256(b"".join(setup.tobytes() for setup in setups)).hexdigest()

    def opening(number: int) -> npt.NDArray[np.int32]:
        first = 2 * number % len(actions)
        return np.concatenate(actions[first : first + 2])

    return opening, digest
