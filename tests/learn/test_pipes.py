"""Several pipes are read side by side."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator

import pytest

from stratkit.errors import InputError
from stratkit.learn.pipes import interleaved, keep_small

SOON = 20.0  # seconds that nothing here should take


def test_no_input_waits_for_another() -> None:
    """Each waits until something of the other has been taken."""
    taken = {name: threading.Event() for name in "ab"}

    def one(own: str, other: str) -> Iterator[str]:
        for _ in range(3):
            yield own
            assert taken[other].wait(SOON)

    found = []
    for name in interleaved({"a": one("a", "b"), "b": one("b", "a")}, threading.Event(), 0.01):
        found.append(name)
        taken[name].set()
    assert sorted(found) == ["a", "a", "a", "b", "b", "b"]


def test_one_that_fails_ends_it() -> None:
    def fails() -> Iterator[int]:
        yield 1
        raise InputError("wrong", file="b")

    def waits() -> Iterator[int]:
        threading.Event().wait(SOON)
        yield 2

    found = []
    with pytest.raises(InputError, match="wrong"):
        for number in interleaved({"a": waits(), "b": fails()}, threading.Event(), 0.01):
            found.append(number)
    assert found == [1]


def test_a_pipe_that_is_kept_small() -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as pipe, open(writing, "wb"):
        keep_small(pipe)
        if hasattr(fcntl, "F_GETPIPE_SZ"):  # Linux
            assert fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ) == 4096
    with open(os.devnull, "rb") as file:
        keep_small(file)  # no pipe at all


def test_it_ends_when_it_is_stopped() -> None:
    stopped = threading.Event()

    def endless() -> Iterator[int]:
        while True:
            yield 1

    inputs = {"endless a": endless(), "endless b": endless()}
    for count, _ in enumerate(interleaved(inputs, stopped, 0.01)):
        if count == 10:
            stopped.set()
        assert count <= 11
    for thread in threading.enumerate():
        if thread.name in ("endless a", "endless b"):
            thread.join(SOON)
            assert not thread.is_alive()
