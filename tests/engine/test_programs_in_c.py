"""What no game of the engine and no array from Python can show: programs in C, with the engine's
assertions, and under a sanitizer where there is one."""

from __future__ import annotations

import os
import pathlib
import subprocess

import pytest

from running import ROOT

CC = os.environ.get("CC", "gcc")
CHECKED = "-fsanitize=address,undefined"


def execute(*command: str) -> subprocess.CompletedProcess[str]:
    # The suite's own sanitizer, if there is one, is for Python and what it loads.
    env = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    return subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """How to compile a program with the engine: the command up to the program's source."""
    folder = tmp_path_factory.mktemp("engine")
    flags = ["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", '-DSK_SOURCE_HASH=""']
    probe = folder / "probe.c"
    probe.write_text("int main(void) { return 0; }\n")
    if execute(CC, CHECKED, str(probe), "-o", str(folder / "probe")).returncode == 0:
        flags += [CHECKED, "-fno-sanitize-recover=undefined"]
    command = [CC, *flags, f"-I{ROOT / 'cengine'}", "-pthread"]
    objects = []
    for source in sorted((ROOT / "cengine").glob("*.c")):
        objects.append(str(folder / f"{source.stem}.o"))
        built = execute(*command, "-c", "-o", objects[-1], str(source))
        assert (built.returncode, built.stderr) == (0, "")
    return [*command, *objects, "-lm"]


def run(engine: list[str], name: str, folder: pathlib.Path) -> str:
    """What the program says, which must be content."""
    program = str(folder / name)
    source = str(ROOT / "tests/engine" / f"{name}.c")
    built = execute(*engine[:-1], source, engine[-1], "-o", program)
    assert (built.returncode, built.stderr) == (0, "")
    done = execute(program)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout


def test_three_players(engine: list[str], tmp_path: pathlib.Path) -> None:
    """Nothing holds only two of anything, and a tree refuses what it cannot hold."""
    run(engine, "three_players", tmp_path)


def test_planted_faults_are_found(engine: list[str], tmp_path: pathlib.Path) -> None:
    said = run(engine, "faulty_states", tmp_path).splitlines()
    times = {name: int(number) for name, number in (line.split(": ") for line in said)}
    assert len(times) == 19 and min(times.values()) >= 40, times
