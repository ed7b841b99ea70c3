"""examples/rebel/one_network.py: a network of several games, and what it is to each."""

from __future__ import annotations

import json
import pathlib
import runpy
import sys
from typing import Any

import numpy as np
import pytest
import torch

from running import ROOT, run
from stratkit.nets.pbs import PBSNet, build_pbs
from stratkit.search.generate import Examples

SCRIPT = str(ROOT / "examples/rebel/one_network.py")


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(SCRIPT, run_name="one_network")


def test_what_is_cut_out_says_what_the_whole_network_says(script: dict[str, Any]) -> None:
    """To all games, whose inputs it has in its own order."""
    torch.set_num_threads(1)
    union = script["Union"](["1x3", "2x2", "1x2"])
    network = build_pbs("pbs:8x8", union, 1)
    assert isinstance(network, PBSNet)
    random, said = np.random.default_rng(1), []
    with torch.no_grad():
        network.last.weight.mul_(300)
        for member in union.members:
            n, game = 4, member.game
            rows = random.random((n, game.pbs_inputs), np.float32)
            values = random.random((n, game.hands), np.float32)
            padded = union.padded(member, Examples(rows, values))
            own = script["extracted"](network, member)(torch.from_numpy(rows))
            whole = network(torch.from_numpy(padded.rows))[:, torch.from_numpy(member.hands)]
            torch.testing.assert_close(own, whole)
            assert np.array_equal(padded.values[:, member.hands], values)
            assert np.isnan(padded.values).sum() == n * (union.hands - game.hands)
            assert padded.rows.sum() == pytest.approx(rows.sum() + n)
            said.append(own)
    assert said[0].std() > 0.1  # not one number to all


def test_bids_and_hands_mean_the_same_in_all_games(script: dict[str, Any]) -> None:
    """The wild face is 0: the call after 2 of it is the end of 1x2 and of 1x3."""
    bids, hands = script["bids_of"], script["hands_of"]
    assert bids(1, 2) == [(1, 1), (1, 0), (2, 1), (2, 0)] == bids(1, 3)[1:3] + bids(1, 3)[4:]
    assert hands(2, 2) == [(1, 1), (1, 0), (0, 0)] and hands(1, 3)[-1] == hands(1, 2)[-1] == (0,)
    union = script["Union"](["1x2", "1x3"])
    assert union.pbs_inputs == 1 + 6 + 2 * 3 + 2 and union.hands == 3
    small, large = union.members
    assert set(small.inputs) < set(large.inputs) and set(small.hands) < set(large.hands)


def test_every_command_takes_its_checkpoints(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    games = ["1x2", "1x3"]
    words = ["out", *games, "--steps", "120", "--updates", "8", "--depth", "2", "--net", "pbs:8"]
    monkeypatch.setattr(sys, "argv", ["", *words])
    runpy.run_path(SCRIPT, run_name="__main__")
    head, *rows = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert head == ["step", "seconds", "loss", *games] and len(rows) == 10
    assert rows[-1][0] == "120" and float(rows[-1][2]) < float(rows[0][2]) / 2
    assert all(int(rows[-1][i]) > 100 for i in (3, 4))  # examples of both games
    for game in games:
        player = f"search=cfr,iterations=8,depth=2,out/{game}.safetensors"
        done = run("exploit", f"liars_dice:{game}", player, "--repeats", 2, "--json", cwd=tmp_path)
        assert done.status == 0, done.err
        (policy,) = json.loads(done.out)["policies"]
        assert policy["step"] == 120 and 0 < policy["exploitability"] < 0.6
    done = run("exploit", "liars_dice:1x3", f"search=cfr,{tmp_path}/out/1x2.safetensors")
    assert done.status == 1 and "a value network for liars_dice:1x2" in done.error_line
