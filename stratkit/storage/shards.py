"""Shards: the files of a folder that self-play writes and a learner reads."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from stratkit.errors import InputError
from stratkit.storage.atomic import TEMPORARY, atomic_file
from stratkit.storage.columns import Episodes
from stratkit.storage.episodes import EpisodeWriter, Header

_NAME = re.compile(r"seed-\d+_games-(\d{1,19})-(\d{1,19})_[0-9a-f]+\.eps")


def shard_name(seed: int, first: int, last: int, part: int = 0, parts: int = 1) -> str:
    """A name that no other file has, of the games `first` to `last`; it belongs to `part`."""
    while True:
        # With leading zeros the order of the names is that of the games, as far as anybody gets.
        name = f"seed-{seed}_games-{first:010}-{last:010}_{os.urandom(4).hex()}.eps"
        if rank_of(name, parts) == part:
            return name


def rank_of(name: str, parts: int) -> int:
    """Which of `parts` learners a file of this name is for: the same on every machine."""
    return zlib.crc32(os.fsencode(name)) % parts


def episodes_in(name: str) -> int:
    """How many episodes a file of this name says that it has; 0: it does not say so."""
    match = _NAME.fullmatch(name)
    return int(match[2]) - int(match[1]) + 1 if match else 0


def list_shards(folder: str, ending: str = ".eps") -> list[str]:
    """The whole files in a folder whose names have this ending, in the order of their names:
    half-written ones have temporary names."""
    names = sorted(os.listdir(folder))
    return [name for name in names if name.endswith(ending) and not name.startswith(TEMPORARY)]


def unread(folder: str, learned: Sequence[int]) -> list[int]:
    """For each rank of the learner that reads the folder, how many episodes it has not read.
    `learned` says from how many of the folder's each rank has learned."""
    counts = [-n for n in learned]
    for name in list_shards(folder):
        counts[rank_of(name, len(counts))] += episodes_in(name)
    return [max(0, n) for n in counts]


# --- writing --------------------------------------------------------------------------------------


class Placement(Protocol):
    """What a learner that waits for shards wants of them."""

    @property
    def starved(self) -> bool:
        """Whether it waits for episodes that are not written."""

    def shard_size(self, most: int) -> int:
        """Episodes a shard, at most `most`."""

    def place(self) -> tuple[int, int]:
        """The rank that the next shard is for, and the number of ranks."""

    def count_written(self, episodes: int) -> None:
        """Called when a shard is there."""


class ShardWriter:
    """Writes episodes into a folder, `size` to a file, each of which appears whole. `placement` is
    what a learner that is followed wants, once it is known. `InputError`: there is no such folder.
    """

    def __init__(
        self,
        folder: str,
        size: int,
        header: Header,
        placement: Callable[[], Placement | None] = lambda: None,
    ) -> None:
        if not os.path.isdir(folder):
            raise InputError("no such folder", file=folder)
        self.folder, self.header, self.placement = folder, header, placement
        self._most = size
        self._pending: list[Episodes] = []
        self._count = 0  # of the episodes pending

    def write(self, episodes: Episodes | None) -> None:
        """Adds episodes; they wait in memory for others. None: nothing new has come, but the
        learner may wait for those."""
        placement = self.placement()
        size = placement.shard_size(self._most) if placement else self._most
        while episodes is not None and self._count + len(episodes) >= size:
            fit = max(1, size - self._count)
            self._pending.append(episodes[:fit])
            self.close()
            episodes = episodes[fit:] if fit < len(episodes) else None
        if episodes is not None:
            self._pending.append(episodes)
            self._count += len(episodes)
        if self._pending and placement and placement.starved:
            self.close()

    def close(self) -> None:
        """Puts the pending episodes, if any, into a file."""
        parts, self._pending, self._count = self._pending, [], 0
        if not parts:
            return
        first, last = int(parts[0].number[0]), int(parts[-1].number[-1])
        placement = self.placement()
        part, ranks = placement.place() if placement else (0, 1)
        path = os.path.join(self.folder, shard_name(self.header.seed, first, last, part, ranks))
        header = replace(self.header, first_game=first)
        with atomic_file(path) as stream, EpisodeWriter(stream, header) as writer:
            for episodes in parts:
                writer.write(episodes)
        if placement:
            placement.count_written(sum(map(len, parts)))
