"""Worlds: states that the side to act cannot tell from the true one."""

from __future__ import annotations

import itertools
import math

import numpy as np

from stratkit.arguments import Count, Int32, Int64, Seed, Threads, checked
from stratkit.arrays import Bools, Bytes
from stratkit.engine.batch import CHANCE, Batch
from stratkit.engine.game import Game
from stratkit.engine.library import ffi, lib, pointer, text, writable
from stratkit.engine.observation import CELLS, STAGE
from stratkit.engine.random_streams import Stream
from stratkit.engine.stratego import NO_PIECE

NOT_HIDDEN = NO_PIECE  # in place of a hidden piece's type


@checked
def has_worlds(game: Game) -> bool:
    """Whether worlds can be drawn of the first player who acts in a game."""
    batch, zero = Batch(game, 1), np.zeros(1, np.int64)
    for number in itertools.count():
        if batch.actors()[0] != CHANCE:
            break
        chosen = np.empty(1, np.int32)
        batch.draw_chance(0, zero, np.array([number], np.int32), chosen)
        batch.apply(chosen)
    try:
        worlds(batch, 0, 1, 0)
    except ValueError:
        return False
    return True


@checked
def hidden_types(batch: Batch) -> Bytes:
    """The truth behind the view of each row of a game of Stratego: uint8 [size, squares], the types
    of the enemy's hidden pieces in the acting side's frame, `NOT_HIDDEN` elsewhere, and everywhere
    before both sides have deployed. For those who learn from games; no player gets it of a game.
    """
    out = np.empty((batch.size, _squares("batch", batch)), np.uint8)
    lib.sk_stratego_hidden(batch.handle, batch.size, writable(out))
    return out


@checked
def begins_unsure(observations: Bytes, types: Bytes) -> Bools:
    """bool [n]: the views of Stratego in which a side begins a move, or would, and the enemy has
    hidden pieces. `types`: theirs, uint8 [n, squares] as of `hidden_types`."""
    n, squares = np.shape(types) if np.ndim(types) == 2 else (0, 0)
    pointer("types", types, "uint8", (n, squares))
    pointer("observations", observations, "uint8", (n, CELLS + squares))
    unsure: Bools = (types != NOT_HIDDEN).any(1) & (observations[:, STAGE] == 0)
    return unsure


def _squares(name: str, batch: Batch) -> int:
    """The squares of the board of a batch, the argument `name`. `ValueError`: no Stratego."""
    if not lib.sk_stratego_hidden(batch.handle, 0, writable(np.empty(0, np.uint8))):
        raise ValueError(f"{name}: {batch.game.name} is no Stratego")
    assert batch.game.board
    return math.prod(batch.game.board)


@checked
def assign_types(worlds: Batch, types: Bytes, own: bool = False) -> None:
    """Makes worlds others of the same side: the enemy's hidden pieces get these types, uint8 [size,
    squares] as of `hidden_types`. `own`: the pieces of the side to act, between two plies; with
    some types it has no legal move. `ValueError`: public information does not allow it."""
    given = pointer("types", types, "uint8", (worlds.size, _squares("worlds", worlds)))
    row = lib.sk_stratego_assign(worlds.handle, worlds.size, own, given)
    if row >= 0:
        raise ValueError(f"{worlds.game.name}: types are not those of hidden pieces, in row {row}")


@checked
def worlds(
    batch: Batch,
    row: int,
    n: Count,
    seed: Seed,
    game: Int64 = 0,
    number: Int32 = 0,
    threads: Threads = 1,
) -> Batch:
    """`n` worlds of the player who acts in `row`: a batch of `n` states of the same game.

    A world is a full state that agrees with all that this player knows: in every row the legal
    actions uint8 [n, actions] and the observation uint8 [n, observation_bytes] are those of `row`,
    byte for byte, and so is the history that later observations and the repetition rules draw on.
    What the player cannot know is drawn uniformly over all histories that agree: in Stratego over
    the types of the enemy's hidden pieces (one that moved is no flag and no bomb), in card and dice
    games over the deals, with their probability. How the opponent plays does not count.

    The draws are a function of `seed` (0 to 2^64 - 1), the number of the `game`, the `number` of
    the action in it, and the row of the world: neither `n` nor `threads` changes them. The truth
    does not either: two states with the same view give the same worlds, byte for byte.

    Raises `ValueError` where nobody acts (chance, or the game is over), for a game without worlds,
    for a row that is not in the batch, for `n` below 1, and for a seed, `game` (int64) or `number`
    (int32) out of range.

    Source: the distribution is that of AlphaZe** (Blüml, Czech, Kersting 2023), "uniform over what
    public information allows".
    """
    row = batch._row("row", row)
    out = Batch(batch.game, n, threads)
    wrong = lib.sk_batch_redeal(out.handle, batch.handle, row, seed, Stream.WORLDS, game, number)
    batch.game.check()
    if wrong != ffi.NULL:
        raise ValueError(f"{batch.game.name}: {text(wrong)}")
    return out
