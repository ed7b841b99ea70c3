"""Rollouts: games played on by the blueprint of both sides, and what they come to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch, sample
from stratkit.engine.batch import CHANCE
from stratkit.engine.diplomacy import between_moves
from stratkit.engine.random_streams import Stream
from stratkit.nets.threads import row_blocks, side_by_side
from stratkit.search.blueprint import Blueprint, by_threads

MOST_ROWS = 256  # that a thread plays at a time: more views leave the caches

# Who acts, int8 [n], and what they see, uint8 [n, observation_bytes].
Seen = tuple[npt.NDArray[np.int8], npt.NDArray[np.uint8]]


def play_out(
    batch: Batch,
    movers: npt.NDArray[np.int8],
    blueprint: Blueprint,
    actions: int,
    seed: int,
    keys: npt.NDArray[np.int64],
    largest_return: float = np.inf,
) -> npt.NDArray[np.float64]:
    """`play_on`; what the player `movers` int8 [n] of two gets then, float64 [n]: `worth`."""
    seen = play_on(batch, blueprint, actions, seed, keys)
    return worth(batch, movers, blueprint, seen, largest_return)


def worth(
    batch: Batch,
    movers: npt.NDArray[np.int8],
    blueprint: Blueprint,
    seen: Seen,
    largest_return: float = np.inf,
) -> npt.NDArray[np.float64]:
    """What the player `movers` int8 [n] of two gets, float64 [n]: the return, or what the blueprint
    expects of what is `seen`, at most `largest_return`: a network may expect more than a game can
    return, and would then put off a win for ever."""
    actors, packed = seen
    out = batch.returns()[np.arange(batch.size), movers].astype(np.float64)
    rows = np.flatnonzero(actors >= 0)
    if len(rows):
        values = np.clip(blueprint.values(packed[rows]), -largest_return, largest_return)
        out[rows] = np.where(actors[rows] == movers[rows], values, -values)
    return np.asarray(out, np.float64)


def play_out_by_threads(
    batch: Batch,
    order: npt.NDArray[np.int64],
    movers: npt.NDArray[np.int8],
    blueprint: Blueprint,
    actions: int,
    seed: int,
    keys: npt.NDArray[np.int64],
    largest_return: float = np.inf,
    meanwhile: Callable[[], object] | None = None,
) -> npt.NDArray[np.float64]:
    """`play_out`, in threads, each of which plays parts of the rows from their beginning to their
    end. In the `order`, int64 [n], rows that may come to the same views stand together, so that
    one thread has them. A blueprint that threads may not share is asked as by `play_out`.
    `meanwhile`: what the caller does if it has to wait for threads."""
    parts = row_blocks(batch.size, MOST_ROWS) if by_threads(blueprint) else []
    if len(parts) < 2:
        return play_out(batch, movers, blueprint, actions, seed, keys, largest_return)

    def part(at: slice) -> npt.NDArray[np.float64]:
        rows = order[at]
        some = Batch.gathered([(batch, rows)])
        of_rows = movers[rows], blueprint, actions, seed, keys[rows], largest_return
        return play_out(some, *of_rows)

    out = np.empty(batch.size)
    out[order] = np.concatenate(side_by_side(part, parts, meanwhile))
    return out


def play_on(
    batch: Batch,
    blueprint: Blueprint,
    actions: int,
    seed: int,
    keys: npt.NDArray[np.int64],
) -> Seen:
    """Plays `actions` more actions in every row, unless the game ends before.

    The draws are a function of `seed`, of a row's key, int64 [n], and of the number of the draw:
    rows with equal keys have common random numbers. Chance does not count as an action. One call of
    the blueprint serves all rows.
    """
    played = np.zeros(batch.size, np.int64)

    def is_open(packed: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        is_short = np.asarray(played < actions)
        played[is_short & (batch.actors() >= 0)] += 1
        return is_short

    return _play_while(is_open, batch, blueprint, seed, keys)


def play_to_moves(
    batch: Batch, blueprint: Blueprint, plies: int, seed: int, keys: npt.NDArray[np.int64]
) -> Seen:
    """Plays so many plies in every row. In Diplomacy they are phases of moves, and it plays on to
    where the next one begins, as the rollouts of SearchBot do (Gray et al. 2021): all powers that
    live choose there. Retreats and adjustments, which ask some powers only, are played on the way
    and do not count. Draws as in `play_on`."""
    done, ply = np.zeros(batch.size, np.int64), batch.plies()
    moves = np.zeros(batch.size, bool)

    def is_open(packed: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        now = batch.plies()
        np.add(done, moves & (now != ply), out=done, casting="unsafe")
        ply[:], moves[:] = now, ~between_moves(batch.game, packed)
        return (done < plies) | ~moves

    return _play_while(is_open, batch, blueprint, seed, keys)


def _play_while(
    is_open: Callable[[npt.NDArray[np.uint8]], npt.NDArray[np.bool_]],
    batch: Batch,
    blueprint: Blueprint,
    seed: int,
    keys: npt.NDArray[np.int64],
) -> Seen:
    """Plays the rows that are open, bool [n] by what is seen, which is asked before each action."""
    game, n = batch.game, batch.size
    actors = np.empty(n, np.int8)
    legal = np.empty((n, game.actions), np.uint8)
    packed = np.empty((n, game.observation_bytes), np.uint8)
    number = 0
    while True:
        batch.view(actors, legal, packed)
        rows = np.flatnonzero((actors >= 0) & is_open(packed))
        if not len(rows) and not (actors == CHANCE).any():
            break
        numbers = np.full(n, number, np.int32)
        chosen = np.full(n, -1, np.int32)
        batch.draw_chance(seed, keys, numbers, chosen)
        if len(rows):
            seen, may = packed[rows], legal[rows]
            policy = blueprint.evaluate_distinct(seen, may)[0]
            drawn = sample(policy, may, seed, keys[rows], numbers[rows], Stream.ROLLOUTS)
            chosen[rows] = drawn[0]
        batch.apply(chosen)
        number += 1
    return actors, packed
