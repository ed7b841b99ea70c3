"""The columns of a frame of episodes: numbers of one type each, stored byte plane by byte plane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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

    @property
    def size(self) -> int:
        """Bytes of its columns at most."""
        return 29 + 4 * len(self.returns) + len(self.start) + 8 * len(self.actions)


def to_columns(episodes: list[Episode]) -> Columns:
    """The episodes as columns, in the order in which they are stored."""
    columns: Columns = {
        "number": np.array([e.number for e in episodes], np.int64),
        "step": np.array([e.step for e in episodes], np.int64),
        "ending": np.array([e.ending for e in episodes], np.uint8),
        "returns": np.stack([e.returns for e in episodes]).astype(np.float32).reshape(-1),
        "length": np.array([len(e.actions) for e in episodes], np.uint32),
    }
    if any(e.start for e in episodes):
        columns["start_length"] = np.array([len(e.start) for e in episodes], np.uint32)
        columns["start"] = np.frombuffer(b"".join(e.start for e in episodes), np.uint8)
    actions = np.concatenate([e.actions for e in episodes])
    if len(actions) and int(actions.min()) < 0:
        raise ValueError("a negative action")
    columns["actions"] = actions.astype(np.min_scalar_type(int(actions.max(initial=0))))
    columns["mu"] = np.concatenate([e.mu for e in episodes]).astype(np.float32)
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


def to_episodes(columns: Columns, count: int) -> list[Episode]:
    """The episodes in columns that were checked. Their arrays are views."""
    returns = columns["returns"].reshape(count, -1)
    actions, mu = columns["actions"].astype(np.int32), columns["mu"].astype(np.float32)
    starts = columns.get("start", np.empty(0, np.uint8)).tobytes()
    parts = _slices(columns["length"])
    start_parts = _slices(columns.get("start_length", np.zeros(count, np.uint32)))
    return [
        Episode(
            int(columns["number"][i]),
            int(columns["step"][i]),
            int(columns["ending"][i]),
            returns[i],
            actions[parts[i]],
            mu[parts[i]],
            starts[start_parts[i]],
        )
        for i in range(count)
    ]


def _slices(lengths: Column) -> list[slice]:
    """Where pieces of these lengths lie, one after the other."""
    ends = np.cumsum(lengths, dtype=np.int64).tolist()
    return [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
