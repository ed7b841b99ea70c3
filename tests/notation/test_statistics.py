"""The figures of setups and games, against slow and obvious counting."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gravon_games import MadeUp, random_setup
from stratkit.engine.stratego import BOMB, FLAG, MARSHAL, MINER, SCOUT, SPY, VARIANTS
from stratkit.notation.gravon import parse_log
from stratkit.notation.select import Selection, date_of
from stratkit.notation.statistics import Figures

GENERAL, COLONEL = 9, 8


def apart(a, b):
    """Steps between two squares (rank, file)."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def counted(variant, setups):
    """The figures of setups, square by square."""
    width, ranks = variant.width, variant.ranks
    names = (
        "flag on the back rank",
        "no bomb beside the flag",
        "flag closed in by bombs",
        "bombs beside the flag, mean",
        "bombs on the front rank, of all",
        "marshal and general on different wings",
        "distance of spy and marshal, mean",
        "distance of spy and general, mean",
        "spy within 2 of a general or colonel",
        "miners on the back rank, of all",
        "scouts on the front rank, of all",
    )
    sums = dict.fromkeys(names, 0.0)
    for setup in setups:
        at = {
            t: [divmod(i, width) for i in range(variant.zone) if setup[i] == t] for t in range(12)
        }
        apart = lambda a, b: abs(a[0] - b[0]) + abs(a[1] - b[1])  # noqa: E731
        [flag], [spy], [marshal], [general] = (at[t] for t in (FLAG, SPY, MARSHAL, GENERAL))
        beside = [b for b in at[BOMB] if apart(b, flag) == 1]
        around = 4 - (flag[0] == 0) - (flag[1] in (0, width - 1))
        values = (
            flag[0] == 0,
            not beside,
            flag[0] < ranks - 1 and len(beside) == around,
            len(beside),
            sum(rank == ranks - 1 for rank, _ in at[BOMB]) / variant.counts[BOMB],
            (marshal[1] < width / 2) != (general[1] < width / 2),
            apart(spy, marshal),
            apart(spy, general),
            any(apart(spy, p) <= 2 for p in at[GENERAL] + at[COLONEL]),
            sum(rank == 0 for rank, _ in at[MINER]) / variant.counts[MINER],
            sum(rank == ranks - 1 for rank, _ in at[SCOUT]) / variant.counts[SCOUT],
        )
        for name, value in zip(names, values, strict=True):
            sums[name] += value / len(setups)
    return sums


@settings(max_examples=12)
@given(st.sampled_from(["classic", "barrage", "duel", "mini"]), st.integers(0, 10**6))
def test_the_figures_of_setups(name, seed):
    variant, rng = VARIANTS[name], random.Random(seed)
    setups = [random_setup(variant, rng) for _ in range(30)]
    parts = [Figures() for _ in range(3)]
    for i, part in enumerate(parts):
        part.add_setups([(setup, variant) for setup in (*setups[i::3], setups[0])])
    total = Figures()
    for part in parts:
        total.merge(part)
    figures = total.setups[name]
    assert figures.count == 33 and len(figures.distinct) == len({s.tobytes() for s in setups})
    every = [*setups, *[setups[0]] * 3]
    assert figures.figures() == pytest.approx(counted(variant, every))
    for type_ in range(12):
        assert figures.maps[type_].tolist() == [
            sum(int(s[i] == type_) for s in every) for i in range(variant.zone)
        ]


def test_a_corner_closed_in_and_a_free_setup():
    variant = VARIANTS["classic"]
    setup = random_setup(variant, random.Random(1))
    setup = setup[setup != FLAG]
    setup = setup[setup != BOMB].tolist()
    closed = [FLAG, BOMB, *setup[:8], BOMB, *setup[8:], BOMB, BOMB, BOMB, BOMB]
    figures = Figures()
    figures.add_setups([(np.array(closed, np.uint8), variant), (np.full(40, 3, np.uint8), None)])
    assert figures.free == 1
    assert figures.setups["classic"].figures()["flag closed in by bombs"] == 1
    assert figures.setups["classic"].figures()["bombs on the front rank, of all"] == 4 / 6


def test_the_figures_of_games():
    games = [MadeUp("duell", seed, plies) for seed, plies in enumerate((3, 5, 5, 9))]
    logs = [parse_log(game.gsn(), "f") for game in games]
    figures = Figures()
    figures.add_logs(logs)
    told = figures.json()
    assert told["games"] == 4 and told["types"] == {"duell": 4}
    assert told["moves"] == {"least": 3, "median": 5, "most": 9, "mean": 5.5}
    assert sum(told["results"].values()) == sum(told["endings"].values()) == 4
    assert told["setups"]["duel"]["setups"] == 8
    assert Figures().json()["moves"]["mean"] == 0


@pytest.mark.parametrize(
    ("name", "date"),
    [
        ("a/classic.2004.5.12.33.gsn", (2004, 5, 12)),
        ("x.zip/barrage-2010.11-204.xml", (2010, 11)),
        ("a/classic.2004.5.12.33.gsn.gz", (2004, 5, 12)),
        ("barrage-2010.11-204.xml.ZST", (2010, 11)),
        ("ultimate lightning-2006.7-1.xml", (2006, 7)),
        ("classic.gsn", None),
        ("standard input", None),
        ("classic.2004.5.12.33.gsn.txt", None),
    ],
)
def test_dates_in_names(name, date):
    assert date_of(name) == date


@pytest.mark.parametrize(
    ("first", "last", "taken"),
    [
        ((2004,), (2004,), True),
        ((2004, 5), (2004, 5), True),
        ((2004, 5, 12), (2004, 5, 12), True),
        ((2004, 5, 13), (2005,), False),
        ((2003,), (2004, 5, 11), False),
        ((0,), (9999,), True),
    ],
)
def test_ranges_of_dates(first, last, taken):
    log = parse_log(MadeUp("duell", 1).gsn(), "f")
    assert Selection(dates=(first, last)).takes(log, "classic.2004.5.12.33.gsn") == taken
    assert not Selection(dates=(first, last)).takes(log, "classic.gsn")
