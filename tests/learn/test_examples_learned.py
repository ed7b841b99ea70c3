"""ReBeL's examples come from pipes side by side, and from folders, as episodes do."""

from __future__ import annotations

import os
import pathlib
import threading
from dataclasses import replace

import pytest

from learn.test_rebel_recovery import folder as examples
from learn.test_rebel_recovery import last, learn, losses, request_of
from running import PATIENCE
from stratkit.errors import CheckFailed, InputError
from stratkit.learn.request import Request
from stratkit.learn.run import train
from stratkit.storage.checkpoints import list_checkpoints, load_checkpoint
from stratkit.storage.examples import ExampleReader, ExampleWriter, Values

__all__ = ["examples"]


def frames_of(path: pathlib.Path) -> list[Values]:
    with path.open("rb") as stream:
        return list(ExampleReader(stream, "x"))


def split(folder: pathlib.Path, parts: int) -> pathlib.Path:
    """The examples of `a.pbs` in so many files of a folder, in order."""
    (folder / "parts").mkdir()
    with (folder / "a.pbs").open("rb") as stream:
        reader = ExampleReader(stream, "x")
        header, frames = reader.open(), list(reader)
    each = -(-len(frames) // parts)
    for part in range(parts):
        path = folder / f"parts/{part}.pbs"
        with path.open("wb") as stream, ExampleWriter(stream, header) as writer:
            for frame in frames[part * each : (part + 1) * each]:
                writer.write(*frame)
    return folder / "parts"


@pytest.fixture
def whole(examples: pathlib.Path) -> pathlib.Path:
    """The same folder, with the run `whole`."""
    learn(rarely_saved(request_of(examples, "whole")))
    return examples


def rarely_saved(request: Request) -> Request:
    return replace(request, options={**(request.options or {}), "save_every": 50})


def of_folder(folder: pathlib.Path, name: str, **more: object) -> Request:
    request = rarely_saved(request_of(folder, name))
    return replace(request, inputs=[str(folder / "parts")], wait=False, **more)


def test_pipes_are_read_side_by_side(examples: pathlib.Path) -> None:
    """The first goes on only when somebody reads the second, and all of it was written."""
    data = (examples / "a.pbs").read_bytes()
    pipes = [str(examples / name) for name in ("one", "two")]
    for pipe in pipes:
        os.mkfifo(pipe)
    written = threading.Event()

    def first() -> None:
        with open(pipes[0], "wb", buffering=0) as stream:
            stream.write(data[:2000])
            assert written.wait(PATIENCE)
            stream.write(data[2000:])

    def second() -> None:
        with open(pipes[1], "wb", buffering=0) as stream:
            stream.write(data)
        written.set()

    writers = [threading.Thread(target=one, daemon=True) for one in (first, second)]
    for writer in writers:
        writer.start()
    outcome = train(replace(rarely_saved(request_of(examples, "run")), inputs=pipes))
    assert outcome.episodes == 2 * sum(len(frame.rows) for frame in frames_of(examples / "a.pbs"))
    metadata = load_checkpoint(list_checkpoints(examples / "run")[-1][1])[1]
    assert metadata["inputs"] == {} and metadata["episodes"] == outcome.episodes


def test_a_folder_is_as_its_files_and_may_be_consumed(whole: pathlib.Path) -> None:
    parts = split(whole, 3)
    learn(of_folder(whole, "kept"))
    assert last(whole, "kept") == last(whole, "whole")
    assert losses(whole, "kept") == losses(whole, "whole")
    (parts / "other.eps").write_bytes(b"no examples")
    learn(of_folder(whole, "consumed", consume=True))
    assert last(whole, "consumed") == last(whole, "whole")
    assert [path.name for path in parts.iterdir()] == ["other.eps"]


@pytest.mark.parametrize("consume", [False, True])
def test_a_run_that_is_resumed_is_the_run(whole: pathlib.Path, consume: bool) -> None:
    """It was stopped in the middle of a frame."""
    split(whole, 3)
    request = of_folder(whole, "run", consume=consume)
    learn(replace(request, steps=7))
    learn(replace(request, steps=8, resume=True))
    learn(replace(request, resume=True))
    assert last(whole, "run") == last(whole, "whole")
    assert losses(whole, "run") == losses(whole, "whole")


def test_examples_without_a_step_are_kept_before_their_file_goes(examples: pathlib.Path) -> None:
    """Too few uses for one step: the checkpoint of step 0 has them, and what was left to learn."""
    number = sum(len(frame.rows) for frame in frames_of(examples / "a.pbs"))
    parts = split(examples, 2)
    request = of_folder(examples, "run", consume=True)
    few = {**request.options, "uses": 8 / number}
    learn(replace(request, options=few))
    assert not list(parts.iterdir())
    (step, path), *others = list_checkpoints(examples / "run")
    tensors, metadata = load_checkpoint(path)
    assert not others and (step, metadata["episodes"]) == (0, number)
    assert len(tensors["buffer/rows"]) == number
    learn(replace(request, options={"uses": 4}, resume=True))
    assert last(examples, "run")[0] == 4 * number // 16


def test_a_truncated_file_is_an_error_if_strict(examples: pathlib.Path) -> None:
    path = examples / "a.pbs"
    path.write_bytes(path.read_bytes()[:-40])
    outcome = train(replace(rarely_saved(request_of(examples, "run")), strict=True))
    assert isinstance(outcome.error, CheckFailed) and outcome.step > 1
    (line,) = train(rarely_saved(request_of(examples, "other"))).truncated
    assert line.startswith(f"{path}: truncated")


def test_a_stream_of_something_else_makes_no_run(examples: pathlib.Path) -> None:
    request = replace(request_of(examples, "run"), algorithm="mmd", net=None)
    with pytest.raises(InputError, match="not a stream of episodes|episode stream"):
        train(request)
    empty = examples / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match=f"^{empty}: no examples"):
        train(replace(request_of(examples, "run"), inputs=[str(empty)], wait=False))
    assert not (examples / "run").exists()


def test_a_wrong_example_has_its_number_in_the_file(examples: pathlib.Path) -> None:
    """Whatever was passed over; what came before it is learned."""
    with (examples / "a.pbs").open("rb") as stream:
        reader = ExampleReader(stream, "x")
        header, frames = reader.open(), list(reader)
    before = sum(len(frame.rows) for frame in frames[:-1])
    bad = examples / "bad.pbs"
    frames[-1].rows[2, 1] = 7
    with bad.open("wb") as stream, ExampleWriter(stream, header) as writer:
        for frame in frames:
            writer.write(*frame)
    request = replace(rarely_saved(request_of(examples, "run")), inputs=[str(bad)])
    learn(replace(request, steps=3))
    outcome = train(replace(request, resume=True))
    what = f"{bad}: example {before + 3}: a public state that the game does not have"
    assert str(outcome.error) == what and outcome.episodes == before
