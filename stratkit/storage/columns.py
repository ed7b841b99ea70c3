"""The columns of a frame of episodes: numbers of one type each, stored byte plane by byte plane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from stratkit.arrays import Float32s, Int32s, Int64s

MU_ROUNDING = 1e-3  # a probability may exceed 1 by this

WHOLE_SHARE = 65535  # what the shares of a target policy sum to

# The columns that a reader knows: their types, and whether every frame has them. Letter: unsigned,
# signed, float; digit: bytes. Float16 mu is read; older writers offered it.
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
    "first": (("u4",), False),
    "target_count": (("u2",), False),
    "target_actions": (("u1", "u2", "u4"), False),
    "target_share": (("u2",), False),
    "root_value": (("f4",), False),
}
OF_TARGETS = ("target_count", "target_actions", "target_share")

Column = npt.NDArray[Any]
Columns = dict[str, Column]


@dataclass(frozen=True)
class PolicyTargets:
    """A target policy for each of T actions, such as a search's.

    count    int64 [T], number of actions in each policy; 0: there is none
    actions  int32 [sum of count], decision after decision, ascending
    share    uint16 [sum of count], their probabilities in 65535ths
    """

    count: Column
    actions: Column
    share: Column

    @classmethod
    def none(cls, actions: int) -> Self:
        """No target for so many actions."""
        return cls(np.zeros(actions, np.int64), np.empty(0, np.int32), np.empty(0, np.uint16))

    @classmethod
    def of(cls, policies: Sequence[tuple[npt.ArrayLike, npt.ArrayLike] | None]) -> Self:
        """The policies of T actions: of each its actions [k], which are all different, and their
        probabilities [k], which sum to 1; or None. What is left of rounding down goes where it
        loses most; an action without a share is left out."""
        rounded = [_rounded(*policy) if policy else None for policy in policies]
        targets = [one for one in rounded if one]
        if not targets:
            return cls.none(len(policies))
        return cls(
            np.array([len(one[0]) if one else 0 for one in rounded], np.int64),
            np.concatenate([actions for actions, _ in targets]).astype(np.int32),
            np.concatenate([share for _, share in targets]).astype(np.uint16),
        )

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        """One after the other; at least one."""
        return cls(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)))

    def take(self, at: Column | slice) -> Self:
        """Those of the actions `at`, in that order."""
        inside = _places(self.count, np.arange(len(self.count))[at])
        return type(self)(self.count[at], self.actions[inside], self.share[inside])


def _rounded(actions: npt.ArrayLike, policy: npt.ArrayLike) -> tuple[Column, Column]:
    """Ascending actions and their shares in 65535ths."""
    order = np.argsort(np.asarray(actions), kind="stable")
    ordered, exact = np.asarray(actions)[order], np.asarray(policy, np.float64)[order] * WHOLE_SHARE
    share = np.floor(exact).astype(np.int64)
    missing = WHOLE_SHARE - int(share.sum())
    if not 0 <= missing <= len(share):
        raise ValueError("a target policy that does not sum to 1")
    share[np.argsort(share - exact, kind="stable")[:missing]] += 1
    return ordered[share > 0], share[share > 0]


@dataclass(frozen=True)
class Episode:
    """One game: a start and T actions, chance and placements included. Or a slice: the game as far
    as it went, of which the slice is the actions from number `first` on (None: a whole game).

        number      of the game
        step        of the policy that played it; -1: none
        ending      a code of the header
        returns     float32 [players]
        actions     int32 [T], each in the acting side's frame
        mu          float32 [T], probability with which it was chosen; NaN where nobody chose
        start       the game's own bytes; empty for its usual start
        targets     [T] policies of a search; None: there was none
        root_value  float32 [T], a search's values for who acted, NaN where it did not search; None:
                    there was none
        first       number of the slice's first action; None: a whole game
    """

    number: int
    step: int
    ending: int
    returns: Float32s
    actions: Int32s
    mu: Float32s
    start: bytes = b""
    targets: PolicyTargets | None = None
    root_value: Float32s | None = None
    first: int | None = None


@dataclass(frozen=True)
class Episodes(Sequence[Episode]):
    """n games as columns: thousands of short games a second are nothing to make objects of.

    number, step, ending  int64 [n], as in `Episode`
    returns               float32 [n, players]
    length                int64 [n], actions of each game
    start_length          int64 [n], bytes of each start
    actions               int32 [sum of length], game after game
    mu                    float32 [sum of length]
    start                 uint8 [sum of start_length]
    targets               [sum of length], or None
    root_value            float32 [sum of length], or None
    first                 int64 [n]; None: whole games
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
    targets: PolicyTargets | None = None
    root_value: Column | None = None
    first: Column | None = None

    @classmethod
    def of(cls, episodes: Sequence[Episode]) -> Self:
        """The same games as columns; at least one. `ValueError`: an episode has another number of
        something than of actions."""
        for e in episodes:
            counts = {len(e.actions), len(e.mu)}
            counts |= set() if e.targets is None else {len(e.targets.count)}
            counts |= set() if e.root_value is None else {len(e.root_value)}
            if len(counts) > 1:
                raise ValueError("an episode with another number of something than of actions")
        lengths = [len(e.actions) for e in episodes]
        return cls(
            np.array([e.number for e in episodes], np.int64),
            np.array([e.step for e in episodes], np.int64),
            np.array([e.ending for e in episodes], np.int64),
            np.stack([e.returns for e in episodes]).astype(np.float32),
            np.array(lengths, np.int64),
            np.array([len(e.start) for e in episodes], np.int64),
            np.concatenate([e.actions for e in episodes]).astype(np.int32),
            np.concatenate([e.mu for e in episodes]).astype(np.float32),
            np.frombuffer(b"".join(e.start for e in episodes), np.uint8),
            _all_targets([e.targets for e in episodes], lengths),
            _all_of([e.root_value for e in episodes], lengths, np.nan, np.float32),
            _all_of(
                [None if e.first is None else np.array([e.first]) for e in episodes],
                [1] * len(lengths),
                0,
                np.int64,
            ),
        )

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        """One after the other; at least one."""
        if len(parts) == 1:
            return parts[0]
        names = [field.name for field in fields(cls) if field.name not in _OPTIONAL]
        lengths = [len(part.actions) for part in parts]
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in names
        }
        columns["targets"] = _all_targets([part.targets for part in parts], lengths)
        columns["root_value"] = _all_of(
            [part.root_value for part in parts], lengths, np.nan, np.float32
        )
        columns["first"] = _all_of(
            [part.first for part in parts], list(map(len, parts)), 0, np.int64
        )
        return cls(**columns)

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
                self.targets and self.targets.take(parts[i]),
                None if self.root_value is None else self.root_value[parts[i]],
                None if self.first is None else int(self.first[i]),
            )

    def __getitem__(self, index: Any) -> Any:
        """A game by its index; by a slice, games as columns."""
        if isinstance(index, int):
            return next(iter(self[[index]]))
        return self.take(np.arange(len(self))[index])

    def take(self, rows: Int64s) -> Self:
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
            self.targets and self.targets.take(at),
            None if self.root_value is None else self.root_value[at],
            None if self.first is None else self.first[rows],
        )

    @property
    def sliced(self) -> Column:
        """bool [sum of length]: which actions are the games' slices."""
        if self.first is None:
            return np.ones(len(self.actions), np.bool_)
        begins = np.cumsum(self.length) - self.length
        return np.arange(len(self.actions)) >= np.repeat(begins + self.first, self.length)

    @property
    def sizes(self) -> Int64s:
        """int64 [n]: bytes of each game's columns at most."""
        most: Int64s = self.start_length + 8 * self.length
        most += 29 + 4 * self.returns.shape[1]
        if self.first is not None:
            most += 4 - 8 * self.first
        if self.root_value is not None:
            most += 4 * self.length
        if self.targets:
            ends = np.cumsum(self.length)
            counted = np.concatenate([[0], np.cumsum(self.targets.count)])
            most += 2 * self.length + 6 * (counted[ends] - counted[ends - self.length])
        return most


_OPTIONAL = ("targets", "root_value", "first")


def _all_targets(
    targets_of: Sequence[PolicyTargets | None], lengths: Sequence[int]
) -> PolicyTargets | None:
    """The targets of all parts; None when no part has any."""
    if all(targets is None for targets in targets_of):
        return None
    return PolicyTargets.concat(
        [targets or PolicyTargets.none(n) for targets, n in zip(targets_of, lengths, strict=True)]
    )


def _all_of(
    columns: Sequence[Column | None], lengths: Sequence[int], missing: float, dtype: type
) -> Column | None:
    """The column of all parts, `missing` where a part has none; None when no part has any."""
    if all(column is None for column in columns):
        return None
    parts = zip(columns, lengths, strict=True)
    full = [np.full(n, missing) if column is None else column for column, n in parts]
    return np.concatenate(full).astype(dtype)


def _places(lengths: Column, rows: Int64s) -> Column | slice:
    """Where the pieces `rows`, of pieces of these lengths one after the other, lie."""
    ends = np.cumsum(lengths)
    if len(rows) and np.array_equal(rows, np.arange(rows[0], rows[0] + len(rows))):
        return slice(int(ends[rows[0]] - lengths[rows[0]]), int(ends[rows[-1]]))
    sizes = lengths[rows]
    first = (ends - lengths)[rows] - (np.cumsum(sizes) - sizes)  # less where it will lie
    return np.repeat(first, sizes) + np.arange(int(sizes.sum()))


def to_columns(episodes: Episodes) -> Columns:
    """The columns in the order and with the types in which they are stored. Raises `ValueError` for
    values that no type holds."""
    if len(episodes) and not 0 <= int(episodes.ending.min()) <= int(episodes.ending.max()) < 256:
        raise ValueError("an ending of over a byte")
    columns: Columns = {
        "number": episodes.number,
        "step": episodes.step,
        "ending": episodes.ending.astype(np.uint8),
        "returns": episodes.returns.reshape(-1),
        "length": episodes.length.astype(np.uint32),
    }
    actions, mu = episodes.actions, episodes.mu
    if episodes.first is not None:
        if episodes.targets is not None or episodes.root_value is not None:
            raise ValueError("slices with columns of a search")
        actions, mu = actions[episodes.sliced], mu[episodes.sliced]
        columns["length"] = (episodes.length - episodes.first).astype(np.uint32)
        columns["first"] = episodes.first.astype(np.uint32)
    if len(episodes.start):
        columns["start_length"] = episodes.start_length.astype(np.uint32)
        columns["start"] = episodes.start
    columns["actions"] = _smallest(actions)
    columns["mu"] = mu
    targets = episodes.targets
    if targets is not None and targets.count.any():
        if not 0 <= int(targets.count.min(initial=0)) <= int(targets.count.max(initial=0)) < 2**16:
            raise ValueError("a target of too many actions")
        columns["target_count"] = targets.count.astype(np.uint16)
        columns["target_actions"] = _smallest(targets.actions)
        columns["target_share"] = targets.share.astype(np.uint16)
    if episodes.root_value is not None and not np.isnan(episodes.root_value).all():
        columns["root_value"] = episodes.root_value
    return columns


def _smallest(actions: Column) -> Column:
    """The actions in the smallest type that holds them."""
    if len(actions) and int(actions.min()) < 0:
        raise ValueError("a negative action")
    return actions.astype(np.min_scalar_type(int(actions.max(initial=0))))


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
        _targets(columns),
        columns.get("root_value"),
        columns["first"].astype(np.int64) if "first" in columns else None,
    )


def _targets(columns: Columns) -> PolicyTargets | None:
    if OF_TARGETS[0] not in columns:
        return None
    count, actions, share = (columns[name] for name in OF_TARGETS)
    return PolicyTargets(count.astype(np.int64), actions.astype(np.int32), share)


def _slices(lengths: Column) -> list[slice]:
    """Where pieces of these lengths lie, one after the other."""
    ends = np.cumsum(lengths, dtype=np.int64).tolist()
    return [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
