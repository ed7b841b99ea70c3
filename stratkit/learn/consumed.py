"""What a run has consumed of its inputs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping

from stratkit.storage.shards import episodes_in, rank_of


class Consumed:
    """From how many episodes of which files a run has learned.

    `files`: episodes by file, of the files that were there at the last look. `complete`: the files
    of folders that have nothing more to learn from. `learned`: for each rank, the episodes learned
    from such files. A complete file counts with all its episodes, also those left out as
    duplicates.
    """

    def __init__(self, files: Mapping[str, int], ranks: int) -> None:
        self.files: dict[str, int] = {}
        self.complete: set[str] = set()
        self.learned = [0] * ranks
        self.add({file: n for file, n in files.items() if os.path.exists(file)}, ())

    def add(self, files: Mapping[str, int], complete: Iterable[str]) -> None:
        """Sets the episodes of these files, and adds complete ones."""
        for file in {*files, *complete}:
            self._count(file, -1)
        self.files.update(files)
        self.complete.update(complete)
        for file in {*files, *complete}:
            self._count(file, 1)

    def forget_missing(self) -> None:
        """Removes the files that somebody else has deleted. Who counts what a folder has left
        would take their episodes off those that nobody has learned from."""
        known = {*self.files, *self.complete}
        existing: set[str] = set()  # a look at a folder is quicker than one at each of its files
        for folder in {os.path.dirname(file) for file in known}:
            with contextlib.suppress(OSError):
                existing.update(os.path.join(folder, name) for name in os.listdir(folder or "."))
        for file in known - existing:
            if os.path.exists(file):  # in a folder that cannot be listed
                continue
            self._count(file, -1)
            self.files.pop(file, None)
            self.complete.discard(file)

    def forget_complete(self) -> set[str]:
        """Removes the complete files; returns them."""
        for file in self.complete:
            self._count(file, -1)
            self.files.pop(file, None)
        gone, self.complete = self.complete, set()
        return gone

    def _count(self, file: str, sign: int) -> None:
        name = os.path.basename(file)
        has = episodes_in(name)
        known = has if file in self.complete else min(self.files.get(file, 0), has)
        self.learned[rank_of(name, len(self.learned))] += sign * known
