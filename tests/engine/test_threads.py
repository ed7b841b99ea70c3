"""Batches on several threads; the thread sanitizer watches these tests too (`make sanitize`)."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from running import PATIENCE, ROOT
from stratkit.engine import Batch, Game, IllegalAction, sample

ROWS = 150  # enough that every thread gets a share


def play(game: Game, threads: int, seed: int) -> list[np.ndarray]:
    """All that a batch says while random games are played to their ends."""
    batch = Batch(game, ROWS, threads)
    games, numbers = np.arange(ROWS), np.zeros(ROWS, np.int32)
    actors = np.empty(ROWS, np.int8)
    legal = np.empty((ROWS, game.actions), np.uint8)
    packed = np.empty((ROWS, game.observation_bytes), np.uint8)
    said: list[np.ndarray] = []
    while True:
        batch.view(actors, legal, packed)
        said += [actors.copy(), legal.copy(), packed.copy(), *batch.result()]
        if actors.max() < 0:
            return said
        batch.apply(sample(None, legal, seed, games, numbers)[0])
        numbers += 1


def equal(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    return len(a) == len(b) and all(map(np.array_equal, a, b))


def test_threads_come_and_go() -> None:
    game = Game("nano")
    alone = play(game, 1, seed=5)
    for threads in (2, 3, 2, 5) * 5:
        assert equal(play(game, threads, seed=5), alone)


def test_batches_of_one_game_at_the_same_time() -> None:
    game = Game("mini", {"max_plies": 30})
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda seed: play(game, 2, seed), (1, 2)))
    assert equal(both[0], play(game, 1, seed=1))
    assert equal(both[1], play(game, 1, seed=2))
    assert not equal(*both)


def test_the_first_illegal_row_is_named_whichever_thread_meets_one_first() -> None:
    batch = Batch(Game("mini"), ROWS, 3)
    actions = np.full(ROWS, 99, np.int32)  # no square of this board
    for row in (0, 70, 149):
        actions[:row] = -1
        for _ in range(50):
            with pytest.raises(IllegalAction) as caught:
                batch.apply(actions)
            assert caught.value.row == row


# What would wait for ever can be ended from outside only.
LOOKS = """
import concurrent.futures
from stratkit.engine import Batch, Game
batch = Batch(Game("mini"), 1000, threads=2)
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    seen = list(pool.map(lambda _: batch.observe().tobytes(), range(600)))
assert set(seen) == {batch.observe().tobytes()}
"""
FORKS = """
import os, signal
from stratkit.engine import Batch, Game
batch = Batch(Game("mini"), 1000, threads=2)
seen = batch.observe().tobytes()
child = os.fork()
if not child:
    signal.alarm(60)
    same = batch.observe().tobytes() == seen
    del batch
    os._exit(0 if same else 1)
assert os.waitpid(child, 0)[1] == 0
assert batch.observe().tobytes() == seen
"""


@pytest.mark.parametrize("code", [LOOKS, FORKS], ids=["looks", "forks"])
def test_a_batch_serves_several_threads_of_the_caller_and_a_forked_process(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, timeout=PATIENCE, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
