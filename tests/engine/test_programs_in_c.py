"""What no game of the engine and no array from Python can show: programs in C, with the engine's
assertions, and under a sanitizer where there is one."""

from __future__ import annotations

import os
import pathlib
import subprocess

import pytest

from running import PATIENCE, ROOT
from scale import scaled
from stratkit.engine.stratego import VARIANTS

CC = os.environ.get("CC", "gcc")
CHECKED = "-fsanitize=address,undefined"


def execute(*command: str) -> subprocess.CompletedProcess[str]:
    # The suite's own sanitizer, if there is one, is for Python and what it loads.
    env = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    return subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """How to compile a program with the engine: the command up to the program's source."""
    folder = tmp_path_factory.mktemp("engine")
    flags = [
        "-std=c11",
        "-O0",
        "-g",
        "-Wall",
        "-Wextra",
        "-Wno-unused-parameter",
        "-Werror",
        '-DSK_SOURCE_HASH=""',
    ]
    probe = folder / "probe.c"
    probe.write_text("int main(void) { return 0; }\n")
    if execute(CC, CHECKED, str(probe), "-o", str(folder / "probe")).returncode == 0:
        flags += [CHECKED, "-fno-sanitize-recover=undefined"]
    command = [CC, *flags, f"-I{ROOT / 'cengine'}", "-pthread"]
    objects = []
    folders = (ROOT / "cengine", ROOT / "cengine/diplomacy")
    for source in sorted(path for each in folders for path in each.glob("*.c")):
        objects.append(str(folder / f"{source.stem}.o"))
        built = execute(*command, "-c", "-o", objects[-1], str(source))
        assert (built.returncode, built.stderr) == (0, "")
    assert len(set(objects)) == len(objects), "two C files have one name"
    return [*command, *objects, "-lm"]


def run(engine: list[str], name: str, folder: pathlib.Path, *arguments: str) -> str:
    """What the program says, which must be content."""
    program = str(folder / name)
    source = str(ROOT / "tests/engine" / f"{name}.c")
    built = execute(*engine[:-1], source, engine[-1], "-o", program)
    assert (built.returncode, built.stderr) == (0, "")
    done = execute(program, *arguments)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout


def test_three_players(engine: list[str], tmp_path: pathlib.Path) -> None:
    """Nothing holds only two of anything, and a tree refuses what it cannot hold."""
    run(engine, "three_players", tmp_path)


def test_planted_faults_are_found(engine: list[str], tmp_path: pathlib.Path) -> None:
    said = run(engine, "faulty_states", tmp_path).splitlines()
    times = {name: int(number) for name, number in (line.split(": ") for line in said)}
    assert len(times) == 20 and min(times.values()) >= 40, times


@pytest.mark.parametrize("game", ["barrage", "mini", "nano"])
def test_views_by_any_number_of_lanes(engine: list[str], tmp_path: pathlib.Path, game: str) -> None:
    most, compared = map(int, run(engine, "lanes", tmp_path, game).split())
    assert most >= 8 and (most == 8 or compared > 100)


SMALL = ["kuhn", "leduc", "liars_dice:1x4", "liars_dice:2x3", "nano", "micro", "moves:nano"]
SMALL += ["dark_hex:2", "dark_hex:3", "dark_hex:2:classical", "dark_hex:3:classical"]
SMALL += ["phantom_ttt", "phantom_ttt:classical"]


@pytest.fixture
def small_games(tmp_path: pathlib.Path) -> list[str]:
    (tmp_path / "game.txt").write_text("1 -2 3\n4 5 6\n0 1 0\n")
    return [*SMALL, f"matrix:{tmp_path}/game.txt"]


def test_worlds_tell_nothing_of_the_truth(
    engine: list[str], tmp_path: pathlib.Path, small_games: list[str]
) -> None:
    """In thousands of positions: all worlds have the player's view and history, and are the same
    bytes when they are drawn from another truth with this view. Play goes on from them."""
    wanted = scaled(500)
    names = [*dict.fromkeys([*VARIANTS, *small_games]), "dark_hex:6", "dark_hex:11"]
    names += ["dark_hex:5:classical", "dark_hex:11:classical"]
    said = run(engine, "worlds", tmp_path, "leaks", str(wanted), *names).splitlines()
    for name, line in zip(names, said, strict=True):
        shown, positions, others, wrong = line.split(" ", 3)
        assert (shown, wrong) == (name, "")
        assert int(positions) >= wanted and int(others) > 0.2 * int(positions)


def test_faults_planted_in_worlds_are_found(engine: list[str], tmp_path: pathlib.Path) -> None:
    said = run(engine, "worlds", tmp_path, "planted", "0").splitlines()
    assert len(said) == 8
    assert [line for line in said if line.endswith("not found")] == []


def deviations(lines: list[str]) -> dict[str, float]:
    """Of each game the sum of the chi-squares, in standard deviations (Wilson and Hilferty)."""
    sums: dict[str, tuple[float, int]] = {}
    for name, n, statistic in (line.split() for line in lines):
        total, freedom = sums.get(name, (0.0, 0))
        sums[name] = (total + float(statistic), freedom + int(n) - 1)
    return {name: normal(*sums[name]) for name in sums}


def normal(statistic: float, freedom: int) -> float:
    spread = 2 / (9 * freedom)
    return ((statistic / freedom) ** (1 / 3) - 1 + spread) / spread**0.5


def test_worlds_are_drawn_as_often_as_histories_agree(
    engine: list[str], tmp_path: pathlib.Path, small_games: list[str]
) -> None:
    """Against the enumeration of all histories, deals with their probability. A world that no
    history leads to ends the program."""
    draws = str(scaled(2000))
    said = run(engine, "worlds", tmp_path, "frequencies", draws, *small_games).splitlines()
    each = [normal(float(x), int(n) - 1) for _, n, x in map(str.split, said) if int(n) > 1]
    games = deviations(said)
    assert list(games) == small_games and len(each) > 200
    assert max(each) < 4.5 and max(games.values()) < 4
    assert min(games.values()) > -4  # nor better than chance
    bias = run(engine, "worlds", tmp_path, "biased", draws, *small_games).splitlines()
    assert min(deviations(bias).values()) > 10
