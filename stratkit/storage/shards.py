"""The names of the files in a folder that self-play writes and a learner reads."""

from __future__ import annotations

import os
import re
import secrets
import zlib
from collections.abc import Sequence

from stratkit.storage.atomic import TEMPORARY

_NAME = re.compile(r"seed-\d+_games-(\d{1,19})-(\d{1,19})_[0-9a-f]+\.eps")


def shard_name(seed: int, first: int, last: int, part: int = 0, parts: int = 1) -> str:
    """A name that no other file has, of the games `first` to `last`; it belongs to `part`."""
    while True:
        # With leading zeros the order of the names is that of the games, as far as anybody gets.
        name = f"seed-{seed}_games-{first:010}-{last:010}_{secrets.token_hex(4)}.eps"
        if rank_of(name, parts) == part:
            return name


def rank_of(name: str, parts: int) -> int:
    """Which of `parts` learners a file of this name is for: the same on every machine."""
    return zlib.crc32(os.fsencode(name)) % parts


def episodes_in(name: str) -> int:
    """How many episodes a file of this name says that it has; 0: it does not say so."""
    match = _NAME.fullmatch(name)
    return int(match[2]) - int(match[1]) + 1 if match else 0


def list_shards(folder: str) -> list[str]:
    """The whole episode files in a folder, in the order of their names; half-written ones have
    temporary names."""
    names = sorted(os.listdir(folder))
    return [name for name in names if name.endswith(".eps") and not name.startswith(TEMPORARY)]


def waiting(folder: str, learned: Sequence[int]) -> list[int]:
    """For each of the learners that share the folder, how many episodes wait for it there;
    `learned` says from how many of the folder's they have learned."""
    found = [-n for n in learned]
    for name in list_shards(folder):
        found[rank_of(name, len(found))] += episodes_in(name)
    return [max(0, n) for n in found]
