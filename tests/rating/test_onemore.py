"""Few games say little: intervals between two players, and in pools."""

from __future__ import annotations

import importlib.util
import math
import pathlib
import random
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

from rating_games import both, header, pool_of, record, write
from running import ROOT
from stratkit.match.schedule import Schedule
from stratkit.match.scoreboard import Scoreboard
from stratkit.rating import bootstrap
from stratkit.rating.bootstrap import rate
from stratkit.rating.elo import (
    Anchor,
    DavidsonModel,
    difference,
    information,
    score,
    with_lost,
    with_won,
)
from stratkit.rating.onemore import PairEstimate, between, likely_text
from stratkit.rating.reading import PoolReader
from stratkit.rating.report import RatingOptions, report
from stratkit.rating.sprt import elo_of, expected_score


def games(lost: int, drawn: int, won: int) -> PairEstimate:
    return between([(lost, 0, 1), (drawn, 0.5, 1), (won, 1, 1)])


def test_elo_and_its_interval() -> None:
    for elo in (-300, 0, 17.5):
        assert elo_of(expected_score(elo)) == pytest.approx(elo)
    assert elo_of(0) == -math.inf and elo_of(1) == math.inf
    assert games(0, 0, 0) == PairEstimate(0, -math.inf, math.inf, 0.5)
    level = games(40, 20, 40)
    assert level.elo == 0 and -72 < level.low < -57
    assert level.high == -level.low
    assert level.superiority == 0.5
    # 55 % of 400 games without draws: 2 standard deviations of .025.
    assert games(180, 0, 220).superiority == pytest.approx(0.977, abs=0.004)


def test_wins_and_losses_have_the_limits_of_clopper_and_pearson() -> None:
    """Of ten wins out of ten the lower one is the root of .025; of 8 out of 10 they are tabled."""
    won = games(0, 0, 10)
    assert won.elo == won.high == math.inf
    assert expected_score(won.low) == pytest.approx(0.025**0.1, abs=0.01)
    assert won.superiority == pytest.approx(1 - 0.5**11, abs=1e-3) and won.superiority < 1
    most = games(2, 0, 8)
    assert expected_score(most.low) == pytest.approx(0.4439, abs=0.01)
    assert expected_score(most.high) == pytest.approx(0.9748, abs=0.005)


def test_the_interval_covers_the_truth() -> None:
    rng = random.Random(2)
    truth, covered = elo_of(0.5 + 0.3 / 2), 0
    for _ in range(100):
        counts = [0] * 3
        for outcome in rng.choices((0, 1, 2), (0.2, 0.3, 0.5), k=100):
            counts[outcome] += 1
        found = games(*counts)
        covered += found.low <= truth <= found.high
    assert 92 <= covered <= 99


def test_what_is_not_certain_is_not_called_so() -> None:
    told = [likely_text(p) for p in (0, 0.0004, 0.5, 0.9987, 0.9996, 1)]
    assert told == ["< 0.1%", "< 0.1%", "50.0%", "99.9%", "> 99.9%", "> 99.9%"]


@pytest.mark.parametrize("v", [0.0, 0.5, 40.0])
def test_the_model_and_its_inverse(v: float) -> None:
    x, draws = np.linspace(-9, 9, 19), np.array(v)
    assert difference(score(x, draws), score(-x, draws), draws) == pytest.approx(x)
    slope = (score(x + 1e-5, draws) - score(x - 1e-5, draws)) / 2e-5
    assert information(x, draws) == pytest.approx(slope, rel=1e-5)
    # n games tell with a variance of 1 / (n information): one more makes the score n / (n + 1).
    more, variance = np.ones(1), 1 / (7 * information(x, draws))
    lower = score(with_lost(x, draws, variance, more), draws)
    assert lower == pytest.approx(score(x, draws) * 7 / 8)
    assert score(-with_won(x, draws, variance, more), draws) == pytest.approx(
        score(-x, draws) * 7 / 8
    )


# --- of few games -------------------------------------------------------------------------------

MIN_PAIRS = {
    "a win and a draw": [("a", "b", "won"), ("b", "a", "drawn")],
    "draws": both("a", "b", "drawn"),
    "each won as red": both("a", "b", "even"),
}


@pytest.mark.parametrize("pair", MIN_PAIRS.values(), ids=MIN_PAIRS)
@pytest.mark.parametrize("pairs", [1, 3])
@pytest.mark.parametrize(
    "model",
    [
        DavidsonModel(),
        DavidsonModel(prior=1),
        DavidsonModel(draws=0.4),
        DavidsonModel(anchors=[Anchor(0, 0)]),
        DavidsonModel(anchors=[Anchor(0, 0, 50)]),
    ],
    ids=["plain", "prior", "draws", "anchor", "loose"],
)
def test_nothing_is_certain_after_few_pairs(pair: list, pairs: int, model: DavidsonModel) -> None:  # type: ignore[type-arg]
    """That a player is as strong as the other one was excluded, or certain, by one pair."""
    found = rate(pool_of((pairs, pair)), model)
    assert found.low is not None and found.high is not None
    [sure] = found.superiority or ()
    # The same number of pairs that all ended level: Clopper and Pearson's limit is .025^(1/n) / 2.
    least = 2 * -elo_of(0.025 ** (1 / (pairs + 2 * model.prior)) / 2)
    wide = (found.high - found.low)[1] * (1 if model.anchors else 2)
    assert wide > 0.8 * least and found.low[1] < found.elo[1] < found.high[1]
    assert 0.02 < sure[0, 1] < 0.98


def test_what_is_fitted_is_not_certain_either() -> None:
    pool = pool_of((3, [("a", "b", "won"), ("b", "a", "drawn")]), (1, both("a", "b", "won")),
                   (2, both("a", "b", "lost")))  # fmt: skip
    found = rate(pool, DavidsonModel(first_move=None, draws=None))
    assert found.first_move.low < -30 and found.first_move.high > 200
    assert 0 < found.draws.low < 0.15 and 0.4 < found.draws.high < 1
    # Without a draw in four games there may be as many as Clopper and Pearson allow, about.
    none = rate(
        pool_of((1, both("a", "b", "won")), (1, both("a", "b", "lost"))), DavidsonModel(draws=None)
    )
    assert none.draws.value == none.draws.low == 0 and 0.5 < none.draws.high < 0.95


def test_a_link_of_one_pair_is_felt_through_many() -> None:
    """b and c know each other well; a knows b by one drawn pair, so c is as far from a as b is."""
    pool = pool_of((1, both("a", "b", "drawn")), (300, both("b", "c", "even")))
    found = rate(pool, DavidsonModel(anchors=[Anchor(0, 0)]))
    assert found.low is not None and found.high is not None
    assert (found.high - found.low)[2] > 600


def test_match_and_rate_say_the_same(tmp_path: pathlib.Path) -> None:
    rng = random.Random(3)
    results = [rng.choice(["red", "draw", "blue", "blue"]) for _ in range(31)]  # one without a pair
    records = [record(n, n % 2, 1 - n % 2, result) for n, result in enumerate(results)]
    board = Scoreboard(["a", "b"], Schedule(2, 32), None)
    for one in records:
        board.add(one)
    [fields] = board.rows()
    reader = PoolReader()
    with write(tmp_path / "g", header("a", "b"), records).open("rb") as stream:
        reader.read(stream, "g")
    found = rate(reader.finish(), DavidsonModel(anchors=[Anchor(1, 0)]))
    assert found.low is not None and found.high is not None and found.superiority
    elo, low, high = (f"{round(float(x[0])):+d}" for x in (found.elo, found.low, found.high))
    assert fields[2:4] == [
        f"Elo {elo} ({low} to {high})",
        f"LOS {likely_text(found.superiority[0][0, 1], ' %')}",
    ]


def test_too_few_games_are_told() -> None:
    """By the table of a match, and in the warnings of rate, which its page has, too."""
    pairs = [record(n, n % 2, 1 - n % 2, "red" if n % 4 else "blue") for n in range(20)]
    for many, few in ((18, True), (20, False)):
        pool = pool_of((many // 2, both("a", "b", "even")))
        told = report(pool, rate(pool), RatingOptions("mini")).remarks()
        what = "fewer than 10 pairs of games, which say little of the strength: a, b"
        assert told == ([what] if few else [])
        board = Scoreboard(["a", "b"], Schedule(2, 20), None)
        for one in pairs[:many]:
            board.add(one)
        assert ("too few" in board.text()) == few


# --- by simulation ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("coverage_bench", ROOT / "bench/coverage.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(ROOT / "bench"))
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("players", "pairs", "draws", "spread", "prior", "pools"),
    [
        (2, 1, 0.0, 0.0, 0, 200),  # half of these were of width 0
        (2, 10, 0.9, 0.0, 0, 200),
        (2, 2, 0.2, 800.0, 1, 60),
        (5, 1, 0.9, 0.0, 0, 12),
        (5, 5, 0.2, 800.0, 1, 12),
        (40, 1, 0.9, 0.0, 0, 1),
    ],
)
def test_intervals_of_few_games_hold_the_truth(
    players: int, pairs: int, draws: float, spread: float, prior: int, pools: int,
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Rows of bench/coverage.md; at least 93 % less what so few pools may miss."""
    monkeypatch.setattr(bootstrap, "RESAMPLES", 150)
    found = bench.covered(players, pairs, draws, spread, prior, pools)
    assert found.share > 0.93 - 2 * math.sqrt(0.93 * 0.07 / found.all)
    assert found.width > 50 and found.surest < 1


def test_the_bench_has_a_help() -> None:
    command = [sys.executable, str(ROOT / "bench/coverage.py"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "--alike" in done.stdout and "hold the truth" in done.stdout


# --- many players -------------------------------------------------------------------------------


def test_the_work_grows_with_players_not_with_their_square(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """400 players in 200 groups took 8 minutes: what is computed for a group does not grow with
    how many other groups there are."""
    counts: dict[int, int] = {}
    derivatives = bootstrap.fit.__globals__["_derivatives"]
    numbers = 0

    def counted(state: np.ndarray, tally: object) -> object:
        nonlocal numbers
        slope, curvature = derivatives(state, tally)
        numbers += curvature.size
        return slope, curvature

    monkeypatch.setitem(bootstrap.fit.__globals__, "_derivatives", counted)
    monkeypatch.setattr(bootstrap, "RESAMPLES", 20)
    for model in (DavidsonModel(prior=1), DavidsonModel(prior=1, draws=None)):
        for groups in (10, 40):
            numbers = 0
            met = [both(f"a{g}", f"b{g}", how) for g in range(groups) for how in ("drawn", "even")]
            found = rate(pool_of(*met), model)
            assert len(found.superiority or ()) == groups and len(found.elo) == 2 * groups
            counts[groups] = numbers
        assert 2 < counts[40] / counts[10] < 4.5
