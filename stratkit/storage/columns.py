"""The columns of a frame of episodes: numbers of one type each, stored byte plane by byte plane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

MU_ROUNDING = 1e-3  # a probability may exceed 1 by this

# The columns that a reader knows: their types, and whether every frame has them. Letter: unsigned,
# signed, float; digit: bytes.
COLUMNS: Mapping[str, tuple[tuple[str, ...], bool]] = {
    "number": (("i8",), True),
    "step": (("i8",), True),
    "ending": (("u1",), True),
    "returns": (("f4",), True),
    "length": (("u4",), True),
    "start_length": (("u4",), False),
    "start": (("u1",), False),
    "actions": (("u1", "u2", "u4"), True),
    "mu": (("f4", "f2"), True),
}

Column = npt.NDArray[Any]
Columns = dict[str, Column]


@dataclass(frozen=True)
class Episode:
    """One game: a start and T actions, chance and placements included.

    `number` of the game; `step` of the policy that played it (-1: none); `ending`, a code;
    `returns` float32 [players]; `actions` int32 [T], each in the acting side's frame; `mu` float32
    [T], the probability with which it was chosen, NaN where nobody chose; `start`, the game's own
    bytes, empty for its usual start.
    """

    number: int
    step: int
    ending: int
    returns: npt.NDArray[np.float32]
    actions: npt.NDArray[np.int32]
    mu: npt.NDArray[np.float32]
    start: bytes = b""


@dataclass(frozen=True)
class Episodes(Sequence[Episode]):
    """n games as columns: thousands of short games a second are nothing to make objects of.

    One entry a game: `number`, `step`, `ending`, `length` (actions) and `start_length` int64 [n],
    `returns` float32 [n, players]. Game after game: `actions` int32, `mu` float32 [sum of length],
    `start` uint8 [sum of start_length]. What they mean is said at `Episode`.
    """

    number: Column
    step: Column
    ending: Column
    returns: Column
    length: Column
    start_length: Column
    actions: Column
    mu: Column
    start: Column

    @classmethod
    def of(cls, episodes: Sequence[Episode]) -> Self:
        """The same games as columns; at least one. `ValueError`: not as many mu as actions."""
        if any(len(e.actions) != len(e.mu) for e in episodes):
            raise ValueError("an episode with another number of mu than of actions")
        return cls(
            np.array([e.number for e in episodes], np.int64),
            np.array([e.step for e in episodes], np.int64),
            np.array([e.ending for e in episodes], np.int64),
            np.stack([e.returns for e in episodes]).astype(np.float32),
            np.array([len(e.actions) for e in episodes], np.int64),
            np.array([len(e.start) for e in episodes], np.int64),
            np.concatenate([e.actions for e in episodes]).astype(np.int32),
            np.concatenate([e.mu for e in episodes]).astype(np.float32),
            np.frombuffer(b"".join(e.start for e in episodes), np.uint8),
        )

    @classmethod
    def together(cls, parts: Sequence[Self]) -> Self:
        """One after the other; at least one."""
        if len(parts) == 1:
            return parts[0]
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def __len__(self) -> int:
        return len(self.number)

    def __iter__(self) -> Iterator[Episode]:
        starts = self.start.tobytes()
        parts, start_parts = _slices(self.length), _slices(self.start_length)
        for i in range(len(self)):
            yield Episode(
                int(self.number[i]),
                int(self.step[i]),
                int(self.ending[i]),
                self.returns[i],
                self.actions[parts[i]],
                self.mu[parts[i]],
                starts[start_parts[i]],
            )

    def __getitem__(self, index: Any) -> Any:
        """A game by its index; by a slice, games as columns."""
        if isinstance(index, int):
            return next(iter(self[[index]]))
        return self.take(np.arange(len(self))[index])

    def take(self, rows: npt.NDArray[np.int64]) -> Self:
        """The games `rows` int64 [m], in that order."""
        at = _places(self.length, rows)
        start_at = _places(self.start_length, rows) if len(self.start) else slice(0)
        return type(self)(
            self.number[rows],
            self.step[rows],
            self.ending[rows],
            self.returns[rows],
            self.length[rows],
            self.start_length[rows],
            self.actions[at],
            self.mu[at],
            self.start[start_at],
        )

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """int64 [n]: bytes of each game's columns at most."""
        most: npt.NDArray[np.int64] = self.start_length + 8 * self.length
        most += 29 + 4 * self.returns.shape[1]
        return most


def _places(lengths: Column, rows: npt.NDArray[np.int64]) -> Column | slice:
    """Where the pieces `rows`, of pieces of these lengths one after the other, lie."""
    ends = np.cumsum(lengths)
    if len(rows) and np.array_equal(rows, np.arange(rows[0], rows[0] + len(rows))):
        return slice(int(ends[rows[0]] - lengths[rows[0]]), int(ends[rows[-1]]))
    wanted = lengths[rows]
    first = (ends - lengths)[rows] - (np.cumsum(wanted) - wanted)  # less where it will lie
    return np.repeat(first, wanted) + np.arange(int(wanted.sum()))


def to_columns(episodes: Episodes, half: bool = False) -> Columns:
    """The columns in the order and with the types in which they are stored; mu as float16 if
    `half`."""
    if len(episodes) and not 0 <= int(episodes.ending.min()) <= int(episodes.ending.max()) < 256:
        raise ValueError("an ending of over a byte")
    columns: Columns = {
        "number": episodes.number,
        "step": episodes.step,
        "ending": episodes.ending.astype(np.uint8),
        "returns": episodes.returns.reshape(-1),
        "length": episodes.length.astype(np.uint32),
    }
    if len(episodes.start):
        columns["start_length"] = episodes.start_length.astype(np.uint32)
        columns["start"] = episodes.start
    actions = episodes.actions
    if len(actions) and int(actions.min()) < 0:
        raise ValueError("a negative action")
    columns["actions"] = actions.astype(np.min_scalar_type(int(actions.max(initial=0))))
    columns["mu"] = episodes.mu.astype(np.float16) if half else episodes.mu
    return columns


def type_name(column: Column) -> str:
    """The name of its type in `COLUMNS`."""
    return f"{column.dtype.kind}{column.dtype.itemsize}"


def planes(column: Column) -> list[bytes]:
    """All lowest bytes of the numbers, then all second bytes, ...: like compresses with like."""
    little = column.astype(column.dtype.newbyteorder("<"))
    return [plane.tobytes() for plane in little.view(np.uint8).reshape(-1, column.itemsize).T]


def from_planes(stored: memoryview, kind: str) -> Column:
    """The inverse of `planes`: numbers of type `kind`."""
    parts = np.frombuffer(stored, np.uint8).reshape(int(kind[1]), -1)
    return np.ascontiguousarray(parts.T).view(f"<{kind}").reshape(-1).astype(kind)


def fault(columns: Columns, count: int, endings: int) -> str | None:
    """What is wrong with the columns of a frame, or None."""
    for name, (_, required) in COLUMNS.items():
        if required and name not in columns:
            return f"no column {name!r}"
    for name in ("number", "step", "ending", "length"):
        if len(columns[name]) != count:
            return f"column {name!r} is not as long as its frame"
    if len(columns["returns"]) == 0 or len(columns["returns"]) % count:
        return "column 'returns' is not as long as its frame"
    total = int(columns["length"].sum(dtype=np.uint64))
    if not len(columns["actions"]) == len(columns["mu"]) == total:
        return "the episodes' lengths do not fit their actions"
    starts = columns.get("start_length", np.zeros(count, np.uint32))
    start_bytes = len(columns.get("start", ()))
    if len(starts) != count or int(starts.sum(dtype=np.uint64)) != start_bytes:
        return "the lengths of the episodes' starts do not fit"
    return _wrong_value(columns, endings)


def _wrong_value(columns: Columns, endings: int) -> str | None:
    if int(columns["number"].min()) < 0 or int(columns["step"].min()) < -1:
        return "a negative game number or step"
    if int(columns["ending"].max()) >= endings:
        return "an ending that the header does not name"
    if not np.isfinite(columns["returns"]).all():
        return "a return that is no number"
    if int(columns["actions"].max(initial=0)) >= 2**31:
        return "an action of over 31 bits"
    mu = columns["mu"]
    if not (np.isnan(mu) | ((mu > 0) & (mu <= 1 + MU_ROUNDING))).all():
        return "a mu that is no probability"
    return None


def to_episodes(columns: Columns, count: int) -> Episodes:
    """The episodes in columns that were checked."""
    return Episodes(
        columns["number"].astype(np.int64),
        columns["step"].astype(np.int64),
        columns["ending"].astype(np.int64),
        columns["returns"].reshape(count, -1),
        columns["length"].astype(np.int64),
        columns.get("start_length", np.zeros(count)).astype(np.int64),
        columns["actions"].astype(np.int32),
        columns["mu"].astype(np.float32),
        columns.get("start", np.empty(0, np.uint8)),
    )


def _slices(lengths: Column) -> list[slice]:
    """Where pieces of these lengths lie, one after the other."""
    ends = np.cumsum(lengths, dtype=np.int64).tolist()
    return [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
