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
MODULES = ("bench/captured_updates.py", "examples/linear_net.py",
           "examples/nashpg.py", "examples/openspiel_policy.py", "examples/policy_gradient.py",
           "examples/players/greedy.py", "examples/replicator.py", "examples/tictactoe.py",
           "examples/torch_policy.py")  # fmt: skip
PYTHON = [
    str(path.relative_to(ROOT))
    for path in FILES
    if path.suffix == ".py" and str(path.relative_to(ROOT)) not in MODULES
]
# They show what a program in any language does, and import nothing of stratkit.
ALONE = ("examples/analysis_client.py", "examples/players/bot.py")
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
        elif script not in ALONE:
            (line,) = told.err.splitlines()
            assert told.out == "" and line.startswith(f"{path.name}: ")


@pytest.mark.parametrize("script", ALONE)
def test_a_script_that_stands_alone(script: str) -> None:
    tree = ast.parse((ROOT / script).read_text())
    named = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    named += [n.name for node in ast.walk(tree) if isinstance(node, ast.Import) for n in node.names]
    assert named and not {name.partition(".")[0] for name in named} - sys.stdlib_module_names


@pytest.mark.parametrize(
    ("script", "words", "wrong"),
    [
        ("bench/beliefs", "belief player 1", "GAMES: a whole number from 2 to"),
        ("bench/beliefs", "belief player 2 -1", "SEED: a whole number from 0 to"),
        ("bench/coverage", "--pools nan", "--pools: a number above 0, at most 1000000"),
        ("bench/coverage", "--pools -1", "--pools: a number above 0, at most 1000000"),
        ("bench/deployments", "player --seed -1", "--seed: a whole number from 0 to"),
        (
            "bench/fictitious_play",
            "kuhn --iterations 0",
            "--iterations: a whole number from 1 to",
        ),
        ("bench/dice_value", "0 6 1", "D: a whole number from 1 to"),
        ("bench/dice_value", "1 -6 1", "F: a whole number from 1 to"),
        ("bench/dice_value", "1 6 0", "I: a whole number from 1 to"),
        ("bench/diplomacy_differential", "py 0", "PHASES: a whole number from 1 to"),
        ("bench/diplomacy_differential", "py 1 -1", "SEED: a whole number from 0 to"),
        (
            "bench/diplomacy_imitation",
            "run --temperature 0",
            "--temperature: a number above 0, at most 1000000",
        ),
        ("bench/diplomacy_saved", "py 0", "GAMES: a whole number from 1 to"),
        ("bench/diplomacy_saved", "py 1 -1", "SEED: a whole number from 0 to"),
        ("bench/exact_search", "kuhn 0", "STEPS: a whole number from 1 to"),
        ("bench/exact_search", "kuhn 1 -1", "TAU: a number above 0, at most 1000000"),
        ("bench/exact_search", "kuhn 1 little", "TAU: a number above 0, at most 1000000"),
        ("bench/gpu", "--limit inf", "--limit: a number of seconds above 0"),
        ("bench/search", "keys player nano 0", "TURNS: a whole number from 1 to"),
        ("bench/search", "keys player nano 1 0", "THREADS: a whole number from 1 to"),
        ("bench/shuffled", "-1", "SEED: a whole number from 0 to"),
        ("bench/strangers", "player nano file 1", "N: a whole number from 2 to"),
        ("bench/strangers", "player nano file 2 0", "ORDERS: a whole number from 1 to"),
        ("bench/trees", "0", "TREES: a whole number from 1 to"),
        ("bench/trees", "1 0", "NODES: a whole number from 1 to"),
        ("bench/trees", "1 1 -1", "PLIES: a whole number from 0 to"),
        ("examples/actor_critic", "kuhn 0", "UPDATES: a whole number from 1 to"),
        ("examples/rebel/random_beliefs", "kuhn 0", "EXAMPLES: a whole number from 1 to"),
        ("examples/rebel/value_error", "run --depth -1", "--depth: a whole number from 0 to"),
        ("examples/rebel/value_error", "run -n 1.5", "-n: a whole number from 1 to"),
        ("examples/rebel/curve", "a 0 1 1x2", "T: a whole number from 1 to"),
        (
            "examples/verify",
            "new nan",
            "SCALE: a number above 0, at most 1000",
        ),
        ("examples/alphaze/hex_values", "run -n 0", "-n: a whole number from 1 to"),
        (
            "examples/alphaze/hex_values",
            "run --seed 18446744073709551616",
            "--seed: a whole number from 0",
        ),
        ("examples/diplomacy/games", "a b -1", "NUMBER: a whole number from 0 to"),
        (
            "examples/diplomacy/curve",
            "a inf b",
            "MINUTES: a number above 0, at most 1000000",
        ),
        (
            "examples/diplomacy/curve",
            "a 1 b --before -1",
            "--before: a number from 0 to 1000000 is needed",
        ),
        ("examples/players/why", "a b lost c -n 0", "-n: a whole number from 1 to"),
        ("examples/players/why", "a b lost c -t many", "-t: a whole number from 0 to"),
        ("examples/players/attacks", "a 0", "GAMES: a whole number from 1 to"),
        ("examples/search_picture", "a b 0", "N: a whole number from 1 to"),
    ],
)
def test_numbers_that_a_script_refuses(
    script: str,
    words: str,
    wrong: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In one line, before it does anything."""
    path = ROOT / f"{script}.py"
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(path.parent)
    monkeypatch.setattr(sys, "argv", [path.name, *words.split()])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert ended.value.code == 2 and list(tmp_path.iterdir()) == []
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{path.name}: argument {wrong}")


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
