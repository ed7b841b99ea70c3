"""The error of value networks: what a network that knows nothing, or all, is said to be."""

from __future__ import annotations

import pathlib
import runpy
import sys

import numpy as np
import pytest
import torch

from engine.public import pair_of
from running import ROOT, run
from stratkit.arrays import Float32s
from stratkit.engine import Game, Subgames
from stratkit.nets.pbs import build_pbs
from stratkit.search.leaves import NetworkLeaves, rows_of
from stratkit.search.safe import PBSSearch
from stratkit.search.subgame import CFRD
from stratkit.search.value_error import (
    States,
    decisions_left,
    random_states,
    states_of_selfplay,
    value_errors,
)

GAME = "liars_dice:1x3"


class Known(NetworkLeaves):
    """Says of some states what is true, and so much more."""

    def __init__(self, states: States, more: float) -> None:
        public = pair_of(GAME).public
        solver = CFRD(Subgames(public, states.nodes, 0), states.beliefs)
        solver.solve(256)
        self.told: dict[bytes, Float32s] = {}
        for player in (0, 1):
            rows = rows_of(public, states.nodes, states.beliefs, player)
            for row, value in zip(rows, solver.values(player), strict=True):
                self.told[row.tobytes()] = (value + more).astype(np.float32)

    def values(self, rows: Float32s) -> Float32s:
        return np.stack([self.told[row.tobytes()] for row in rows])


def test_the_error_is_that_of_the_network() -> None:
    public = pair_of(GAME).public
    states = random_states(public, 100, 1)
    assert states.beliefs[0].sum(1) == pytest.approx(1) and len(set(states.nodes)) > 20
    for more in (0.0, -0.25):
        found = value_errors(public, Known(states, more), states, 256)
        assert sum(at.states for at in found) == 100
        assert [at.left for at in found] == sorted({at.left for at in found})
        for at in found:
            assert (at.bias, at.rms) == pytest.approx((more, abs(more)), abs=1e-6)
            assert at.believed == pytest.approx(abs(more), abs=1e-6)


def test_beliefs_weigh_the_errors_of_hands() -> None:
    public = pair_of(GAME).public
    node = int(public.child[public.opening])
    beliefs = np.array([[1.0, 0.0, 0.0]]), np.array([[0.5, 0.5, 0.0]])
    states = States(np.array([node], np.int32), beliefs)
    network = Known(states, 0.0)
    row = rows_of(public, states.nodes, beliefs, 0)[0].tobytes()
    network.told[row] = network.told[row] + np.float32([0, 0, 0.6])
    (at,) = value_errors(public, network, states, 256)
    assert (at.bias, at.rms) == pytest.approx((0.1, 0.6 / 6**0.5), abs=1e-6)
    assert at.believed == pytest.approx(0, abs=1e-6)


def test_what_is_left_are_the_bids_that_are_left_and_the_call() -> None:
    public = pair_of(GAME).public
    left = decisions_left(public)
    assert left[public.opening] == 6  # after the highest of six bids nothing is decided
    bids = public.seen[public.look].argmax(1)
    own = (public.actors >= 0) & public.seen[public.look].any(1)
    assert (left[own] == 5 - bids[own]).all()


def test_states_of_self_play_are_those_to_which_it_leads() -> None:
    public, game = pair_of(GAME).public, Game(GAME)
    network = NetworkLeaves(build_pbs("pbs:8", game, 1))
    states = states_of_selfplay(public, PBSSearch(updates=4), network, 150, 1)
    assert len(states) == 150 and (states.nodes > public.opening).all()
    assert (public.actors[states.nodes] >= 0).all()
    assert states.beliefs[1].sum(1) == pytest.approx(1)


def test_the_example_prints_a_table(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--algorithm", "rebel", "--net", "pbs:8", "--steps", 0, "--game", "kuhn")
    done = run("train", "-", "--out", tmp_path / "run", *words)
    assert done.status == 0, done.err
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path / "run"), "-n", "20", "--updates", "64"])
    runpy.run_path(str(ROOT / "examples/rebel/value_error.py"), run_name="__main__")
    head, *rows = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert head == ["run", "step", "states", "left", "n", "bias", "rms", "believed"]
    assert {row[2] for row in rows} == {"self-play", "random"}
    assert sum(int(row[4]) for row in rows) == 40


def test_the_example_of_random_beliefs_compares_them_with_self_play(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["", "kuhn", "1000"])
    threads = torch.get_num_threads()
    runpy.run_path(str(ROOT / "examples/rebel/random_beliefs.py"))
    torch.set_num_threads(threads)
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["solved leaves"] + ["self-play"] * 6 + ["random"] * 6
    assert float(rows[0][2]) < 0.1 < float(rows[1][2]) == float(rows[7][2])
