"""Scripts of examples/ and bench/ tell what they are for, and take no option for a file."""

from __future__ import annotations

import ast
import pathlib
import runpy
import subprocess
import sys

import pytest

from running import ROOT

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


@pytest.mark.parametrize("script", SHELL)
def test_a_shell_script_has_a_help(script: str, tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        [ROOT / script, "--help"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    first = (ROOT / script).read_text().splitlines()[1].removeprefix("# ")
    assert done.stderr == "" and done.stdout.startswith(first)
    assert list(tmp_path.iterdir()) == []
