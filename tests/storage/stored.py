"""Episodes to store, and streams of them."""

from __future__ import annotations

import io
import json
import os
import struct
from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from nets.drawn import drawn
from stratkit.engine import Game
from stratkit.nets import build
from stratkit.storage.checkpoints import metadata_hash, save_checkpoint
from stratkit.storage.columns import WHOLE_SHARE
from stratkit.storage.episodes import (
    Episode,
    EpisodeReader,
    Episodes,
    EpisodeWriter,
    Header,
    PolicyTargets,
)

ENDINGS = ("", "flag", "cut")
HEADER = Header(game="mini", rules={"two_squares": 3, "max_plies": 200}, endings=ENDINGS, seed=5)


def episode(number: int = 0, length: int = 10, start: bytes = b"") -> Episode:
    rng = np.random.default_rng(number)
    return Episode(
        number,
        step=number % 4 - 1,
        ending=number % len(ENDINGS),
        returns=np.array([1, -1], np.float32),
        actions=rng.integers(0, 36, length, np.int32),
        mu=rng.random(length, np.float32) / 2 + 0.25,
        start=start,
    )


def stream_of(
    episodes: Iterable[Episode], header: Header = HEADER, flush_after: Sequence[int] = ()
) -> bytes:
    """The bytes of a stream; a frame ends after each episode whose index is in `flush_after`."""
    stream = io.BytesIO()
    with EpisodeWriter(stream, header) as writer:
        for i, one in enumerate(episodes):
            writer.write(Episodes.of([one]))
            if i in flush_after:
                writer.flush()
    return stream.getvalue()


def read(stored: bytes, name: str = "x.eps") -> tuple[list[Episode], EpisodeReader]:
    reader = EpisodeReader(io.BytesIO(stored), name)
    return list(reader), reader


def plain(one: Episode) -> tuple[object, ...]:
    """All of an episode, so that == compares every bit, NaNs included."""
    return (
        one.number,
        one.step,
        one.ending,
        one.returns.dtype,
        one.returns.tobytes(),
        one.actions.dtype,
        one.actions.tobytes(),
        one.mu.dtype,
        one.mu.tobytes(),
        one.start,
        *searched(one),
    )


def searched(one: Episode) -> tuple[object, object]:
    """All of its targets and values. None is the same as none for each action."""
    targets, value = one.targets, one.root_value
    if targets is None or not targets.count.any():
        policies = None
    else:
        policies = [(column.dtype, column.tobytes()) for column in vars(targets).values()]
    without = value is None or np.isnan(value).all()
    return policies, None if without else (value.dtype, value.tobytes())


def altered(data: bytes, **metadata: object) -> bytes:
    """A checkpoint with other metadata, written as if they were right."""
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    values = json.loads(header["__metadata__"]["stratkit"])
    values |= metadata
    values["metadata_sha256"] = metadata_hash(values)
    header["__metadata__"]["stratkit"] = json.dumps(values)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data[8 + size :]


def save_network(path: str | os.PathLike[str], net: str, game: Game, **metadata: object) -> None:
    """A checkpoint of an untrained network that says something: online and target weights."""
    weights = drawn(build(net, game, 1)).state_dict()
    parts = ("online", "target")
    tensors = {f"{part}/{name}": w.numpy() for part in parts for name, w in weights.items()}
    about = {"game": game.name, "rules": game.rules, "net": net}
    counts = {"step": 7, "episodes": 0, "batch": 4}
    save_checkpoint(path, tensors, {**about, **counts, **metadata}, overwrite=True)


_mu = st.one_of(
    st.just(float("nan")),
    st.just(1.0),
    st.floats(2.0**-100, 1, width=32),
)


@st.composite
def random_episode(draw: st.DrawFn, number: int, players: int, searched: bool = False) -> Episode:
    length = draw(st.integers(1, 40))
    highest = draw(st.sampled_from([3, 255, 256, 65535, 65536, 2**31 - 1]))
    return Episode(
        number,
        draw(st.integers(-1, 2**63 - 1)),
        draw(st.integers(0, len(ENDINGS) - 1)),
        draw(arrays.arrays(np.float32, players, elements=st.floats(-2, 2, width=32))),
        draw(arrays.arrays(np.int32, length, elements=st.integers(0, highest))),
        draw(arrays.arrays(np.float32, length, elements=_mu)),
        draw(st.binary(max_size=50)),
        draw(random_targets(length)) if searched else None,
        draw(arrays.arrays(np.float32, length, elements=_values)) if searched else None,
    )


@st.composite
def random_targets(draw: st.DrawFn, length: int) -> PolicyTargets:
    """Policies for `length` decisions, some without one."""
    policies = draw(st.lists(st.none() | _policies, min_size=length, max_size=length))
    parts = [[] if policy is None else sorted(policy.items()) for policy in policies]
    return PolicyTargets(
        np.array([len(part) for part in parts], np.int64),
        np.array([action for part in parts for action, _ in part], np.int32),
        np.array([share for part in parts for _, share in part], np.uint16),
    )


def _shares(policy: dict[int, int]) -> dict[int, int]:
    """The same actions with shares that sum to 65535."""
    rest = WHOLE_SHARE - sum(policy.values())
    return {**policy, min(policy): policy[min(policy)] + rest}


_policies = st.dictionaries(
    st.integers(0, 2**31 - 1), st.integers(0, WHOLE_SHARE // 8), min_size=1, max_size=8
).map(_shares)
_values = st.one_of(st.just(float("nan")), st.floats(-2, 2, width=32))


@st.composite
def random_episodes(draw: st.DrawFn) -> list[Episode]:
    """Up to eight episodes with different numbers."""
    players = draw(st.integers(1, 3))
    numbers = draw(st.lists(st.integers(0, 2**63 - 1), max_size=8, unique=True))
    return [draw(random_episode(number, players, draw(st.booleans()))) for number in numbers]
