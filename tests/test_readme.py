"""What README.md shows is run: each shell block marked `sh run`, in order, in one folder."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess

import pytest

from running import COMMANDS, ROOT, forked_commands

README = (ROOT / "README.md").read_text()


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, re.M | re.S)


@pytest.mark.slow
def test_every_block_runs(tmp_path: pathlib.Path) -> None:
    scripts = blocks("sh run")
    assert len(scripts) >= 5
    (tmp_path / "formats").symlink_to(ROOT / "formats")
    path = f"{forked_commands(tmp_path / 'bin')}:{os.environ['PATH']}"
    outputs = []
    for script in scripts:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        # A reader such as head may leave early: the writer is then ended by SIGPIPE.
        closed = "| head" in script and done.returncode == 141
        assert done.returncode == 0 or closed, script + done.stderr
        outputs.append(done.stdout)
    made, learned, met = outputs[1:4]
    assert "24 games of barrage" in made and "flag on the back rank" in made
    assert learned == "" and "metrics.jsonl" in os.listdir(tmp_path / "run")
    assert "12 games of barrage; Elo with 95 % intervals of differences from the anchors" in met
    for name, size in (("ratings.png", 5000), ("game.html", 5000), ("moves.txt", 1000)):
        assert (tmp_path / name).stat().st_size > size
    first, second = outputs[-2].splitlines()
    assert first == second


@pytest.mark.slow
def test_the_makefile_makes_and_goes_on(tmp_path: pathlib.Path) -> None:
    (makefile,) = blocks("make")
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


@pytest.mark.slow
def test_a_bot_is_checked_and_plays(tmp_path: pathlib.Path) -> None:
    """A busy machine may start it later than the manager of 2012 waited: only that may be wrong."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (script,) = blocks("sh bot")
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


def test_the_way_from_logs_to_an_agent_has_ten_commands() -> None:
    tutorial = README.partition("Ten commands.")[2].partition("\n## ")[0]
    scripts = re.findall(r"^```sh run\n(.*?)^```$", tutorial, re.M | re.S)
    words = [line.split()[0] for script in scripts for line in script.splitlines()]
    assert len(words) == 10 and set(words) <= set(COMMANDS)


def test_the_other_blocks_are_targets_of_make() -> None:
    makefile = (ROOT / "Makefile").read_text()
    lines = "".join(blocks("sh")).splitlines()
    assert [line.split("#")[0].split() for line in lines] == [["make", "demo"], ["make", "test"]]
    for line in lines:
        assert re.search(rf"^{line.split()[1]}:", makefile, re.M)


def test_all_commands_and_rooms_are_there() -> None:
    for name in COMMANDS:
        assert f"\n| `{name}` | " in README
    rooms = [path.parent.name for path in (ROOT / "stratkit").glob("*/__init__.py")]
    for room in rooms:
        assert f"`stratkit/{room}`" in README
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert "://" in link or (ROOT / link).exists(), link
