"""Calls all public functions with wrong arguments, and says what goes otherwise than promised.

A program of its own, because a fault may end it by a signal: the last line on stdout then says at
which call. `test_wrong_arguments.py` runs it.
"""

from __future__ import annotations

import faulthandler
import random
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from public_calls import CALLS, right_call
from stratkit.engine import Batch, Game, IllegalAction
from stratkit.engine.arbiter import IllegalMove
from stratkit.errors import StratkitError

NEVER = (object(), print, 3j)  # right nowhere
HUGE = (-1, 2**31, 2**32, 2**63, 2**64, -(2**63) - 1, 10**400)
OTHERS = (None, "", "x", "\0", "\ud800", "x" * 9999, b"", b"x", 1.5, float("nan"), float("inf"))
PLURAL = ([], {}, [[]], (), [None], ["x"], {"x": "y"}, {3: None}, [(None, None)], set(), range(0))


def wrong_arrays(right: np.ndarray, dice: random.Random) -> Iterator[Any]:
    """Arrays like a right one in all but something."""
    kinds = ("float64", "float32", "int64", "int32", "int8", "uint8", "bool", "object", "S4", "m8")
    if right.dtype.names is None:
        for kind in kinds:
            if right.dtype != kind:
                yield right.astype("int64").astype(kind)
        yield right.astype(right.dtype.newbyteorder())
    yield from (right[None], right[..., None], right.reshape(-1)[:0], np.array(right.tolist(), "O"))
    yield from (
        np.concatenate([right, right]),
        right[:-1],
        np.empty((0, *right.shape), right.dtype),
    )
    yield np.repeat(right, 2, axis=0)[::2]
    yield np.asfortranarray(np.repeat(right[..., None], 2, -1))[..., 0]
    yield right[::-1]
    skewed = np.zeros(right.nbytes + 1, np.uint8)[1:]
    yield skewed[: right.nbytes].view(right.dtype).reshape(right.shape)
    fixed = right.copy()
    fixed.flags.writeable = False
    yield fixed
    yield np.ma.masked_array(right)
    yield right[0] if right.ndim else right[()]
    for _ in range(4):
        noise = right.copy()
        noise.reshape(-1).view(np.uint8)[:] = list(dice.randbytes(right.nbytes))
        yield noise
    if right.dtype.kind in "iuf":
        limits = np.finfo(right.dtype) if right.dtype.kind == "f" else np.iinfo(right.dtype)
        yield from (np.full_like(right, limits.max), np.full_like(right, limits.min))
    if right.dtype.kind == "f":
        yield from (np.full_like(right, np.nan), np.full_like(right, np.inf))


def wrong_values(right: Any, dice: random.Random) -> Iterator[Any]:
    yield from (*HUGE, *OTHERS, *PLURAL)
    if isinstance(right, np.ndarray):
        yield from wrong_arrays(right, dice)
    if isinstance(right, bytes):
        yield from (right[:-1], right + b"x", b"\xff" * len(right), dice.randbytes(len(right)))
    if isinstance(right, tuple | list) and right:
        for wrong in (*NEVER, *HUGE, *OTHERS):
            yield (wrong, *right[1:])
        yield from (tuple(right[:-1]), (*right, right[0]))
    if isinstance(right, tuple | list) and any(isinstance(part, np.ndarray) for part in right):
        for array in wrong_arrays(right[0], dice):
            yield (array, *right[1:])
    if isinstance(right, Batch):
        yield from (Batch(Game("kuhn"), 1), Batch(Game("mini"), 1))
    if isinstance(right, Game):
        yield from (Game("kuhn"), Game("diplomacy:tiny"), Game("hex:2"))


def named(parameters: Iterable[str], wrong: Any, error: BaseException) -> bool:
    """Whether the message tells which argument is wrong; of two that do not fit, either."""
    if isinstance(error, StratkitError | IllegalAction | IllegalMove):
        return True  # of what was read or played, with its place
    game = wrong.game if isinstance(wrong, Batch) else wrong
    words = {game.name} if isinstance(game, Game) else set()
    for parameter in parameters:
        words |= {parameter.rstrip("_"), parameter.removesuffix("s")}
    return any(re.search(rf"\b{re.escape(word)}", str(error)) for word in words)


def complaints(name: str, dice: random.Random) -> Iterator[str]:
    """What goes otherwise than promised, when this function is called wrongly."""
    call, right = right_call(name)
    try:
        call(**right)
    except Exception as error:
        yield f"{name}: a right call is refused: {error!r}"
        return
    for parameter in right:
        for wrong in (*NEVER, *wrong_values(right[parameter], dice)):
            call, given = right_call(name)
            print(f"{name}({parameter}={type(wrong).__name__})", flush=True)
            try:
                call(**{**given, parameter: wrong})
            except (ValueError, TypeError, StratkitError) as error:
                if not named(right, wrong, error):
                    yield f"{name}: {parameter} = {wrong!r:.30} is not named: {error!r:.200}"
            except OSError:
                if parameter not in ("path", "player", "name", "game"):
                    yield f"{name}: {parameter}={wrong!r:.60}: OSError"
            except Exception as error:
                yield f"{name}: {parameter}={wrong!r:.60}: {error!r:.200}"
            else:
                if any(wrong is never for never in NEVER) and parameter != "options":
                    yield f"{name}: {parameter}={wrong!r:.60} is taken"


def call_wrongly(names: list[str]) -> int:
    faulthandler.enable()
    found = [
        line for name in names for line in dict.fromkeys(complaints(name, random.Random(name)))
    ]
    print("\n".join(["", *found]), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(call_wrongly(sys.argv[1:] or sorted(CALLS)))
