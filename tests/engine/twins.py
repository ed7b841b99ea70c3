"""One game in the engine and in the slow twin, compared at every action."""

from __future__ import annotations

import dataclasses
import random

import numpy as np

from slow_stratego import SlowGame
from stratkit.engine import Batch, Game, expand_planes
from stratkit.engine.stratego import PLACING_ORDER, VARIANTS, Position, legal_moves, open_types


class Twins:
    """`start` begins in the middle of a game; with `planes`, observations are compared as well."""

    def __init__(
        self, name: str, rules: dict[str, int], start: Position | None = None, planes: bool = False
    ) -> None:
        self.game, self.planes = Game(name, rules), planes
        rules = self.game.rules
        variant = dataclasses.replace(
            VARIANTS[name], max_plies=rules["max_plies"], max_no_attack=rules["max_quiet"]
        )
        self.batch = Batch(self.game, 1)
        repetition = rules["two_squares"], bool(rules["more_squares"])
        self.slow = SlowGame(variant, *repetition, open_types(rules), rules.get("waived", 0))
        if start is not None:
            self.batch.start(0, start.to_bytes())
            self.slow.begin(start)

    def apply(self, action: int) -> None:
        self.batch.apply(np.array([action], np.int32))

    def check_legal(self, expected: list[int]) -> None:
        assert np.flatnonzero(self.batch.legal()[0]).tolist() == sorted(expected)

    def check_planes(self, expected: np.ndarray) -> None:
        ours = expand_planes(self.game, self.batch.observe())[0].reshape(82, -1)
        np.testing.assert_array_equal(ours, expected)

    def deploy(self, rng: random.Random) -> None:
        """Both sides at random."""
        variant = self.slow.variant
        order = [t for t in PLACING_ORDER for _ in range(variant.counts[t])]
        for side in (0, 1):
            places = {*range(variant.zone)} - {*variant.lakes} - {*map(variant.flip, variant.lakes)}
            placed: list[tuple[int, int]] = []
            for type_ in order:
                free = sorted(places - {s for _, s in placed})
                if self.planes:
                    assert self.batch.actors()[0] == side
                    self.check_legal(free)
                    self.check_planes(self.slow.placing_planes(side, placed))
                placed.append((type_, rng.choice(free)))
                self.apply(placed[-1][1])
            self.slow.deploy(side, [square for _, square in placed])

    def compare(self) -> bool:
        """Everything before a ply; False when the game is over."""
        name, winner = self.slow.ending()
        returns, endings, plies = self.batch.result()
        assert self.game.endings[endings[0]] == name
        assert plies[0] == self.slow.plies()
        if name:
            red = 0 if winner is None else 1 - 2 * winner
            assert returns[0].tolist() == [red, -red]
            self.check_legal([])
            return False
        assert legal_moves(self.batch, 0) == self.moves()
        side = self.slow.side
        self.check_legal([self.slow.framed(side, a) for a in self.slow.moves()])
        if self.planes:
            self.check_planes(self.slow.planes())
        return True

    def moves(self) -> list[tuple[int, int]]:
        return [(a, b) for a, bs in self.slow.moves().items() for b in bs]

    def ply(self, from_: int, to: int) -> None:
        side, framed = self.slow.side, self.slow.framed
        self.apply(framed(side, from_))
        self.check_legal([framed(side, t) for t in self.slow.moves()[from_]])
        if self.planes:
            self.check_planes(self.slow.planes(selected=from_))
        self.apply(framed(side, to))
        self.slow.play(from_, to)
