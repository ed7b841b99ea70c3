"""Who is rated, under which names; and what does not fit one number."""

from __future__ import annotations

import numpy as np
import pytest

from rating_games import both, pool_of, scores
from stratkit.errors import UsageError
from stratkit.rating.bootstrap import Ratings, rate
from stratkit.rating.report import RatingOptions, report
from stratkit.rating.residuals import max_by_chance, residuals
from stratkit.rating.selection import renamed, selected

POOL = pool_of(
    (4, both("run@1", "run@2", "even")),
    (2, both("run@2", "x=y", "even")),
    [("x=y", "run@1", "won")],
)


def test_include_and_exclude() -> None:
    for include, exclude, names in (
        ([], [], ["run@1", "run@2", "x=y"]),
        (["run@*"], [], ["run@1", "run@2"]),
        (["run@1", "x=y"], [], ["run@1", "x=y"]),
        ([], ["*@1"], ["run@2", "x=y"]),
        (["*"], ["x=y"], ["run@1", "run@2"]),
    ):
        pool, few = selected(POOL, include, exclude, 0)
        assert sorted(pool.names) == names and few == []
    assert len(selected(POOL, [], ["run@2"], 0)[0]) == 1
    with pytest.raises(UsageError, match=r"^--exclude: no player .*'run@3' \(did you mean 'run@"):
        selected(POOL, [], ["run@3"], 0)
    with pytest.raises(UsageError, match="^--include: no player is called 'z[*]'"):
        selected(POOL, ["z*"], [], 0)


def test_who_has_too_few_games_takes_games_from_others() -> None:
    assert selected(POOL, [], [], 5)[1] == []
    pool, few = selected(POOL, [], [], 6)  # x=y has five; run@1 has eight without it
    assert (list(pool.names), few) == (["run@1", "run@2"], ["x=y"])
    pool, few = selected(POOL, [], [], 9)
    assert len(pool) == 0 and few[0] == "x=y" and sorted(few[1:]) == ["run@1", "run@2"]


def test_renaming() -> None:
    pool, itself = renamed(POOL, ["x=y=other", "run@1=a=b"])
    assert (list(pool.names), itself) == (["a=b", "run@2", "other"], 0)
    pool, itself = renamed(POOL, ["run@1=run", "run@2=run"])  # they are one now
    assert (sorted(pool.names), itself, len(pool)) == (["run", "x=y"], 8, 5)
    pool, _ = renamed(POOL, ["run@1=run@2", "run@2=run@1"])  # each has the other's name
    assert scores(pool)[0, 1].tolist() == [4, 0, 4] and list(pool.names)[2] == "x=y"
    for text in ("nobody=x", "run@1", "run@1="):
        with pytest.raises(UsageError, match="^--rename: OLD=NEW, but no player is called '"):
            renamed(POOL, [text])


# --- residuals ------------------------------------------------------------------------------------


def test_residuals_by_hand() -> None:
    """Four pairs that were won and two that were lost, between equals: the points are 2 too many;
    each pair is 1 from what is expected, so 2 is 2 / sqrt(6) standard deviations."""
    pool = pool_of((4, both("a", "b", "won")), (2, both("a", "b", "lost")))
    found = residuals(pool, Ratings(np.zeros(2)))
    assert found.expected == pytest.approx([0.5])
    assert found.deviation == pytest.approx([2 / np.sqrt(6)])
    # By their own ratings nothing is left.
    assert residuals(pool, rate(pool)).deviation == pytest.approx([0], abs=1e-4)


def test_who_wins_all_as_expected_is_no_surprise() -> None:
    """By --prior 1 a player that has won 40 games was to win nearly all of them: .13 were expected
    to be lost, give or take .36."""
    pool = pool_of((20, both("a", "b", "won")))
    found = residuals(pool, Ratings(np.array([1000.0, 0.0])))
    lost = 40 * (1 - found.expected[0])
    assert lost == pytest.approx(0.126, abs=0.001)
    assert found.deviation == pytest.approx(lost / np.sqrt(lost), rel=0.01)
    # Draws spread less: 40 where nothing else was to come are exactly what was expected.
    found = residuals(pool_of((20, both("a", "b", "drawn"))), Ratings(np.zeros(2)))
    assert found.deviation == pytest.approx([0])


def test_a_circle_is_told_and_a_ladder_is_not() -> None:
    def played(*beats: tuple[str, str]) -> list[str]:
        units = [(n, both(*who, s)) for who in beats for n, s in ((60, "won"), (20, "lost"))]
        pool = pool_of(*units)
        return report(pool, rate(pool), RatingOptions("mini")).warnings()

    circle = played(("a", "b"), ("b", "c"), ("c", "a"))
    assert len(circle) == 3
    assert all(" scored 75.0% against " in w and " 50.0% was expected (4.5 " in w for w in circle)
    assert played(("a", "b"), ("b", "c")) == []


def test_the_limit_is_exceeded_by_chance_once_in_twenty_pools() -> None:
    normal = np.abs(np.random.default_rng(4).standard_normal((4000, 15)))
    assert (normal.max(1) > max_by_chance(15)).mean() == pytest.approx(0.05, abs=0.01)
