"""The networks that come with stratkit, by name; stratkit-players(7) tells of each.

This module imports neither torch nor numpy: `--help` needs it too.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from stratkit.errors import InputError, nearest

if TYPE_CHECKING:
    from stratkit.storage.checkpoints import StrPath

# The game that each has learned; first of those that place pieces.
PLACING = {
    "barrage": "barrage",
    "barrage-easy": "barrage",
    "classic": "classic",
    "classic-easy": "classic",
}
LEARNED = {
    **PLACING,
    "dice-v1": "liars_dice:2x5",
    "diplomacy-v1": "diplomacy:standard",
    "fva-v1": "diplomacy:fva",
}
SHIPPED = tuple(LEARNED)


def shipped_file(name: str) -> str:
    """The file of the network of that name, which comes with stratkit."""
    return os.path.join(os.path.dirname(__file__), "trained", f"{name}.shuffled")


def weights_file(name: str) -> StrPath:
    """The file of a network that comes with stratkit, else of the checkpoint or RUN at that path.

    `InputError`: there is none.
    """
    from stratkit.storage.checkpoints import resolve

    if name in SHIPPED:
        return shipped_file(name)
    if not os.path.exists(name):
        raise InputError(f"no such file or folder{nearest(name, SHIPPED)}", file=name)
    return resolve(name)


def check_whole(path: str) -> None:
    """`InputError`: a file that comes with stratkit is not as it was."""
    from stratkit.storage.checkpoints import load_checkpoint

    again = "stratkit is not whole: install it again"
    try:
        load_checkpoint(path)
    except OSError as error:
        raise InputError(f"{error.strerror}; {again}", file=path) from error
    except InputError as error:
        raise InputError(f"{error.what}; {again}", file=path, where=error.where) from error
