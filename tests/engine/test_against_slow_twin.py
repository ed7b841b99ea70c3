"""The engine against an independent, slow implementation: random and adversarial whole games."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from slow_stratego import SlowGame
from stratkit.engine import Batch, Game, expand_planes, game_names
from stratkit.engine.stratego import (
    FLAG,
    PIECE,
    PLACING_ORDER,
    SIDE,
    VARIANTS,
    Position,
    legal_moves,
)


class Twins:
    """A game in the engine and in the slow twin, compared at every action."""

    def __init__(
        self, name: str, rng: np.random.Generator, two_squares: int, max_plies: int | None = None
    ) -> None:
        self.rng = rng
        variant = VARIANTS[name]
        variant = dataclasses.replace(variant, max_plies=max_plies or variant.max_plies)
        rules = {"two_squares": two_squares, "max_plies": variant.max_plies}
        self.game = Game(name, rules)
        self.batch = Batch(self.game, 1)
        self.slow = SlowGame(variant, two_squares)

    def legal(self) -> list[int]:
        return [int(a) for a in np.flatnonzero(self.batch.legal()[0])]

    def planes(self) -> np.ndarray:
        return expand_planes(self.game, self.batch.observe())[0].reshape(82, -1)

    def apply(self, action: int) -> None:
        self.batch.apply(np.array([action], np.int32))

    def deploy(self) -> None:
        variant = self.slow.variant
        order = [t for t in PLACING_ORDER for _ in range(variant.counts[t])]
        for side in (0, 1):
            placed: list[tuple[int, int]] = []
            for type_ in order:
                assert self.batch.actors()[0] == side
                free = sorted(set(range(variant.zone)) - {s for _, s in placed})
                assert self.legal() == free
                np.testing.assert_array_equal(self.planes(), self.slow.placing_planes(side, placed))
                placed.append((type_, int(self.rng.choice(free))))
                self.apply(placed[-1][1])
            self.slow.deploy(side, [square for _, square in placed])

    def compare(self) -> bool:
        """Everything before a ply; False when the game is over."""
        name, winner = self.slow.ending()
        returns, endings, plies = self.batch.result()
        assert self.game.endings[endings[0]] == name
        assert plies[0] == len(self.slow.history)
        if name:
            red = 0 if winner is None else 1 - 2 * winner
            assert returns[0].tolist() == [red, -red]
            assert not self.batch.legal().any()
            return False
        moves = self.slow.moves()
        assert legal_moves(self.batch, 0) == [(a, b) for a in moves for b in moves[a]]
        side = self.slow.side
        assert self.legal() == sorted(self.slow.framed(side, a) for a in moves)
        np.testing.assert_array_equal(self.planes(), self.slow.planes())
        return True

    def ply(self, from_: int, to: int) -> None:
        side, framed = self.slow.side, self.slow.framed
        self.apply(framed(side, from_))
        expected = sorted(framed(side, t) for t in self.slow.moves_of(from_))
        assert self.legal() == expected
        np.testing.assert_array_equal(self.planes(), self.slow.planes(selected=from_))
        self.apply(framed(side, to))
        self.slow.play(from_, to)

    def chase_or_evade(self) -> tuple[int, int] | None:
        """A quiet move that ends beside the enemy, or one of a piece that was just threatened."""
        slow = self.slow
        moves = [(a, b) for a, bs in slow.moves().items() for b in bs if b not in slow.board]
        last = slow.history[-1].to if slow.history else None
        evading = [m for m in moves if last is not None and slow.is_beside(m[0], last)]
        enemies = [at for at, p in slow.board.items() if p.side != slow.side]
        threats = [m for m in moves if any(slow.is_beside(m[1], at) for at in enemies)]
        # Red chases and blue runs; now and then the other way round.
        first, then = (threats, evading) if slow.side == 0 else (evading, threats)
        options = [o for o in ([first] if self.rng.random() < 0.9 else [then, first]) if o]
        if not options:
            return None
        chosen = options[self.rng.integers(len(options))]
        return chosen[self.rng.integers(len(chosen))]

    def choose(self, shuttling: float) -> tuple[int, int]:
        """A random move; with probability `shuttling` one that goes straight back, if there is
        one."""
        moves = [(a, b) for a, bs in self.slow.moves().items() for b in bs]
        own = [p for p in self.slow.history if p.piece.side == self.slow.side]
        if own and self.rng.random() < shuttling:
            same_piece = [m for m in moves if m[0] == own[-1].to]
            back = [m for m in same_piece if m[1] == own[-1].from_]
            moves = back or same_piece or moves
        return moves[self.rng.integers(len(moves))]


@pytest.mark.parametrize("name", game_names())
@pytest.mark.parametrize("two_squares", [3, 5, 0])
def test_random_games_agree(name: str, two_squares: int) -> None:
    rng = np.random.default_rng(two_squares)
    endings = set()
    for number in range(12 if VARIANTS[name].squares < 100 else 2):
        twins = Twins(name, rng, two_squares)
        twins.deploy()
        shuttling = 0.9 if number % 2 else 0.1
        for _ in range(250):
            if not twins.compare():
                break
            twins.ply(*twins.choose(shuttling))
        endings.add(twins.slow.ending()[0])
    assert endings  # at least one game was compared


def chase_board(rng: np.random.Generator) -> Position:
    """A board of 3 x 4 with one or two pieces a side that can run about, and the flags in
    corners."""
    cells = np.zeros(12, np.uint8)
    cells[[0, 11]] = [PIECE | FLAG, PIECE | SIDE | FLAG]
    squares = rng.permutation(np.arange(1, 11))
    for i in range(int(rng.integers(2, 5))):
        side = SIDE if i % 2 else 0
        cells[squares[i]] = PIECE | side | int(rng.choice([2, 10]))
    return Position(VARIANTS["nano"], cells, int(rng.integers(2)))


@pytest.mark.parametrize("two_squares", [3, 5, 0])
def test_chases_agree(two_squares: int) -> None:
    """Players who do little but chase and evade; the rule must have bitten, and often."""
    rng = np.random.default_rng(10 + two_squares)
    bans = 0
    for _ in range(120):
        twins = Twins("nano", rng, two_squares, max_plies=150)
        start = chase_board(rng)
        twins.batch.start(0, start.to_bytes())
        twins.slow = SlowGame.at(
            dataclasses.replace(start, variant=twins.slow.variant), two_squares
        )
        for _ in range(150):
            if not twins.compare():
                break
            bans += sum(
                twins.slow.more_squares_forbids(p, at, to)
                for at, p in twins.slow.board.items()
                if p.side == twins.slow.side and p.type not in (0, 11)
                for to in twins.slow.neighbours(at)
                if to not in twins.slow.board
            )
            move = twins.chase_or_evade() if rng.random() < 0.97 else None
            twins.ply(*(move or twins.choose(0.2)))
    assert bans > 15
