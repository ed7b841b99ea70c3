"""What README.md and the guides show is run: blocks marked `sh run`, in order, a folder a page."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess

import pytest

from running import COMMANDS, ROOT, forked_commands

README = (ROOT / "README.md").read_text()


GUIDES = sorted((ROOT / "docs").glob("*.md"))

# What the commands of a guide say, and the least size in bytes of files that they make.
MADE = {
    "bot": ("", {"greedy.jsonl": 500}),
    "cluster": ("step", {"run/policy.safetensors": 500}),
    "exploit": ("exactly it is", {"both.png": 5000, "both.json": 500, "metrics.png": 5000}),
    "extend": ("rm:1000", {"kuhn.jsonl": 500, "ttt.jsonl": 500, "pg.jsonl": 500}),
    "first-agent": (
        "12 games of barrage; Elo with 95 % intervals of differences from the anchors",
        {"ratings.png": 5000, "ratings.html": 5000, "run.png": 5000, "trained.onnx": 50000},
    ),
    "logs": ("24 games of barrage", {"game.html": 5000, "people.eps": 100}),
    "strength": ("to a scout", {"games.jsonl": 500, "pool.mixture": 50, "mixed.jsonl": 500}),
    "search": ("pbs@2", {"moves.txt": 1000, "deep.jsonl": 500}),
    "your-games": (
        "flag on the back rank",
        {
            **{"barrage.html": 500000, "game.html": 5000, "mine.eps": 100},
            **{"better.jsonl": 500, "deep.jsonl": 500},
        },
    ),
}


def blocks(kind: str, page: pathlib.Path) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", page.read_text(), re.M | re.S)


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_every_block_runs(page: pathlib.Path, tmp_path: pathlib.Path) -> None:
    scripts = blocks("sh run", page)
    path = f"{forked_commands(tmp_path / 'bin')}:{os.environ['PATH']}"
    folders = {"EXAMPLES": str(ROOT / "examples"), "FORMATS": str(ROOT / "formats")}
    outputs = []
    for script in scripts:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path,
            env={**os.environ, **folders, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, script + done.stderr
        outputs.append(done.stdout)
    made = "".join(outputs)
    said, files = MADE[page.stem]
    assert said in made
    for name, size in files.items():
        assert (tmp_path / name).stat().st_size > size
    if page.stem == "first-agent":
        (sums,) = [out for out, script in zip(outputs, scripts, strict=True) if "sha256" in script]
        first, second = sums.splitlines()
        assert first == second


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_a_guide_is_short_and_every_command_is_run(page: pathlib.Path) -> None:
    text = page.read_text()
    assert len(text.splitlines()) <= 3 * 50  # screens
    kinds = set(re.findall(r"^```([^\n]+)$", text, re.M))
    assert kinds <= {"sh run", "sh bot", "sh evaluator", "make", "crontab", "python"}
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert "://" in link or (page.parent / link).exists(), link
    assert f"](docs/{page.name})" in README


def test_the_makefile_makes_and_goes_on(tmp_path: pathlib.Path) -> None:
    (makefile,) = blocks("make", ROOT / "docs/first-agent.md")
    (tmp_path / "Makefile").write_text(makefile)
    path = f"{forked_commands(tmp_path / 'bin')}:{os.environ['PATH']}"
    ours = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}

    def make(steps: int) -> str:
        settings = ["GAME=micro", f"STEPS={steps}"]
        done = subprocess.run(
            ["make", *settings],
            cwd=tmp_path,
            env={**ours, "PATH": path, "LC_ALL": "C"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    (tmp_path / "run").mkdir()
    (tmp_path / "run/lock").touch()  # of an attempt that had not come far
    (begun,) = [line for line in make(1).splitlines() if line.startswith("selfplay ")]
    assert begun.endswith("--steps 1 ") or begun.endswith("--steps 1")
    (tmp_path / "games-1.jsonl").rename(tmp_path / "games-1.jsonl.part")
    with open(tmp_path / "games-1.jsonl.part", "r+") as record:
        lines = record.readlines()[:100]
        record.seek(0)
        record.truncate()
        record.writelines(lines)
    make(1)
    assert (tmp_path / "games-1.jsonl").read_text().splitlines(keepends=True)[:100] == lines
    assert len((tmp_path / "games-1.jsonl").read_text().splitlines()) == 1 + 600
    assert "--steps 2 --resume\n" in make(2)
    assert sorted(os.listdir(tmp_path / "run/checkpoints"))[-1] == "step-00000002.safetensors"
    assert "run@2" in (tmp_path / "rating.html").read_text()
    assert "rating.html' is up to date" in make(2)


def test_a_bot_is_checked_and_plays(tmp_path: pathlib.Path) -> None:
    """A busy machine may start it later than the manager of 2012 waited: only that may be wrong."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (script,) = blocks("sh bot", ROOT / "docs/bot.md")
    check, game = script.replace("-n 100", "-n 2 -q").splitlines()
    path = f"{forked_commands(tmp_path / 'bin')}:{os.environ['PATH']}"
    done = []
    for line in (check, game):
        settings = {**os.environ, "PATH": path}
        asked = ["bash", "-c", line]
        done.append(
            subprocess.run(asked, cwd=tmp_path, env=settings, capture_output=True, text=True)
        )
    wrong = [line for line in done[0].stdout.splitlines() if line.startswith("wrong")]
    assert all("the original manager waits 2 s" in line for line in wrong), done[0]
    assert wrong or "ok: BLUE: sets up for another game after QUIT" in done[0].stdout
    assert done[1].returncode == 0, done[1].stderr
    assert len((tmp_path / "bot.jsonl").read_text().splitlines()) == 1 + 2


def test_the_other_blocks_are_targets_of_make() -> None:
    makefile = (ROOT / "Makefile").read_text()
    lines = "".join(blocks("sh", ROOT / "README.md")).splitlines()
    assert [line.split("#")[0].split() for line in lines] == [["make", "demo"], ["make", "test"]]
    for line in lines:
        assert re.search(rf"^{line.split()[1]}:", makefile, re.M)


def test_all_commands_and_rooms_are_there() -> None:
    for name in COMMANDS:
        assert f"\n| `{name}` | " in README
    rooms = [path.parent.name for path in (ROOT / "stratkit").glob("*/__init__.py")]
    for room in rooms:
        assert f"`stratkit/{room}`" in (ROOT / "CONTRIBUTING.md").read_text()
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert "://" in link or (ROOT / link).exists(), link
