"""Whom the policy of self-play meets: its opponents by turns, or by how much they still beat it.

Players are indices of a table: 0 is the policy, frozen players follow. The policy has one game from
each seat against an opponent, then it meets the next one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stratkit.arrays import Float64s, Int32s, Int64s
from stratkit.engine.random_streams import Stream
from stratkit.engine.sampling import uniform
from stratkit.errors import Say
from stratkit.play.finished import Finished
from stratkit.storage.slices import GOES_ON

RATE = 0.01  # of the exponential average of the policy's scores: it remembers some 100 games
HOPEFUL = 0.9  # a score above this counts as this, so that who was beaten is met again


class ByTurns:
    """The opponents `against` one after the other, in a game of so many players. One of them may
    be 0: the policy itself."""

    def __init__(self, against: Sequence[int], players: int) -> None:
        self.against, self.players = np.array(against, np.int32), players

    def room(self, begun: int) -> int | None:
        """How many games may begin now, when so many have; None: any number."""
        return None

    def met(self, numbers: Int64s) -> Int32s:
        """int32 [n]: whom the policy meets in these games."""
        return self.against[numbers // self.players % len(self.against)]

    def note(self, finished: Finished) -> None:
        """These games, or slices of games, have come."""


class ByScore(ByTurns):
    """Each opponent with a probability in proportion to (1 - s)^2, where s is the policy's score
    against it so far: prioritised fictitious self-play (Vinyals et al. 2019, AlphaStar). `itself`
    keeps its share of `against`; of others, who is named twice has twice the probability.

    Which games have ended when another one begins depends on slots and threads. So games count by
    blocks of `every`, from number `first` on: the opponents of a block are drawn, by `seed`, by the
    results of all blocks but the one before it. A block begins when those results are there.
    """

    def __init__(
        self,
        against: Sequence[int],
        players: int,
        every: int,
        seed: int,
        first: int,
        names: Sequence[str],
        say: Say,
    ) -> None:
        super().__init__(against, players)
        self.every, self.seed, self.first, self.names, self.say = every, seed, first, names, say
        self.shares = np.bincount(self.against) / len(self.against)
        self.scores = np.full(len(self.shares), 0.5)
        self.games = np.zeros(len(self.shares), np.int64)
        self._chances = [self._by_scores()]  # after each block
        self._results: dict[int, dict[int, tuple[int, float]]] = {}  # by block, and number

    def room(self, begun: int) -> int:
        return (len(self._chances) + 1) * self.every - begun

    def met(self, numbers: Int64s) -> Int32s:
        at = np.zeros(len(numbers), np.int32)
        lots = uniform(self.seed, numbers // self.players, at, Stream.OPPONENT)
        blocks = (numbers - self.first) // self.every
        drawn = np.empty(len(numbers), np.int32)
        for block in np.unique(blocks).tolist():
            ends = self._chances[max(0, block - 1)].cumsum()[:-1]
            rows = blocks == block
            drawn[rows] = ends.searchsorted(lots[rows], side="right")
        return drawn

    def note(self, finished: Finished) -> None:
        for episode, seats, _ in finished:
            if episode.ending != GOES_ON:
                own = episode.returns[episode.number % self.players] - episode.returns.mean()
                block = (episode.number - self.first) // self.every
                result = max(seats), (np.sign(own) + 1) / 2
                self._results.setdefault(block, {})[episode.number] = result
        while len(self._results.get(len(self._chances) - 1, ())) == self.every:
            self._count(self._results.pop(len(self._chances) - 1))

    def _count(self, results: dict[int, tuple[int, float]]) -> None:
        """A block is over: its results, in the order of their games, change the scores."""
        for _, (who, score) in sorted(results.items()):
            self.games[who] += 1
            rate = max(RATE, 1 / (self.games[who] + 1))  # first a mean, with half a point more
            self.scores[who] += rate * (score - self.scores[who])
        self._chances.append(self._by_scores())
        self.say(self.text())

    def _by_scores(self) -> Float64s:
        """float64 [players]: the probability of each."""
        weights: Float64s = self.shares * (1 - np.minimum(self.scores, HOPEFUL)) ** 2
        weights[0] = 0
        weights *= (1 - self.shares[0]) / weights.sum()
        weights[0] = self.shares[0]
        return weights

    def text(self) -> str:
        """The scores, and how probable each opponent is now, in a line."""
        chances = self._chances[-1]
        each = [
            f"{self.names[k - 1]} {self.scores[k]:.1%}, drawn {chances[k]:.1%}"
            for k in range(1, len(chances))
        ]
        return f"scores after {self.games.sum():,} games: {'; '.join(each)}"
