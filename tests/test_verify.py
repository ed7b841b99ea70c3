"""examples/verify.py, which `make verify` runs, in a short form: judged by steps, not by time."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from running import ROOT, forked_commands


def verify(folder: pathlib.Path, scale: float, *experiments: str) -> dict[str, float]:
    """What was measured, by what it is called."""
    path = f"{forked_commands(folder.with_name('bin'))}:{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, ROOT / "examples/verify.py", folder, str(scale), *experiments],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if ":" in line]
    return {line[:58].strip(): float(line[58:].split()[0]) for line in lines}


def test_kuhn_on_and_off_policy(tmp_path: pathlib.Path) -> None:
    """252 steps, by MMD 84; NashConv of the uniform policy is .917."""
    found = verify(tmp_path / "v", 0.042, "kuhn", "kuhn_off_policy", "kuhn_mmd")
    assert found["kuhn, target network at step 252: NashConv"] < 0.5
    assert found["kuhn, average network at step 252: NashConv"] < 0.2
    assert found["kuhn-off-policy: steps by which policies were old"] > 1
    assert found["kuhn-off-policy, target network at step 252: NashConv"] < 0.5
    assert found["kuhn-mmd, average network at step 84: NashConv"] < 0.2


def test_leduc_and_liars_dice(tmp_path: pathlib.Path) -> None:
    """130 and 40 steps; of uniform policies it is 4.75 and 1.31."""
    found = verify(tmp_path / "v", 0.01, "leduc", "liars_dice")
    assert found["leduc, average network at step 130: NashConv"] < 2
    assert found["liars-dice, average network at step 40: NashConv"] < 0.95


def test_the_exact_gates(tmp_path: pathlib.Path) -> None:
    """A tenth of their steps; the whole is for tests/solve, test_tabular.py and test_cfr.py."""
    found = verify(tmp_path / "v", 0.1, "exact_rnad", "solvers")
    assert found["rnad:800, kuhn, exact expectations: NashConv"] < 0.1
    assert found["rnad:1200, leduc, exact expectations: NashConv"] < 0.5
    for size in ("1x4", "1x5", "1x6", "2x3"):
        assert found[f"linear CFR, liars_dice:{size}: exploitability"] < 0.012
    for game in ("kuhn", "leduc"):
        assert found[f"CFR+, {game}: value's distance from the known one"] < 5e-4
