"""The games of players who met, as the model asks for them, with weights for the bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from stratkit.rating.elo import Anchor, DavidsonModel, GameTally
from stratkit.rating.pool import DRAWN, LOST, WON, Floats, GamePairs

PRIOR_SHARE = 0.1


@dataclass(frozen=True)
class Group:
    """Players who met, if only by others.

    players  which ones of a pool
    met      their pairs of games, by numbers in the group
    anchors  by numbers in the group
    prior    draws of each with one more player
    """

    players: Sequence[int]
    met: GamePairs
    anchors: Sequence[Anchor]
    prior: int

    @property
    def size(self) -> int:
        """How many players there are with the prior's."""
        return len(self.players) + (self.prior > 0)

    @property
    def targets(self) -> Floats:
        """float64 [anchor]: Elo of the anchors."""
        return np.array([anchor.elo for anchor in self.anchors])

    def tally(self, samples: int = 1, generator: np.random.Generator | None = None) -> GameTally:
        """The games so many times, each pair with a random weight; with weights of 1 without a
        generator. Loose anchors are drawn, too. The prior, which nobody observed, has then but a
        share of its weight: it keeps ends finite, and tells nothing else of them."""
        targets = np.tile(self.targets, (samples, 1))
        sigmas = [anchor.sigma for anchor in self.anchors]
        if generator and any(sigmas):
            targets = targets + generator.standard_normal(targets.shape) * sigmas

        def weights(number: Floats) -> Floats:
            # The sum of n exponential weights has the gamma distribution.
            shape = (samples, len(number))
            return np.asarray(
                generator.standard_gamma(number, shape)
                if generator
                else np.tile(number, (samples, 1))
            )

        met = self.met
        weighted = weights(met.number.astype(float))
        starts = met.starts
        first, second = met.first[starts], met.second[starts]
        games, margin = (np.zeros((samples, self.size, self.size)) for _ in range(2))
        red, drawn = np.zeros(samples), np.zeros(samples)
        for colour, (i, j) in enumerate(((first, second), (second, first))):
            lost, even, won = (
                np.add.reduceat(weighted * met.counts[:, colour, result], starts, axis=1)
                for result in (LOST, DRAWN, WON)
            )
            games[:, i, j] = lost + even + won
            margin[:, first, second] += (won - lost) / 2
            red += ((won - lost) / 2).sum(1) * (1 - 2 * colour)
            drawn += even.sum(1)
        if self.prior:
            half = np.full(len(self.players), self.prior / 2)
            share = PRIOR_SHARE if generator else 1
            games[:, :-1, -1], games[:, -1, :-1] = share * weights(half), share * weights(half)
            drawn += games[:, -1].sum(1) + games[:, :, -1].sum(1)
        points = margin.sum(2) - margin.sum(1)
        return GameTally(games, points, red, drawn, self.anchors, targets)


def in_groups(met: GamePairs, groups: Sequence[Sequence[int]], model: DavidsonModel) -> list[Group]:
    """The pairs of each of the `groups`, in which the players' indices ascend."""
    sizes = [len(group) for group in groups]
    players = np.concatenate(groups)
    group, within = np.empty_like(players), np.empty_like(players)
    group[players] = np.repeat(np.arange(len(groups)), sizes)
    within[players] = np.concatenate([np.arange(size) for size in sizes])
    order = np.argsort(group[met.first], kind="stable")  # who met stays in order
    columns = within[met.first], within[met.second], met.number, met.counts
    cuts = np.searchsorted(group[met.first[order]], np.arange(1, len(groups)))
    parts = zip(*(np.split(column[order], cuts) for column in columns), strict=True)
    anchors: list[list[Anchor]] = [[] for _ in groups]
    for anchor in model.anchors:
        here = replace(anchor, player=int(within[anchor.player]))
        anchors[group[anchor.player]].append(here)
    return [
        Group(some, GamePairs(*part), given, model.prior)
        for some, part, given in zip(groups, parts, anchors, strict=True)
    ]
