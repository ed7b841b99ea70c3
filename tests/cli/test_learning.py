"""The closed loop learns: selfplay | train through a real pipe, judged by a match."""

from __future__ import annotations

import json
import pathlib
import subprocess

import pytest

from running import PATIENCE, forked_line, run

STEPS = 200


@pytest.mark.parametrize(
    ("playing", "learning"),
    [
        (("--max-ahead", 128), ()),
        (("--max-ahead", 256, "--slice", 16), ("--algorithm", "mmd", "--batch", 32)),
    ],
    ids=["rnad", "mmd"],
)
def test_mini_is_learned_from_nothing(
    tmp_path: pathlib.Path, playing: tuple[object, ...], learning: tuple[object, ...]
) -> None:
    """After a few hundred updates (not seconds: load must not decide) the network that plays by
    default, as it is, clearly beats random play; without learning it wins 47 % and draws 8 %."""
    folder = tmp_path / "run"
    arguments = ("--game", "mini", "--policy", folder, "--follow", "--seed", 1, *playing)
    with subprocess.Popen(
        forked_line("selfplay", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as actor:
        learner = subprocess.run(
            forked_line("train", "-", "--out", folder, "--steps", STEPS, "--net", "plain",
                         "--seed", 1, *learning),
            stdin=actor.stdout,
            stderr=subprocess.PIPE,
            check=False,
        )  # fmt: skip
        assert actor.stdout
        actor.stdout.close()
        assert learner.returncode == 0, learner.stderr
        assert actor.wait(PATIENCE) == 0
    record = ("-n", 400, "--game", "mini", "--seed", 2, "-o", tmp_path / "games.jsonl")
    done = run("match", f"name=trained,{folder}", "random", *record)
    assert done.status == 0
    games = [json.loads(line) for line in (tmp_path / "games.jsonl").read_text().splitlines()[1:]]
    won = [game["returns"][game["players"].index(0)] > 0 for game in games]
    assert len(won) == 400 and sum(won) >= 225, f"{sum(won)} of 400 games won"
    steps = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [step["step"] for step in steps] == list(range(1, STEPS + 1))
    assert max(step["age_max"] for step in steps) <= 128 // 8
