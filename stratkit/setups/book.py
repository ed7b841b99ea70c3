"""A book of setups: the equilibrium of the deployment, which is a game of its own.

Both sides deploy without seeing each other: a simultaneous turn. Candidates are the setups that a
network deploys most probably. A pair of them is worth what games between them come to, both sides
played by the network. Regret matching finds a mixed policy for red and another one for blue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stratkit.arrays import Float64s
from stratkit.declared import option, whole
from stratkit.engine import Batch
from stratkit.engine.stratego import placements
from stratkit.errors import InputError, UsageError
from stratkit.search.equilibrium import TO_THE_END, Cells, drawn, solve
from stratkit.search.regret_matching import exploitability
from stratkit.setups.constraints import Constraints
from stratkit.setups.deployed import PlayerPlacer
from stratkit.setups.placing import PlacedSetups
from stratkit.setups.source import ROWS, Setups

if TYPE_CHECKING:
    from stratkit.players.network import NetworkPlayer

SOLVED, CHECKED = 0, 1  # samples of cells
MAX_RETURN = 1.0


@dataclass(frozen=True)
class BookOptions:
    """How a book is made. The keys stand before the PLAYER of `--from search,...`."""

    candidates: int = option(16, whole(1, 256), "setups a side")
    games: int = option(8, whole(0, 10_000), "games of each pair; 0 asks the network's value")
    samples: int = option(1024, whole(1, 1_000_000), "setups from which candidates are taken")
    iterations: int = option(4096, whole(1, 10_000_000), "iterations of regret matching")


@dataclass(frozen=True)
class Book:
    """A source of setups in pairs: setup 2k is red's and 2k + 1 blue's.

    setups    uint8 [m, zone]
    mixtures  float64 [m] of each side: probabilities of the setups
    seed      of the draws
    """

    setups: Setups
    mixtures: tuple[Float64s, Float64s]
    seed: int

    size = draws = None

    def draw(self, first: int, n: int) -> Setups:
        """Of pair k, red's setup from its mixture, then blue's."""
        numbers = np.arange(first, first + n)
        rows = [drawn(mixture, numbers // 2, side, self.seed)
                for side, mixture in enumerate(self.mixtures)]  # fmt: skip
        return np.asarray(self.setups[np.where(numbers % 2, rows[1], rows[0])])

    def logprobs(self, setups: Setups) -> Float64s:
        """Raises `UsageError`: the sides have different ones."""
        raise UsageError("--logprob: red and blue draw from a book with different probabilities")


def make_book(
    player: NetworkPlayer, constraints: Constraints, options: BookOptions, seed: int
) -> tuple[Book, str]:
    """The book of a network, and what is to be said about it. `InputError`: it deploys fewer than
    two different setups that meet the constraints."""
    game, network = player.game, player.evaluator
    setups = _candidates(PlacedSetups(PlayerPlacer(game, player), constraints), options)
    actions = np.stack([placements(constraints.variant, setup) for setup in setups])
    depth = TO_THE_END if options.games else 0
    cells = Cells(network, max(1, options.games), depth, MAX_RETURN)
    root = Batch(game, 1)
    solved = cells.table(root, actions, actions, seed, SOLVED)
    mixtures = solve(solved, options.iterations, seed)
    checked = cells.table(root, actions, actions, seed, CHECKED) if options.games else solved
    return Book(setups, mixtures, seed), _report(mixtures, solved, checked)


def _candidates(source: PlacedSetups, options: BookOptions) -> Setups:
    """uint8 [m, zone]: of many draws, the different setups of highest probability, which is that of
    the whole setup."""
    draws = [
        source.draw(first, min(ROWS, options.samples - first))
        for first in range(0, options.samples, ROWS)
    ]
    setups = np.unique(np.concatenate(draws), axis=0)
    if len(setups) < 2:
        raise InputError("the network deploys one setup only: there is nothing to choose from")
    order = np.argsort(-source.logprobs(setups), kind="stable")
    return np.ascontiguousarray(setups[order[: options.candidates]])


def _report(mixtures: tuple[Float64s, Float64s], solved: Float64s, checked: Float64s) -> str:
    """In words: how mixed the book is, and how exploitable within its candidates."""
    counts = " and ".join(f"{np.exp(-(p[p > 0] * np.log(p[p > 0])).sum()):.1f}" for p in mixtures)
    alike = [np.full(n, 1 / n) for n in solved.shape]
    gaps = (
        exploitability(solved, *mixtures),
        exploitability(checked, *mixtures),
        exploitability(checked, *alike),
    )
    value = float(mixtures[0] @ checked @ mixtures[1])
    return (
        f"red and blue mix as many as {counts} of {len(solved)} setups; worth {value:+.3f} to red;"
        f" exploitability among them {gaps[0]:.3f}, in other games {gaps[1]:.3f}"
        f" (all alike: {gaps[2]:.3f})"
    )
