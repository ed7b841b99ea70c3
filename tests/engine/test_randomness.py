"""Counter-based random numbers and sampling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stratkit.engine import sample, uniform, uniform_rows

MASK = 0xFFFFFFFF


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Philox4x32-10 in plain Python, from the paper's definition."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & MASK, (a >> 32) ^ c[3] ^ k[1], a & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def test_transcription_gives_the_published_vectors() -> None:
    assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox([MASK] * 4, [MASK] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@given(
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**63 - 1),
    st.integers(0, 2**31 - 1),
    st.integers(0, 9),
)
def test_uniform_is_philox(seed: int, game: int, number: int, stream: int) -> None:
    c = philox([number, stream, game & MASK, game >> 32], [seed & MASK, seed >> 32])
    expected = ((c[0] >> 5) * 2**26 + (c[1] >> 6)) / 2**53
    got = uniform(seed, np.array([game]), np.array([number], np.int32), stream)
    assert got.tolist() == [expected]


def inverse_cdf(p: list[float], legal: list[int], u: float) -> int:
    target = u * sum(x for x, ok in zip(p, legal, strict=True) if ok)
    total, last = 0.0, -1
    for a, (x, ok) in enumerate(zip(p, legal, strict=True)):
        if ok and x > 0:
            total, last = total + x, a
            if total > target:
                return a
    return last


@given(
    st.lists(st.tuples(st.floats(0, 1, width=32), st.integers(0, 1)), min_size=1, max_size=20),
    st.integers(0, 2**32),
)
def test_sample_is_the_inverse_cdf_in_index_order(
    pairs: list[tuple[float, int]], game: int
) -> None:
    p, legal = [x for x, _ in pairs], [ok for _, ok in pairs]
    games, numbers = np.array([game]), np.zeros(1, np.int32)
    chosen, mu = sample(np.array([p], np.float32), np.array([legal], np.uint8), 5, games, numbers)
    expected = inverse_cdf(p, legal, float(uniform(5, games, numbers)[0]))
    assert chosen[0] == expected
    assert np.isnan(mu[0]) if expected < 0 else mu[0] == np.float32(p[expected])


def test_uniform_sampling_is_uniform() -> None:
    legal = np.tile(np.array([0, 1, 1, 0, 1], np.uint8), (30_000, 1))
    games = np.arange(30_000)
    chosen, mu = sample(None, legal, 1, games, np.zeros(30_000, np.int32))
    counts = np.bincount(chosen, minlength=5)
    assert counts[[0, 3]].sum() == 0
    assert np.all(np.abs(counts[[1, 2, 4]] - 10_000) < 4 * np.sqrt(30_000 * 2 / 9))
    assert np.all(mu == np.float32(1 / 3))


def test_any_number_but_zero_marks_a_legal_action() -> None:
    rng = np.random.default_rng(2)
    legal = rng.integers(0, 256, (500, 37), np.uint8) * rng.integers(0, 2, (500, 37), np.uint8)
    games, numbers = np.arange(500), np.zeros(500, np.int32)
    chosen, mu = sample(None, legal, 1, games, numbers)
    as_ones = sample(None, (legal != 0).astype(np.uint8), 1, games, numbers)
    assert np.array_equal(chosen, as_ones[0]) and np.array_equal(mu, as_ones[1])


def test_arrays_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="games must be a contiguous array, int64"):
        uniform(1, np.zeros(3, np.int32), np.zeros(3, np.int32))
    with pytest.raises(ValueError, match="seed"):
        uniform(-1, np.zeros(3, np.int64), np.zeros(3, np.int32))


def test_rows_of_numbers_are_told_apart_or_refused() -> None:
    """Whatever their width they begin alike, if they are so far apart; and nothing wraps around."""
    games, numbers = np.array([3, 5], np.int64), np.array([0, 2**20], np.int32)
    rows = uniform_rows(7, games, numbers, 4, 1)
    at = (numbers[:, None] * 4 + np.arange(4)).astype(np.int32).ravel()
    np.testing.assert_array_equal(rows.ravel(), uniform(7, np.repeat(games, 4), at, 1))
    wide, narrow = (uniform_rows(7, games, numbers, width, 1, 9) for width in (9, 2))
    np.testing.assert_array_equal(wide[:, :2], narrow)
    assert uniform_rows(7, games, -numbers, 2**11, 1).shape == (2, 2**11)
    with pytest.raises(ValueError, match=r"numbers \* stride must hold numbers from -2147483648"):
        uniform_rows(7, games, numbers, 2**11, 1)
    with pytest.raises(ValueError, match="stride must not be below the width 4, as 3 is"):
        uniform_rows(7, games, numbers, 4, 1, 3)
