"""Stratego once more, slowly and obviously, from the text of the rules: the engine's independent
twin.

Everything is worked out from the whole history whenever it is asked for.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

from stratkit.engine.stratego import PLACING_ORDER, Variant

FLAG, SPY, SCOUT, MINER, MARSHAL, BOMB = 0, 1, 2, 3, 10, 11


@dataclass
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


@dataclass
class SlowGame:
    variant: Variant
    two_squares: int = 3
    more_squares: bool = True
    board: dict[int, Piece] = field(default_factory=dict)
    history: list[Ply] = field(default_factory=list)
    positions: list[dict[int, int]] = field(default_factory=list)  # after each ply: piece -> square
    threatened: list[bool] = field(default_factory=list)  # whether each ply ended beside an enemy
    side: int = 0
    flag_taken: bool = False

    # ---- geometry ----

    def neighbours(self, square: int):
        """(next square, step) in the four directions, on the board and on land."""
        w, h = self.variant.width, self.variant.height
        x, y = square % w, square // w
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if 0 <= x + dx < w and 0 <= y + dy < h:
                to = w * (y + dy) + x + dx
                if to not in self.variant.lakes:
                    yield to, (dx, dy)

    def framed(self, side: int, square: int) -> int:
        return square if side == 0 else self.variant.squares - 1 - square

    # ---- deployment ----

    def deploy(self, side: int, actions: list[int]) -> None:
        order = [t for t in PLACING_ORDER for _ in range(self.variant.counts[t])]
        for type_, action in zip(order, actions, strict=True):
            self.board[self.framed(side, action)] = Piece(side, type_)

    # ---- moves ----

    def crossed(self, from_: int, to: int) -> set[tuple[int, int]]:
        """The borders between neighbouring squares that a straight move crosses."""
        step = (1 if abs(to - from_) < self.variant.width else self.variant.width) * (
            1 if to > from_ else -1
        )
        squares = list(range(from_, to + step, step))
        return {(min(a, b), max(a, b)) for a, b in itertools.pairwise(squares)}

    def run_length(self, piece: Piece, border: tuple[int, int]) -> int:
        """How many of the side's latest consecutive turns were this piece crossing this border."""
        count = 0
        for ply in reversed([p for p in self.history if p.piece.side == piece.side]):
            if ply.piece is not piece or border not in self.crossed(ply.from_, ply.to):
                break
            count += 1
        return count

    def two_squares_forbids(self, piece: Piece, from_: int, to: int) -> bool:
        return self.two_squares > 0 and any(
            self.run_length(piece, border) >= self.two_squares for border in self.crossed(from_, to)
        )

    # ---- article 11 ----

    def is_beside(self, a: int, b: int) -> bool:
        w = self.variant.width
        return abs(a % w - b % w) + abs(a // w - b // w) == 1

    def chase(self, side: int) -> tuple[int, set[int]] | None:
        """The chase that `side`, which is to move, is in: the index of the ply that began it,
        and the pieces that have evaded. Read from the whole history."""
        begun: int | None = None
        evaded: set[int] = set()
        for i, ply in enumerate(self.history):
            if ply.attack:
                begun = None
            elif ply.piece.side == side:
                if not self.threatened[i]:
                    begun = None
                elif begun is None:
                    begun, evaded = i, set()
            elif begun is not None:
                if self.is_beside(ply.from_, self.history[i - 1].to):
                    evaded.add(id(ply.piece))
                else:
                    begun = None
        return None if begun is None else (begun, evaded)

    def more_squares_forbids(self, piece: Piece, from_: int, to: int) -> bool:
        if not self.more_squares or to in self.board or not any(self.threatened[-2:-1]):
            return False
        chase = self.chase(piece.side)
        if chase is None:
            return False
        begun, evaded = chase
        threatens_runner = any(
            self.is_beside(to, at) for at, p in self.board.items() if id(p) in evaded
        )
        before = self.history[-2]
        straight_back = (before.from_, before.to) == (to, from_)
        after = {id(p): at for at, p in self.board.items()} | {id(piece): to}
        return threatens_runner and not straight_back and after in self.positions[begun:]

    def moves_of(self, square: int) -> list[int]:
        piece = self.board[square]
        if piece.type in (FLAG, BOMB):
            return []
        targets = []
        for _, step in self.neighbours(square):
            at = square
            while True:
                following = [to for to, s in self.neighbours(at) if s == step]
                if not following:
                    break
                at = following[0]
                if at in self.board and self.board[at].side == piece.side:
                    break
                targets.append(at)
                if at in self.board or piece.type != SCOUT:
                    break
        return sorted(
            t
            for t in targets
            if not self.two_squares_forbids(piece, square, t)
            and not self.more_squares_forbids(piece, square, t)
        )

    def moves(self) -> dict[int, list[int]]:
        own = [s for s, p in self.board.items() if p.side == self.side]
        return {s: self.moves_of(s) for s in sorted(own) if self.moves_of(s)}

    def play(self, from_: int, to: int) -> None:
        piece, target = self.board.pop(from_), self.board.get(to)
        self.history.append(Ply(piece, from_, to, target is not None))
        piece.moved = True
        if len(self.crossed(from_, to)) >= 2:
            piece.revealed = True
        if target is None:
            self.board[to] = piece
        else:
            piece.revealed = target.revealed = True
            del self.board[to]
            if target.type == FLAG:
                self.flag_taken = True
            if target.type == BOMB:
                winner = piece if piece.type == MINER else target
            elif piece.type == SPY and target.type == MARSHAL:
                winner = piece
            elif piece.type == target.type:
                winner = None
            else:
                winner = piece if piece.type > target.type else target
            if winner is not None:
                self.board[to] = winner
        self.positions.append({id(p): at for at, p in self.board.items()})
        self.threatened.append(
            any(self.is_beside(to, at) for at, p in self.board.items() if p.side != piece.side)
        )
        self.side = 1 - self.side

    # ---- the end ----

    def quiet(self) -> int:
        plies = 0
        for ply in reversed(self.history):
            if ply.attack:
                break
            plies += 1
        return plies

    def ending(self) -> tuple[str, int | None]:
        """(name, winner)."""
        if self.flag_taken:
            return "flag_captured", 1 - self.side
        if not self.moves():
            if all(p.type in (FLAG, BOMB) for p in self.board.values()):
                return "no_movable_pieces", None
            return "no_legal_move", 1 - self.side
        if len(self.history) == self.variant.max_plies:
            return "max_plies", None
        if self.variant.max_quiet and self.quiet() == self.variant.max_quiet:
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
                (len(self.history), self.variant.max_plies),
                (self.quiet(), self.variant.max_quiet),
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
