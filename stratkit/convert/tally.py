"""What was sound and what was not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from stratkit.errors import CheckFailed, InputError, Say, StratkitError

Item = TypeVar("Item")


class NothingSound(Exception):
    """Nothing was sound: what is being written is not to appear."""


class FileFault(InputError):
    """What is wrong with each item of a file for the same reason, and is told once."""


class FaultTally:
    """Counts what was sound, and knows the exit status that follows.

    warn     is told of what was not sound
    sound    items that were
    faults   items that were not
    opened   whether any input could be opened
    strict   whether the first fault raises an error with this status
    """

    def __init__(self, warn: Say, strict: bool = False) -> None:
        self.warn = warn
        self.sound = self.faults = 0
        self.opened = False
        self.strict = strict
        self._told: set[str] = set()  # of whole files

    def fault(self, error: InputError) -> None:
        """Counts an item that is not sound and warns of it, unless it was told of the whole file
        before; if `strict`, raises its error instead."""
        from stratkit.notation.sources import Unreadable

        self.faults += 1
        self.opened = self.opened or not isinstance(error, Unreadable)
        if self.strict:
            kind = CheckFailed if self.opened else StratkitError
            raise kind(error.what, file=error.file, where=error.where, text=error.text)
        line = str(error)
        if isinstance(error, FileFault):
            if line in self._told:
                return
            self._told.add(line)
        self.warn(line)

    def passed(self) -> None:
        """Counts an item that is sound."""
        self.sound += 1
        self.opened = True

    @property
    def status(self) -> int:
        """0: no fault; 3: faults, the rest was done; 1: no input could even be opened."""
        return 0 if not self.faults else 3 if self.opened else 1


def sound(
    items: Iterator[tuple[int, Item | InputError]], tally: FaultTally
) -> Iterator[tuple[int, Item]]:
    """The items that are no errors; those, and a stream that breaks off, are reported."""
    try:
        for number, item in items:
            if isinstance(item, InputError):
                tally.fault(item)
            else:
                yield number, item
    except InputError as error:
        tally.fault(error)
