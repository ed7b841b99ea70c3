"""What a rollout comes to, against games played one action at a time."""

from __future__ import annotations

import threading
import zlib

import numpy as np
import pytest

from stratkit.engine import Batch, Game
from stratkit.search import blueprint as remembering
from stratkit.search import rollouts
from stratkit.search.blueprint import Remembered
from stratkit.search.rollouts import play_out, play_out_by_threads
from stratkit.threads import use_threads

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


class ByThreads(FirstLegal):
    """May be asked by several threads, and notes which ones ask for how many views."""

    by_threads = True

    def __init__(self) -> None:
        self.asked: list[tuple[threading.Thread, int]] = []

    def evaluate_distinct(
        self, observations: np.ndarray, legal: np.ndarray, values: bool = False
    ) -> tuple[np.ndarray, None]:
        """Drawn from, so that random numbers count."""
        self.asked.append((threading.current_thread(), len(legal)))
        return (legal / legal.sum(1, keepdims=True)).astype(np.float32), None


def test_threads_play_parts_of_the_rows_and_change_no_return() -> None:
    """In whatever order: a row's random numbers are those of its key."""
    start = begun("nano")
    rows = np.arange(200) % ROWS
    keys, movers = np.arange(200) * 7, (rows % 2).astype(np.int8)
    found = []
    for threads in (1, 2, 3):
        use_threads(threads)
        blueprint = ByThreads()
        order = np.random.default_rng(threads).permutation(200)
        batch = Batch.gathered([(start, rows)])
        waited: list[threading.Thread] = []
        out = play_out_by_threads(
            batch,
            order,
            movers,
            blueprint,
            4,
            1,
            keys,
            meanwhile=lambda: waited.append(threading.current_thread()),  # noqa: B023
        )
        found.append(out)
        assert waited == [threading.main_thread()] * (threads > 1)
        assert max(size for _, size in blueprint.asked) == {1: 200, 2: 104, 3: 72}[threads]
        alone = {thread for thread, _ in blueprint.asked} == {threading.main_thread()}
        assert alone == (threads == 1)
    assert len(set(found[0])) > 20
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_others_are_asked_by_one_thread() -> None:
    use_threads(3)
    blueprint = ByThreads()
    blueprint.by_threads = False
    batch = Batch.gathered([(begun("nano"), np.arange(200) % ROWS)])
    keys, movers = np.arange(200), np.zeros(200, np.int8)
    play_out_by_threads(batch, np.arange(200), movers, blueprint, 4, 1, keys)
    assert {thread for thread, _ in blueprint.asked} == {threading.main_thread()}


@pytest.mark.parametrize("most", [0, 2**26])
def test_what_threads_remember_changes_no_return(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much room there is for it."""
    monkeypatch.setattr(remembering, "MOST_BYTES", most)
    monkeypatch.setattr(rollouts, "MOST_ROWS", 16)
    start, rows = begun("nano"), np.arange(160) % ROWS
    keys, movers = np.arange(160), np.zeros(160, np.int8)
    found = []
    for threads in (1, 4):
        use_threads(threads)
        blueprint = ByThreads()
        plain, remembered = (
            play_out_by_threads(
                Batch.gathered([(start, rows)]), np.arange(160), movers, one, 4, 1, keys
            )
            for one in (blueprint, Remembered(blueprint))
        )
        np.testing.assert_array_equal(remembered, plain)
        found.append(remembered)
    np.testing.assert_array_equal(found[1], found[0])
