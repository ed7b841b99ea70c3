"""The whole tree of a small game, in sequence form, and what policies are worth on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from stratkit.arguments import Between, checked, fitting, integer
from stratkit.arrays import Bytes, Float64s, Int8s, Int32s, Int64s
from stratkit.engine.batch import Batch
from stratkit.engine.game import Game
from stratkit.engine.library import ffi, filled, lib, pointer, text, writable
from stratkit.engine.observation import distinct_views
from stratkit.errors import InputError

Vector = Float64s
Check = Callable[[str, Any, str, tuple[int, ...]], Any]  # `pointer`, or `filled`

MAX_HISTORIES = 100_000_000
MAX_BYTES = 3 << 30
Most = Annotated[int, Between(0, 2**63 - 1)]
TOO_LARGE = "too large to enumerate"  # as the engine says it
STEP = 50_000  # histories that are enumerated before Python may be interrupted


class MemoryExceeded(InputError):
    """A game is too large for the memory that it may take."""

    def __init__(self, game: Game, most_bytes: int) -> None:
        most = f"it takes more than {most_bytes / (1 << 30):.3g} GiB"
        super().__init__(f"{game.name} is too large to enumerate: {most}")


class Tree:
    """All histories of `game`, a two-player zero-sum game, enumerated once; between more players,
    its information sets (`sets_only`).

    The I information sets of all players are those of perfect recall: two histories are one set
    if the player saw and did the same on the way to it. Each has some of the E `actions`: those of
    set i are `actions[first[i]:first[i + 1]]`. A policy is float64 [E], or, `dense`, [I, actions of
    the game].

    A *sequence* is an action in an information set; sequence 0 is the empty one, action k of [E]
    is sequence 1 + k. Arrays [1 + E] belong to sequences.

        players  int8 [I]       who acts
        before   int32 [I]      the last sequence of that player; its set has a lower number
        first    int32 [I + 1]  where the set's actions begin
        actions  int32 [E]      the game's number of each action
        owner    int32 [E]      the set of each action

    `most_bytes`, int, is what it might take, and what each walk by it may.

    With `sets_only` nothing else is kept: no loops over the whole tree, for games whose histories
    would not find room. Raises `InputError` when the game has more histories than given, and
    `MemoryExceeded` when it needs more bytes.
    """

    @checked
    def __init__(
        self,
        game: Game,
        most_histories: Most = MAX_HISTORIES,
        most_bytes: Most = MAX_BYTES,
        sets_only: bool = False,
    ) -> None:
        if game.players != 2 and not sets_only:
            raise InputError(f"game {game.name}: not a game of two players")
        if certainly_exceeds(game, most_histories):
            raise InputError(_too_large(game, most_histories))
        self.game, self._most_histories, self.most_bytes = game, most_histories, most_bytes
        self.sets_only = sets_only
        self._handle = handle = self._opened()
        self._enumerate(handle)
        size = self._size()
        self.histories: int = size.nodes
        self.terminals: int = size.terminals
        self.bytes: int = size.bytes
        self.players = np.empty(size.infosets, np.int8)
        self.before = np.empty(size.infosets, np.int32)
        self.first = np.empty(size.infosets + 1, np.int32)
        self.actions = np.empty(size.actions, np.int32)
        self._read_sets(None)
        lib.sk_tree_actions(handle, writable(self.actions))
        self.owner = np.repeat(np.arange(size.infosets, dtype=np.int32), np.diff(self.first))

    def _opened(self) -> Any:
        opened, limits = ffi.new("sk_tree **"), (self._most_histories, self.most_bytes)
        wrong = lib.sk_tree_open(self.game.handle, *limits, opened)
        if wrong != ffi.NULL:
            raise InputError(f"game {self.game.name}: {text(wrong)}")
        handle = ffi.gc(opened[0], lib.sk_tree_close)
        if self.sets_only:
            lib.sk_tree_sets_only(handle)
        return handle

    def _enumerate(self, handle: Any) -> None:
        whole = ffi.new("int32_t *")
        while not whole[0]:
            wrong = lib.sk_tree_grow(handle, STEP, whole)
            self.game.check()
            if wrong == ffi.NULL:
                continue
            if text(wrong) == TOO_LARGE and self._size().nodes > self._most_histories:
                raise InputError(_too_large(self.game, self._most_histories))
            if text(wrong) == TOO_LARGE:
                raise MemoryExceeded(self.game, self.most_bytes)
            raise InputError(f"{self.game.name}: {text(wrong)}")

    def _size(self) -> Any:
        size = ffi.new("sk_tree_size *")
        lib.sk_tree_describe(self._handle, size)
        return size

    def _read_sets(self, packed: Bytes | None) -> None:
        lib.sk_tree_infosets(
            self._handle,
            writable(self.players),
            writable(self.before),
            writable(self.first),
            ffi.NULL if packed is None else writable(packed),
        )

    def __len__(self) -> int:
        """The number of information sets."""
        return len(self.players)

    # ---- What is known in an information set ----

    def observations(self) -> Bytes:
        """uint8 [I, observation_bytes]: the packed observation of each set's last moment."""
        packed = np.empty((len(self), self.game.observation_bytes), np.uint8)
        self._read_sets(packed)
        return packed

    def states(self) -> tuple[Batch, Int32s]:
        """A batch whose row i is a state in which information set i acts, and the number of actions
        before it, int32 [I]. Enumerates all histories again: most callers need no states."""
        batch, depths = Batch(self.game, len(self)), np.zeros(len(self), np.int32)
        again = self._opened()
        lib.sk_tree_keep(again, batch.handle, writable(depths))
        self._enumerate(again)
        return batch, depths

    def legal(self) -> Bytes:
        """uint8 [I, actions of the game]: 1 where legal."""
        mask = np.zeros((len(self), self.game.actions), np.uint8)
        mask[self.owner, self.actions] = 1
        return mask

    def distinct_views(self) -> tuple[Bytes, Bytes, Int64s]:
        """What a network sees, which has no memory, so that many sets look alike to it: the n
        distinct pairs of observation uint8 [n, observation_bytes] and legal actions uint8
        [n, actions of the game], and for each set which of the n it is, int64 [I]."""
        observations, legal = self.observations(), self.legal()
        some, which = distinct_views(observations, legal)
        return observations[some], legal[some], which

    # ---- Policies ----

    def uniform(self) -> Vector:
        """The policy float64 [E] that has all legal actions alike."""
        return np.asarray(1.0 / np.diff(self.first)[self.owner], np.float64)

    @checked
    def flat(self, dense: npt.NDArray[np.floating[Any]]) -> Vector:
        """The policy [E] of one [I, actions of the game], each set's sum made 1.

        Raises `ValueError` when a number is negative or not finite, or a set's sum is 0.
        """
        fitting("dense", dense, (len(self), self.game.actions))
        policy = dense[self.owner, self.actions].astype(np.float64)
        total = self.sums(policy)
        if not np.isfinite(policy).all() or (policy < 0).any() or not (total > 0).all():
            raise ValueError(
                "dense is not a policy: a number is negative, not finite, or all are 0"
            )
        return np.asarray(policy / total[self.owner], np.float64)

    @checked
    def sums(self, x: Vector) -> Vector:
        """float64 [I]: the sum over the actions of each set, of [E]."""
        fitting("x", x, (len(self.actions),))
        return np.asarray(np.add.reduceat(x, self.first[:-1]), np.float64)

    @cached_property
    def mine(self) -> Int8s:
        """int8 [E]: whose each action is."""
        mine: Int8s = self.players[self.owner]
        return mine

    # ---- Worlds ----

    @cached_property
    def _world_sums(self) -> tuple[Vector, Vector]:
        """Twice float64 [E]: what the walk through all worlds has added up so far, of which an
        interrupt loses nothing."""
        values, best = np.zeros((2, len(self.actions)))
        return values, best

    @cached_property
    def world_values(self) -> tuple[Vector, Vector]:
        """What actions are worth if all hidden things become known: of every information set, over
        its histories, weighted by the probability of chance's moves. float64 [E], the mean value of
        each action to its player, by minimax from there on; and float64 [E], how often it is among
        the best actions (equal ones share).

        That is the limit of determinized search with all worlds, each searched to the end (PIMC;
        Blüml, Czech, Kersting 2023, equations 3 and 4)."""
        values, best = self._world_sums
        whole = ffi.new("int32_t *")
        while not whole[0]:
            wrong = lib.sk_tree_worlds(self._handle, STEP, writable(values), writable(best), whole)
            self.game.check()
            if wrong != ffi.NULL:
                raise InputError(f"{self.game.name}: {text(wrong)}")
        weight = self.sums(best)[self.owner]
        return values / weight, best / weight

    # ---- Loops over the whole tree ----

    @property
    def handle(self) -> Any:
        """The tree in C, for walks beside it."""
        return self._handle

    def _of_histories(self) -> Any:
        """The tree in C, for what needs its histories. `ValueError`: it has none."""
        if self.sets_only:
            raise ValueError("the tree has information sets only")
        return self._handle

    def reach(self, policy: Vector) -> Vector:
        """float64 [1 + E]: the probability that a sequence's player plays it."""
        out = np.empty(len(self.actions) + 1)
        lib.sk_tree_reach(self._handle, self._each_action("policy", policy), writable(out))
        return out

    def payoffs(self, player: int, reach: Vector) -> Vector:
        """float64 [1 + E]: what the terminals that directly follow each sequence of `player` pay
        it, weighted with the probability that chance and the opponent go there."""
        out = np.empty(len(self.actions) + 1)
        lib.sk_tree_payoffs(
            self._of_histories(),
            _player(player),
            self._each_sequence("reach", reach),
            writable(out),
        )
        return out

    def weights(self, reach: Vector) -> Vector:
        """float64 [I]: the probability that chance and the opponent get to each set."""
        out = np.empty(len(self))
        lib.sk_tree_weights(
            self._of_histories(), self._each_sequence("reach", reach), writable(out)
        )
        return out

    def add_penalties(self, player: int, reach: Vector, penalties: Vector, values: Vector) -> None:
        """Adds to `values` [1 + E] the `penalties` [I] that the opponent pays `player` for acting
        there."""
        lib.sk_tree_add_penalties(
            self._of_histories(),
            _player(player),
            self._each_sequence("reach", reach),
            self._each_set("penalties", penalties),
            self._each_sequence("values", values, filled),
        )

    def backup(
        self, player: int, policy: Vector, values: Vector, penalties: Vector | None = None
    ) -> float:
        """Adds up `values` [1 + E] of `player`, as `payoffs` gives them, from the terminals to the
        root; `penalties` [I] are subtracted at each set. Returns the value of the game."""
        return float(
            lib.sk_tree_backup(
                self._handle,
                _player(player),
                self._each_action("policy", policy),
                ffi.NULL if penalties is None else self._each_set("penalties", penalties),
                self._each_sequence("values", values, filled),
            )
        )

    def best_response(self, player: int, values: Vector, policy: Vector) -> float:
        """As `backup`, by the best actions (equal ones alike), which are written into `player`'s
        part of `policy`."""
        return float(
            lib.sk_best_response(
                self._handle,
                _player(player),
                self._each_sequence("values", values, filled),
                self._each_action("policy", policy, filled),
            )
        )

    def cfr(
        self,
        player: int,
        keep: tuple[float, float, float],
        regrets: Vector,
        average: Vector,
        policy: Vector,
        reach: Vector,
        scratch: Vector,
    ) -> None:
        """`player`'s half of an iteration of CFR on `regrets`, `average`, `policy` [E] and `reach`
        [1 + E]. `keep`: the parts of positive regrets, negative regrets and the average that are
        not forgotten. `average` sums reach, not yet divided by that of the set."""
        lib.sk_cfr(
            self._of_histories(),
            _player(player),
            *three_parts(keep),
            self._each_action("regrets", regrets, filled),
            self._each_action("average", average, filled),
            self._each_action("policy", policy, filled),
            self._each_sequence("reach", reach, filled),
            self._each_sequence("scratch", scratch, filled),
        )

    def _each_set(self, name: str, array: Vector, check: Check = pointer) -> Any:
        return check(name, array, "float64", (len(self),))

    def _each_action(self, name: str, array: Vector, check: Check = pointer) -> Any:
        return check(name, array, "float64", (len(self.actions),))

    def _each_sequence(self, name: str, array: Vector, check: Check = pointer) -> Any:
        return check(name, array, "float64", (len(self.actions) + 1,))


@checked
def certainly_exceeds(game: Game, histories: Most) -> bool:
    """Whether a game is certain to have more histories, told from a few random games."""
    larger = bool(lib.sk_tree_exceeds(game.handle, float(histories)))
    game.check()
    return larger


@checked
def histories_up_to(game: Game, most: Most = MAX_HISTORIES) -> int:
    """How many histories a game has, or `most` + 1 if there are more. It takes about
    a second for every 20 million. `InputError`: the game breaks the rules of games."""
    opened, whole = ffi.new("sk_tree **"), ffi.new("int32_t *")
    wrong = lib.sk_tree_open(game.handle, most, MAX_BYTES, opened)
    if wrong != ffi.NULL:
        raise InputError(f"game {game.name}: {text(wrong)}")
    handle, size = ffi.gc(opened[0], lib.sk_tree_close), ffi.new("sk_tree_size *")
    lib.sk_tree_counts_only(handle)
    while not whole[0]:
        wrong = lib.sk_tree_grow(handle, 10 * STEP, whole)
        game.check()
        lib.sk_tree_describe(handle, size)
        if wrong != ffi.NULL and size.nodes > most:
            return most + 1
        if wrong != ffi.NULL:
            raise InputError(f"{game.name}: {text(wrong)}")
    return int(size.nodes)


def _player(player: int) -> int:
    return integer("player", player, 0, 1)


def three_parts(keep: tuple[float, float, float]) -> tuple[float, float, float]:
    """What CFR keeps: three numbers. `TypeError`: they are none."""
    if not isinstance(keep, tuple | list) or len(keep) != 3:
        raise TypeError("keep must be three numbers")
    for part in keep:
        if not isinstance(part, int | float | np.floating | np.integer):
            raise TypeError(f"keep must be three numbers, not {type(part).__name__}")
        if abs(part) > 1e300:
            raise ValueError("keep must be three numbers, not ones of that size")
    positive, negative, average = map(float, keep)
    return positive, negative, average


def _too_large(game: Game, histories: int) -> str:
    return f"{game.name} is too large to enumerate: it has more than {histories:,} histories"
