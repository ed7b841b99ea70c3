"""Scripts of examples/ and bench/ tell what they are for, and take no option for a file."""

from __future__ import annotations

import ast
import os
import pathlib
import runpy
import subprocess
import sys
from collections.abc import Iterator

import pytest

from running import ROOT, here

FILES = sorted(path for at in ("examples", "bench") for path in (ROOT / at).rglob("*.*"))
# What is imported, and does nothing by itself.
MODULES = ("bench/captured_updates.py", "bench/command_line.py", "examples/linear_net.py",
           "examples/nashpg.py", "examples/openspiel_policy.py", "examples/policy_gradient.py",
           "examples/players/greedy.py", "examples/replicator.py", "examples/tictactoe.py",
           "examples/torch_policy.py")  # fmt: skip
PYTHON = [
    str(path.relative_to(ROOT))
    for path in FILES
    if path.suffix == ".py" and str(path.relative_to(ROOT)) not in MODULES
]
SHELL = [str(path.relative_to(ROOT)) for path in FILES if path.suffix == ".sh"]


@pytest.mark.parametrize("script", PYTHON)
def test_a_script_has_a_help(
    script: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And does nothing else when it is asked for that, or for what it does not know."""
    path = ROOT / script
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(path.parent)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # which some of them set
        monkeypatch.setenv(name, "1")
    said = ast.get_docstring(ast.parse(path.read_text()))
    for option, status in (("--help", 0), ("--no-such-option", 2)):
        monkeypatch.setattr(sys, "argv", [path.name, option])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(path), run_name="__main__")
        assert ended.value.code == status and list(tmp_path.iterdir()) == []
        told = capsys.readouterr()
        if status == 0:
            assert told.out.startswith(f"usage: {path.name} [-h]") and told.err == "" and said
            assert said.split()[:5] == told.out.split("\n\n")[1].split()[:5]


@pytest.mark.parametrize(
    ("script", "words", "wrong"),
    [
        ("beliefs", "belief player 1", "GAMES: not a whole number of at least 2: '1'"),
        ("beliefs", "belief player 2 -1", "SEED: not a whole number of at least 0: '-1'"),
        ("coverage", "--pools nan", "--pools: not a number above 0: 'nan'"),
        ("coverage", "--pools -1", "--pools: not a number above 0: '-1'"),
        ("deployments", "player --seed -1", "--seed: not a whole number of at least 0: '-1'"),
        (
            "fictitious_play",
            "kuhn --iterations 0",
            "--iterations: not a whole number of at least 1: '0'",
        ),
        ("dice_value", "0 6 1", "D: not a whole number of at least 1: '0'"),
        ("dice_value", "1 -6 1", "F: not a whole number of at least 1: '-6'"),
        ("dice_value", "1 6 0", "I: not a whole number of at least 1: '0'"),
        ("diplomacy_differential", "py 0", "PHASES: not a whole number of at least 1: '0'"),
        ("diplomacy_differential", "py 1 -1", "SEED: not a whole number of at least 0: '-1'"),
        ("diplomacy_imitation", "run --temperature 0", "--temperature: not a number above 0: '0'"),
        ("diplomacy_saved", "py 0", "GAMES: not a whole number of at least 1: '0'"),
        ("diplomacy_saved", "py 1 -1", "SEED: not a whole number of at least 0: '-1'"),
        ("exact_search", "kuhn 0", "STEPS: not a whole number of at least 1: '0'"),
        ("exact_search", "kuhn 1 -1", "TAU: not a number above 0: '-1'"),
        ("exact_search", "kuhn 1 little", "TAU: not a number above 0: 'little'"),
        ("gpu", "--limit inf", "--limit: not a number above 0: 'inf'"),
        ("search", "keys player nano 0", "TURNS: not a whole number of at least 1: '0'"),
        ("search", "keys player nano 1 0", "THREADS: not a whole number of at least 1: '0'"),
        ("shuffled", "-1", "SEED: not a whole number of at least 0: '-1'"),
        ("strangers", "player nano file 1", "N: not a whole number of at least 2: '1'"),
        ("strangers", "player nano file 2 0", "ORDERS: not a whole number of at least 1: '0'"),
        ("trees", "0", "TREES: not a whole number of at least 1: '0'"),
        ("trees", "1 0", "NODES: not a whole number of at least 1: '0'"),
        ("trees", "1 1 -1", "PLIES: not a whole number of at least 0: '-1'"),
    ],
)
def test_numbers_that_a_bench_refuses(
    script: str,
    words: str,
    wrong: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In one line, before it measures anything."""
    monkeypatch.setattr(sys, "argv", [f"{script}.py", *words.split()])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / f"bench/{script}.py"), run_name="__main__")
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"{script}.py: argument {wrong}\n"


@pytest.mark.parametrize(
    ("script", "words", "status", "wrong"),
    [
        ("search", "depht=1 barrage", 2, "PLAYER: unknown option 'depht' (did you mean 'depth'?)"),
        ("search", "name=x barrage", 2, "a player that searches from its moves is needed: 'name=x"),
        ("search", "search=rm random diplomacy:pure", 2, "searches of games of two players"),
        ("strangers", "depht=1,barrage barrage x", 2, "PLAYER: unknown option 'depht'"),
        ("strangers", "nobody barrage x", 1, "no built-in player, and no such file or folder"),
        ("strangers", "heuristic barrage x", 1, "x: No such file or directory"),
        ("trees", "1 1 1 heuristic", 2, "a network is needed, as it is: 'heuristic'"),
        ("trees", "1 1 1 x=1,barrage", 2, "PLAYER: unknown option 'x': 'x=1,barrage'"),
    ],
)
def test_players_that_a_bench_refuses(
    script: str,
    words: str,
    status: int,
    wrong: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In one line, and with the status that the commands have."""
    monkeypatch.chdir(tmp_path)
    for name in ("OMP_NUM_THREADS", "STRATKIT_BACKEND"):  # which some of them set
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(sys, "argv", [f"{script}.py", *words.split()])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / f"bench/{script}.py"), run_name="__main__")
    assert ended.value.code == status
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{script}.py: {wrong}")


@pytest.mark.parametrize(
    ("script", "words", "wrong"),
    [
        ("actor_critic", "kuhn 0", "UPDATES: a whole number from 1 to"),
        ("rebel/random_beliefs", "kuhn 0", "EXAMPLES: a whole number from 1 to"),
        ("rebel/value_error", "run --depth -1", "--depth: a whole number from 0 to"),
        ("rebel/value_error", "run -n 1.5", "-n: a whole number from 1 to"),
        ("rebel/curve", "a 0 1 1x2", "T: a whole number from 1 to"),
        ("verify", "new nan", "SCALE: a number above 0, at most 1000 is needed, not 'nan'"),
        ("alphaze/hex_values", "run -n 0", "-n: a whole number from 1 to"),
        ("alphaze/hex_values", "run --seed 18446744073709551616", "--seed: a whole number from 0"),
        ("diplomacy/games", "a b -1", "NUMBER: a whole number from 0 to"),
        (
            "diplomacy/curve",
            "a inf b",
            "MINUTES: a number above 0, at most 1000000 is needed, not 'inf'",
        ),
        ("diplomacy/curve", "a 1 b --before -1", "--before: a number from 0 to 1000000 is needed"),
        ("players/why", "a b lost c -n 0", "-n: a whole number from 1 to"),
        ("players/why", "a b lost c -t many", "-t: a whole number from 0 to"),
        ("players/attacks", "a 0", "GAMES: a whole number from 1 to"),
        ("search_picture", "a b 0", "N: a whole number from 1 to"),
    ],
)
def test_numbers_that_an_example_refuses(
    script: str,
    words: str,
    wrong: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Behind its usage, before it does anything."""
    path = ROOT / f"examples/{script}.py"
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(path.parent)
    monkeypatch.setattr(sys, "argv", [path.name, *words.split()])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert ended.value.code == 2 and list(tmp_path.iterdir()) == []
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("usage: ") and said[-1].split("error: argument ")[1].startswith(wrong)


# These say themselves what is wrong with a number: see cli/test_example_scripts.py.
BOUNDED = {"examples/rebel/one_network.py"}


def bare_numbers(source: str) -> Iterator[str]:
    """Arguments of a script that any int or float is, with or without sense."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(("add_argument", "add")):
            given = {one.arg: ast.unparse(one.value) for one in call.keywords}
            if given.get("type") in ("int", "float") and "choices" not in given:
                yield ast.unparse(call.args[0])


def test_a_number_has_bounds() -> None:
    """Such as none below 0: what reads it says so, and no traceback far behind it."""
    one = "parser.add_argument('-n', type=int)"
    assert list(bare_numbers(one)) == ["'-n'"]
    assert not list(bare_numbers(one.replace("int)", "int, choices=(1, 2))")))
    for path in FILES:
        if path.suffix == ".py" and str(path.relative_to(ROOT)) not in BOUNDED:
            assert not list(bare_numbers(path.read_text())), path


@pytest.mark.parametrize("script", SHELL)
def test_a_shell_script_has_a_help(script: str, tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        [ROOT / script, "--help"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    first = (ROOT / script).read_text().splitlines()[1].removeprefix("# ")
    assert done.stderr == "" and done.stdout.startswith(first)
    assert list(tmp_path.iterdir()) == []


def test_a_script_that_names_its_interpreter_can_be_started() -> None:
    """Slurm's jobs name one, too, but are sbatch's to start."""
    for path in FILES:
        if path.suffix in (".py", ".sh"):
            named = path.read_bytes().startswith(b"#!")
            assert named == os.access(path, os.X_OK), path


def test_phases_of_games_are_adjudicated(tmp_path: pathlib.Path) -> None:
    """A year of the smallest map has two phases of moves; other games are refused."""
    said = []
    for game in ("diplomacy:tiny", "kuhn"):
        path = tmp_path / f"{game[:4]}.eps"
        assert here("selfplay", "--game", game, "-n", 6, "--seed", 1, "-o", path).status == 0
        words = [sys.executable, ROOT / "bench/diplomacy_adjudicate.py", path, "2"]
        said.append(subprocess.run(words, capture_output=True, text=True, check=False))
    phases, *_, rate, _, _, _ = said[0].stdout.split()
    assert (said[0].returncode, said[0].stderr, phases) == (0, "", "12") and float(rate) > 1
    wrong = "diplomacy_adjudicate.py: kuhn is no game of Diplomacy\n"
    assert (said[1].returncode, said[1].stdout, said[1].stderr) == (1, "", wrong)
