"""Monte Carlo search trees in C: many known states, searched side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stratkit.arguments import Count, Threads, checked, fitting, integer, within
from stratkit.arrays import Bytes, Float32s, Float64s, Int32s
from stratkit.engine.batch import Batch
from stratkit.engine.library import ffi, lib, pointer, text, writable

MAX_NODES = 10_000_000


@dataclass(frozen=True)
class RootMoves:
    """What a tree knows of the m moves at its root, in the order in which they were given.

    visits      int32 [m]
    q           float64 [m], mean value to the side that acts, in units of the largest return;
                for a move that was never tried, as PUCT has it
    low, high   float32 [m], proven bounds of that value, equal where it is known
    """

    visits: Int32s
    q: Float64s
    low: Float32s
    high: Float32s


class SearchTrees:
    """One tree for each state of a batch.

    roots           the states, copied; a player acts in each
    actions         of a move: 2 on boards of Stratego, whose trees choose among whole moves, else 1
    nodes           simulations of a tree, which also ends when all its root's best moves are known
    cpuct           how far the policy counts against values
    unit            returns are divided by it
    largest_return  evaluated values beyond it count as it
    threads         of the trees; the result is the same at any number
    face_up         evaluations see a tree's states, hidden pieces and all
                    (`Batch.observe_face_up`), not what their actors may know
    whole           an evaluation tells the policy of whole moves (`moves`), not of actions; only
                    where a move has two

    Moves are chosen by PUCT: the largest q(a) + c(N) p(a) sqrt(N) / (1 + n(a)), with
    c(N) = ln((N + 19653) / 19652) + `cpuct`, and q(a) = -1 for a move without a visit. Ends of
    games are proven values, which spread through the tree as bounds; chance is averaged. The result
    is a function of the states and of the answers, and of nothing else.

    Sources: PUCT as in AlphaZero (Silver et al. 2018) with the constants of CrazyAra (Bluml, Czech,
    Kersting 2023, AlphaZe**); bounds by Cazenave and Saffidine (2010).
    """

    @checked
    def __init__(
        self,
        roots: Batch,
        actions: Count,
        nodes: Count,
        cpuct: float = 2.5,
        unit: float = 1.0,
        largest_return: float = np.inf,
        threads: Threads = 1,
        face_up: bool = False,
        whole: bool = False,
    ) -> None:
        if roots.game.players != 2 or actions not in (1, 2):
            raise ValueError("roots must be of two players, and actions 1 or 2")
        if nodes > MAX_NODES or not 0 < unit < np.inf or not largest_return > 0:
            what = f"nodes must be 1 to {MAX_NODES:,}, unit and largest_return above 0"
            raise ValueError(f"{what}, not {nodes:,}, {unit} and {largest_return}")
        if face_up and not roots.game.shows_face_up:
            raise ValueError(f"{roots.game.name}: nothing in its observations could be face up")
        if not math.isfinite(cpuct):
            raise ValueError(f"cpuct must be finite, not {cpuct}")
        if whole and actions != 2:
            raise ValueError("whole moves are of two actions: actions must be 2")
        settings = ffi.new(
            "sk_mcts_settings *", (actions, nodes, cpuct, unit, largest_return, face_up, whole)
        )
        handle = lib.sk_mcts_open(roots.handle, roots.size, settings[0], threads)
        if handle == ffi.NULL:
            raise MemoryError(f"{roots.size} trees of {roots.game.name}")
        self._handle = ffi.gc(handle, lib.sk_mcts_close)
        self.game, self.size, self.actions, self.whole = roots.game, roots.size, actions, whole
        self._moves = np.zeros(self.size, np.int32)  # how many each tree's root has
        self._legal = np.empty((self.size, self.game.actions), np.uint8)
        self._packed = np.empty((self.size, self.game.observation_bytes), np.uint8)
        self._rows = self._asked = 0

    def begin(self, tree: int, moves: Sequence[Sequence[int]], priors: Float32s) -> None:
        """Begins the trees from number `tree` on, one for each row of `priors` float32 [k, m],
        whose roots have these m `moves`, each of as many actions as a move has; those of one piece
        stand side by side.

        Raises `ValueError` for a move that is not legal, and for priors that are none, and for
        a tree that is not there.
        """
        k, m = self._check_priors(priors)
        actions = self._check_moves(moves, m)
        if integer("tree", tree, 0, self.size - 1) + k > self.size:
            raise ValueError(f"trees {tree} to {tree + k - 1} of {self.size}")
        self._moves[tree : tree + k] = self._rows = self._asked = 0
        wrong = lib.sk_mcts_begin(
            self._handle,
            tree,
            k,
            pointer("moves", actions, "int32", (m, self.actions)),
            m,
            pointer("priors", np.ascontiguousarray(priors), "float32", (k, m)),
        )
        self._raise(wrong)
        self._moves[tree : tree + k] = m

    def _check_priors(self, priors: Float32s) -> tuple[int, int]:
        """Their shape. `TypeError`, `ValueError`: they are none."""
        if not isinstance(priors, np.ndarray):
            raise TypeError(f"priors must be an array, not {type(priors).__name__}")
        fitting("priors", priors, (None, None))
        if priors.dtype != np.float32 or not priors.size or not np.isfinite(priors).all():
            raise ValueError("priors must be float32, of one tree and one move or more, and finite")
        if (priors < 0).any():
            raise ValueError("priors must be probabilities, not below 0")
        return priors.shape[0], priors.shape[1]

    def _check_moves(self, moves: Sequence[Sequence[int]], m: int) -> Int32s:
        """As an array. `TypeError`, `ValueError`: they are no `m` moves."""
        try:
            actions = np.asarray(moves)
        except ValueError as error:
            raise ValueError(f"moves must have equal lengths: {error}") from None
        if actions.dtype.kind not in "iu":
            raise TypeError(f"moves must be of whole numbers, not {actions.dtype}")
        if actions.size != m * self.actions:
            what = f"{m} moves of {self.actions} actions, as many as there are priors"
            raise ValueError(f"moves must be {what}, not of the shape {list(actions.shape)}")
        within("moves", actions, 0, self.game.actions - 1)
        return np.ascontiguousarray(actions, np.int32).reshape(m, self.actions)

    def ask(self) -> tuple[Bytes, Bytes]:
        """Grows every tree until it is done or waits for an evaluation. Returns a row for each that
        waits: observations uint8 [n, observation_bytes], and legal actions uint8 [n, A]."""
        self._rows = lib.sk_mcts_ask(
            self._handle,
            writable(self._legal),
            writable(self._packed),
        )
        self.game.check()
        self._asked = lib.sk_mcts_moves(self._handle, ffi.NULL) if self.whole else 0
        return self._packed[: self._rows], self._legal[: self._rows]

    def moves(self) -> Int32s:
        """Of `whole` trees, the moves of what was asked last, row by row: the row and both actions,
        int32 [k, 3], those of one first action side by side."""
        if not self.whole:
            raise ValueError("these trees ask for actions, not for whole moves")
        moves = np.empty((self._asked, 3), np.int32)
        lib.sk_mcts_moves(self._handle, writable(moves))
        return moves

    def tell(self, policy: Float32s, values: Float32s) -> None:
        """Answers what was asked last, row by row: the probability of each action, float32 [n, A],
        or of `whole` trees of each of the `moves`, float32 [k]; and what the acting side may
        expect, float32 [n]. `ValueError`: these are no such."""
        shape = (self._asked,) if self.whole else (self._rows, self.game.actions)
        wrong = lib.sk_mcts_tell(
            self._handle,
            pointer("policy", policy, "float32", shape),
            pointer("values", values, "float32", (self._rows,)),
        )
        self._rows = self._asked = 0
        self._raise(wrong)

    def root(self, tree: int) -> RootMoves:
        """What a tree that has begun knows by now."""
        m = int(self._moves[integer("tree", tree, 0, self.size - 1)])
        if not m:
            raise ValueError(f"tree {tree} has not begun")
        root_moves = RootMoves(
            np.empty(m, np.int32), np.empty(m), np.empty(m, np.float32), np.empty(m, np.float32)
        )
        lib.sk_mcts_read(
            self._handle,
            tree,
            writable(root_moves.visits),
            writable(root_moves.q),
            writable(root_moves.low),
            writable(root_moves.high),
        )
        return root_moves

    def counts(self) -> tuple[int, int, int]:
        """Simulations, evaluations, and bytes of nodes and edges, of all trees."""
        size = ffi.new("sk_mcts_size *")
        lib.sk_mcts_describe(self._handle, size)
        return size.simulations, size.evaluations, size.bytes

    def _raise(self, wrong: Any) -> None:
        self.game.check()
        if wrong == ffi.NULL:
            return
        if text(wrong) == "out of memory":
            raise MemoryError(f"{self.size} trees of {self.game.name}")
        raise ValueError(f"{self.game.name}: {text(wrong)}")
