"""selfplay --slice and who reads slices."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import pytest

from running import PATIENCE, forked_line, run
from storage.stored import plain
from stratkit.storage.checkpoints import list_checkpoints, load_checkpoint
from stratkit.storage.episodes import EpisodeReader

PLAY = ("selfplay", "--game", "mini", "-n", 12, "--seed", 3, "--slots", 5)


@pytest.fixture(scope="module")
def sliced(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("sliced") / "a.eps"
    assert run(*PLAY, "--slice", 30, "-o", path).status == 0
    return path


WHOLE = "slices of games, of which this algorithm needs whole ones (mmd, ppo and nashpg take both)"


def read(path: pathlib.Path, whole: bool = True) -> list[tuple[object, ...]]:
    with open(path, "rb") as stream:
        return [plain(one) for one in EpisodeReader(stream, "x", whole=whole)]


def test_the_games_are_the_same(tmp_path: pathlib.Path, sliced: pathlib.Path) -> None:
    path = tmp_path / "whole.eps"
    assert run(*PLAY, "-o", path).status == 0
    assert sorted(read(sliced)) == sorted(read(path))  # type: ignore[type-var]
    with open(sliced, "rb") as stream:
        parts = list(EpisodeReader(stream, "x", whole=False))
    lengths = [len(one.actions) - (one.first or 0) for one in parts]
    assert len(parts) > 24 and max(lengths) == 30
    assert all(n == 30 for n, one in zip(lengths, parts, strict=True) if one.ending == 0)


def test_readers_of_whole_games_put_them_together(sliced: pathlib.Path) -> None:
    found = run("fenfs", "stats", "--json", sliced)
    assert found.status == 0, found.err
    assert '"games":12' in found.out.replace(" ", "")


def test_mmd_learns_from_slices(tmp_path: pathlib.Path, sliced: pathlib.Path) -> None:
    words = ("--net", "plain", "--batch", 4)
    done = run("train", sliced, "--out", tmp_path / "mmd", "--algorithm", "mmd", *words)
    assert done.status == 0, done.err
    lines = (tmp_path / "mmd/metrics.jsonl").read_text().splitlines()
    metrics = [json.loads(line) for line in lines]
    first, last = metrics[0], metrics[-1]
    assert first["length"] is first["draws"] is first["first_wins"] is None  # no game has ended
    assert first["returns_mean"] == [None, None] and first["endings"] == {}
    assert last["endings"] and last["length"] > 30
    assert sum(sum(one["endings"].values()) for one in metrics) <= 12
    assert last["episodes"] == 4 * len(metrics)


def test_several_self_plays_feed_one_learner(tmp_path: pathlib.Path, sliced: pathlib.Path) -> None:
    """One of them says nothing more after its first games, and does not end either."""
    pipes = [tmp_path / "a", tmp_path / "b"]
    for pipe in pipes:
        os.mkfifo(pipe)
    play = ("--game", "mini", "--seed", 5, "--slots", 8, "--slice", 30, "--max-ahead", 64, "-q")
    follow = ("--policy", tmp_path / "run", "--follow", "-o", pipes[1])
    with subprocess.Popen(forked_line("selfplay", *play, *follow)) as other:
        quiet = os.open(pipes[0], os.O_RDWR)
        games = sliced.read_bytes()
        os.write(quiet, games[: games.rindex(b"\x28\xb5\x2f\xfd")])  # without the trailer
        words = ("--net", "plain", "--batch", 8, "--steps", 12, "--algorithm", "mmd")
        done = run("train", *pipes, "--out", tmp_path / "run", *words)
        other.kill()
        os.close(quiet)
    assert done.status == 0, done.err
    lines = (tmp_path / "run/metrics.jsonl").read_text().splitlines()
    assert len(lines) == 12
    (_, newest), *_ = reversed(list_checkpoints(tmp_path / "run"))
    assert load_checkpoint(newest)[1]["inputs"] == {}  # nothing that could be read again
    passed = load_checkpoint(tmp_path / "run/policy.safetensors")[1]["passed"]
    assert set(passed) == {"3:0", "5:0"} and sum(passed.values()) == 12 * 8


@pytest.mark.parametrize("algorithm", ["rnad", "alphaze", "belief"])
def test_other_algorithms_refuse_slices(
    tmp_path: pathlib.Path, sliced: pathlib.Path, algorithm: str
) -> None:
    out = tmp_path / "run"
    refused = run("train", sliced, "--out", out, "--algorithm", algorithm, "--net", "plain")
    assert (refused.status, refused.err) == (1, f"train: {sliced}: {WHOLE}\n")
    assert not out.exists()


@pytest.mark.parametrize("slices_first", [False, True])
def test_streams_of_slices_and_of_games_one_after_the_other(
    tmp_path: pathlib.Path, sliced: pathlib.Path, slices_first: bool
) -> None:
    """By mmd all of them are learned from, by rnad the games up to the first slice."""
    path, both = tmp_path / "whole.eps", tmp_path / "both.eps"
    assert run(*PLAY[:-4], "--seed", 4, "-o", path).status == 0
    parts = [path.read_bytes(), sliced.read_bytes()]
    both.write_bytes(b"".join(reversed(parts) if slices_first else parts))
    words = ("--net", "plain", "--batch", 4, "--seed", 1)
    done = run("train", both, "--out", tmp_path / "mmd", "--algorithm", "mmd", *words)
    assert done.status == 0, done.err
    lines = (tmp_path / "mmd/metrics.jsonl").read_text().splitlines()
    with open(sliced, "rb") as stream:
        slices = len(list(EpisodeReader(stream, "x", whole=False)))
    assert len(lines) == (12 + slices) // 4
    refused = run("train", both, "--out", tmp_path / "rnad", *words)
    assert refused.status == 1 and "Traceback" not in refused.err
    assert refused.err.splitlines()[-1] == f"train: {both}: {WHOLE}"
    assert len(list((tmp_path / "rnad/checkpoints").glob("*"))) == (0 if slices_first else 2)


def test_the_loop_is_held_back(tmp_path: pathlib.Path) -> None:
    """Games that go on do not run away from the learner; the ages show it."""
    out = tmp_path / "run"
    follow = ("--policy", out, "--follow", "--max-ahead", 16, "--slots", 8, "--slice", 10)
    play = subprocess.Popen(
        forked_line("selfplay", "--game", "mini", "--seed", 1, *follow),
        stdout=subprocess.PIPE,
    )
    learn = ("--algorithm", "mmd", "--net", "plain", "--batch", 8, "--steps", 12, "--seed", 1)
    train = subprocess.run(
        forked_line("train", "-", "--out", out, *learn),
        stdin=play.stdout, capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert play.stdout
    play.stdout.close()
    assert (train.returncode, play.wait(PATIENCE)) == (0, 0), train.stderr
    metrics = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    # 16 in flight, one more slice of each of 8 games, and a period: four batches of 8.
    assert len(metrics) == 12 and max(one["age_max"] for one in metrics) <= 4
    assert metrics[-1]["age_mean"] > 0


def test_a_folder_takes_no_slices(tmp_path: pathlib.Path) -> None:
    done = run(*PLAY, "--slice", 30, "-o", tmp_path)
    what = "--slice goes with a stream, not with a folder"
    assert done.status == 2 and what in done.err and not list(tmp_path.iterdir())
    assert run(*PLAY, "--slice", 0).status == 2
