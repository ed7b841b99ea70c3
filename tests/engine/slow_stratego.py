"""Stratego once more, slowly and obviously, from the text of the rules: the engine's independent
twin.

It keeps the whole history, and both repetition rules are read from that whenever it is a side's
turn: no counts, bit sets or hashes that could be wrong in the way the engine's are.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from stratkit.engine.stratego import (
    MOVED,
    PIECE,
    PLACING_ORDER,
    REVEALED,
    SIDE,
    TYPE,
    Position,
    Variant,
)

FLAG, SPY, SCOUT, MINER, MARSHAL, BOMB = 0, 1, 2, 3, 10, 11


@dataclass(eq=False)
class Piece:
    side: int
    type: int
    moved: bool = False
    revealed: bool = False


@dataclass
class Ply:
    piece: Piece
    from_: int
    to: int
    attack: bool
    threat: bool = False  # whether the piece stood on `to` afterwards, beside an enemy


@dataclass
class Chase:
    """From the ply `begun` on, all plies of the side to move threatened and all of the other side
    evaded; only the first may be an attack. `positions` are those after each of these plies."""

    begun: int
    evaded: set[Piece]
    positions: list[dict[Piece, int]]


@functools.cache
def rays(variant: Variant) -> list[list[list[int]]]:
    """For each square the squares in each of the four directions, up to the edge or a lake."""
    w, h = variant.width, variant.height

    def ray(x: int, y: int, dx: int, dy: int) -> list[int]:
        x, y = x + dx, y + dy
        if not (0 <= x < w and 0 <= y < h) or w * y + x in variant.lakes:
            return []
        return [w * y + x, *ray(x, y, dx, dy)]

    steps = ((1, 0), (-1, 0), (0, 1), (0, -1))
    return [[ray(s % w, s // w, *step) for step in steps] for s in range(w * h)]


@functools.cache
def crossed(width: int, from_: int, to: int) -> frozenset[tuple[int, int]]:
    """The borders between neighbouring squares that a straight move crosses."""
    step = (1 if abs(to - from_) < width else width) * (1 if to > from_ else -1)
    squares = range(from_, to + step, step)
    return frozenset((min(a, b), max(a, b)) for a, b in itertools.pairwise(squares))


@dataclass
class SlowGame:
    variant: Variant
    two_squares: int = 3
    more_squares: bool = True
    open_types: tuple[int, ...] = ()
    waived: int = 0  # a bit for each side that the repetition rules do not bind
    board: dict[int, Piece] = field(default_factory=dict)
    history: list[Ply] = field(default_factory=list)
    positions: list[dict[Piece, int]] = field(default_factory=list)  # after each ply
    side: int = 0
    flag_taken: bool = False
    plies_before: int = 0  # of a start position
    no_attack_before: int = 0
    # Of this turn, worked out once:
    chase: Chase | None = None
    known_moves: dict[int, list[int]] | None = None
    # How many moves each rule has forbidden so far, of those that were asked for.
    forbidden: Counter[str] = field(default_factory=Counter)

    def begin(self, start: Position) -> None:
        """Begins in the middle, without a history."""
        self.side, self.plies_before = start.side, start.plies
        self.no_attack_before = start.no_attack
        for square, cell in enumerate(map(int, start.cells)):
            if cell & PIECE:
                flags = bool(cell & MOVED), bool(cell & REVEALED)
                self.board[square] = Piece(int(bool(cell & SIDE)), cell & TYPE, *flags)

    # ---- geometry ----

    @property
    def width(self) -> int:
        return self.variant.width

    def neighbours(self, square: int) -> list[int]:
        return [ray[0] for ray in rays(self.variant)[square] if ray]

    def is_beside(self, a: int, b: int) -> bool:
        return b in self.neighbours(a)

    def framed(self, side: int, square: int) -> int:
        return square if side == 0 else self.variant.squares - 1 - square

    # ---- deployment ----

    def deploy(self, side: int, actions: list[int]) -> None:
        order = [t for t in PLACING_ORDER for _ in range(self.variant.counts[t])]
        for type_, action in zip(order, actions, strict=True):
            known = type_ in self.open_types
            self.board[self.framed(side, action)] = Piece(side, type_, revealed=known)

    # ---- article 10 ----

    def run_length(self, piece: Piece, border: tuple[int, int]) -> int:
        """How many of the side's latest consecutive turns were this piece crossing this border."""
        count = 0
        for i in range(len(self.history) - 2, -1, -2):
            ply = self.history[i]
            if ply.piece is not piece or border not in crossed(self.width, ply.from_, ply.to):
                break
            count += 1
        return count

    def two_squares_forbids(self, piece: Piece, from_: int, to: int) -> bool:
        return self.two_squares > 0 and any(
            self.run_length(piece, border) >= self.two_squares
            for border in crossed(self.width, from_, to)
        )

    # ---- article 11 ----

    def evades(self, ply: int) -> bool:
        """Whether that ply moved away a piece that the ply before threatened."""
        reply, threat = self.history[ply], self.history[ply - 1]
        return not reply.attack and self.is_beside(reply.from_, threat.to)

    def find_chase(self) -> Chase | None:
        now = begun = len(self.history)
        while begun >= 2 and self.history[begun - 2].threat and self.evades(begun - 1):
            begun -= 2
            if self.history[begun].attack:
                break  # it ended whatever chase was before
        if begun == now:
            return None
        evaded = {ply.piece for ply in self.history[begun + 1 :: 2]}
        return Chase(begun, evaded, self.positions[begun:])

    def more_squares_forbids(self, piece: Piece, from_: int, to: int) -> bool:
        if not self.more_squares or self.chase is None or to in self.board:
            return False
        beside = [self.board[at] for at in self.neighbours(to) if at in self.board]
        chasing = any(p in self.chase.evaded for p in beside)
        turn_before = self.history[-2]
        straight_back = (turn_before.from_, turn_before.to) == (to, from_)
        if not chasing or straight_back:
            return False
        after = {p: at for at, p in self.board.items()} | {piece: to}
        forbidden = after in self.chase.positions
        if forbidden and self.history[self.chase.begun].attack:
            self.forbidden["more_squares, a chase that began with an attack"] += 1
        return forbidden

    # ---- moves ----

    def moves_of(self, square: int) -> list[int]:
        piece = self.board[square]
        if piece.type in (FLAG, BOMB):
            return []
        targets = []
        for ray in rays(self.variant)[square]:
            for to in ray if piece.type == SCOUT else ray[:1]:
                if to in self.board and self.board[to].side == piece.side:
                    break
                targets.append(to)
                if to in self.board:
                    break
        return sorted(to for to in targets if not self.forbids(piece, square, to))

    def forbids(self, piece: Piece, from_: int, to: int) -> bool:
        """Whether a repetition rule does."""
        if self.waived >> piece.side & 1:
            return False
        rules = {
            "two_squares": self.two_squares_forbids(piece, from_, to),
            "more_squares": self.more_squares_forbids(piece, from_, to),
        }
        self.forbidden.update(rule for rule, forbids in rules.items() if forbids)
        return any(rules.values())

    def moves(self) -> dict[int, list[int]]:
        if self.known_moves is None:
            own = sorted(s for s, p in self.board.items() if p.side == self.side)
            self.known_moves = {s: targets for s in own if (targets := self.moves_of(s))}
        return self.known_moves

    def play(self, from_: int, to: int) -> None:
        piece, target = self.board.pop(from_), self.board.get(to)
        piece.moved = True
        if len(crossed(self.width, from_, to)) >= 2:
            piece.revealed = True
        if target is None:
            self.board[to] = piece
        else:
            self.attack(piece, target, to)
        ply = Ply(piece, from_, to, target is not None)
        beside = [self.board[at] for at in self.neighbours(to) if at in self.board]
        enemies = any(p.side != piece.side for p in beside)
        ply.threat = self.board.get(to) is piece and enemies
        self.history.append(ply)
        self.positions.append({p: at for at, p in self.board.items()})
        self.side = 1 - self.side
        self.chase, self.known_moves = self.find_chase(), None

    def attack(self, piece: Piece, target: Piece, at: int) -> None:
        piece.revealed = target.revealed = True
        self.flag_taken = target.type == FLAG
        del self.board[at]
        if winner := self.winner(piece, target):
            self.board[at] = winner

    def winner(self, piece: Piece, target: Piece) -> Piece | None:
        """Who is left after `piece` has attacked `target`."""
        if target.type == BOMB:
            return piece if piece.type == MINER else target
        if piece.type == SPY and target.type == MARSHAL:
            return piece
        if piece.type == target.type:
            return None
        return piece if piece.type > target.type else target

    # ---- the end ----

    def plies(self) -> int:
        return self.plies_before + len(self.history)

    def no_attack(self) -> int:
        for plies, ply in enumerate(reversed(self.history)):
            if ply.attack:
                return plies
        return self.no_attack_before + len(self.history)

    def ending(self) -> tuple[str, int | None]:
        """(name, winner)."""
        if self.flag_taken:
            return "flag_captured", 1 - self.side
        if not self.moves():
            if all(p.type in (FLAG, BOMB) for p in self.board.values()):
                return "no_movable_pieces", None
            return "no_legal_move", 1 - self.side
        if self.plies() == self.variant.max_plies:
            return "max_plies", None
        if self.variant.max_no_attack and self.no_attack() == self.variant.max_no_attack:
            return "max_quiet", None
        return "", None

    # ---- DeepNash's observation, plane by plane ----

    def public(self, side: int) -> np.ndarray:
        """[12, squares] of one side's pieces, absolute squares."""
        pieces = {s: p for s, p in self.board.items() if p.side == side}
        hidden = [p for p in pieces.values() if not p.revealed]
        count = [sum(p.type == t for p in hidden) for t in range(12)]
        movable = sum(count[t] for t in range(12) if t not in (FLAG, BOMB))
        immovable = count[FLAG] + count[BOMB]
        unmoved = sum(not p.moved for p in hidden)
        planes = np.zeros((12, self.variant.squares), np.float32)
        for square, piece in pieces.items():
            for t in range(12):
                if piece.revealed:
                    a, b = int(piece.type == t), 1
                elif piece.moved:
                    a, b = (0, 1) if t in (FLAG, BOMB) else (count[t], movable)
                elif t in (FLAG, BOMB):
                    a, b = count[t], unmoved
                else:
                    a, b = count[t] * (unmoved - immovable), unmoved * movable
                planes[t, square] = np.float32(a) / np.float32(b) if b else 0
        return planes

    def planes(self, selected: int | None = None) -> np.ndarray:
        """float32 [82, squares] for the side to move in the play phase."""
        n, me = self.variant.squares, self.side
        private = np.zeros((12, n), np.float32)
        for square, piece in self.board.items():
            if piece.side == me:
                private[piece.type, square] = 1
        lakes = np.zeros((1, n), np.float32)
        lakes[0, list(self.variant.lakes)] = 1
        moves = np.zeros((40, n), np.float32)
        for k, ply in enumerate(self.history[::-1][:40]):
            attacked = -(np.float32(24 + ply.piece.type) / np.float32(12))
            moves[k, ply.from_] = attacked if ply.attack else -1
            moves[k, ply.to] = 1
        ratios = [
            np.float32(a) / np.float32(b) if b else np.float32(0)
            for a, b in (
                (self.plies(), self.variant.max_plies),
                (self.no_attack(), self.variant.max_no_attack),
            )
        ]
        chosen = np.zeros((1, n), np.float32)
        if selected is not None:
            chosen[0, selected] = 1
        scalars = [*ratios, np.float32(0), np.float32(selected is not None)]
        absolute = np.concatenate(
            [lakes, private, self.public(1 - me), self.public(me), moves]
            + [np.full((1, n), s, np.float32) for s in scalars]
            + [chosen]
        )
        return absolute if me == 0 else absolute[:, ::-1]

    def placing_planes(self, side: int, placed: list[tuple[int, int]]) -> np.ndarray:
        """The same while `side` places; `placed` holds (type, square in its frame)."""
        n = self.variant.squares
        planes = np.zeros((82, n), np.float32)
        planes[0, [self.framed(side, s) for s in self.variant.lakes]] = 1
        for type_, square in placed:
            planes[1 + type_, square] = 1
        planes[79] = 1
        return planes
