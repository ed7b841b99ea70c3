"""The bench of what a belief knows of strangers' setups."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

from running import PATIENCE, ROOT, here


def test_a_player_knows_its_own_setups_best(tmp_path: pathlib.Path) -> None:
    """Without a floor it is sure that a uniform setup is another, one of its own."""
    uniform = tmp_path / "uniform.setups"
    words = ("--game", "barrage", "--from", "uniform", "-n", 40, "--seed", 3, "-o", uniform)
    assert here("deploy-gen", *words).status == 0
    command = [sys.executable, ROOT / "bench/strangers.py", "barrage", "barrage", uniform, 12, 9]
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    line = r"(\w+), (\d) known, floor ([\d.]+): ([+-][\d.]+) \+- [\d.]+"
    found = {tuple(key): float(nats) for *key, nats in re.findall(line, done.stdout)}
    assert len(found) == 8 and done.stdout.count("\n") == 8
    for floor in ("0", "0.05"):
        assert found["own", "4", floor] < -0.5 and found["own", "0", floor] < -0.5
    assert found["others", "4", "0"] > found["others", "4", "0.05"] + 0.2
