"""sdist and wheel: built, installed into an empty environment, and used there."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tarfile

import pytest

from running import COMMANDS, ROOT
from stratkit import __version__

NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "build", "dist", "demo", "*.egg-info"
)


def execute(*command: object, cwd: pathlib.Path, **environment: str) -> str:
    inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env={**inherited, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The sdist, made from a copy so that the checkout stays as it is."""
    folder = tmp_path_factory.mktemp("sdist")
    shutil.copytree(ROOT, folder / "checkout", ignore=NOT_COPIED)
    build = [sys.executable, "-m", "build", "--no-isolation", "--sdist", "--outdir", folder]
    execute(*build, cwd=folder / "checkout")
    return folder / f"stratkit-{__version__}.tar.gz"


@pytest.fixture(scope="module")
def wheel(sdist: pathlib.Path) -> pathlib.Path:
    """The wheel, made from the sdist alone; quickly, not for speed."""
    unpacked = sdist.parent / "unpacked"
    unpacked.mkdir()
    execute("tar", "-xzf", sdist, cwd=unpacked)  # extractall's filter is younger than Python 3.11.2
    (source,) = unpacked.iterdir()
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", sdist.parent]
    execute(*build, cwd=source, STRATKIT_CFLAGS="-O0 -fno-lto")
    (path,) = sdist.parent.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: pathlib.Path) -> pathlib.Path:
    """An environment with the wheel. Its dependencies are those of the tests' own environment, so
    that nothing is downloaded; they are linked after pip, which must not find stratkit there."""
    folder = wheel.parent / "venv"
    execute(sys.executable, "-m", "venv", "--without-pip", folder, cwd=wheel.parent)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "-q"]
    execute(*pip, "--no-deps", "--no-index", wheel, cwd=wheel.parent)
    (site,) = (folder / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def test_the_sdist_has_all_that_is_needed(sdist: pathlib.Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for pattern in ("cengine/*.[ch]", "formats/**/*.*", "man/*.[157]", "bin/*", "tests/**/*.py"):
        for path in ROOT.glob(pattern):
            if path.is_file():
                assert str(path.relative_to(ROOT)) in names
    for name in ("LICENSE", "README.md", "Makefile", "constraints.txt", "cengine/build_cffi.py"):
        assert name in names
    assert not [name for name in names if name.endswith((".o", ".so", ".pyc"))]


def test_the_wheel_is_for_every_later_python(wheel: pathlib.Path) -> None:
    assert wheel.name.startswith(f"stratkit-{__version__}-cp311-abi3-linux_")


@pytest.mark.slow
def test_the_wheel_works(installed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for name in COMMANDS:
        assert f"Usage: {name} " in execute(installed / "bin" / name, "--help", cwd=tmp_path)
        assert (installed / "share/man/man1" / f"{name}.1").is_file()
    assert (installed / "share/man/man5/stratkit-games.5").is_file()
    where = "import stratkit.engine as e; print(e.__file__)"
    file = execute(installed / "bin/python", "-c", where, cwd=tmp_path).strip()
    assert pathlib.Path(file).is_relative_to(installed)
    player = ("barrage-v0", "random", "--game", "barrage", "-n", "2")
    assert "barrage-v0" in execute(installed / "bin/match", *player, "-o", "-", cwd=tmp_path)
    games = tmp_path / "g.jsonl"
    players = ["random", "heuristic", "--game", "classic", "-n", "20"]
    execute(installed / "bin/match", *players, "-o", games, cwd=tmp_path)
    table = execute(installed / "bin/rate", games, "--prior", "1", cwd=tmp_path)
    assert table.startswith("20 games of classic; Elo with 95 % intervals")
