"""Setups from the user: lines of a file, or numbers."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

import numpy as np

from stratkit.arrays import Float64s, Int32s, Int64s
from stratkit.engine import uniform
from stratkit.engine.random_streams import Stream
from stratkit.engine.stratego import Variant, placements, variant
from stratkit.errors import InputError, UsageError
from stratkit.notation.lines import parsed_lines
from stratkit.notation.setups import Setup, all_setups, file_and_name
from stratkit.setups.constraints import Constraints, mirror
from stratkit.setups.numbering import setup_at
from stratkit.setups.source import Setups
from stratkit.storage.streams import input_name, open_input


class FileSetups:
    """Draws from the lines of a file, `setups` uint8 [m, zone], that meet `constraints`.

    Every draw is uniform and independent; with `once`, no line is drawn twice. With `mirrored`, a
    line is drawn as it is or mirrored. Raises `InputError` when no line meets `constraints`.
    """

    def __init__(
        self, setups: Setups, constraints: Constraints, seed: int, once: bool, mirrored: bool
    ) -> None:
        lines = np.arange(len(setups))
        if mirrored:
            setups = np.concatenate([setups, mirror(constraints.variant, setups)])
            lines = np.tile(lines, 2)
        keep = constraints.met(setups)
        if not keep.any():
            raise InputError("no setup of the file meets all of --fix and --forbid")
        self.setups, self.seed = setups[keep], seed
        self.order = self._order(lines[keep]) if once else None

    def _order(self, lines: Int64s) -> Int64s:
        """int64 [lines]: rows in random order, one for each of the lines."""
        order = np.argsort(self._random(np.arange(len(lines)), 1), kind="stable")
        _, first = np.unique(lines[order], return_index=True)
        return np.asarray(order[np.sort(first)])

    @property
    def draws(self) -> int | None:
        """How many lines there are to draw, if each comes once."""
        return None if self.order is None else len(self.order)

    @property
    def size(self) -> int | None:
        """How many different setups may be drawn."""
        return len(
            np.unique(self.setups if self.order is None else self.setups[self.order], axis=0)
        )

    def draw(self, first: int, n: int) -> Setups:
        """Lines at random."""
        if self.order is not None:
            return np.asarray(self.setups[self.order[first : first + n]])
        drawn = self._random(np.arange(first, first + n), 0)
        return np.asarray(self.setups[(drawn * len(self.setups)).astype(int)])

    def _random(self, games: Int64s, number: int) -> Float64s:
        return uniform(self.seed, games, np.full(len(games), number, np.int32), Stream.SETUP_LINES)

    def logprobs(self, setups: Setups) -> Float64s:
        """Raises `UsageError`: lines have none."""
        raise UsageError("--logprob: the lines of a file have no probabilities; model:FILE's have")


class NumberedSetups:
    """The setups of a sequence of numbers, in its order. `size`: how many; None: unknown."""

    def __init__(self, variant: Variant, setups: Iterator[Setup], size: int | None) -> None:
        self.variant, self.setups = variant, setups
        self.size = self.draws = size

    def draw(self, first: int, n: int) -> Setups:
        """The next setups of the sequence."""
        some = list(itertools.islice(self.setups, n))
        return np.array(some, np.uint8).reshape(-1, self.variant.zone)

    def logprobs(self, setups: Setups) -> Float64s:
        """Raises `UsageError`: numbers have none."""
        raise UsageError("--logprob: numbers have no probabilities")


def numbers_between(variant: Variant, text: str) -> NumberedSetups:
    """The setups of `N` or `N..M`. Raises `UsageError` for other texts, `InputError` for a number
    that the variant does not have."""
    match = re.fullmatch(r"([0-9]{1,60})(?:\.\.([0-9]{1,60}))?", text, re.ASCII)
    if not match:
        raise UsageError("number: needs N, N..M or - (numbers on stdin)", text=text)
    low, high = int(match[1]), int(match[2] or match[1])
    if low > high:
        raise UsageError("number: N..M goes upwards", text=text)
    setup_at(variant, high)  # there is one
    setups = (setup_at(variant, number) for number in range(low, high + 1))
    return NumberedSetups(variant, setups, high - low + 1)


def numbers_read(variant: Variant, stream: BinaryIO, name: str) -> NumberedSetups:
    """The setups of a stream of numbers, one a line, read on demand. Drawing raises `InputError`
    for a line that is no number of a setup."""

    def setup(line: str) -> Setup:
        if not re.fullmatch("[0-9]{1,60}", line, re.ASCII):
            raise InputError("no number of a setup", text=line)
        return setup_at(variant, int(line))

    def setups() -> Iterator[Setup]:
        for _, parsed in parsed_lines(stream, name, setup):
            if isinstance(parsed, InputError):
                raise parsed
            yield parsed

    return NumberedSetups(variant, setups(), None)


Opening = Callable[[int], Int32s]


def read_openings(path: str | None, game: str) -> tuple[Opening | None, str | None]:
    """The openings of a file of setups (`-` is stdin; of `FILE#NAME`, the setups of this name), and
    the setups' SHA-256; None without one.

    An opening is the actions int32 [k] of both deployments. Game k begins from setups 2k (red's)
    and 2k + 1 (blue's), counted from 0; after the last setup comes the first again. Raises
    `InputError` for the first line that is no setup of `game`, and for an odd number of setups."""
    if path is None:
        return None, None
    kind, (file, called) = variant(game), file_and_name(path)
    name = input_name(file)
    with open_input(file) as stream:
        setups = all_setups(stream, name, kind, called)
    if not setups or len(setups) % 2:
        what = f"every game needs two setups, red's and blue's, but there are {len(setups)}"
        raise InputError(what, file=name)
    actions = [placements(kind, setup) for setup in setups]
    digest = hashlib.sha256(b"".join(setup.tobytes() for setup in setups)).hexdigest()

    def opening(number: int) -> Int32s:
        first = 2 * number % len(actions)
        return np.concatenate(actions[first : first + 2])

    return opening, digest
