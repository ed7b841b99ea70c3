"""A game in Python, `py:MODULE:CLASS`: the engine calls its methods back, so that batches, replay,
search and trees play it as they play a game in C, some hundred times slower.

What the class says is checked whenever a state begins or changes. The first thing that is wrong, or
the first exception, ends the game that is being played; `PythonGame.check` raises it in the call
that met it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from stratkit.arrays import Bytes
from stratkit.engine.library import ffi, lib
from stratkit.errors import InputError, StratkitError, one_line, printable
from stratkit.python_class import printing_aside, python_class

CHANCE, OVER = -1, -2  # who acts where no player does
# The least and the most of each number that a class states.
LIMITS = {
    "players": (2, 7),
    "actions": (1, 128),
    "max_length": (1, 100_000),
    "state_bytes": (1, 1 << 16),
    "observation_bytes": (1, 1 << 16),
}
METHODS = ("reset", "actor", "legal", "apply", "returns", "observe")  # every class has these
T = TypeVar("T")


class Rules(Protocol):
    """What a class says of its game. A state is a uint8 array [state_bytes], and all there is of a
    game in progress: `self` holds nothing that changes. `reset`, `apply` and `redeal` alone write
    it.

        players            int        2 to 7
        actions            int        actions are 0 .. actions - 1, at most 128
        max_length         int        most actions of one game, chance's included
        state_bytes        int        length of a state
        observation_bytes  int        length of an observation

    Optional are `chance(state)`, the probability of each legal outcome where chance acts, and
    `redeal(state, rng)`. That makes the state another one that the acting player cannot tell from
    it, drawn by a numpy Generator, and reads nothing that this player does not know.
    """

    players: int
    actions: int
    max_length: int
    state_bytes: int
    observation_bytes: int

    def reset(self, state: Bytes) -> None:
        """Makes zeros the first state."""

    def actor(self, state: Bytes) -> int:
        """Who acts: a player from 0, -1 for chance, -2 when the game is over."""

    def legal(self, state: Bytes) -> Sequence[int]:
        """The legal actions, or chance's outcomes, ascending; there is one or more."""

    def apply(self, state: Bytes, action: int) -> None:
        """Changes the state by a legal action."""

    def returns(self, state: Bytes) -> Sequence[float]:
        """What each player gains, when the game is over; of two players one gains what the other
        loses."""

    def observe(self, state: Bytes) -> Sequence[int]:
        """What the acting player may know, [observation_bytes] numbers from 0 to 255. With the
        player's own earlier observations and actions it is all that the player knows."""


class PythonGame:
    """The rules of a class, checked, as the engine calls them. `handle` is the game in C; `path` is
    the file of the class, which pickled states are compared by.

    `InputError`: the class lacks a method, states no such numbers, or cannot be made.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        cls = python_class(name)
        try:
            with printing_aside:
                self.rules: Any = cls()
        except (Exception, SystemExit) as error:
            raise InputError(f"game {printable(name)}: {one_line(error)}") from error
        self.players, self.actions, self.max_length, self.state_bytes, self.observation_bytes = (
            self._stated(key) for key in LIMITS
        )
        for method in METHODS:
            if not callable(getattr(self.rules, method, None)):
                raise InputError(f"game {printable(name)}: its class has no method {method}")
        self.path: str | None = getattr(sys.modules.get(cls.__module__), "__file__", None)
        self._error: BaseException | None = None
        self._self = ffi.new_handle(self)
        numbers = (getattr(self, key) for key in LIMITS)
        handle = lib.sk_game_called(self._callbacks(), self._self, *numbers)
        if handle == ffi.NULL:
            raise MemoryError(name)
        self.handle = ffi.gc(handle, lib.sk_game_close)

    def _stated(self, key: str) -> int:
        least, most = LIMITS[key]
        value = getattr(self.rules, key, None)
        if type(value) is not int or not least <= value <= most:
            what = f"its class needs {key}, a whole number from {least:,} to {most:,}"
            raise InputError(f"game {printable(self.name)}: {what}")
        return value

    def _callbacks(self) -> Any:
        optional = {
            "redeal": lib.sk_python_redeal if hasattr(self.rules, "redeal") else ffi.NULL,
        }
        names = ("reset", "apply", "observe", "chance")
        calls = {name: getattr(lib, f"sk_python_{name}") for name in names}
        return ffi.new("sk_callbacks *", calls | optional)[0]

    def check(self) -> None:
        """Raises what was wrong since the game was opened: `StratkitError`, or an interrupt."""
        if isinstance(self._error, _Wrong):
            what = printable(f"game {self.name}: {self._error}")
            raise StratkitError(what) from self._error.__cause__
        if self._error is not None:
            raise self._error

    def call(self, method: str, function: Callable[[], T], failed: T) -> T:
        """What `function` gives, which calls this method of the class; `failed` after an error."""
        if self._error is not None:
            return failed
        try:
            with printing_aside:
                return function()
        except (Exception, SystemExit) as error:
            what = str(error) if isinstance(error, _Wrong) else f"{method}: {one_line(error)}"
            self._error = _Wrong(what)
            self._error.__cause__ = error
        except BaseException as error:
            self._error = error
        return failed

    def state(self, at: Any) -> Bytes:
        """A state of the engine: a copy, since the class may keep it, and not to be changed."""
        return np.frombuffer(bytes(ffi.buffer(at, self.state_bytes)), np.uint8)

    def changed(self, at: Any, change: Callable[[Bytes], None]) -> Bytes:
        """A state of the engine, after this change of it."""
        state = self.state(at).copy()
        change(state)
        ffi.buffer(at, self.state_bytes)[:] = state.tobytes()
        state.flags.writeable = False
        return state

    def look(self, state: Bytes, plies: int, legal: Any, returns: Any) -> int:
        """Who acts, with the legal actions or the returns written. `_Wrong`: they are none."""
        rules = self.rules
        actor = _whole("actor", rules.actor(state), OVER, self.players - 1)
        if actor == OVER:
            values = np.asarray(rules.returns(state), np.float32)
            if values.shape != (self.players,) or not np.isfinite(values).all():
                raise _Wrong(f"returns: {self.players} finite numbers are needed")
            if self.players == 2 and values[0] + values[1] != 0:
                raise _Wrong(f"returns: {values.tolist()} do not sum to 0")
            ffi.buffer(returns, 4 * self.players)[:] = values.tobytes()
            return actor
        if plies >= self.max_length:
            raise _Wrong(f"actor: the game goes on after {self.max_length:,} actions (max_length)")
        if actor == CHANCE and not hasattr(rules, "chance"):
            raise _Wrong("actor: chance acts, and the class has no method chance")
        mask, before = bytearray(self.actions), -1
        for action in rules.legal(state):
            before = _whole("legal", action, before + 1, self.actions - 1)
            mask[before] = 1
        if before < 0:
            raise _Wrong("legal: there is no action, and the game is not over")
        ffi.buffer(legal, self.actions)[:] = mask
        return actor

    def observed(self, state: Bytes) -> bytes:
        """The observation. `_Wrong`: it is none."""
        seen = np.asarray(self.rules.observe(state))
        if seen.shape != (self.observation_bytes,) or seen.dtype.kind not in "biu":
            raise _Wrong(f"observe: {self.observation_bytes} whole numbers are needed")
        packed = seen.astype(np.uint8)
        if (packed != seen).any():
            raise _Wrong("observe: numbers are from 0 to 255")
        return packed.tobytes()

    def chances(self, state: Bytes, n: int) -> npt.NDArray[np.float64]:
        """The probabilities of n outcomes. `_Wrong`: they are none."""
        chances = np.asarray(self.rules.chance(state), np.float64)
        if chances.shape != (n,) or not (chances >= 0).all() or abs(chances.sum() - 1) > 1e-9:
            raise _Wrong(f"chance: {n} probabilities that sum to 1 are needed")
        return chances

    def deal(self, at: Any, seed: int) -> None:
        """Makes the state a world. `_Wrong`: it shows itself to be another one."""
        before = self._view(self.state(at))
        rng = np.random.default_rng(seed)
        if self._view(self.changed(at, lambda state: self.rules.redeal(state, rng))) != before:
            raise _Wrong("redeal: the acting player can tell the state from the one before")

    def _view(self, state: Bytes) -> tuple[int, list[int], bytes]:
        """Who acts, what is legal and what is seen."""
        return self.rules.actor(state), list(self.rules.legal(state)), self.observed(state)


class _Wrong(Exception):
    """What a class says that cannot be."""


def _whole(method: str, value: Any, least: int, most: int) -> int:
    """The value as an int. `_Wrong`: it is no whole number in this range."""
    if not isinstance(value, int | np.integer):
        raise _Wrong(f"{method}: a whole number is needed, not {type(value).__name__}")
    if not least <= value <= most:
        where = f"from {least} to {most}" + (", ascending" if method == "legal" else "")
        raise _Wrong(f"{method}: {value} is not {where}")
    return int(value)


# What C calls. After an error nobody acts any more.


def _reset(handle: Any, at: Any, legal: Any, returns: Any) -> int:
    game: PythonGame = ffi.from_handle(handle)

    def begin() -> int:
        return game.look(game.changed(at, game.rules.reset), 0, legal, returns)

    return game.call("reset", begin, OVER)


def _apply(handle: Any, at: Any, action: int, plies: int, legal: Any, returns: Any) -> int:
    game: PythonGame = ffi.from_handle(handle)

    def go_on() -> int:
        if not legal[action]:
            raise _Wrong(f"legal: action {action} was legal when the game came here before")
        state = game.changed(at, lambda state: game.rules.apply(state, action))
        return game.look(state, plies, legal, returns)

    return game.call(f"apply: action {action}", go_on, OVER)


def _observe(handle: Any, at: Any, packed: Any) -> None:
    game: PythonGame = ffi.from_handle(handle)
    seen = game.call("observe", lambda: game.observed(game.state(at)), b"")
    ffi.buffer(packed, len(seen))[:] = seen


def _chance(handle: Any, at: Any, legal: Any, probabilities: Any) -> None:
    game: PythonGame = ffi.from_handle(handle)
    n = sum(ffi.buffer(legal, game.actions)[:])
    chances = game.call("chance", lambda: game.chances(game.state(at), n).tobytes(), b"")
    ffi.buffer(probabilities, len(chances))[:] = chances


def _redeal(handle: Any, at: Any, seed: int) -> int:
    game: PythonGame = ffi.from_handle(handle)

    def deal() -> int:
        game.deal(at, seed)
        return 0

    return game.call("redeal", deal, 1)


for _function, _failed in (
    (_reset, OVER),
    (_apply, OVER),
    (_observe, None),
    (_chance, None),
    (_redeal, 1),
):
    ffi.def_extern(name=f"sk_python{_function.__name__}", error=_failed)(_function)
