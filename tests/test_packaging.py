"""sdist and wheel: built, installed into an empty environment, and used there."""

from __future__ import annotations

import importlib.metadata
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile

import pytest

from running import COMMANDS, PROJECT, ROOT
from stratkit import __version__
from stratkit.cli.tool import INSTALL_TORCH

NOT_COPIED = shutil.ignore_patterns(
    ".git",
    ".venv",
    ".*_cache",
    ".hypothesis",
    "__pycache__",
    "build",
    "dist",
    "demo",
    "site",
    "*.egg-info",
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
    site = environment(wheel, "venv")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return wheel.parent / "venv"


@pytest.fixture(scope="module")
def bare(wheel: pathlib.Path) -> pathlib.Path:
    """An environment with the wheel and what it depends on, without any extra."""
    return with_packages(wheel, "bare", PROJECT["dependencies"])


def with_packages(wheel: pathlib.Path, folder: str, requirements: list[str]) -> pathlib.Path:
    """An environment with the wheel and these packages, which are those of the tests' own."""
    site = environment(wheel, folder)
    for name in needed(requirements):
        for file in importlib.metadata.files(name) or ():
            top = pathlib.Path(str(file.locate())).parents[len(file.parts) - 1] / file.parts[0]
            if not (site / top.name).exists() and ".." not in file.parts:
                (site / top.name).symlink_to(top)
    return wheel.parent / folder


def environment(wheel: pathlib.Path, name: str) -> pathlib.Path:
    """A new environment with the wheel alone; its folder of packages."""
    folder = wheel.parent / name
    execute(sys.executable, "-m", "venv", "--without-pip", folder, cwd=wheel.parent)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "-q"]
    execute(*pip, "--no-deps", "--no-index", wheel, cwd=wheel.parent)
    (site,) = (folder / "lib").glob("python*/site-packages")
    return site


def needed(requirements: list[str]) -> set[str]:
    """The packages of these requirements, and what they require on this system without extras."""
    found: set[str] = set()
    for requirement in requirements:
        package, _, condition = requirement.partition(";")
        (name,) = re.findall(r"^[\w.-]+", package)
        if "extra" not in condition and "Windows" not in condition:
            found |= {name} | needed(importlib.metadata.requires(name) or [])
    return found


def test_the_sdist_has_all_that_is_needed(sdist: pathlib.Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for pattern in ("cengine/*.[ch]", "formats/**/*.*", "man/*.[157]", "bin/*", "tests/**/*.py"):
        for path in ROOT.glob(pattern):
            if path.is_file() and path.suffix != ".pyc":
                assert str(path.relative_to(ROOT)) in names
    for name in ("LICENSE", "README.md", "Makefile", "constraints.txt", "cengine/build_cffi.py"):
        assert name in names
    assert "man/stratkit-games.5" in names  # which is made, not kept
    assert not [name for name in names if name.endswith((".o", ".so", ".pyc"))]


def test_the_wheel_is_for_every_later_python(wheel: pathlib.Path) -> None:
    assert wheel.name.startswith(f"stratkit-{__version__}-cp311-abi3-linux_")


def test_the_wheel_is_small(wheel: pathlib.Path) -> None:
    """Without the two weaker players 3 MB is the bar (bench/tools.md). The engine may have .216 of
    them, which GCC 12 takes; other compilers take what they do."""
    with zipfile.ZipFile(wheel) as archive:
        files = archive.infolist()
    left_out = [one for one in files if one.filename.endswith(("-easy.shuffled", ".so"))]
    size = os.path.getsize(wheel) - sum(one.compress_size for one in left_out)
    assert len(left_out) == 3 and size < (3 - 0.216) * 2**20
    nets = [one for one in files if one.filename.startswith("stratkit/models/trained/")]
    assert len(nets) == 7 and not [one for one in files if one.filename.endswith(".onnx")]


def test_the_wheel_has_all_pages(wheel: pathlib.Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    pages = [path for kind in ("html", "js", "css") for path in ROOT.glob(f"stratkit/**/*.{kind}")]
    assert len(pages) >= 4 and {str(path.relative_to(ROOT)) for path in pages} <= names


def test_the_wheel_works(installed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for name in COMMANDS:
        assert f"Usage: {name} " in execute(installed / "bin" / name, "--help", cwd=tmp_path)
        assert (installed / "share/man/man1" / f"{name}.1").is_file()
    assert (installed / "share/man/man5/stratkit-games.5").is_file()
    where = "import stratkit.engine as e; print(e.__file__)"
    file = execute(installed / "bin/python", "-c", where, cwd=tmp_path).strip()
    assert pathlib.Path(file).is_relative_to(installed)
    mine = tmp_path / "new/mine"
    execute(installed / "bin/stratkit", "examples", "new/mine", cwd=tmp_path)
    copied = {str(path.relative_to(mine)) for path in mine.rglob("*") if path.is_file()}
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["stratkit"]
    patterns = [ROOT.glob(f"examples/{one}") for one in settings["examples"]]
    files = [path for path in itertools.chain(*patterns) if path.is_file()]
    assert copied == {str(path.relative_to(ROOT / "examples")) for path in files}
    assert all(
        (mine / name).read_bytes() == (ROOT / "examples" / name).read_bytes() for name in copied
    )
    assert os.access(mine / "demo.sh", os.X_OK) and (mine / "demo.sh").stat().st_mtime > 3e8
    again = ("examples", "/dev/null/x")
    done = subprocess.run([installed / "bin/stratkit", *again], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "stratkit: /dev/null/x: Not a directory\n")
    assert not (installed / "share/stratkit").exists()
    player = ("barrage-easy", "random", "--game", "barrage", "-n", "2")
    assert "barrage-easy" in execute(installed / "bin/match", *player, "-o", "-", cwd=tmp_path)
    games = tmp_path / "g.jsonl"
    players = ["random", "heuristic", "--game", "classic", "-n", "20"]
    execute(installed / "bin/match", *players, "-o", games, cwd=tmp_path)
    table = execute(installed / "bin/rate", games, "--prior", "1", cwd=tmp_path)
    assert table.startswith("20 games of classic; Elo with 95 % intervals")


def test_folders_beside_a_package_are_somebody_elses(
    installed: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    (site,) = (installed / "lib").glob("python*/site-packages")
    for name in ("examples", "man"):
        (site / name).mkdir()
    execute(installed / "bin/stratkit", "examples", "mine", cwd=tmp_path)
    assert (tmp_path / "mine/demo.sh").is_file()
    (tmp_path / "man").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "man").chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    page = execute(installed / "bin/stratkit", "help", "train", cwd=tmp_path, PATH=path).strip()
    assert page == str(installed / "share/man/man1/train.1")


def test_the_extra_play_plays_without_torch(wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    requirements = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["play"]
    bare = with_packages(wheel, "player", requirements)

    def tool(name: str, *arguments: object) -> str:
        return execute(bare / "bin" / name, *arguments, cwd=tmp_path)

    with pytest.raises(AssertionError, match="No module named 'torch'"):
        execute(bare / "bin/python", "-c", "import torch", cwd=tmp_path)
    searching = "name=A,search=mmd,rollouts=16,depth=1,threshold=.1,quanta=8,barrage-easy"
    match = ["--game", "barrage", "-n", 2, "--seed", 1]
    tool("match", searching, "barrage-easy", *match, "-o", "games.jsonl")
    assert (tmp_path / "games.jsonl").read_text().count('"backend":"engine"') == 2
    tool("selfplay", "--game", "barrage", "--policy", "barrage-easy", "-n", 2, "-o", "games.eps")
    made = tool("deploy-gen", "--game", "barrage", "-n", 3, "--from", "barrage-easy")
    assert len(made.splitlines()) == 3
    tool("stratkit", "export", "barrage-easy", "-o", "net.onnx")
    tool("match", "./net.onnx", "barrage-easy", *match, "-o", "exported.jsonl")
    assert (tmp_path / "exported.jsonl").read_text().count('"backend":"engine"') == 2
    tool("match", "fva-v1", "random", "-n", 2, "--seed", 1, "-o", "orders.jsonl")
    assert (tmp_path / "orders.jsonl").read_text().count('"backend":"engine"') == 1
    done = subprocess.run(
        [
            bare / "bin/match",
            "memory=renormalised,barrage-easy",
            "random",
            *map(str, match),
            "-o",
            "b.jsonl",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "needs torch, which is missing" in done.stderr


def test_logs_ratings_and_our_players_need_no_torch(
    bare: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    def tool(name: str, *arguments: object) -> str:
        return execute(bare / "bin" / name, *arguments, cwd=tmp_path)

    with pytest.raises(AssertionError, match="No module named 'torch'"):
        execute(bare / "bin/python", "-c", "import torch", cwd=tmp_path)
    samples = ROOT / "formats/samples"
    tool("fenfs", "check", samples / "gravon")
    tool("fenfs", "convert", "--to", "games", samples / "gravon", "-o", "people.jsonl")
    assert "games" in tool("fenfs", "stats", samples / "gravon")
    tool("fenfs", "replay", "people.jsonl", "--game", "1", "-o", "game.html")
    assert len(tool("deploy-gen", "--game", "mini", "-n", "3").splitlines()) == 3
    players = ["random", "heuristic", "--game", "mini", "-n", "20"]
    tool("match", *players, "-o", "games.jsonl")
    assert tool("rate", "games.jsonl", "--prior", "1", "--html", "r.html").startswith("20 games")
    assert "cfr:5" in tool("exploit", "kuhn", "cfr:5")
    tool("selfplay", "--game", "mini", "-n", "4", "-o", "games.eps")
    searching = "name=A,search=mmd,rollouts=16,depth=1,barrage-easy"
    match = ["--game", "barrage", "-n", 2, "--seed", 1]
    tool("match", searching, "barrage-easy", *match, "-o", "networks.jsonl")
    assert (tmp_path / "networks.jsonl").read_text().count('"backend":"engine"') == 2
    checkpoint = samples / "checkpoint.safetensors"
    before = sorted(os.listdir(tmp_path))
    torch = f"this needs torch, which is missing: {INSTALL_TORCH}"
    for said, name, *arguments in (
        (torch, "match", "memory=on,barrage-easy", "random", *match, "-o", "b.jsonl"),
        (torch, "selfplay", "--game", "mini", "-n", 2, "--policy", checkpoint, "-o", "b.eps"),
        (torch, "deploy-gen", "--game", "mini", "-n", 1, "--from", checkpoint),
        (torch, "train", "games.eps", "--out", "run", "--steps", 1),
        (torch, "finetune", checkpoint, "games.eps", "--out", "run", "--steps", 1),
    ):
        done = subprocess.run(
            [bare / "bin" / str(name), *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{name}: {said}\n")
        assert sorted(os.listdir(tmp_path)) == before
