"""Ratings of any number of players a game: closed forms, `rate`'s own Elo, and simulation."""

from __future__ import annotations

import json
import math
import pathlib
import re

import numpy as np
import pytest

from running import ROOT, run
from stratkit.errors import CheckFailed
from stratkit.rating.bootstrap import rate as rate_two
from stratkit.rating.elo import DavidsonModel
from stratkit.rating.luce import (
    ORDER,
    Choices,
    LuceRatings,
    LuceReport,
    Stage,
    Tables,
    rate,
    stages,
)
from stratkit.rating.pool import Pool
from stratkit.rating.shares import DRAW_SIZE, SQUARES

ABC = (0, 1, 2)


def elo(units: list[list[Stage]], players: int, prior: int = 0) -> np.ndarray:
    names = [chr(97 + player) for player in range(players)]
    return rate(Choices.of(units, players), names, prior).elo


def test_games_as_choices() -> None:
    assert stages((0, 1, 1), (0.5, 0.25, 0.25), SQUARES) == [((0, 1, 1), {0: 0.5, 1: 0.5})]
    assert stages((0, 1, 1), (0.9, 0.1, 0.0), DRAW_SIZE) == [((0, 1, 1), {0: 0.5, 1: 0.5})]
    assert stages((1, 0), (-1.0, 1.0), SQUARES) == [((0, 1), {1: 0.0, 0: 1.0})]
    draw = [((0, 1), {0: 0.5, 1: 0.5})]
    for how in (SQUARES, DRAW_SIZE, ORDER):
        assert stages((0, 1), (0.0, 0.0), how) == draw
    level = ((0, 1, 2, 3), {1: 0.5, 2: 0.5})
    assert stages((0, 1, 2, 3), (0.1, 0.4, 0.4, 0.1), ORDER) == [
        level, level, ((0, 3), {0: 0.5, 3: 0.5}),
    ]  # fmt: skip


@pytest.mark.parametrize("how", [SQUARES, DRAW_SIZE])
def test_how_much_was_won_is_no_share(how: str) -> None:
    """Bets and payoffs beyond 1, and what a loss costs: whoever gains nothing gets no share."""
    assert stages((0, 1), (-13.0, 13.0), how) == [((0, 1), {0: 0.0, 1: 1.0})]
    assert stages((1, 0), (0.5, -0.5), how) == [((0, 1), {1: 1.0, 0: 0.0})]
    assert stages(ABC, (-2.0, 1.0, 1.0), how) == [(ABC, {0: 0.0, 1: 0.5, 2: 0.5})]


def test_closed_forms() -> None:
    """At one table strengths are as the shares; one among six has odds of six times its share."""
    shares = (0.5, 0.3, 0.2)
    found = elo([stages(ABC, shares, SQUARES)], 3)
    for i, j in ((0, 1), (1, 2)):
        assert found[i] - found[j] == pytest.approx(400 * math.log10(shares[i] / shares[j]))
    one = [stages((0, 1, 1, 1, 1, 1, 1), (0.4, *[0.1] * 6), SQUARES)]
    assert elo(one, 2)[0] - elo(one, 2)[1] == pytest.approx(400 * math.log10(4))
    # Plackett: a, b, c came in so, and the other way round. b is first of neither.
    both = [stages(ABC, r, ORDER) for r in ((3.0, 2.0, 1.0), (1.0, 2.0, 3.0))]
    found = elo(both, 3)
    w = 10 ** ((found[0] - found[1]) / 400)  # of a and c, where b has 1
    assert found[0] == pytest.approx(found[2])
    # The likelihood (w / (2w + 1) * 1 / (w + 1))^2 is largest where 2 w^2 = 1.
    assert 2 * w * w == pytest.approx(1)


@pytest.mark.parametrize("how", [SQUARES, ORDER])
@pytest.mark.parametrize("prior", [0, 2])
def test_two_players_have_the_elo_of_bradley_and_terry(how: str, prior: int) -> None:
    rng = np.random.default_rng(5)
    strong = np.array([0.0, 0.4, 1.0, -0.7])
    red, blue = (
        np.array(x) for x in zip(*(rng.permutation(4)[:2] for _ in range(200)), strict=True)
    )
    chance = 1 / (1 + np.exp(strong[blue] - strong[red]))
    result = np.where(rng.random(200) < 0.2, 1, 2 * (rng.random(200) < chance)).astype(np.int64)
    pool = Pool(list("abcd"), red, blue, result, np.arange(200))
    expected = rate_two(pool, DavidsonModel(prior=prior)).elo
    units = [
        stages((int(i), int(j)), (r - 1.0, 1.0 - r), how)
        for i, j, r in zip(red, blue, result, strict=True)
    ]
    assert elo(units, 4, prior) == pytest.approx(expected, abs=1e-4)


def test_who_wins_everything_has_no_rating_but_with_a_prior() -> None:
    units = [stages(ABC, (1.0, 0.0, 0.0), SQUARES)] * 3
    with pytest.raises(CheckFailed, match="a, b, c: somebody won or lost everything"):
        elo(units, 3)
    found = elo(units, 3, prior=1)
    assert found[0] > found[1] == pytest.approx(found[2])


def test_no_rating_is_minus_nothing() -> None:
    tables = Tables(SQUARES, names=["a", "b"], games={0: 1, 1: 1}, points={0: 0.5, 1: 0.5})
    tables.rules.game = "kuhn"
    low, high = np.array([-1.0, -0.4]), np.array([-1e-9, 3.0])
    report = LuceReport(tables, LuceRatings(np.array([-0.3, -1e-9]), low, high))
    assert [line.split()[:4] for line in report.text().splitlines()[-2:]] == [
        ["b", "0", "0", "3"],
        ["a", "0", "-1", "0"],
    ]
    assert "-0.0" not in {str(x) for player in report.json()["players"] for x in player.values()}


def test_intervals_hold_for_few_games() -> None:
    """1v6 and back, 14 games each, solos by the model: 95 % of intervals hold the difference."""
    rng, difference, held = np.random.default_rng(3), 200 / (400 / math.log(10)), 0
    for _ in range(30):
        units = []
        for one in (0, 1):
            seats = np.array([one] + [1 - one] * 6)
            odds = np.exp(difference * (seats == 0))
            for _ in range(14):
                returns = rng.multinomial(1, odds / odds.sum()).astype(float)
                units.append(stages(seats.tolist(), returns.tolist(), SQUARES))
        found = rate(Choices.of(units, 2), ["a", "b"], prior=1)
        held += found.low[0] <= 100 <= found.high[0]  # the mean is 0
    assert held >= 26  # of 30; 28.5 expected


def test_the_command(tmp_path: pathlib.Path) -> None:
    games = tmp_path / "g.jsonl"
    play = ("heuristic", "name=d,dumbbot", "--game", "diplomacy:pure", "--seed", 1)
    done = run("match", *play, "--seats", "3v4", "-n", 14, "-o", games)
    assert done.status == 0 and "3 of heuristic among 4 of d: 14 games" in done.err, done.err
    done = run("rate", "--method", "luce", games, "--prior", 1)
    assert done.status == 0 and "diplomacy:pure, Plackett-Luce by squares" in done.out, done.err
    told = json.loads(run("rate", "--method", "luce", "--score", ORDER, "--json", games).out)
    page = (ROOT / "formats/rating.md").read_text().partition("## Ratings by Luce")[2]
    assert re.findall(r"^\| (\w+) \| (?!type)", page.partition("\n## ")[0], re.M) == list(told)
    assert [p["games"] for p in told["players"]] == [28, 28]
    assert sum(p["elo"] for p in told["players"]) == pytest.approx(0, abs=1e-3)
    assert all(p["low"] <= p["elo"] <= p["high"] for p in told["players"])
    for words, wrong in (
        (("--score", ORDER), "--score order belongs to --method luce"),
        (("--method", "luce", "--csv"), "not with --csv"),
        (("--method", "luce", "--k", 2), "not with --k"),
    ):
        done = run("rate", *words, games)
        assert done.status == 2 and wrong in done.error_line
