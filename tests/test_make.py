"""What a machine lacks is said in one line, before anything is installed."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from running import ROOT

PYTHON = '#!/bin/sh\ncase $2 in *{word}*) exit 1;; esac\nexec {python} "$@"\n'


def prerequisites(**environment: str) -> tuple[int, str]:
    """Exit status and stderr of .ci/prerequisites under nothing but this environment."""
    done = subprocess.run(
        ["/bin/sh", ROOT / ".ci/prerequisites"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.fixture
def tools(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with the few programs that are needed."""
    for name in ("gcc", "as", "ld"):
        found = shutil.which(name)
        assert found, name
        (tmp_path / name).symlink_to(found)
    return tmp_path


def test_a_machine_that_has_all(tools: pathlib.Path) -> None:
    assert prerequisites(PATH=str(tools), PYTHON=sys.executable) == (0, "")


def commands_of(*arguments: str) -> list[str]:
    """What make would run."""
    done = subprocess.run(
        ["make", "--no-print-directory", "-n", *arguments],
        cwd=ROOT,
        # The suite itself may have been started by make.
        env={k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_make_asks_before_it_installs() -> None:
    commands = commands_of("-B", "PYTHON=some-python", "dev")
    assert commands[0] == 'PYTHON="some-python" sh .ci/prerequisites'
    assert commands[1] == "some-python -m venv .venv"
    assert "torch" in commands[2]


@pytest.mark.parametrize("again", [(), ("-B",)])
def test_make_dev_says_at_its_end_where_the_commands_are(again: tuple[str, ...]) -> None:
    """However often, and no other target does: a shell reads what stands behind the colon."""
    *_, said = ["", *commands_of(*again, "dev")]
    assert said.startswith("echo ")
    line = subprocess.run(said, shell=True, capture_output=True, text=True, check=True).stdout
    what, _, order = line.partition(": ")
    script = f"{order}\ncommand -v rate"
    found = subprocess.run(script, shell=True, capture_output=True, text=True, check=True).stdout
    assert (what, found) == ("The commands are in bin/", f"{ROOT}/bin/rate\n")
    assert not any("The commands" in command for command in commands_of(*again, "test"))


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("version_info", "is too old: Python 3.11 or newer is needed (name one with PYTHON=)"),
        ("ensurepip", "has no venv module: apt-get install python3-venv"),
        ("sysconfig", "has no Python.h: apt-get install python3-dev"),
    ],
)
def test_a_python_that_lacks_something(tools: pathlib.Path, word: str, line: str) -> None:
    python = tools / "python3"
    python.write_text(PYTHON.format(word=word, python=sys.executable))
    python.chmod(0o755)
    status, err = prerequisites(PATH=str(tools))
    assert status == 1
    assert err.startswith("stratkit: ") and err.endswith(f" {line}\n") and err.count("\n") == 1


def test_no_python_and_no_compiler(tools: pathlib.Path) -> None:
    status, err = prerequisites(PATH=str(tools), PYTHON="python9")
    assert (status, err.count("\n")) == (1, 1)
    assert err.startswith("stratkit: there is no python9: ")
    (tools / "gcc").unlink()
    status, err = prerequisites(PATH=str(tools), PYTHON=sys.executable)
    assert (status, err) == (1, "stratkit: there is no C compiler: apt-get install gcc\n")
