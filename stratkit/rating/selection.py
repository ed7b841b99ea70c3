"""Which players are rated, and under which names."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

import numpy as np

from stratkit.errors import UsageError, nearest_or_all
from stratkit.rating.pool import Pool


def find_players(pool: Pool, pattern: str, option: str) -> list[int]:
    """The player of this name, or those whose names match a pattern such as `run@*`; `UsageError`
    when there is none."""
    if pattern in pool.names:
        return [list(pool.names).index(pattern)]
    matching = [i for i, name in enumerate(pool.names) if fnmatch.fnmatchcase(name, pattern)]
    if not matching:
        hint = nearest_or_all(pattern, pool.names)
        raise UsageError(f"{option}: no player is called {pattern!r}{hint}")
    return matching


def renamed(pool: Pool, renames: Sequence[str]) -> tuple[Pool, int]:
    """The pool with players called anew, OLD=NEW; who get the same name become one player.

    Also the number of games left out because they were between players who are one now.
    """
    new = new_names(pool, renames)
    names = [new.get(name, name) for name in pool.names]
    merged = {name: i for i, name in enumerate(dict.fromkeys(names))}
    number = np.array([merged[name] for name in names], np.int64)
    pool = Pool(list(merged), number[pool.red], number[pool.blue], pool.result, pool.pair)
    itself = pool.red == pool.blue
    return pool.only(~itself), int(itself.sum())


def new_names(pool: Pool, renames: Sequence[str]) -> dict[str, str]:
    """NEW of each OLD; `UsageError` when there is no such player."""
    return dict(_split(pool, text) for text in renames)


def _split(pool: Pool, text: str) -> tuple[str, str]:
    """OLD and NEW; either may have a `=` inside."""
    parts = text.split("=")
    for cut in range(1, len(parts)):
        old, new = "=".join(parts[:cut]), "=".join(parts[cut:])
        if old in pool.names and new:
            return old, new
    old = parts[0]
    raise UsageError(
        f"--rename: OLD=NEW, but no player is called {old!r}{nearest_or_all(old, pool.names)}"
    )


def selected(
    pool: Pool, include: Sequence[str], exclude: Sequence[str], least_games: int
) -> tuple[Pool, list[str]]:
    """The games among the players who are included and not excluded and have so many games at
    least; and the names of those who have not."""
    everybody = range(len(pool.names))
    chosen = {i for p in include for i in find_players(pool, p, "--include")} or set(everybody)
    chosen -= {i for p in exclude for i in find_players(pool, p, "--exclude")}
    pool = pool.without(i for i in everybody if i not in chosen)
    too_few: list[str] = []
    while True:  # whoever is left out takes games from others
        games = pool.played()
        few = np.flatnonzero(games < least_games).tolist()
        if not few:
            return pool, too_few
        too_few += [pool.names[i] for i in few]
        pool = pool.without(few)
