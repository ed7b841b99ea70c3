"""Fictitious play by bench/fictitious_play.py, beside `exploit`."""

from __future__ import annotations

import json
import runpy

import pytest

from running import ROOT, run
from stratkit.engine import Game, Tree


def test_shared_ties_and_answers_in_turn_are_what_exploit_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And other ways differ from it."""
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    found = runpy.run_path(str(ROOT / "bench/fictitious_play.py"))
    tree = Tree(Game("liars_dice:1x3"))
    figures = {
        (answers, ties): found["exploitability"](tree, 32, ties, answers)
        for answers in found["ANSWERS"]
        for ties in found["TIES"]
    }
    done = run("exploit", "liars_dice:1x3", "fp:32", "--json")
    expected = json.loads(done.out)["policies"][0]["exploitability"]
    assert figures["alternating", "shared"] == pytest.approx(expected, abs=1e-4)
    in_turn = {round(figures["alternating", ties], 6) for ties in found["TIES"]}
    assert len(in_turn) == len(found["TIES"])
    assert figures["simultaneous", "shared"] > figures["alternating", "shared"]
