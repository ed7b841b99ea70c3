"""The engine against an independent, slow implementation: random and adversarial whole games."""

from __future__ import annotations

import numpy as np
import pytest
from slow_stratego import SlowGame

from stratkit.engine import Batch, Game, expand_planes, game_names
from stratkit.engine.stratego import PLACING_ORDER, VARIANTS, legal_moves


class Twins:
    """A game in the engine and in the slow twin, compared at every action."""

    def __init__(self, name: str, rng: np.random.Generator, two_squares: int) -> None:
        self.rng = rng
        self.game = Game(name, {"two_squares": two_squares})
        self.batch = Batch(self.game, 1)
        self.slow = SlowGame(VARIANTS[name], two_squares)

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
                np.testing.assert_array_equal(
                    self.planes(), self.slow.placing_planes(side, placed)
                )
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

    def choose(self, shuttling: float) -> tuple[int, int]:
        """A random move; with probability `shuttling` one that goes straight back, if there is one."""
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
