"""Policies as tables: safetensors files with the probabilities of all choices of a game.

formats/table.md says what is in the file. It grows under the name FILE.part, set by set, so that
who is interrupted goes on.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedRandom
from pathlib import Path
from typing import Any, Literal

import numpy as np
from safetensors import SafetensorError, safe_open

from stratkit.arrays import Float64s
from stratkit.errors import InputError, error_context
from stratkit.regular import open_regular
from stratkit.storage import schema
from stratkit.storage.atomic import is_special, lock_descriptor, sync_folder
from stratkit.storage.schema import Count, Text
from stratkit.storage.sets import InformationSets, checked_choices

TENSOR = "policy"
PART = ".part"  # after the name of a file that is not whole
ROUNDING = 1e-3  # by which the probabilities of an information set may miss 1
_TYPES = {"F16": np.float16, "F32": np.float32, "F64": np.float64}


@dataclass(frozen=True, kw_only=True)
class TableMetadata:
    """What the file says of its policy.

    game    its name
    rules   those that differ from the game's own
    source  of a network: `weights`, SHA-256 of its file, and `keys`, by which it plays
    """

    game: Text
    rules: Mapping[Text, Count] = field(default_factory=dict)
    source: Mapping[Text, Text] = field(default_factory=dict)
    version: Literal[1] = 1
    kind: Literal["table"] = "table"

    def text(self) -> str:
        """As the file has it."""
        values = {key: getattr(self, key) for key in ("version", "kind", "game", "rules", "source")}
        plain = {key: dict(value) if isinstance(value, Mapping) else value
                 for key, value in values.items()}  # fmt: skip
        return json.dumps(plain, sort_keys=True)


class PolicyTable:
    """A file of a policy, whose numbers are read where they are asked for.

    choices  int, how many there are
    """

    def __init__(self, path: str) -> None:
        """`InputError`: it is no table, truncated, or of another version. `OSError`: it cannot be
        opened."""
        self.path = path
        open_regular(path).close()  # whose errors name the file
        try:
            file: Any = safe_open(path, framework="np")
            self.metadata = _metadata(path, file.metadata() or {})
            if TENSOR not in file.keys():  # noqa: SIM118 (it is no dict)
                raise InputError(f"holds no tensor {TENSOR!r}", file=path)
            self._numbers = file.get_slice(TENSOR)
        except SafetensorError as error:
            raise InputError(f"not a table, or truncated ({error})", file=path) from None
        shape = self._numbers.get_shape()
        if len(shape) != 1 or self._numbers.get_dtype() not in _TYPES:
            what = f"{TENSOR!r} must be a row of numbers of {', '.join(_TYPES)}"
            raise InputError(what, file=path)
        self.choices: int = shape[0]

    def __getitem__(self, some: slice) -> Any:
        return self._numbers[some]

    def check_game(self, game: str) -> None:
        """`InputError`: it is of another game."""
        if self.metadata.game != game:
            what = f"a table of {self.metadata.game}, not of {game}"
            raise InputError(what, file=self.path)


def read_table(table: PolicyTable, sets: InformationSets, rules: Mapping[str, int]) -> Float64s:
    """The policy of a file, float64 [E] of `sets`. `InputError`: it is of another game, or it is no
    policy."""
    known, game = table.metadata, sets.game.name
    table.check_game(game)
    with error_context(table.path):
        if dict(known.rules) != dict(rules):
            mine, theirs = (", ".join(f"{k} {v}" for k, v in sorted(r.items())) or "none"
                            for r in (rules, known.rules))  # fmt: skip
            raise InputError(f"a table by other rules: {theirs}, and here {mine}")
        if table.choices != sets.choices:
            what = f"it has {table.choices:,} choices, and {game} has {sets.choices:,}"
            raise InputError(what)
        return checked_choices(sets, lambda at, end: table[slice(at, end)], ROUNDING)


def _metadata(path: str, header: Mapping[str, str]) -> TableMetadata:
    values = schema.parse_object(header.get("stratkit", ""))
    if values is None:
        raise InputError("a safetensors file, but not one of stratkit's", file=path)
    if values.get("kind") != "table":
        raise InputError("not a table of a policy", file=path, text=values.get("kind"))
    with error_context(path):
        return schema.convert(values, TableMetadata, "metadata")


def _header(metadata: TableMetadata, choices: int) -> bytes:
    """The beginning of a file of float32, as safetensors has it; the numbers follow."""
    tensor = {"dtype": "F32", "shape": [choices], "data_offsets": [0, 4 * choices]}
    text = json.dumps({"__metadata__": {"stratkit": metadata.text()}, TENSOR: tensor}).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


class GrowingTable:
    """A table that is being written.

    done  int, how many choices an earlier writer left
    """

    def __init__(self, stream: BufferedRandom, header: bytes, part: str, force: bool) -> None:
        self._stream, self._begin = stream, len(header)
        found = stream.read(len(header))
        if found and found != header and not force:
            raise InputError("a part of another table; -f overwrites it", file=part)
        if found != header:
            stream.seek(0)
            stream.truncate()
            stream.write(header)
        self.done: int = (stream.seek(0, os.SEEK_END) - self._begin) // 4

    def go_on(self, at: int) -> None:
        """Writes from this choice on."""
        self._stream.seek(self._begin + 4 * at)
        self._stream.truncate()

    def write(self, choices: Float64s) -> None:
        """The next ones."""
        self._stream.write(choices.astype("<f4").tobytes())


@contextmanager
def growing_table(
    path: str, metadata: TableMetadata, choices: int, force: bool
) -> Iterator[GrowingTable]:
    """A table that becomes the file `path` when the block ends without an error. Until then it is
    FILE.part, which whoever is interrupted leaves, and a later writer of the same takes up.

    `InputError`: somebody else writes it, FILE.part is another table's and `force` is false, there
    is too little room on the disk, or `path` is no regular file."""
    part, folder = path + PART, Path(os.path.abspath(path)).parent
    with error_context(path, only=OSError):
        if is_special(path) or is_special(part):
            raise InputError("not a regular file", file=path)
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        with open(descriptor, "r+b") as stream:
            lock_descriptor(descriptor, part)
            table = GrowingTable(stream, _header(metadata, choices), part, force)
            needed, free = 4 * (choices - table.done), shutil.disk_usage(folder).free
            if needed > free:
                what = f"{needed / 2**20:,.0f} MiB are needed on the disk, {free / 2**20:,.0f} free"
                raise InputError(what, file=path)
            yield table
            stream.flush()
            os.fsync(descriptor)
            os.replace(part, path)
        sync_folder(folder)
