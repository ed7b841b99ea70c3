"""examples/players/attacks.py: what it expects and how it judges."""

from __future__ import annotations

import runpy
from types import SimpleNamespace

import numpy as np
import pytest

import stratkit
from running import ROOT
from stratkit.engine import Batch
from stratkit.engine.stratego import BOMB, MINER, SCOUT, SPY

script = SimpleNamespace(**runpy.run_path(str(ROOT / "examples" / "players" / "attacks.py")))


def test_moves_have_the_probabilities_of_both_their_actions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = stratkit.load("barrage-v1", rows=4)
    seen = [turn for turn, _ in zip(script.turns(network, 4, seed=3), range(24), strict=False)]
    assert any(turn.lost.any() for turn in seen)
    for turn in seen[::5]:
        batch = Batch(network.game, 1)
        for action in turn.actions:
            batch.apply(np.array([action], np.int32))
        assert batch.actors()[0] == turn.side and batch.moves(0, turn.side) == turn.moves
        first = network.policy(batch.observe(), batch.legal())[0]
        at = len(turn.moves) // 2
        start, end = turn.moves[at]
        batch.apply(np.array([start], np.int32))
        second = network.policy(batch.observe(), batch.legal())[0]
        assert turn.policy[at] == pytest.approx(first[start] * second[end], rel=1e-4, abs=1e-7)
        assert turn.policy.sum() == pytest.approx(1, abs=1e-5)
        assert not (turn.lost & ~turn.known).any()
    monkeypatch.setitem(script.results.__globals__, "TIMES", 2)
    found = script.results(network, seen[-1], [0, 1], seed=1)
    assert found.shape == (2, 2) and set(np.unique(found)) <= {-1, 0, 1}


def test_what_loses() -> None:
    assert script.LOSING[SCOUT, BOMB] and script.LOSING[SPY, MINER]
    assert not script.LOSING[MINER, BOMB] and not script.LOSING[SCOUT, SCOUT]


@pytest.mark.parametrize(
    ("attack", "others", "kind"),
    [
        (-1, (-1, -1), "lost"),
        (0, (0, -1), "no difference"),
        (-1, (-1, 1), "mistake"),
        (1, (-1, 0), "sacrifice"),
    ],
)
def test_kinds_of_attacks(attack: float, others: tuple[float, ...], kind: str) -> None:
    games = np.full(script.TIMES, attack, np.float32)
    rest = np.repeat(np.array(others, np.float32)[:, None], script.TIMES, 1)
    assert script.judged(games, rest) == (kind, max(others))


def test_the_best_of_the_others_is_judged_by_games_that_did_not_choose_it() -> None:
    half = script.TIMES // 2
    lucky = np.repeat(np.array([1, -1], np.float32), half)[None]
    assert script.judged(np.zeros(script.TIMES, np.float32), lucky) == ("sacrifice", -1)
