"""examples/players/attacks.py and lost_attacks.py: what they expect and how they judge."""

from __future__ import annotations

import json
import pathlib
import re
import runpy
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import stratkit
from running import ROOT, run
from stratkit.engine import Batch
from stratkit.engine.stratego import BOMB, MINER, SCOUT, SPY
from stratkit.players.player import Explanation
from stratkit.search.decision import SearchResult

PLAYERS = ROOT / "examples" / "players"
script = SimpleNamespace(**runpy.run_path(str(PLAYERS / "attacks.py")))
lost = SimpleNamespace(**runpy.run_path(str(PLAYERS / "lost_attacks.py")))


def test_moves_have_the_probabilities_of_both_their_actions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = stratkit.load("barrage-easy", rows=4)
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


@pytest.mark.parametrize(
    ("q", "error", "kind"),
    [
        ((-0.5, -0.2, -0.6), 0.01, "a mistake"),
        ((-0.5, -0.2, -0.6), 0.2, "justified"),
        ((-0.5, -0.45, -0.6), 0.01, "justified"),
        ((0.5, -0.2, -0.6), 0.01, "justified"),
        ((-1.0, -0.95, -0.95), 0.001, "hopeless"),
        ((-1.0,), 0.01, "forced"),
    ],
)
def test_what_justifies_a_lost_attack(q: tuple[float, ...], error: float, kind: str) -> None:
    values = np.array(q)
    found = SearchResult(values, values, np.full(len(q), error), 8, 8, 8)
    moves = [(at, at + 1) for at in range(len(q))]
    turn = Explanation(0, 0, np.zeros(1, np.uint8), moves, [], 0.0, None, found)
    assert lost.judged(turn, (0, 1))[0] == kind


def test_every_lost_attack_of_a_match_is_looked_at(tmp_path: pathlib.Path) -> None:
    games = tmp_path / "games.jsonl"
    two = ("name=a,barrage-easy", "name=b,barrage-easy", "--game", "barrage", "-n", 16, "--seed", 3)
    assert run("match", *two, "-o", games).status == 0
    done = run("fenfs", "stats", "--attacks", "--json", games)
    counts = json.loads(done.out)["inputs"]["attacks"]["a"]
    assert counts["known_lost"] > 0
    search = "search=mmd,rollouts=32,depth=0,barrage-easy"
    told = subprocess.run(
        [sys.executable, PLAYERS / "lost_attacks.py", search, "a", games],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert len(told) == counts["known_lost"] + 1
    assert sum(map(int, re.findall(r"[0-9]+", told[-1]))) == counts["known_lost"]
