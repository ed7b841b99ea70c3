"""What can be won against random play in Dark Hex, beside what `exploit` says of a small board."""

from __future__ import annotations

import json
import pathlib
import subprocess

import pytest

from running import PATIENCE, ROOT, run


def ceiling(folder: pathlib.Path, side: int) -> dict[str, float]:
    """The probabilities of winning as the first and the second player, and their mean."""
    program, source = folder / f"ceiling{side}", ROOT / "bench/dark_hex_ceiling.c"
    subprocess.run(["cc", "-O3", f"-DSIDE={side}", source, "-o", program], check=True)
    told = subprocess.check_output([program], text=True, timeout=PATIENCE)
    return {name: float(value) for name, value in map(str.split, told.split(","))}


def test_on_the_smaller_board_it_is_what_exploit_says(tmp_path: pathlib.Path) -> None:
    """NashConv of random play is what both best responses have: returns, from -1 to 1."""
    found = ceiling(tmp_path, 2)
    told = json.loads(run("exploit", "dark_hex:2", "random", "--json").out)
    best = (found["first"] * 2 - 1) + (found["second"] * 2 - 1)
    assert told["policies"][0]["nash_conv"] == pytest.approx(best, abs=1e-5)


def test_nobody_wins_nine_of_ten_games_of_dark_hex_3_against_random(tmp_path: pathlib.Path) -> None:
    assert ceiling(tmp_path, 3) == {"first": 0.954015, "second": 0.80859, "mean": 0.881302}
