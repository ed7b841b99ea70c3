"""Self-play whose opponents are drawn by the policy's scores against them."""

from __future__ import annotations

import io
import json
import pathlib

import numpy as np
import pytest

from running import here, learn
from stratkit.play.finished import Finished
from stratkit.play.opponents import ByScore, ByTurns
from stratkit.storage.columns import Episodes
from stratkit.storage.episodes import EpisodeReader
from stratkit.storage.slices import GOES_ON

POOL = ("--opponent", "heuristic", "--opponent", "random", "--opponent", "itself")
PLAYED = ("selfplay", "--game", "mini", "-n", 120, "--seed", 5, *POOL)


def games(numbers: list[int], opponents: list[int], scores: list[float]) -> Finished:
    """Ended games of the policy, whose seats alternate; nan: the game goes on."""
    n = len(numbers)
    number, own = np.array(numbers), np.array(numbers) % 2
    score = np.array(scores)
    returns = np.stack([2 * score - 1, 1 - 2 * score], 1)
    returns[own == 1] *= -1
    seats = np.repeat(np.array(opponents, np.int32)[:, None], 2, 1)
    seats[np.arange(n), own] = 0
    none = np.zeros(n, np.int64)
    endings = np.where(np.isnan(score), GOES_ON, 1)
    episodes = Episodes(
        number=number, step=none, ending=endings, returns=np.nan_to_num(returns).astype(np.float32),
        length=none, start_length=none, actions=np.empty(0, np.int32), mu=np.empty(0, np.float32),
        start=np.empty(0, np.uint8),
    )  # fmt: skip
    return Finished(episodes, seats, np.zeros(n, np.int32))


def a_pool(every: int = 4, first: int = 0) -> tuple[ByScore, list[str]]:
    said: list[str] = []
    return ByScore([1, 2, 0, 2], 2, every, 1, first, ["a", "b"], said.append), said


def shares(pool: ByTurns, first: int, n: int = 20_000) -> list[float]:
    """How often each player is met in a block that begins with this game."""
    found = pool.met(np.arange(first, first + 2 * n, 2))
    return (np.bincount(found, minlength=3) / n).tolist()


def test_a_block_is_drawn_by_the_results_of_all_but_the_one_before() -> None:
    """Draws, and games of the policy alone, count as they should; later blocks wait."""
    pool, said = a_pool(every=40_000)
    fair = [0.25, 0.25, 0.5]
    for block in (0, 1):
        assert shares(pool, block * 40_000) == pytest.approx(fair, abs=0.015)
    pool, said = a_pool()
    assert [pool.room(begun) for begun in (0, 5, 8)] == [8, 3, 0]
    pool.note(games([2, 6, 0, 1], [2, 1, 1, 1], [1.0, 0.0, 1.0, np.nan]))
    pool.note(games([3, 1], [0, 1], [1.0, 0.5]))
    assert pool.room(8) == 4 and pool.room(12) == 0
    # Of opponent 1 a win and a draw, of 2 a win; and half a point more of each.
    s = [2 / 3, 0.75]
    weights = np.array([(1 - s[0]) ** 2, 2 * (1 - s[1]) ** 2])
    expected = [0.25, *(0.75 * weights / weights.sum())]
    for _ in "ab":
        assert pool.scores[1:].tolist() == pytest.approx(s)
    (line,) = said
    assert line == (
        f"scores after 4 games: a 66.7%, drawn {expected[1]:.1%}; b 75.0%, drawn {expected[2]:.1%}"
    )
    numbers = np.arange(12)
    drawn = pool.met(numbers)
    again, _ = a_pool()
    np.testing.assert_array_equal(drawn[:8], again.met(numbers[:8]))  # whatever has come since
    assert (drawn[::2] == drawn[1::2]).all()  # a game from each seat


def test_who_was_beaten_is_met_again_and_old_results_are_forgotten() -> None:
    pool, _ = a_pool(every=2)
    for k in range(0, 1000, 2):
        pool.note(games([k, k + 1], [1, 2], [1.0, 0.0]))
    assert pool.scores[1:].tolist() == pytest.approx([1, 0], abs=0.01)
    chances = pool._chances[-1]
    assert chances[1] == pytest.approx(0.75 * 0.01 / (0.01 + 2 * pool.scores[2:] ** 0), rel=0.05)
    for k in range(1000, 1400, 2):
        pool.note(games([k, k + 1], [1, 1], [0.0, 0.0]))
    assert pool.scores[1] < 0.05


def test_results_count_in_the_order_of_their_games() -> None:
    """Not in that in which they come: the average weighs the later ones more."""
    found = []
    for numbers in ([400, 401, 402, 403], [403, 401, 400, 402]):
        pool, _ = a_pool()
        for k in range(0, 400, 4):
            pool.note(games([k, k + 1, k + 2, k + 3], [1, 1, 1, 1], [1.0, 0.0, 1.0, 0.0]))
        for number in numbers:
            pool.note(games([number], [1], [float(number < 402)]))
        found.append(pool.scores[1])
    assert found[0] == found[1] < 0.5


def test_equal_seeds_give_equal_games_whatever_the_slots_and_threads() -> None:
    whole = here(*PLAYED, "--by-score", 20)
    assert whole.status == 0
    for more in (("--slots", 3), ("--slots", 50, "--threads", 2)):
        assert here(*PLAYED, "--by-score", 20, *more).data == whole.data
    assert here(*PLAYED, "--by-score", 40).data != whole.data != here(*PLAYED).data
    reader = EpisodeReader(io.BytesIO(whole.data), "-")
    assert len(list(reader)) == 120
    assert (reader.header.by_score, reader.header.opponent) == (
        20,
        ("heuristic", "random", "itself"),
    )
    done = here(*PLAYED, "--by-score", 60, "-v")
    first, second = done.err.splitlines()
    assert first.startswith("selfplay: scores after 60 games: heuristic ")
    assert "; random " in second and second.startswith("selfplay: scores after 120 games: ")


def test_a_learner_s_games_are_drawn_too(tmp_path: pathlib.Path) -> None:
    """The loop goes on where a block waits for its last games, of slices, too."""
    folder = tmp_path / "run"
    learn(("--game", "kuhn", "--policy", folder, "--follow", "--seed", 1, "-q", "--by-score", 8,
           "--opponent", "random", "--opponent", "name=b,random", "--slice", 2),
          ("--out", folder, "--algorithm", "mmd", "--steps", 20, "--net", "mlp:8", "--batch", 64,
           "-q"))  # fmt: skip
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == list(range(1, 21))


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (POOL[2:], "--by-score needs two --opponent or more, beside itself"),
        ((*POOL, "--part", "1/2"), "--by-score does not go with --part: opponents follow from"),
        (("--by-score", 0, *POOL), "--by-score must be a whole number from 1"),
    ],
)
def test_what_does_not_go_with_it(words: tuple[object, ...], what: str) -> None:
    number = () if "--by-score" in words else ("--by-score", 8)
    done = here("selfplay", "--game", "kuhn", "-n", 4, *number, *words)
    assert (done.status, done.data) == (2, b"") and what in done.error_line
