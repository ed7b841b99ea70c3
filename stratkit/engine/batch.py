"""Many states of one game, stepped together."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from stratkit.arguments import Count, Player, Threads, checked, indices, integer
from stratkit.arrays import Bytes, Float32s, Int8s, Int32s, Int64s
from stratkit.engine.game import Game
from stratkit.engine.library import ffi, filled, length, lib, pointer, text, writable
from stratkit.engine.random_streams import Stream
from stratkit.errors import InputError

OVER = -2  # the acting player of a game that has ended
CHANCE = -1  # the acting player where chance decides
MOST_MOVES: int = lib.SK_MOST_MOVES  # of a state, in a game where a move is two actions


class IllegalAction(ValueError):
    """An action that the rules forbid.

    `row` is the row of the batch, or the index of the episode; `index` the number of the action in
    its episode (None in a batch); `action` is None where the start position is at fault.
    """

    def __init__(self, row: int, action: int | None, index: int | None = None) -> None:
        self.row, self.action, self.index = row, action, index
        what = "start position" if action is None else f"action {action}"
        where = f"row {row}" if index is None else f"episode {row}, action number {index}"
        super().__init__(f"illegal {what} in {where}")


class Batch:
    """`size` states of `game`; the work is shared out to `threads` threads.

    All arrays have one row a state, in the acting side's frame. Rows that are over have the actor
    `OVER` (-2) and zeros elsewhere; where chance acts, the actor is `CHANCE` (-1), the outcomes are
    legal, and nothing is observed.

    Threads of the caller may look at a batch at the same time; one that changes it does so alone.
    In a process that was forked a batch has one thread.
    """

    @checked
    def __init__(self, game: Game, size: Count, threads: Threads = 1) -> None:
        handle = lib.sk_batch_open(game.handle, size, threads)
        if handle == ffi.NULL:
            raise MemoryError(f"{size} states of {game.name}")
        self.handle = ffi.gc(handle, lib.sk_batch_close)
        self.game, self.size, self.threads = game, size, threads
        game.check()

    def clone(self) -> Self:
        """A batch of the same states, which goes on by itself. `copy` and `pickle` do it, too."""
        return self.gathered([(self, np.arange(self.size))], self.threads)

    def __copy__(self) -> Self:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        states = np.empty((self.size, self.game.state_bytes), np.uint8)
        lib.sk_batch_store(self.handle, writable(states))
        seal = _seal(self.game, states)
        return _restored, (type(self), self.game, self.threads, states, seal)

    def reset(self, rows: npt.ArrayLike | None = None) -> None:
        """Begins these rows (all of them by default) from the start of the game."""
        which = indices("rows", np.arange(self.size) if rows is None else rows, self.size)
        lib.sk_batch_reset(self.handle, pointer("rows", which, "int32", which.shape), len(which))
        self.game.check()

    @checked
    def start(self, row: int, start: bytes) -> None:
        """Begins `row` from a start position (empty: the start of the game).

        Raises `InputError` when the bytes are no start position of this game; the row then begins
        from the start of the game.
        """
        row = self._row("row", row)
        wrong = lib.sk_batch_start(self.handle, row, start, len(start))
        if wrong != ffi.NULL:
            lib.sk_batch_start(self.handle, row, b"", 0)
            raise InputError(text(wrong))
        self.game.check()

    def save(self, row: int) -> bytes:
        """`row` as a start position; its history is lost. Raises `ValueError` between two plies."""
        row = self._row("row", row)
        out = ffi.new("uint8_t[]", self.game.start_bytes)
        wrong = lib.sk_batch_save(self.handle, row, out)
        if wrong != ffi.NULL:
            raise ValueError(text(wrong))
        return bytes(ffi.buffer(out))

    def copy_row(self, row: int, source: Batch, source_row: int) -> None:
        """Makes `row` a copy of a row of `source`, which must hold the same game."""
        if not isinstance(source, Batch):
            raise TypeError(f"source must be a Batch, not {type(source).__name__}")
        row, source_row = self._row("row", row), source._row("source_row", source_row)
        if source.game is not self.game:
            raise ValueError("source is a batch of another game")
        lib.sk_batch_copy(self.handle, row, source.handle, source_row)

    @classmethod
    @checked
    def gathered(cls, parts: Sequence[tuple[Batch, npt.ArrayLike]], threads: Threads = 1) -> Self:
        """A batch of copies of rows of others, which hold the same game, in this order.

        Raises `ValueError` for a row that is not in its batch, for different games or no row.
        """
        some = [(batch, indices("parts", rows, batch.size)) for batch, rows in parts]
        if len({id(batch.game) for batch, _ in some}) > 1:
            raise ValueError("parts are batches of different games")
        size = sum(len(rows) for _, rows in some)
        if not size:
            raise ValueError("parts must have a row or more")
        out, at = cls(some[0][0].game, size, threads), 0
        for batch, rows in some:
            n = len(rows)
            lib.sk_batch_gather(
                out.handle, at, batch.handle, pointer("rows", rows, "int32", (n,)), n
            )
            at += n
        return out

    def actors(self) -> Int8s:
        """int8 [size]: who acts, a player from 0 on, `CHANCE` or `OVER`."""
        out = np.empty(self.size, np.int8)
        lib.sk_batch_view(self.handle, writable(out), ffi.NULL, ffi.NULL)
        return out

    def legal(self, out: Bytes | None = None) -> Bytes:
        """uint8 [size, actions]: 1 where the action is legal."""
        out = np.empty((self.size, self.game.actions), np.uint8) if out is None else out
        lib.sk_batch_view(self.handle, ffi.NULL, self._legal("out", out), ffi.NULL)
        return out

    def observe(self, out: Bytes | None = None) -> Bytes:
        """uint8 [size, observation_bytes]: what the acting side may know, packed."""
        shape = (self.size, self.game.observation_bytes)
        out = np.empty(shape, np.uint8) if out is None else out
        lib.sk_batch_view(self.handle, ffi.NULL, ffi.NULL, self._packed("out", out))
        self.game.check()
        return out

    def observe_face_up(self) -> Bytes:
        """`observe`, and what is hidden from the acting side, which stays marked as hidden: for
        known states, such as worlds, and games that are learned from. `ValueError`: the game's
        observations have no place for it (`Game.shows_face_up`)."""
        if not self.game.shows_face_up:
            what = "nothing in its observations could be face up"
            raise ValueError(f"{self.game.name}: {what}")
        out = self.observe()
        lib.sk_batch_face_up(self.handle, self._packed("out", out))
        return out

    def view(self, actors: Int8s, legal: Bytes, packed: Bytes) -> None:
        """`actors`, `legal` and `observe` in one call, into the caller's arrays."""
        lib.sk_batch_view(
            self.handle,
            filled("actors", actors, "int8", (self.size,)),
            self._legal("legal", legal),
            self._packed("packed", packed),
        )
        self.game.check()

    def apply(self, actions: Int32s) -> None:
        """One action a row, int32 [size]; -1 leaves the row alone.

        Raises `IllegalAction` for the first row whose action is not legal; such rows stay as they
        were, all others have advanced.
        """
        row = lib.sk_batch_apply(self.handle, pointer("actions", actions, "int32", (self.size,)))
        self.game.check()
        if row >= 0:
            raise IllegalAction(row, int(actions[row]))

    def draw_chance(self, seed: int, games: Int64s, numbers: Int32s, chosen: Int32s) -> None:
        """Draws, where chance acts, its outcome into `chosen` int32 [size], which is left alone
        elsewhere. `games` int64 and `numbers` int32 [size] key the random numbers."""
        lib.sk_batch_chance(
            self.handle,
            integer("seed", seed, 0, 2**64 - 1),
            Stream.CHANCE,
            pointer("games", games, "int64", (self.size,)),
            pointer("numbers", numbers, "int32", (self.size,)),
            filled("chosen", chosen, "int32", (self.size,)),
        )
        self.game.check()

    def result(self) -> tuple[Float32s, Bytes, Int32s]:
        """Returns float32 [size, players] (zeros while running), ending codes uint8 [size] (indices
        into `game.endings`), and ply numbers int32 [size]."""
        returns = np.empty((self.size, self.game.players), np.float32)
        endings = np.empty(self.size, np.uint8)
        plies = np.empty(self.size, np.int32)
        lib.sk_batch_result(
            self.handle,
            writable(returns),
            writable(endings),
            writable(plies),
        )
        return returns, endings, plies

    def returns(self) -> Float32s:
        """float32 [size, players]; zeros while a game runs."""
        return self.result()[0]

    def endings(self) -> Bytes:
        """uint8 [size]: indices into `game.endings`; 0 while a game runs."""
        return self.result()[1]

    def plies(self) -> Int32s:
        """int32 [size]: the ply number of each row."""
        return self.result()[2]

    def histories(self) -> Int32s | None:
        """int32 [size, k]: the actions that led to each state, chance's included, each in its
        player's frame, -1 behind the last; None where the game's states do not tell. Those of a
        world are one way in which it can have come about."""
        most = self.game.max_length or 0
        out = np.empty((self.size, most), np.int32)
        if not lib.sk_batch_history(self.handle, writable(out)):
            return None
        longest = int((out >= 0).sum(1).max())
        return np.ascontiguousarray(out[:, :longest])

    def turns(self) -> Int32s:
        """int32 [size]: the number of the simultaneous turn that each row is in, or -1. As long as
        it stays, no player is shown what the others choose."""
        out = np.empty(self.size, np.int32)
        lib.sk_batch_turns(self.handle, writable(out))
        return out

    def numbers(self, rows: Int64s, played: Int32s) -> Int32s:
        """What keys the random choices of the players who act in `rows` int64 [n], int32 [n]: the
        number of the action in its game, `played` int32 [n], where everybody knows it. In other
        games (hidden tries, simultaneous turns of several actions) it is a number that the player
        knows, and that no other decision of the game has."""
        n = length("rows", rows)
        which = pointer("rows", indices("rows", rows, self.size), "int32", (n,))
        pointer("played", played, "int32", (n,))
        out = played.copy()
        lib.sk_batch_numbers(self.handle, which, n, writable(out))
        return out

    def rewind(self) -> None:
        """Rows that are in a simultaneous turn go back to where it began, which everybody knows."""
        lib.sk_batch_rewind(self.handle)

    @checked
    def moves(self, row: int, side: Player) -> list[tuple[int, int]]:
        """Of a game where a move is two actions, the legal moves of `row` (piece, destination) in
        the frame of `side`, ascending as red sees them; none in another game, or where no move
        begins."""
        row = self._row("row", row)
        pairs = ffi.new("uint8_t[]", 2 * MOST_MOVES)
        n = lib.sk_stratego_moves(self.handle, row, pairs)
        last = self.game.actions - 1
        moves = [(pairs[2 * i], pairs[2 * i + 1]) for i in range(n)]
        return [(last - start, last - end) for start, end in moves] if side else moves

    def _row(self, name: str, row: Any) -> int:
        return integer(name, row, 0, self.size - 1)

    def _legal(self, name: str, out: Any) -> object:
        return filled(name, out, "uint8", (self.size, self.game.actions))

    def _packed(self, name: str, out: Any) -> object:
        return filled(name, out, "uint8", (self.size, self.game.observation_bytes))


B = TypeVar("B", bound=Batch)


def _seal(game: Game, states: Bytes) -> bytes:
    """By it states are known as those of this game in an engine with the same sources: others would
    be read as what they are not."""
    of = text(lib.sk_source_hash()), game.name, sorted(game.rules.items()), game.file_hash
    return hashlib.sha256(repr(of).encode(errors="surrogateescape") + states.tobytes()).digest()


def _restored(cls: type[B], game: Game, threads: int, states: Bytes, seal: bytes) -> B:
    """A batch that was pickled."""
    if _seal(game, states) != seal:
        raise ValueError(
            f"{game.name}: pickled states of another version of the engine, or damaged"
        )
    out = cls(game, len(states), threads)
    lib.sk_batch_restore(
        out.handle, pointer("states", states, "uint8", (out.size, game.state_bytes))
    )
    return out
