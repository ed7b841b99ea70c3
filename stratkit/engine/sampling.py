"""Random numbers that depend on (seed, game, action number) and on nothing else."""

from __future__ import annotations

import numpy as np

from stratkit.arguments import Count, Int32, Int64, Seed, checked, fitting, integer, within
from stratkit.arrays import Bytes, Float32s, Float64s, Int32s, Int64s
from stratkit.engine.library import length, lib, optional, pointer, writable
from stratkit.engine.random_streams import Stream

MAX_NUMBERS = 100_000_000  # at a time


def _seed(seed: int) -> int:
    return integer("seed", seed, 0, 2**64 - 1)


def _stream(stream: int) -> int:
    return integer("stream", stream, 0, 2**32 - 1)


def uniform(seed: int, games: Int64s, numbers: Int32s, stream: int = Stream.ACTION) -> Float64s:
    """float64 [n] in [0, 1) from Philox4x32-10, keyed by `seed`, counted by (game, number,
    stream)."""
    out = np.empty(length("games", games), np.float64)
    lib.sk_uniform(
        _seed(seed),
        _stream(stream),
        pointer("games", games, "int64", out.shape),
        pointer("numbers", numbers, "int32", out.shape),
        len(out),
        writable(out),
    )
    return out


@checked
def uniform_rows(
    seed: Seed,
    games: Int64s,
    numbers: Int32s,
    width: Count,
    stream: int,
    stride: Count | None = None,
) -> Float64s:
    """float64 [n, width]: column i has `uniform`'s numbers of number * stride + i. `stride`, which
    is the width unless it is given, makes rows begin alike whatever their width.

    `ValueError`: the stride is below the width, or such a number is none of int32."""
    for name, array in (("games", games), ("numbers", numbers)):
        fitting(name, array, (len(games) if games.ndim else 0,))
    stride = width if stride is None else stride
    if stride < width:
        raise ValueError(f"stride must not be below the width {width}, as {stride} is")
    each = numbers.astype(np.int64)[:, None] * stride + np.arange(width)
    within("numbers * stride", each, -(2**31), 2**31 - 1)
    counted = each.astype(np.int32).ravel()
    return uniform(seed, np.repeat(games, width), counted, stream).reshape(-1, width)


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
    n = length("legal", legal)
    actions = legal.shape[1] if legal.ndim == 2 else 0  # `pointer` refuses the rest
    chosen = np.empty(n, np.int32)
    mu = np.empty(n, np.float32)
    lib.sk_sample(
        optional("probabilities", probabilities, "float32", (n, actions)),
        pointer("legal", legal, "uint8", (n, actions)),
        n,
        actions,
        _seed(seed),
        _stream(stream),
        pointer("games", games, "int64", (n,)),
        pointer("numbers", numbers, "int32", (n,)),
        writable(chosen),
        writable(mu),
    )
    return chosen, mu


@checked
def dirichlet(
    seed: Seed, game: Int64, number: Int32, shape: float, rows: Count, n: Count
) -> Float64s:
    """float64 [rows, n]: each row a draw from the symmetric Dirichlet distribution of this `shape`,
    above 0. Row i is a function of seed, game, number and i: `rows` do not change it."""
    if not 0 < shape < np.inf:
        raise ValueError(f"shape must be a finite number above 0, not {shape}")
    if rows * n > MAX_NUMBERS:
        raise ValueError(f"rows and n must not make more than {MAX_NUMBERS:,} numbers")
    out = np.empty((rows, n), np.float64)
    lib.sk_dirichlet(
        seed,
        Stream.NOISE,
        game,
        number,
        shape,
        rows,
        n,
        writable(out),
    )
    return out
