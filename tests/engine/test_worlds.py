"""Worlds as Python draws them. What C alone can show, byte by byte and against all histories, is in
test_programs_in_c.py."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from scale import scaled
from stratkit.engine import Batch, Game, assign_types, expand_planes, sample, worlds
from stratkit.engine.stratego import (
    BOMB,
    FLAG,
    MOVED,
    NO_PIECE,
    PIECE,
    RED,
    REVEALED,
    SIDE,
    TYPE,
    VARIANTS,
    Position,
    variant,
)

ENEMY_PUBLIC = slice(13, 25)  # the planes of the enemy's hidden types


def random_game(game: Game, actions: int, seed: int = 1) -> Batch:
    """One state after that many uniformly random actions."""
    batch, one = Batch(game, 1), np.zeros(1, np.int64)
    for number in range(actions):
        legal = batch.legal()
        batch.apply(sample(None, legal, seed, one, np.full(1, number, np.int32))[0])
    return batch


def cells(batch: Batch, row: int) -> np.ndarray:
    return Position.from_bytes(variant(batch.game.name), batch.save(row)).cells


def hidden(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """The squares of the enemy's hidden pieces and which of them have moved."""
    at = cells(batch, 0)
    side = int(batch.actors()[0])
    enemy = at & (PIECE | SIDE) == PIECE | (1 - side) * SIDE
    squares = np.flatnonzero(enemy & (at & REVEALED == 0))
    return squares, at[squares] & MOVED != 0


def deals(types: list[int], moved: np.ndarray) -> set[tuple[int, ...]]:
    """All that public information allows, slowly."""
    immovable = (FLAG, BOMB)
    return {
        deal
        for deal in set(itertools.permutations(types))
        if not any(m and t in immovable for t, m in zip(deal, moved, strict=True))
    }


def is_like(counts: np.ndarray) -> bool:
    """Whether counts of equally likely things are, by chi-square (Wilson and Hilferty)."""
    expected, freedom = counts.sum() / len(counts), len(counts) - 1
    statistic = float(((counts - expected) ** 2).sum() / expected)
    spread = 2 / (9 * freedom)
    return abs((statistic / freedom) ** (1 / 3) - 1 + spread) < 4 * math.sqrt(spread)


@pytest.mark.parametrize(
    ("name", "plies", "seed"),
    [("micro", 2, 1), ("nano", 1, 2), ("mini", 7, 6), ("mini", 24, 1), ("barrage", 10, 1)],
)
def test_every_deal_is_as_likely(name: str, plies: int, seed: int) -> None:
    game = Game(name)
    batch = random_game(game, 2 * VARIANTS[name].pieces + 2 * plies, seed)
    squares, moved = hidden(batch)
    types = sorted(int(t) for t in cells(batch, 0)[squares] & TYPE)
    possible = deals(types, moved)
    draws = scaled(12 * len(possible) + 2000)
    drawn = worlds(batch, 0, draws, seed=3)
    counts = Counter(tuple(map(int, cells(drawn, i)[squares] & TYPE)) for i in range(draws))
    assert set(counts) == possible and len(possible) > 1
    assert is_like(np.array([counts[deal] for deal in possible]))


def test_of_uneven_draws_it_is_said() -> None:
    assert is_like(np.array([1000, 1030, 970])) and not is_like(np.array([1000, 1200, 800]))


@pytest.mark.parametrize("name", ["classic", "barrage", "ultimate"])
def test_marginals_are_the_public_planes(name: str) -> None:
    game, n = Game(name), scaled(1500)
    batch = random_game(game, 2 * VARIANTS[name].pieces + 60)
    squares, moved = hidden(batch)
    assert moved.any() and not moved.all()
    drawn = worlds(batch, 0, n, seed=5)
    types = np.array([cells(drawn, i)[squares] & TYPE for i in range(n)])
    assert batch.actors()[0] == RED
    public = expand_planes(game, batch.observe())[0].reshape(82, -1)[ENEMY_PUBLIC, squares]
    found = np.array([(types == t).mean(0) for t in range(12)])
    assert (abs(found - public) <= 4.5 * np.sqrt(public * (1 - public) / n) + 1e-6).all()


@pytest.mark.parametrize("name", ["mini", "mini:B2F6"])  # the second has A1 for nobody, too
def test_blue_does_not_know_where_red_stands_while_it_deploys(name: str) -> None:
    """Red's types and squares are drawn over all squares on which it may have placed them."""
    game, kind, n = Game(name), variant(name), scaled(3000)
    batch = random_game(game, kind.pieces + 3)
    drawn = worlds(batch, 0, n, seed=2)
    np.testing.assert_array_equal(drawn.legal(), np.repeat(batch.legal(), n, 0))
    np.testing.assert_array_equal(drawn.observe(), np.repeat(batch.observe(), n, 0))
    for square in np.flatnonzero(batch.legal()[0])[: kind.pieces - 3]:
        drawn.apply(np.full(n, square, np.int32))
    red = np.array([cells(drawn, i)[: kind.zone] for i in range(n)])
    assert not (red[:, ~kind.places] & PIECE).any()
    red = red[:, kind.places]
    flags = (red == PIECE | FLAG).sum(0)
    assert flags.sum() == n and is_like(flags)
    occupied, share = (red != 0).mean(0), kind.pieces / kind.places.sum()
    assert (abs(occupied - share) <= 4.5 * math.sqrt(share * (1 - share) / n)).all()


@pytest.mark.parametrize("name", VARIANTS)
def test_two_truths_with_one_view_have_the_same_worlds(name: str) -> None:
    """And games played on from such worlds stay the same for both sides until they end."""
    game, n = Game(name), 16
    for plies in range(0, 2 * min(VARIANTS[name].max_plies // 4, 40), 6):
        truth = random_game(game, 2 * VARIANTS[name].pieces + plies, seed=plies)
        if truth.actors()[0] < 0:
            continue
        other = worlds(truth, 0, 1, seed=99)
        ours, theirs = worlds(truth, 0, n, 7, 3, plies), worlds(other, 0, n, 7, 3, plies)
        np.testing.assert_array_equal(ours.observe(), np.repeat(truth.observe(), n, 0))
        np.testing.assert_array_equal(ours.legal(), np.repeat(truth.legal(), n, 0))
        for number in range(30):
            np.testing.assert_array_equal(ours.observe(), theirs.observe())
            np.testing.assert_array_equal(ours.legal(), theirs.legal())
            numbers = np.full(n, number, np.int32)
            actions, _ = sample(None, ours.legal(), 4, np.arange(n), numbers)
            ours.apply(actions)
            theirs.apply(actions)
        for mine, others in zip(ours.result(), theirs.result(), strict=True):
            np.testing.assert_array_equal(mine, others)


def test_neither_number_nor_threads_change_a_world() -> None:
    batch = random_game(Game("classic"), 90)
    many, few = worlds(batch, 0, 200, seed=1, threads=3), worlds(batch, 0, 20, seed=1)
    assert [many.save(i) for i in range(20)] == [few.save(i) for i in range(20)]
    assert len({many.save(i) for i in range(200)}) == 200
    first = few.save(0)
    for changed in ((2, 0, 0), (1, 1, 0), (1, 2**32, 0), (1, 0, 1)):
        assert worlds(batch, 0, 1, *changed).save(0) != first


def test_the_true_state_stays() -> None:
    batch = random_game(Game("mini"), 20)
    before = batch.save(0)
    worlds(batch, 0, 50, seed=1)
    assert batch.save(0) == before


def test_own_pieces_may_be_others_until_one_is_chosen() -> None:
    """Else a bomb could move, chosen as what it was before."""
    batch = random_game(Game("mini"), 16)
    at = cells(batch, 0)
    own = np.flatnonzero(at & (PIECE | SIDE | REVEALED) == PIECE)
    types = np.full((1, len(at)), NO_PIECE, np.uint8)
    types[0, own] = np.roll(at[own] & TYPE, 1)
    before = batch.observe()
    assign_types(batch, types, own=True)
    assert batch.observe().tobytes() != before.tobytes()
    batch.apply(batch.legal().argmax(1).astype(np.int32))
    before, types[0, own] = batch.observe(), at[own] & TYPE
    with pytest.raises(ValueError, match="types are not those of hidden pieces, in row 0"):
        assign_types(batch, types, own=True)
    assert batch.observe().tobytes() == before.tobytes()


def test_what_has_no_worlds_is_refused() -> None:
    batch = Batch(Game("kuhn"), 2)
    with pytest.raises(ValueError, match=r"kuhn: worlds are those of a player who is to act"):
        worlds(batch, 0, 4, seed=1)
    with pytest.raises(ValueError, match="row"):
        worlds(batch, 2, 4, seed=1)
    nano = Batch(Game("nano"), 1)
    for n, seed in ((0, 1), (1, -1), (1, 2**64)):
        with pytest.raises(ValueError):
            worlds(nano, 0, n, seed=seed)
    over = random_game(Game("nano"), 22)
    assert over.actors()[0] < 0
    with pytest.raises(ValueError, match="player who is to act"):
        worlds(over, 0, 1, seed=1)
