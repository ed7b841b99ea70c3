"""Policies of networks that are kept in a table (formats/table.md)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from stratkit.arrays import Float64s
from stratkit.errors import InputError, Say
from stratkit.players.spec import split_options
from stratkit.solve.sets import ROWS, OpenProgress, choices_of
from stratkit.storage.sets import InformationSets
from stratkit.storage.tables import PolicyTable, TableMetadata, growing_table, read_table

if TYPE_CHECKING:
    from stratkit.players.player import PolicyPlayer
    from stratkit.players.spec import Contestant


def kept_policy(
    path: str,
    sets: InformationSets,
    rules: Mapping[str, int],
    contestant: Contestant[PolicyPlayer],
    force: bool,
    progress: OpenProgress,
    note: Say,
) -> Float64s:
    """The policy of a network by the table `path`. What is not there is computed, and kept for the
    next time. `InputError`: there is another table, and `force` is false."""
    wanted = TableMetadata(game=sets.game.name, rules=rules, source=_source(contestant))
    if not (os.path.exists(path) and _is_kept(path, wanted, force)):
        _keep(path, sets, wanted, contestant.player, force, progress, note)
    return read_table(PolicyTable(path), sets, rules)


def _is_kept(path: str, wanted: TableMetadata, force: bool) -> bool:
    if force:
        return False
    found = PolicyTable(path).metadata
    if found.game == wanted.game and found.rules == wanted.rules and found.source != wanted.source:
        raise InputError("a table of another policy; -f overwrites it", file=path)
    return True


def _source(contestant: Contestant[PolicyPlayer]) -> dict[str, str]:
    """What says which policy it is: the weights, and the keys by which they play."""
    keys, _ = split_options(contestant.spec)
    return {
        "weights": contestant.sha256 or "",
        "keys": ",".join(f"{key}={value}" for key, value in keys.items()),
    }


def _keep(
    path: str,
    sets: InformationSets,
    metadata: TableMetadata,
    player: PolicyPlayer,
    force: bool,
    progress: OpenProgress,
    note: Say,
) -> None:
    with growing_table(path, metadata, sets.choices, force) as table:
        begin, at = _whole_sets(sets, table.done)
        if begin:
            note(f"{path}: goes on after {begin:,} information sets")
        table.go_on(at)
        for part in choices_of(sets, player, begin, progress):
            table.write(part)


def _whole_sets(sets: InformationSets, choices: int) -> tuple[int, int]:
    """How many parts' information sets lie whole in so many choices, and their choices."""
    begin = at = 0
    while begin < len(sets):
        n = int(sets.views(begin, begin + ROWS)[1].sum(dtype="int64"))
        if at + n > choices:
            break
        begin, at = min(begin + ROWS, len(sets)), at + n
    return begin, at
