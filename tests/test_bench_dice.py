"""The value of Liar's Dice by bench/dice_value.py, beside `exploit`."""

from __future__ import annotations

import json
import runpy

import numpy as np
import pytest

from running import ROOT, run


def test_it_is_what_exploit_says() -> None:
    """Of uniform play, and of an equilibrium, which linear CFR comes near."""
    game = runpy.run_path(str(ROOT / "bench/dice_value.py"))["Dice"](1, 3)
    done = run("exploit", "liars_dice:1x3", "uniform", "linear-cfr:1024", "--json")
    uniform, solved = json.loads(done.out)["policies"]
    low, high = game.judged(game.policy(game.sums))
    assert (high - low) / 2 == pytest.approx(uniform["exploitability"], abs=1e-5)
    for number in range(1, 101):
        game.iterate(number)
    low, high = game.judged(game.policy(game.sums))
    assert low - 1e-4 < solved["value"] < high + 1e-4 and high - low < 0.02
    assert all(np.isfinite(sums).all() for sums in game.sums)
