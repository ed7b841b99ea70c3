"""Games of more than two players: the engine's interface has an entry for each of them."""

from __future__ import annotations

import os
import pathlib
import subprocess

from running import ROOT

CC = os.environ.get("CC", "gcc")
CHECKED = "-fsanitize=address,undefined"


def execute(*command: str) -> subprocess.CompletedProcess[str]:
    # The suite's own sanitizer, if there is one, is for Python and what it loads.
    env = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    return subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=120, check=False
    )


def test_three_players(tmp_path: pathlib.Path) -> None:
    """In C, since no game of the engine has three; under a sanitizer, where there is one."""
    sources = [*sorted((ROOT / "cengine").glob("*.c")), ROOT / "tests/engine/three_players.c"]
    program = tmp_path / "three_players"
    flags = ["-std=c11", "-O1", "-g", "-Wall", "-Wextra", '-DSK_SOURCE_HASH=""', "-pthread"]
    command = [CC, *flags, f"-I{ROOT / 'cengine'}", *map(str, sources), "-o", str(program), "-lm"]
    built = execute(*command, CHECKED)
    if built.returncode:
        built = execute(*command)
    assert (built.returncode, built.stderr) == (0, "")
    done = execute(str(program))
    assert (done.returncode, done.stderr) == (0, "")
