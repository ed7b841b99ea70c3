"""What README.md shows is run: each shell block marked `sh run`, in order, in one folder."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

from running import COMMANDS, ROOT

README = (ROOT / "README.md").read_text()


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, re.M | re.S)


@pytest.mark.slow
def test_every_block_runs(tmp_path: pathlib.Path) -> None:
    scripts = blocks("sh run")
    assert len(scripts) >= 5
    (tmp_path / "formats").symlink_to(ROOT / "formats")
    path = f"{ROOT / 'bin'}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    outputs = []
    for script in scripts:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        # A reader such as head may leave early: the writer is then ended by SIGPIPE.
        closed = "| head" in script and done.returncode == 141
        assert done.returncode == 0 or closed, script + done.stderr
        outputs.append(done.stdout)
    assert "metrics.jsonl" in outputs[0].split()
    assert "30 games of mini; Elo with 95 % intervals of differences from the anchors" in outputs[2]
    assert (tmp_path / "ratings.png").stat().st_size > 5000
    first, second = outputs[-1].splitlines()
    assert first == second


def test_the_other_blocks_are_targets_of_make() -> None:
    makefile = (ROOT / "Makefile").read_text()
    lines = "".join(blocks("sh")).splitlines()
    assert [line.split("#")[0].split() for line in lines] == [["make", "demo"], ["make", "test"]]
    for line in lines:
        assert re.search(rf"^{line.split()[1]}:", makefile, re.M)


def test_all_commands_and_rooms_are_there() -> None:
    for name in COMMANDS:
        assert f"\n| `{name}` | " in README
    rooms = [path.parent.name for path in (ROOT / "stratkit").glob("*/__init__.py")]
    for room in rooms:
        assert f"`stratkit/{room}`" in README
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / link).exists(), link
