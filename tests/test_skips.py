"""Skips are printed, and those that are not on the list fail the suite."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

from running import PATIENCE, ROOT

SKIPPING = """
import pytest

@pytest.mark.skipif(True, reason="there is no GPU")
def test_gpu(): pass

def test_inside(): pytest.skip("there is neither this nor that")

def test_passes(): pass
"""


@pytest.mark.parametrize(
    ("listed", "status", "workers"),
    [
        (None, 0, 0),
        ("# nobody has one\nthere is no GPU\nthere is neither .* that$\n", 0, 0),
        ("there is no GPU\nneither this nor that\n", 1, 2),
        ("", 1, 0),
    ],
)
def test_the_list(listed: str | None, status: int, workers: int, tmp_path: pathlib.Path) -> None:
    (tmp_path / "test_some.py").write_text(SKIPPING)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "STRATKIT"))}
    if listed is not None:
        (tmp_path / "list").write_text(listed)
        environment["STRATKIT_SKIPS"] = str(tmp_path / "list")
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # others' plugins only take time
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "skips", "-p", "no:cacheprovider"]
    pytest_ += ["-p", "xdist", "-n", str(workers)] if workers else []
    done = subprocess.run(
        [*pytest_, "-c", os.devnull, f"--rootdir={tmp_path}", tmp_path],
        env={**environment, "PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert re.match(r"1 passed, 2 skipped in ", lines[-1])
    assert sum(line.startswith("SKIPPED [1] ") for line in lines) == 2
    found = [line for line in lines if line.startswith("ERROR: skipped, and not on the list ")]
    assert len(found) == (0 if not status else 2 if listed == "" else 1)


def test_every_line_of_our_list_has_its_reason() -> None:
    blocks = (ROOT / ".ci/skips").read_text().strip().split("\n\n")
    assert len(blocks) > 3
    for block in blocks:
        *why, pattern = block.splitlines()
        assert why and all(line.startswith("# ") for line in why) and not pattern.startswith("#")
        re.compile(pattern)
