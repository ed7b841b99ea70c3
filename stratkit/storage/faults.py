"""What is wrong with the columns of a frame of episodes."""

from __future__ import annotations

import numpy as np

from stratkit.storage.columns import COLUMNS, MU_ROUNDING, OF_TARGETS, WHOLE_SHARE, Columns


def fault(columns: Columns, count: int, endings: int, sliced: bool = False) -> str | None:
    """What is wrong with the columns of a frame, or None. `sliced`: its stream may have slices."""
    if "first" in columns and not sliced:
        return "slices in a stream of version 1"
    for name, (_, required) in COLUMNS.items():
        if required and name not in columns:
            return f"no column {name!r}"
    for name in ("number", "step", "ending", "length"):
        if len(columns[name]) != count:
            return f"column {name!r} is not as long as its frame"
    if len(columns["returns"]) == 0 or len(columns["returns"]) % count:
        return "column 'returns' is not as long as its frame"
    if not columns["length"].all():
        return f"game {columns['number'][columns['length'] == 0][0]} has no actions"
    total = int(columns["length"].sum(dtype=np.uint64))
    if not len(columns["actions"]) == len(columns["mu"]) == total:
        return "the episodes' lengths do not fit their actions"
    starts = columns.get("start_length", np.zeros(count, np.uint32))
    start_bytes = len(columns.get("start", ()))
    if len(columns.get("first", starts)) != count:
        return "column 'first' is not as long as its frame"
    if "first" in columns and any(name in columns for name in (*OF_TARGETS, "root_value")):
        return "slices with columns of a search"
    if len(starts) != count or int(starts.sum(dtype=np.uint64)) != start_bytes:
        return "the lengths of the episodes' starts do not fit"
    return _wrong_value(columns, endings) or _wrong_search(columns, total)


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


def _wrong_search(columns: Columns, total: int) -> str | None:
    """What is wrong with the columns of a search, of which there may be none."""
    values = columns.get("root_value")
    if values is not None and (len(values) != total or np.isinf(values).any()):
        return "column 'root_value' is not as long as the actions, or infinite"
    present = [name in columns for name in OF_TARGETS]
    if not any(present):
        return None
    if not all(present):
        return f"no column {OF_TARGETS[present.index(False)]!r}"
    count, actions, share = (columns[name].astype(np.int64) for name in OF_TARGETS)
    if len(count) != total or not len(actions) == len(share) == int(count.sum()):
        return "the lengths of the targets do not fit"
    ends = np.cumsum(count)
    sums = np.concatenate([[0], np.cumsum(share)])
    if not np.isin((sums[ends] - sums[ends - count])[count > 0], WHOLE_SHARE).all():
        return f"the shares of a target do not sum to {WHOLE_SHARE}"
    first = np.zeros(len(actions) + 1, np.bool_)
    first[ends - count] = True
    if int(actions.max(initial=0)) >= 2**31 or not ((np.diff(actions) > 0) | first[1:-1]).all():
        return "the actions of a target do not ascend, or are of over 31 bits"
    return None
