"""What a rollout comes to, against games played one action at a time."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from stratkit.engine import Batch, Game
from stratkit.search.rollouts import play_out

ROWS = 12


class FirstLegal:
    """Plays the first legal action, and values each view at a number of its own in (-2, 2)."""

    def evaluate_distinct(
        self, observations: np.ndarray, legal: np.ndarray, values: bool = False
    ) -> tuple[np.ndarray, None]:
        return np.eye(legal.shape[1], dtype=np.float32)[legal.argmax(axis=1)], None

    def values(self, observations: np.ndarray) -> np.ndarray:
        return np.array([zlib.crc32(row.tobytes()) / 2**30 - 2 for row in observations], np.float32)


def begun(name: str) -> Batch:
    """Games in which chance has dealt, or both sides have placed their pieces, and a few actions
    are over; each has drawn otherwise."""
    batch = Batch(Game(name), ROWS)
    batch.reset()
    rng = np.random.default_rng(7)
    numbers, played = 0, 0
    while played < (15 if batch.game.actions_per_ply > 1 else 1):
        chosen = np.full(ROWS, -1, np.int32)
        batch.draw_chance(3, np.arange(ROWS), np.full(ROWS, numbers, np.int32), chosen)
        acting = np.flatnonzero(batch.actors() >= 0)
        for row in acting:
            chosen[row] = rng.choice(np.flatnonzero(batch.legal()[row]))
        batch.apply(chosen)
        numbers, played = numbers + 1, played + bool(len(acting))
    return batch


def expected(batch: Batch, mover: int, depth: int, largest: float) -> list[float]:
    """By hand, row by row: the return of `mover`, or the value with its sign."""
    blueprint = FirstLegal()
    for _ in range(depth):
        legal = batch.legal()
        chosen = np.where(batch.actors() >= 0, legal.argmax(axis=1), -1).astype(np.int32)
        batch.apply(chosen)
    out = []
    for row, actor in enumerate(batch.actors()):
        if actor < 0:
            out.append(float(batch.returns()[row, mover]))
            continue
        value = min(max(float(blueprint.values(batch.observe()[[row]])[0]), -largest), largest)
        out.append(value if actor == mover else -value)
    return out


@pytest.mark.parametrize("mover", [0, 1])
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["kuhn", "liars_dice:1x3", "nano"])
def test_a_leaf_is_worth_to_the_mover_what_it_is(name: str, depth: int, mover: int) -> None:
    """Leaves of odd depth belong to the other side, whose value counts against the mover."""
    wanted = expected(begun(name), mover, depth, 1.5)
    batch = begun(name)
    movers, keys = np.full(ROWS, mover, np.int8), np.arange(ROWS)
    got = play_out(batch, movers, FirstLegal(), depth, 1, keys, largest_return=1.5)
    np.testing.assert_allclose(got, wanted, rtol=1e-6)
    assert depth or len(set(np.abs(got))) > 1
    assert np.abs(got).max() <= (2 if name == "kuhn" else 1.5)
