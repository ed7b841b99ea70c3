"""The command train: the closed loop, resuming, stopping, and inputs that are not what they should
be."""

from __future__ import annotations

import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from learn.games import changed, episodes, stream, write
from learn.test_learned_slices import cut
from running import PATIENCE, Done, command_line, forked_line, run
from storage.stored import HEADER, altered, stream_of
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.learn.run import Request
from stratkit.learn.run import train as learn
from stratkit.storage.checkpoints import (
    list_checkpoints,
    load_checkpoint,
    read_policy,
    save_checkpoint,
)
from stratkit.storage.episodes import Episode

QUICK = ("--net", "plain", "--batch", 4, "--rows", 32, "--seed", 1)


def metrics(folder: pathlib.Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def hashes(folder: pathlib.Path) -> dict[int, str]:
    """The hash of the tensors of each checkpoint."""
    return {step: load_checkpoint(path)[1]["sha256"] for step, path in list_checkpoints(folder)}


@pytest.fixture
def found() -> tuple[Game, list[Episode]]:
    return episodes("nano", 20)


def train(*arguments: object, stdin: bytes = b"", **settings: int) -> Done:
    return run("train", *arguments, *QUICK, stdin=stdin, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("every", [1, 5])
def test_the_closed_loop(tmp_path: pathlib.Path, every: int) -> None:
    """Also where the learner publishes less often than it learns."""
    following = ("--follow", "--policy", tmp_path / "run")
    actor = subprocess.Popen(
        forked_line("selfplay", *following, "--game", "nano", "--seed", 1, "-q"),
        stdout=subprocess.PIPE,
    )
    learner = subprocess.run(
        forked_line("train", "-", "--out", tmp_path / "run", "--steps", 6, "-q", *QUICK,
                    "--publish-every", every),
        stdin=actor.stdout,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    assert actor.stdout is not None
    actor.stdout.close()
    assert (learner.returncode, learner.stdout, learner.stderr) == (0, b"", b"")
    assert actor.wait(PATIENCE) == 0
    assert sorted(hashes(tmp_path / "run")) == [0, 6]
    assert read_policy(tmp_path / "run")[1]["episodes"] == 24
    lines = metrics(tmp_path / "run")
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert all(isinstance(line["age_mean"], float) for line in lines)
    games = write(tmp_path / "later.eps", *episodes("nano", 4, step=6))
    assert train(games, "--out", tmp_path / "other", "--steps", 1, "--no-wait").status == 0
    (line,) = metrics(tmp_path / "other")  # by a network that this run has never had
    assert line["age_mean"] is line["age_max"] is None


def test_streams_one_after_the_other(
    tmp_path: pathlib.Path, found: tuple[Game, list[Episode]]
) -> None:
    game, games = found
    together = stream(game, games[:7]) + stream(game, games[7:])
    done = train("-", "--out", tmp_path / "run", stdin=together)
    last = tmp_path / "run/checkpoints/step-00000005.safetensors"
    assert (done.status, done.data) == (0, b"")
    assert done.err == f"step 5, 20 episodes: {last}\n"
    files = [write(tmp_path / "a.eps", game, games[:7]), write(tmp_path / "b.eps", game, games[7:])]
    assert train(*files, "--out", tmp_path / "other").status == 0
    assert hashes(tmp_path / "run") == hashes(tmp_path / "other")


def test_resumed_is_as_if_never_stopped(
    tmp_path: pathlib.Path, found: tuple[Game, list[Episode]]
) -> None:
    game, games = found
    files = [write(tmp_path / "a.eps", game, games[:7]), write(tmp_path / "b.eps", game, games[7:])]
    folder = tmp_path / "folder"
    folder.mkdir()
    for file in files:
        shutil.copy(file, folder)
    whole, parts, other = (tmp_path / name for name in ("whole", "parts", "other"))
    assert train(*files, "--out", whole, "--steps", 4).status == 0
    for inputs, out in ((files, parts), ([f"{folder}/", "--no-wait"], other)):
        assert train(*inputs, "--out", out, "--steps", 3, "--save-every", 2).status == 0
        # What a killed run leaves: weights and metrics without a checkpoint, and half a line.
        (out / "checkpoints/step-00000003.safetensors").unlink()
        with open(out / "metrics.jsonl", "ab") as torn:
            torn.write(b'{"step": 4, "epi')
        inputs = [f"{tmp_path}/./folder" if path == f"{folder}/" else path for path in inputs]
        done = run("train", *inputs, "--out", out, "--steps", 4, "--resume", "--save-every", 2)
        assert done.status == 0, done.err
        assert hashes(out)[4] == hashes(whole)[4]
        assert [line["step"] for line in metrics(out)] == [1, 2, 3, 4]
        assert [line["policy_loss"] for line in metrics(out)] == [
            line["policy_loss"] for line in metrics(whole)
        ]
        again = run("train", *inputs, "--out", out, "--steps", 4, "--resume")
        assert again.status == 0 and sorted(hashes(out)) == [0, 2, 4]


def test_an_empty_folder_and_a_game(tmp_path: pathlib.Path) -> None:
    """The first network is there before the first episode, or self-play could not begin."""
    folder, out = tmp_path / "games", tmp_path / "run"
    folder.mkdir()
    learner = subprocess.Popen(
        forked_line("train", folder, "--out", out, "--game", "nano", "-q", *QUICK)
    )
    wait_for(lambda: (out / "policy.safetensors").exists() and 0 in hashes(out))
    learner.terminate()
    assert learner.wait(PATIENCE) == 143


def test_a_folder_is_watched_and_consumed(
    tmp_path: pathlib.Path, found: tuple[Game, list[Episode]]
) -> None:
    game, games = found
    folder = tmp_path / "games"
    folder.mkdir()
    write(folder / ".tmp.half.eps", game, games[:1])
    (folder / "notes.txt").write_text("not mine")
    write(tmp_path / "a.eps", game, games[:10])
    os.rename(tmp_path / "a.eps", folder / "a.eps")
    learner = subprocess.Popen(
        [
            *forked_line("train", folder, "--out", tmp_path / "run", "--steps", 5),
            *("--consume", "--save-every", "1", *map(str, QUICK)),
        ],
        stderr=subprocess.PIPE,
    )
    wait_for(lambda: 2 in hashes(tmp_path / "run"))
    assert (folder / "a.eps").exists()  # two of its games are still to be learned from
    write(tmp_path / "b.eps", game, games[10:])
    os.rename(tmp_path / "b.eps", folder / "b.eps")
    _, told = learner.communicate(timeout=PATIENCE)
    assert learner.returncode == 0, told
    assert sorted(os.listdir(folder)) == [".tmp.half.eps", "notes.txt"]


def wait_for(happened: Callable[[], bool], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("number", "status", "word"),
    [(15, 143, "terminated"), (2, 130, "interrupted"), (1, 129, "hung up")],
)
def test_a_signal_lets_it_save(
    tmp_path: pathlib.Path,
    found: tuple[Game, list[Episode]],
    number: int,
    status: int,
    word: str,
) -> None:
    out = tmp_path / "run"
    learner = subprocess.Popen(
        forked_line("train", "-", "--out", out, *QUICK),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert learner.stdin is not None and learner.stderr is not None
    learner.stdin.write(stream(*found)[:-40])  # and then nothing, with the pipe open
    learner.stdin.flush()
    wait_for(lambda: (out / "metrics.jsonl").exists() and len(metrics(out)) >= 4)
    for _ in range(2):  # as where a script passes on what its group has heard
        learner.send_signal(number)
    told = learner.stderr.read().decode()
    assert learner.wait(PATIENCE) == status
    learner.stdin.close()
    steps = len(metrics(out))
    last = out / f"checkpoints/step-{steps:08}.safetensors"
    again = shlex.join(["train", "-", "--out", str(out), *map(str, QUICK), "--resume"])
    assert told == f"saved {last}; to go on: behind self-play again, {again}\ntrain: {word}\n"
    assert sorted(hashes(out)) == [0, steps]


def test_a_signal_before_the_first_episode(tmp_path: pathlib.Path) -> None:
    learner = subprocess.Popen(
        forked_line("train", "-", "--out", tmp_path / "run", "-v", *QUICK),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert learner.stderr is not None and learner.stdin is not None
    assert learner.stderr.readline() == b"waiting for the first episodes from -\n"
    learner.send_signal(signal.SIGTERM)
    told = learner.stderr.read().decode()
    assert learner.wait(PATIENCE) == 143
    learner.stdin.close()
    assert told == "stopped before the first episode: there is nothing to save\ntrain: terminated\n"
    assert os.listdir(tmp_path) == []  # the same command may be given again


def test_truncated(tmp_path: pathlib.Path, found: tuple[Game, list[Episode]]) -> None:
    data = stream(*found)[:-60]
    done = train("--out", tmp_path / "run", stdin=data)
    assert done.status == 3 and sorted(hashes(tmp_path / "run")) == [0, 4]
    first, *rest = done.err.splitlines()
    assert first.startswith("train: standard input: truncated within frame") and len(rest) == 2
    assert rest[0] == "3 episodes at the end are too few for a step"
    path = tmp_path / "x.eps"
    path.write_bytes(data)
    strict = train(path, "--out", tmp_path / "other", "--strict")
    assert strict.status == 3
    assert strict.err.splitlines()[-1].startswith(f"train: {path}: truncated within frame")
    assert sorted(hashes(tmp_path / "other")) == [0, 4]


def refusals(game: Game, games: list[Episode]) -> dict[str, tuple[bytes, str]]:
    """Broken inputs, and what is said of them."""
    whole = stream(game, games)
    mini, of_mini = episodes("mini", 4)
    illegal = games[1].actions.copy()
    illegal[2] = 11
    nan = np.full(len(games[2].mu), np.nan, np.float32)
    middle = len(whole) // 2
    sliced = [part for one in games[:5] for part in cut(one, 100)]
    before, *_, last = cut(games[5], len(games[5].actions) // 3)
    late = f"game 5: a slice from action {last.first}"
    flipped = whole[:middle] + bytes([whole[middle] ^ 16]) + whole[middle + 1 :]
    return {
        "nothing": (b"", "empty: no header of an episode stream"),
        "text": (b"some text\n", "no episodes, which `selfplay`"),
        "a flipped bit": (flipped, "frame "),
        "another game": (whole + stream(mini, of_mini), "episodes of mini; this run learns nano"),
        "an illegal action": (
            stream(game, [games[0], changed(games[1], actions=illegal), *games[2:]]),
            "episode 1, action 2: illegal action: '11'",
        ),
        "given play": (
            stream(game, [*games[:2], changed(games[2], mu=nan), *games[3:]]),
            "episode 2, action 6: this action of play was not sampled (mu is NaN)",
        ),
        "slices out of order": (
            stream(game, [*sliced, before, last]),
            f"{late} on, and before it only {len(before.actions)} actions came",
        ),
        "slices without their beginning": (
            stream(game, [*sliced, last]),
            f"{late} on, and no such game goes on",
        ),
    }


@pytest.mark.parametrize(
    "name",
    [
        "nothing",
        "text",
        "a flipped bit",
        "another game",
        "an illegal action",
        "given play",
        "slices out of order",
        "slices without their beginning",
    ],
)
def test_broken_inputs(
    tmp_path: pathlib.Path, found: tuple[Game, list[Episode]], name: str
) -> None:
    data, message = refusals(*found)[name]
    path = tmp_path / "x.eps"
    path.write_bytes(data)
    words = ("--algorithm", "mmd") if name.startswith("slices") else ()
    done = train(path, "--out", tmp_path / "run", *words)
    assert done.status == 1
    *saved, line = done.err.splitlines()
    assert line.startswith(f"train: {path}: ") and message in line
    steps = sorted(hashes(tmp_path / "run"))  # nothing that was learned before is lost
    assert steps == {"nothing": [], "text": [], "another game": [0, 5]}.get(name, steps)
    last = tmp_path / f"run/checkpoints/step-{max(steps, default=0):08}.safetensors"
    assert saved == [f"saved {last}; --resume goes on from there"][: len(steps)]


def test_other_rules(tmp_path: pathlib.Path, found: tuple[Game, list[Episode]]) -> None:
    first = write(tmp_path / "a.eps", *found)
    second = write(tmp_path / "b.eps", Game("nano"), [])
    done = train(first, second, "--out", tmp_path / "run")
    assert done.status == 1
    what = "episodes by other rules than this run's {'"
    assert done.err.splitlines()[-1].startswith(f"train: {second}: {what}")


def test_duplicates_are_counted(tmp_path: pathlib.Path, found: tuple[Game, list[Episode]]) -> None:
    game, games = found
    files = [write(tmp_path / "a.eps", game, games[:8]), write(tmp_path / "b.eps", game, games)]
    assert train(*files, "--out", tmp_path / "run").status == 0
    assert [line["duplicates"] for line in metrics(tmp_path / "run")][-1] == 8
    assert len(metrics(tmp_path / "run")) == 5


def test_a_run_is_not_overwritten_or_shared(
    tmp_path: pathlib.Path, found: tuple[Game, list[Episode]]
) -> None:
    path, out = write(tmp_path / "a.eps", *found), tmp_path / "run"
    assert train(path, "--out", out, "--steps", 1).status == 0
    files = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}

    def refusal(*arguments: object) -> str:
        done = run("train", path, "--out", *arguments)
        assert done.status == 1
        assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == files
        return done.error_line

    assert refusal(out) == (
        f"train: {out}: holds files already: --resume goes on with a run, another --out begins one"
    )
    assert "the run has the network plain" in refusal(out, "--resume", "--net", "tiny")
    assert "the run learns nano" in refusal(out, "--resume", "--game", "mini")
    assert refusal(tmp_path / "none", "--resume") == (
        f"train: {tmp_path / 'none'}: there is no such run to resume"
    )
    assert not (tmp_path / "none").exists()

    holder = subprocess.Popen(
        command_line("train", "-", "--out", out, "--resume"), stdin=subprocess.PIPE
    )
    try:
        wait_for(lambda: f" {holder.pid} " in pathlib.Path("/proc/locks").read_text())
        assert f"process {holder.pid}" in run("train", path, "--out", out).err
    finally:
        assert holder.stdin is not None
        holder.kill()
        holder.wait()
        holder.stdin.close()


@pytest.fixture(scope="module")
def resumable(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, bytes]:
    """A RUN of one step, of which one checkpoint is left, and that checkpoint's bytes."""
    folder = tmp_path_factory.mktemp("resumable")
    path = write(folder / "a.eps", *episodes("nano", 4))
    options = {"batch": 4, "rows": 32, "seed": 1}
    outcome = learn(Request([path], str(folder / "run"), net="plain", options=options))
    (folder / "run/checkpoints/step-00000000.safetensors").unlink()
    return folder / "run", outcome.checkpoint.read_bytes()


WRONG_METADATA: list[tuple[dict[str, object], str]] = [
    ({"config": [1]}, "metadata 'config': expected object, got array: '[1]'"),
    ({"config": None}, "metadata 'config': expected object, got null"),
    ({"config": {"lr": "high"}}, "--lr must be a number above 0, below 1000000: 'high'"),
    ({"config": {"lr": -1.0}}, "--lr must be a number above 0, below 1000000: '-1.0'"),
    ({"config": {"colour": 3}}, "unknown setting 'colour'"),
    ({"inputs": "a.eps"}, "metadata 'inputs': expected object, got str: 'a.eps'"),
    ({"inputs": {"a.eps": "4"}}, "metadata 'inputs': expected int, got str: "),
    ({"net": "plan"}, "unknown network 'plan' (did you mean 'plain'?)"),
    ({"net": "tiny"}, "no checkpoint of a network 'tiny' of this shape"),
    ({"game": "nanno"}, "unknown game 'nanno' (did you mean 'nano'?)"),
    ({"rules": {"\ud800": 1}}, "game nano: "),
]


@pytest.mark.parametrize(("metadata", "what"), WRONG_METADATA)
def test_resuming_from_a_checkpoint_with_wrong_metadata(
    resumable: tuple[pathlib.Path, bytes], metadata: dict[str, object], what: str
) -> None:
    out, content = resumable
    path = list_checkpoints(out)[0][1]
    path.write_bytes(altered(content, **metadata))
    with pytest.raises(InputError) as caught:
        learn(Request([os.devnull], str(out), resume=True))
    assert str(caught.value).startswith(f"{path}: {what}")


def test_resuming_from_moments_of_another_shape(resumable: tuple[pathlib.Path, bytes]) -> None:
    out, content = resumable
    path = list_checkpoints(out)[0][1]
    path.write_bytes(content)
    tensors, metadata = load_checkpoint(path)
    tensors["optimizer/exp_avg/entry.bias"] = np.zeros(3, np.float32)
    save_checkpoint(path, tensors, metadata, overwrite=True)
    with pytest.raises(InputError, match=f"{path}: no checkpoint of a network 'plain'"):
        learn(Request([os.devnull], str(out), resume=True))


def test_resuming_with_damaged_metrics(resumable: tuple[pathlib.Path, bytes]) -> None:
    out, content = resumable
    list_checkpoints(out)[0][1].write_bytes(content)
    (out / "metrics.jsonl").write_text('{"step":1}\n[]\n')
    with pytest.raises(InputError, match=f"{out}/metrics.jsonl: line 2: no metrics of a step"):
        learn(Request([os.devnull], str(out), resume=True))


@pytest.mark.parametrize(
    ("header", "what"),
    [
        ({"game": "nanno"}, "unknown game 'nanno' (did you mean 'nano'?)"),
        ({"rules": {"three_squares": 3}}, "game nano: unknown rule 'three_squares'"),
    ],
)
def test_an_unknown_game_or_rule(
    tmp_path: pathlib.Path, header: dict[str, object], what: str
) -> None:
    path = tmp_path / "x.eps"
    path.write_bytes(stream_of([], replace(HEADER, **{"game": "nano", "rules": {}, **header})))
    with pytest.raises(InputError) as caught:
        learn(Request([str(path)], str(tmp_path / "run")))
    assert str(caught.value).startswith(f"{path}: {what}")


def test_a_run_needs_a_name(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="the run needs a name"):
        learn(Request([os.devnull], ""))
    assert os.listdir() == []


def test_settings(tmp_path: pathlib.Path, found: tuple[Game, list[Episode]]) -> None:
    path, out = write(tmp_path / "a.eps", *found), tmp_path / "run"
    file = tmp_path / "x.toml"
    file.write_text('net = "plain"\nbatch = 10\nsizes = [7]\nlr = 0.025\n')
    done = run("train", path, "--out", out, "--config", file, "--lr", "0.05", "--rho", "inf")
    assert done.status == 0
    stored = load_checkpoint(list_checkpoints(out)[-1][1])[1]
    assert (stored["net"], stored["batch"], stored["step"]) == ("plain", 10, 2)
    assert (stored["config"]["lr"], stored["config"]["sizes"]) == (0.05, [7])

    def refusal(*arguments: object) -> tuple[int, str]:
        done = run("train", path, "--out", tmp_path / "new", *arguments)
        assert not (tmp_path / "new").exists()
        return done.status, done.error_line.removeprefix("train: ")

    assert refusal("--lr", "0") == (2, "--lr must be a number above 0, below 1000000: '0'")
    assert refusal("--net", "tinny")[0] == 2
    assert refusal("--sizes", "5,x")[0] == 2
    assert refusal("--sizees", "5") == (2, "no such option: --sizees (did you mean '--sizes'?)")
    file.write_text("batches = 3")
    what = f"{file}: unknown setting 'batches' (did you mean 'batch'?)"
    assert refusal("--config", file) == (1, what)
    file.write_text('net = "plan"')
    what = f"{file}: unknown network 'plan' (did you mean 'plain'?)"
    assert refusal("--config", file) == (1, what)
    file.write_text("batch = 0")
    assert refusal("--config", file) == (
        1,
        f"{file}: --batch must be a whole number from 1 to 2147483647: '0'",
    )
    assert refusal("--config", tmp_path / "none")[0] == 1
    assert refusal(tmp_path / "none") == (1, f"{tmp_path / 'none'}: No such file or directory")
    assert refusal("-", "-") == (2, "standard input can be read only once")
