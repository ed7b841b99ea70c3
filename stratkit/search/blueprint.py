"""What search needs of the policy that it improves."""

from __future__ import annotations

import threading
from typing import Protocol, cast

import numpy as np

from stratkit.arrays import Bytes, Int32s, Int64s
from stratkit.arrays import Float32s as Floats
from stratkit.nets.numpy_policy import at_temperature, nucleus
from stratkit.threads import search_threads

MOST_BYTES = 2**26  # of the policies that a search remembers


class Blueprint(Protocol):
    """A policy of single actions with a value, such as a network's evaluator.

    Observations are packed, uint8 [n, observation_bytes], and `legal` actions uint8 [n, A].
    """

    def evaluate_distinct(
        self, observations: Bytes, legal: Bytes, values: bool = False
    ) -> tuple[Floats, Floats | None]:
        """The probability of each action, float32 [n, A], 0 where illegal; and the values, if they
        are wanted."""
        ...

    def values(self, observations: Bytes) -> Floats:
        """float32 [n]: what the acting sides may expect."""
        ...


class MoveBlueprint(Blueprint, Protocol):
    """A blueprint that may tell the policy of a position's whole moves at once."""

    @property
    def tells_moves(self) -> bool:
        """Whether it can: that may depend on its network."""
        ...

    def evaluate_moves(
        self, observations: Bytes, legal: Bytes, moves: Int32s
    ) -> tuple[Floats, Floats]:
        """The probability of each whole move, float32 [k], and the values float32 [n]. `moves`:
        int32 [k, 3], each the row of its position and two actions; those of a row, and of one first
        action, one after the other."""
        ...


def with_moves(blueprint: Blueprint, actions: int) -> MoveBlueprint | None:
    """The blueprint, if it tells the policy of whole moves, of so many actions."""
    tells = actions == 2 and getattr(blueprint, "tells_moves", False)
    return cast(MoveBlueprint, blueprint) if tells else None


class ShareBlueprint(Blueprint, Protocol):
    """A blueprint that may tell what all players may expect at once."""

    @property
    def tells_shares(self) -> bool:
        """Whether it can: that may depend on its network."""
        ...

    def shares(self, observations: Bytes) -> Floats:
        """float32 [n, P], which sum to 1: the acting player's, and those of who follows it."""
        ...


def with_shares(blueprint: Blueprint) -> ShareBlueprint | None:
    """The blueprint, if it tells what all players may expect."""
    tells = getattr(blueprint, "tells_shares", False)
    return cast(ShareBlueprint, blueprint) if tells else None


def by_threads(blueprint: Blueprint) -> bool:
    """Whether several threads may ask a blueprint at a time, each for other views: then these
    have the same policies and values to the last bit, or depend on time anyway."""
    return getattr(blueprint, "by_threads", False)


def asking_threads(blueprint: Blueprint) -> int:
    """How many threads of a search ask the blueprint at a time."""
    return search_threads() if by_threads(blueprint) else 1


class Sharpened:
    """A blueprint that plays at a temperature, and of each policy the most probable actions alone
    that together have at least `top_p` of it (nucleus sampling, Holtzman et al. 2020). Values are
    the blueprint's."""

    def __init__(self, blueprint: Blueprint, temperature: float, top_p: float) -> None:
        self.blueprint, self.temperature, self.top_p = blueprint, temperature, top_p
        self.values = blueprint.values
        telling = with_shares(blueprint)
        self.tells_shares = telling is not None
        if telling is not None:
            self.shares = telling.shares

    def evaluate_distinct(
        self, observations: Bytes, legal: Bytes, values: bool = False
    ) -> tuple[Floats, Floats | None]:
        """As the blueprint."""
        policy, expected = self.blueprint.evaluate_distinct(observations, legal, values)
        return nucleus(at_temperature(policy, self.temperature), self.top_p), expected


def remembered(blueprint: Blueprint) -> Blueprint:
    """A blueprint that remembers what it said of a view, unless that costs more than to ask it
    again: the engine keeps positions, and its calls leave Python to other threads."""
    return blueprint if getattr(blueprint, "keeps_positions", False) else Remembered(blueprint)


class Remembered:
    """A blueprint that is asked for the policy and the value of each view once: rollouts that
    differ in nothing but what stays hidden come to the same views. Threads may share it, if they
    may share the blueprint."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self.known: dict[bytes, np.float32] = {}
        self.policies = _Policies()

    @property
    def by_threads(self) -> bool:
        """As of the blueprint."""
        return by_threads(self.blueprint)

    def evaluate_distinct(
        self, observations: Bytes, legal: Bytes, values: bool = False
    ) -> tuple[Floats, Floats | None]:
        """As the blueprint; without `values` only views that are new are evaluated."""
        if values:
            return self.blueprint.evaluate_distinct(observations, legal, values)
        if self.policies.are_many:
            self.policies = _Policies()
        keys, known = _keys(np.append(observations, np.packbits(legal, axis=1), 1)), self.policies
        new = known.new(keys)
        if len(new) == len(keys):
            policy = self.blueprint.evaluate_distinct(observations, legal)[0]
            known.add(keys, policy)
            return policy, None
        if new:
            policy = self.blueprint.evaluate_distinct(observations[new], legal[new])[0]
            known.add([keys[row] for row in new], policy)
        return known.of(keys), None

    def values(self, observations: Bytes) -> Floats:
        """float32 [n]: only views that are new are evaluated."""
        keys = _keys(observations)
        new = {key: row for row, key in enumerate(keys) if key not in self.known}
        if new:
            values = self.blueprint.values(observations[list(new.values())])
            self.known.update(zip(new, values, strict=True))
        return np.array([self.known[key] for key in keys], np.float32)


class _Policies:
    """Policies by what their views are, in a table that grows."""

    def __init__(self) -> None:
        self._places: dict[bytes, int] = {}
        self._table = np.empty((0, 0), np.float32)
        self._used = 0
        self._lock = threading.Lock()

    @property
    def are_many(self) -> bool:
        """Whether they take as much memory as they may."""
        return self._table.nbytes > MOST_BYTES

    def new(self, keys: list[bytes]) -> list[int]:
        """Which keys have no policy, each once."""
        places = self._places
        first = {key: row for row, key in enumerate(keys) if key not in places}
        return list(first.values())

    def add(self, keys: list[bytes], policies: Floats) -> None:
        """Policies float32 [n, A] of these keys."""
        with self._lock:
            begin, end = self._used, self._used + len(keys)
            if end > len(self._table):
                before = self._table[:begin].reshape(begin, policies.shape[1])
                self._table = np.append(before, np.empty((end, policies.shape[1]), np.float32), 0)
            self._table[begin:end] = policies
            self._places.update(zip(keys, range(begin, end), strict=True))
            self._used = end

    def of(self, keys: list[bytes]) -> Floats:
        """float32 [n, A], of keys that all have one."""
        with self._lock:
            return self._table[[self._places[key] for key in keys]]


def _keys(rows: Bytes) -> list[bytes]:
    """Of uint8 [n, k], what tells equal rows."""
    each: list[bytes] = np.ascontiguousarray(rows).view(f"V{rows.shape[1]}")[:, 0].tolist()
    return each


class PlayableBlueprint(Blueprint, Protocol):
    """A blueprint by which a player can play, with a search or without."""

    def evaluate(
        self, observations: Bytes, legal: Bytes, pub: Floats | None = None, values: bool = False
    ) -> tuple[Floats, Floats | None]:
        """As `evaluate_distinct`. `pub`: the two blocks of public information that a network is
        shown instead of the observation's, as in `nets.expansion`; others do not look at them."""
        ...

    def evaluate_pieces(
        self, observations: Bytes, legal: Bytes, turn: Int64s, pub: Floats | None = None
    ) -> Floats:
        """The policy, where views of one `turn`, int64 [n] and in order, are one position but for
        the piece that is selected."""
        ...
