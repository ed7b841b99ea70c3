"""The commands of bin/ in a checkout where `make dev` has not been run, or was stopped."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

import pytest

from running import COMMANDS, ROOT, command_line

# Our interpreter without the packages that are installed for it; and as if it were an old one.
BARE = f'#!/bin/sh\nexec {sys.executable} -S "$@"\n'
OLD = f"""#!/bin/sh
exec {sys.executable} -c 'import sys; sys.version_info = (3, 9, 2); exec(sys.argv[2])' "$@"
"""


def write_program(path: pathlib.Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def checkout(tmp_path: pathlib.Path) -> pathlib.Path:
    """bin/ and stratkit/ of this checkout, and path/ with all that a bare PATH has."""
    shutil.copytree(ROOT / "bin", tmp_path / "bin")
    (tmp_path / "stratkit").symlink_to(ROOT / "stratkit")
    (tmp_path / "path").mkdir()
    for name in ("readlink", "basename", "tr"):
        (tmp_path / "path" / name).symlink_to(shutil.which(name) or name)
    return tmp_path


def said(checkout: pathlib.Path, name: str, *arguments: str) -> str:
    """The one line that the command says, which must fail."""
    done = subprocess.run(
        [checkout / "bin" / name, *arguments],
        env={"PATH": str(checkout / "path")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("python", ["path/python3", ".venv/bin/python"])
def test_without_its_packages(checkout: pathlib.Path, name: str, python: str) -> None:
    write_program(checkout / python, BARE)
    line = said(checkout, name, *(["doctor"] if name == "stratkit" else ["--help"]))
    assert line == f"{name}: click is missing: run 'make dev' in {checkout} first"


@pytest.mark.parametrize("python", [OLD, None])
def test_without_a_python_that_can_read_it(checkout: pathlib.Path, python: str | None) -> None:
    if python is not None:
        write_program(checkout / "path/python3", python)
    wanted = f"no Python 3.11 or later is here: install it, then run 'make dev' in {checkout}"
    assert said(checkout, "stratkit", "doctor") == f"stratkit: {wanted}"


def test_all_commands_of_bin_are_one_text() -> None:
    texts = {(ROOT / "bin" / name).read_bytes() for name in COMMANDS}
    assert len(texts) == 1


HIDING = """import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Hide())
"""


@pytest.mark.parametrize("name", ["numpy", "stratkit.engine._engine"])
def test_what_is_missed_later(name: str, tmp_path: pathlib.Path) -> None:
    """The engine is not built in a checkout, and a command imports the dear ones when it must."""
    (tmp_path / "sitecustomize.py").write_text(HIDING.format(name=name))
    done = subprocess.run(
        command_line("match", "random", "random", "--game", "mini", "-n", 2),
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    remedy = "run 'make dev' in a checkout; 'stratkit doctor' tells what else is missing"
    assert (done.returncode, done.stderr) == (1, f"match: {name} is missing: {remedy}\n")
