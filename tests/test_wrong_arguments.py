"""No argument of a public function ends the interpreter: wrong ones are refused by their names."""

from __future__ import annotations

import importlib
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from public_calls import CALLS, MODULES, NO_DOORS, function, right_call, trees
from running import ROOT
from stratkit.engine import Batch, Game, sample

# Records, whose fields are checked where they are used, and what is checked by whoever calls it.
UNCHECKED = {"three_parts", "fight", "Variant.flip", "Variant.framed"}


def public() -> Iterator[str]:
    """Names of functions, and CLASS.METHOD."""
    for module in (importlib.import_module(name) for name in MODULES if name not in NO_DOORS):
        for name, thing in vars(module).items():
            if name.startswith("_") or getattr(thing, "__module__", "") != module.__name__:
                continue
            if not inspect.isclass(thing):
                yield from [name] if callable(thing) else []
                continue
            if issubclass(thing, BaseException | tuple):
                continue
            record = "__dataclass_fields__" in vars(thing)
            for method, entry in vars(thing).items():
                own = getattr(entry, "__func__", entry)
                opens = method == "__init__" and not record
                if inspect.isfunction(own) and (opens or not method.startswith("_")):
                    yield f"{name}.{method}"


def parameters(name: str) -> list[str]:
    thing = function(name.split(".")[0])
    for part in name.split(".")[1:]:
        thing = getattr(thing, part)
    found = list(inspect.signature(thing).parameters.values())
    bound = "." in name and not inspect.ismethod(thing)
    return [p.name for p in found[bound:]]


def test_all_public_functions_are_called() -> None:
    """Whoever adds one writes a right call of it."""
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    names = {name for name in public() if parameters(name)} - UNCHECKED
    assert names == {*CALLS} and len(names) > 100
    for name in names - {"read_episodes", "read_games"}:
        assert list(right_call(name)[1]) == parameters(name), name


def test_wrong_arguments_are_refused_by_their_names() -> None:
    """In a process of its own, which a signal may end: its last line says where."""
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    path = os.pathsep.join([str(ROOT / "tests"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "tests/wrong_arguments.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    calls = done.stdout.splitlines()
    assert done.returncode == 0, (calls[-1:], done.stderr[-4000:])
    assert len(calls) > 10_000


def test_the_calls_that_ended_the_interpreter() -> None:
    batch = Batch(Game("mini"), 1)
    with pytest.raises(TypeError, match=r"actions must be a contiguous array, int32 \[1\], not No"):
        batch.apply(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="games must be a contiguous array"):
        batch.draw_chance(1, None, None, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"games must be a contiguous array, int64 \[1\]"):
        sample(None, batch.legal(), 1, None, None)  # type: ignore[arg-type]


def test_trees_that_have_not_begun_are_not_read() -> None:
    """A search whose beginning was refused, or came between a question and its answer."""
    half = np.full((2, 2), 0.5, np.float32)
    search = trees()
    with pytest.raises(ValueError, match="tree 0 has not begun"):
        search.root(0)
    search.begin(0, [[0], [4]], half)
    assert len(search.ask()[0]) == 2
    with pytest.raises(ValueError, match="there twice"):
        search.begin(0, [[0], [0]], half)
    assert len(search.ask()[0]) == 1
    search.begin(0, [[0], [4]], half)
    with pytest.raises(ValueError, match=r"policy must be a contiguous array, float32 \[0, 9\]"):
        search.tell(np.ones((2, 9), np.float32), np.zeros(2, np.float32))
    for _ in range(30):
        seen, legal = search.ask()
        search.tell(np.ones(legal.shape, np.float32), np.zeros(len(seen), np.float32))
    assert search.root(1).visits.sum() == 20
    with pytest.raises(ValueError, match="tree must be a number from 0 to 1"):
        search.root(-1)
