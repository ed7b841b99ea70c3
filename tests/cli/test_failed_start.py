"""A train that fails before its run has begun leaves nothing in the way of the next one."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from cli.test_train import hashes, train
from learn.games import episodes, write


def test_a_failed_start_leaves_what_was_there(tmp_path: pathlib.Path) -> None:
    (tmp_path / "old").mkdir()
    for out in ("a/b/run", "old"):
        done = train("--out", tmp_path / out, stdin=b"no episodes at all, but some text")
        assert done.status == 1 and done.err.count("\n") == 1, done.err
    train("--out", tmp_path / "old", "--resume", stdin=b"")
    assert os.listdir(tmp_path) == ["old"] and os.listdir(tmp_path / "old") == []


@pytest.mark.parametrize(
    ("room", "full"),
    [(1000, "policy.safetensors"), (100_000, "checkpoints/step-00000000.safetensors")],
)
def test_a_full_disk(tmp_path: pathlib.Path, room: int, full: str) -> None:
    path, out = write(tmp_path / "a.eps", *episodes("nano", 20)), tmp_path / "run"
    done = train(path, "--out", out, largest_file=room)
    assert (done.status, done.error_line) == (1, f"train: {out}/{full}: File too large")
    assert not out.exists()
    out.mkdir()
    for name in ("lock", "metrics.jsonl"):
        (out / name).touch()  # as left by a train that could not remove them, or by an older one
    assert train(path, "--out", out, largest_file=room).status == 1
    assert {"lock", "metrics.jsonl"} <= set(os.listdir(out))  # somebody else's
    done = train(path, "--out", out, "--steps", 1)
    assert (done.status, sorted(hashes(out))) == (0, [0, 1]), done.err


KILLED = """
import os, sys
from stratkit.storage.atomic import atomic_file
with atomic_file(sys.argv[1]) as stream:
    stream.write(b"half of it")
    stream.flush()
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("first", ["policy.safetensors", "checkpoints/step-00000000.safetensors"])
def test_a_train_killed_at_its_first_file(tmp_path: pathlib.Path, first: str) -> None:
    path, out = write(tmp_path / "a.eps", *episodes("nano", 20)), tmp_path / "run"
    (out / "checkpoints").mkdir(parents=True)
    for name in ("lock", "metrics.jsonl"):
        (out / name).touch()
    assert subprocess.run([sys.executable, "-c", KILLED, out / first], check=False).returncode == -9
    assert [name.name[:5] for name in (out / first).parent.iterdir() if name.is_file()].count(
        ".tmp."
    )
    done = train(path, "--out", out, "--steps", 1)
    assert (done.status, sorted(hashes(out))) == (0, [0, 1]), done.err


@pytest.mark.parametrize("lines", [b"", b'{"step":1}\n', None])
def test_what_is_no_rest_of_a_start_stays(tmp_path: pathlib.Path, lines: bytes | None) -> None:
    """Of a RUN that lacks its checkpoints, or of a folder that has weights alone."""
    (tmp_path / "policy.safetensors").write_bytes(b"weights")
    if lines is not None:
        (tmp_path / "metrics.jsonl").write_bytes(lines)
    names = os.listdir(tmp_path)
    assert train("--out", tmp_path, "--resume").status == 1
    assert {*os.listdir(tmp_path), "lock"} == {*names, "lock"}
    if lines != b"":
        assert "holds files already" in train("--out", tmp_path).error_line
