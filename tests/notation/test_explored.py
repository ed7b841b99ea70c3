"""Groups of similar setups, how games began, and habits with their intervals."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gravon_games import random_setup
from running import ROOT
from stratkit.engine.stratego import FLAG, VARIANTS
from stratkit.notation.attacks import count_attacks, each_ply
from stratkit.notation.explored import (
    EXAMPLES,
    HABITS,
    Explored,
    Side,
    first_moves,
    flag_counts,
    groups_of,
)
from stratkit.notation.gravon import parse_log
from stratkit.notation.play import Played, play_out
from stratkit.notation.scores import DRAWN, LOST, WON

CLASSIC = VARIANTS["classic"]
LOGS = sorted((ROOT / "formats" / "samples" / "gravon").glob("*barrage*"))


@pytest.fixture(scope="module")
def games() -> list[Played]:
    logs = [(path.name, parse_log(path.read_bytes(), path.name)) for path in LOGS]
    return [game for game in play_out(logs, boards=True) if game.boards]


def shuffled(setup: np.ndarray, rng: random.Random) -> bytes:
    """The setup with two of its squares exchanged, never the flag's."""
    changed = setup.copy()
    one, other = rng.sample([at for at in range(len(setup)) if setup[at] != FLAG], 2)
    changed[[one, other]] = changed[[other, one]]
    return changed.tobytes()


def test_groups_find_the_setups_that_were_changed_a_little() -> None:
    """Three setups and variations of each are three groups, each side in one of them."""
    rng = random.Random(4)
    first = [random_setup(CLASSIC, rng) for _ in range(3)]
    while len({int(np.flatnonzero(setup == FLAG)[0]) for setup in first}) < 3:
        first = [random_setup(CLASSIC, rng) for _ in range(3)]
    sides = [
        Side(shuffled(setup, rng), outcome, ()) for setup in first for outcome in (0, 1, 2) * 3
    ]
    groups = groups_of(CLASSIC, sides)
    flags = [{side.setup.index(FLAG) for side in group.sides} for group in groups]
    assert len(groups) == 3 and all(len(some) == 1 for some in flags)
    assert all(group.counts == [3, 3, 3] for group in groups)
    assert [g.sides for g in groups_of(CLASSIC, sides)] == [g.sides for g in groups]
    assert all(group.typical.tobytes() in {s.setup for s in group.sides} for group in groups)
    assert flag_counts(CLASSIC, sides).sum() == len(sides)
    assert groups_of(CLASSIC, []) == []


def test_how_most_games_began() -> None:
    a, b, c = (0, 10), (1, 11), (10, 20)
    sides = [Side(b"", outcome, moves) for outcome, moves in
             [(WON, (a, c)), (LOST, (a, b)), (DRAWN, (b, a)), (WON, (a, c, b))]]  # fmt: skip
    line = first_moves(sides)
    assert [(move, len(some)) for move, some in line] == [(a, 3), (c, 2), (b, 1)]
    assert [side.outcome for side in line[1][1]] == [WON, WON] and first_moves([]) == []


def test_sums_are_those_of_the_games(games: list[Played]) -> None:
    """In one go or in parts, of one side or of both; examples show what they say they show."""
    whole, red, parts = Explored(), Explored(), Explored()
    for game in games:
        whole.add(game, (0, 1))
        red.add(game, (0,))
        part = Explored()
        part.add(game, (0, 1))
        parts.merge(part)
    red.add(games[0], ())
    assert len(games) == whole.games == red.games == parts.games >= 2
    for habit in HABITS:
        counts = [count_attacks(game) for game in games]
        for explored, sides in ((whole, (0, 1)), (red, (0,))):
            x, y, xx, *_ = explored.sums[habit.event]
            each = [sum(count[side][habit.event] for side in sides) for count in counts]
            assert (x, xx) == (sum(each), sum(n * n for n in each))
            assert y == sum(count[side][habit.of] for count in counts for side in sides)
        assert (whole.sums[habit.event] == parts.sums[habit.event]).all()
        shown = whole.examples[habit.event]
        assert len(shown) == min(
            EXAMPLES, sum(any(c[s][habit.event] for s in (0, 1)) for c in counts)
        )
        for example in shown:
            ply = example.ply - (not habit.before)
            assert each_ply(example.played)[habit.event][ply] and ply % 2 == example.side
    assert whole.sides == parts.sides and len(whole.sides["barrage"]) == 2 * len(games)
    sides = iter(whole.sides["barrage"])
    for game in games:
        first, second = next(sides), next(sides)
        assert first.setup == game.log.setups[0].tobytes()
        turned = [99 - square for square in game.log.moves[2:4]]
        assert second.moves[0] == tuple(turned)
        assert {first.outcome, second.outcome} in ({WON, LOST}, {DRAWN})


@pytest.mark.parametrize("together", [1, 10])
def test_intervals_hold_when_chances_come_together(together: int) -> None:
    """Games have ten chances, which go alike in each ten, or not: the interval of 95 % holds the
    truth in 90 % or more of 300 samples of 40 games, and is three times as wide then."""
    rng, held, wide = np.random.default_rng(1), 0, []
    event = HABITS[0].event
    for _ in range(300):
        explored = Explored(games=40)
        drawn = rng.random((40, 10 // together)) < 0.3
        x, y = drawn.sum(1) * together, np.full(40, 10)
        explored.sums[event] = np.array([x.sum(), y.sum(), x @ x, x @ y, y @ y], float)
        share = explored.share(event)
        assert share is not None
        held += share[1] <= 0.3 <= share[2]
        wide.append(share[2] - share[1])
    expected = 0.09 if together == 1 else 0.28
    assert held >= 0.90 * 300 and np.mean(wide) == pytest.approx(expected, abs=0.02)
    nothing = Explored(games=3)
    assert nothing.share(event) is None
    nothing.sums[event] = np.array([0, 30, 0, 0, 300.0])
    assert nothing.share(event) == (0.0, 0.0, pytest.approx(0.5615, abs=1e-4))
