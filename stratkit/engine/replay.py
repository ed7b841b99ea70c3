"""Playing the actions of whole games again: observations, positions, how many are legal; and sums
along games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from stratkit.arguments import checked, fitting
from stratkit.arrays import Bools, Bytes, Float32s, Float64s, Int8s, Int32s, Int64s
from stratkit.engine.batch import Batch, IllegalAction
from stratkit.engine.game import Game
from stratkit.engine.library import ffi, length, lib, optional, pointer, text, writable

# About 50 ms of replay: C calls are kept short so that Ctrl-C is answered at once.
ACTIONS_A_CALL = 200_000


@dataclass(frozen=True)
class Replay:
    """What the acting side knew before each of T actions of n episodes, one after the other.

    offsets        int64 [n + 1], where each episode begins
    actors         int8 [T]
    legal          uint8 [T, actions], or of each action that was to be `seen`
    observations   uint8 [T, observation_bytes], likewise
    given          bool [T], whether the action may come from outside, as a given setup does
    returns        float32 [n, players]
    endings        uint8 [n]; 0: the episode stopped before the end of the game
    """

    offsets: Int64s
    actors: Int8s
    legal: Bytes
    observations: Bytes
    given: Bools
    returns: Float32s
    endings: Bytes


@checked
def replay_many(game: Game, episodes: Sequence[tuple[bytes, Int32s]]) -> Replay:
    """`replay_columns` of episodes given as (start, actions int32 [T])."""
    for _, actions in episodes:
        fitting("episodes", actions, (None,))
    return replay_columns(
        game,
        np.concatenate([np.empty(0, np.int32), *(actions for _, actions in episodes)]),
        np.array([len(actions) for _, actions in episodes], np.int64),
        b"".join(start for start, _ in episodes),
        np.array([len(start) for start, _ in episodes], np.int64),
    )


@checked
def replay_columns(
    game: Game,
    actions: Int32s,
    lengths: Int64s,
    starts: bytes,
    start_lengths: Int64s,
    seen: Bools | None = None,
) -> Replay:
    """Replays n episodes: their actions int32 [sum of lengths] and the bytes of their starts, one
    after the other, and how many each has, int64 [n]. `seen`: before which actions observation and
    legal actions are wanted, bool [sum of lengths]; they take three quarters of the time.

    Raises `IllegalAction` (episode, action, its index) for an action that is not legal, or that
    comes after the end of the game.
    """
    fitting("actions", actions, (None,))
    offsets = _offsets("lengths", lengths, len(actions))
    start_offsets = _offsets("start_lengths", start_lengths, len(starts))
    episodes, total = len(lengths), len(actions)
    fitting("start_lengths", start_lengths, (episodes,))
    if seen is not None:
        fitting("seen", seen, (total,))
    actions = np.ascontiguousarray(actions)
    seen = None if seen is None else np.ascontiguousarray(seen)
    views = total if seen is None else np.count_nonzero(seen)
    out = Replay(
        offsets,
        np.empty(total, np.int8),
        np.empty((views, game.actions), np.uint8),
        np.empty((views, game.observation_bytes), np.uint8),
        np.empty(total, np.bool_),
        np.zeros((episodes, game.players), np.float32),
        np.zeros(episodes, np.uint8),
    )
    first = 0
    while first < episodes:
        fit = int(np.searchsorted(offsets, offsets[first] + ACTIONS_A_CALL, side="right")) - 1
        last = min(max(fit, first + 1), episodes)
        _replay_some(game, actions, starts, start_offsets, seen, out, first, last)
        first = last
    return out


def _offsets(name: str, lengths: Int64s, total: int) -> Int64s:
    """int64 [n + 1]: where each of n parts begins. `ValueError`: they are not `total` together."""
    fitting(name, lengths, (None,))
    if (lengths < 0).any() or (lengths > total).any() or lengths.sum() != total:
        raise ValueError(f"{name} must be those of {total} together")
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def _replay_some(
    game: Game,
    actions: Int32s,
    starts: bytes,
    start_offsets: Int64s,
    seen: Bools | None,
    out: Replay,
    first: int,
    last: int,
) -> None:
    """Replays the episodes from `first` to before `last` in one C call."""
    n = last - first
    begin, end = int(out.offsets[first]), int(out.offsets[last])
    offsets = out.offsets[first : last + 1] - begin
    rows = end - begin
    views = slice(begin, end)
    if seen is not None:
        before = int(np.count_nonzero(seen[:begin]))
        views = slice(before, before + int(np.count_nonzero(seen[begin:end])))
    legal, observations = out.legal[views], out.observations[views]
    fault = lib.sk_replay(
        game.handle,
        n,
        starts,
        pointer("start_lengths", start_offsets[first : last + 1], "int64", (n + 1,)),
        pointer("actions", actions[begin:end], "int32", (rows,)),
        pointer("lengths", offsets, "int64", (n + 1,)),
        optional("seen", None if seen is None else seen[begin:end], "bool", (rows,)),
        writable(out.actors[begin:end]),
        writable(legal),
        writable(observations),
        writable(out.given[begin:end]),
        writable(out.returns[first:last]),
        writable(out.endings[first:last]),
    )
    game.check()
    if fault.episode >= 0:
        index = int(fault.action)
        action = int(actions[begin + offsets[fault.episode] + index]) if index >= 0 else None
        raise IllegalAction(first + int(fault.episode), action, max(index, 0))


@checked
def replay(game: Game, actions: Int32s, start: bytes = b"") -> Replay:
    """`replay_many` of one episode."""
    fitting("actions", actions, (None,))
    return replay_many(game, [(start, actions)])


@dataclass(frozen=True)
class Prefix:
    """The first actions of a game, as far as the rules allow them one after the other.

    legal     how many they are
    ending    the name of the ending after them; "": the game runs
    returns   float32 [players]
    """

    legal: int
    ending: str
    returns: Float32s


@checked
def legal_prefix(game: Game, actions: Int32s, start: bytes = b"") -> Prefix:
    """How far the actions, int32 [T], are legal. Raises `IllegalAction` for a start position that
    is none."""
    fitting("actions", actions, (None,))
    total = len(actions)
    returns, endings = np.zeros((1, game.players), np.float32), np.zeros(1, np.uint8)
    fault = lib.sk_replay(
        game.handle,
        1,
        start,
        pointer("start", np.array([0, len(start)], np.int64), "int64", (2,)),
        pointer("actions", actions, "int32", (total,)),
        pointer("actions", np.array([0, total], np.int64), "int64", (2,)),
        *(ffi.NULL,) * 5,  # what each side knew before each action
        writable(returns),
        writable(endings),
    )
    game.check()
    if fault.episode >= 0 and fault.action < 0:
        raise IllegalAction(0, None, 0)
    legal = total if fault.episode < 0 else int(fault.action)
    return Prefix(legal, game.endings[int(endings[0])], returns[0])


@checked
def positions(game: Game, actions: Int32s, start: bytes) -> Iterator[bytes]:
    """The position before each ply of two legal actions, and the one after the last; all of them as
    start positions. `start` must be one. Raises `IllegalAction`, and `ValueError` for a game that
    has no positions."""
    fitting("actions", actions, (None,))
    action = pointer("actions", actions, "int32", (len(actions),))
    batch = Batch(game, 1)
    batch.start(0, start)
    out = ffi.new("uint8_t[]", game.start_bytes)
    position = ffi.buffer(out)

    def saved() -> bytes:
        wrong = lib.sk_batch_save(batch.handle, 0, out)
        if wrong != ffi.NULL:
            raise ValueError(f"start: {text(wrong)}")
        return bytes(position)

    for index in range(0, len(actions) - 1, 2):
        yield saved()
        for at in (index, index + 1):
            # -1 would leave the game alone.
            if actions[at] < 0 or lib.sk_batch_apply(batch.handle, action + at) >= 0:
                raise IllegalAction(0, int(actions[at]), at)
    yield saved()


def recurrence(a: Float64s, b: Float64s, last: Float64s) -> Float64s:
    """x[t] = a[t] + b[t] x[t + 1], backward from x[T] = `last`, float64 [n]: float64 [T + 1, n] of
    `a` and `b` [T, n]."""
    steps, n = length("a", a), length("last", last)
    of_steps = pointer("a", a, "float64", (steps, n)), pointer("b", b, "float64", (steps, n))
    pointer("last", last, "float64", (n,))
    x = np.empty((steps + 1, n))
    x[steps] = last
    lib.sk_recurrence(*of_steps, writable(x), steps, n)
    return x
