"""Random numbers that depend on (seed, game, action number) and on nothing else."""

from __future__ import annotations

import numpy as np

from stratkit.arrays import Bytes, Float32s, Float64s, Int32s, Int64s
from stratkit.engine.library import lib, pointer
from stratkit.engine.random_streams import Stream


def _seed(seed: int) -> int:
    if not 0 <= seed < 2**64:
        raise ValueError(f"a seed is a number from 0 to 2^64 - 1, not {seed}")
    return seed


def uniform(seed: int, games: Int64s, numbers: Int32s, stream: Stream = Stream.ACTION) -> Float64s:
    """float64 [n] in [0, 1) from Philox4x32-10, keyed by `seed`, counted by (game, number,
    stream)."""
    out = np.empty(len(games), np.float64)
    lib.sk_uniform(
        _seed(seed),
        stream,
        pointer(games, "int64", out.shape),
        pointer(numbers, "int32", out.shape),
        len(out),
        pointer(out, "float64", out.shape, writable=True),
    )
    return out


def uniform_rows(seed: int, games: Int64s, numbers: Int32s, width: int, stream: Stream) -> Float64s:
    """float64 [n, width]: `width` numbers as `uniform`'s for each game and number."""
    each = np.repeat(numbers, width) * np.int32(width)
    each += np.tile(np.arange(width, dtype=np.int32), len(games))
    return uniform(seed, np.repeat(games, width), each, stream).reshape(-1, width)


def sample(
    probabilities: Float32s | None,
    legal: Bytes,
    seed: int,
    games: Int64s,
    numbers: Int32s,
    stream: Stream = Stream.ACTION,
) -> tuple[Int32s, Float32s]:
    """One legal action a row by the inverse CDF in index order, and the probability it had.

    `probabilities` float32 [n, actions], or None for uniform; `legal` uint8 [n, actions]; `games`
    int64 [n]; `numbers` int32 [n], the number of the action in its game. Returns actions int32 [n]
    and mu float32 [n]; a row without a legal action gets -1 and NaN.
    """
    n, actions = legal.shape
    chosen = np.empty(n, np.int32)
    mu = np.empty(n, np.float32)
    lib.sk_sample(
        pointer(probabilities, "float32", (n, actions)),
        pointer(legal, "uint8", (n, actions)),
        n,
        actions,
        _seed(seed),
        stream,
        pointer(games, "int64", (n,)),
        pointer(numbers, "int32", (n,)),
        pointer(chosen, "int32", (n,), writable=True),
        pointer(mu, "float32", (n,), writable=True),
    )
    return chosen, mu


def dirichlet(seed: int, game: int, number: int, shape: float, rows: int, n: int) -> Float64s:
    """float64 [rows, n]: each row a draw from the symmetric Dirichlet distribution of this `shape`,
    above 0. Row i is a function of seed, game, number and i: `rows` do not change it."""
    if not shape > 0 or rows < 1 or n < 1:
        raise ValueError("a Dirichlet distribution has a shape above 0, and numbers to draw")
    out = np.empty((rows, n), np.float64)
    lib.sk_dirichlet(
        _seed(seed),
        Stream.NOISE,
        game,
        number,
        shape,
        rows,
        n,
        pointer(out, "float64", (rows, n), writable=True),
    )
    return out
