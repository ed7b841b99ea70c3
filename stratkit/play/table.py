"""Games in lockstep: the loop that self-play and matches share.

It knows the game interface and no game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch, Game
from stratkit.engine.batch import CHANCE
from stratkit.errors import StratkitError
from stratkit.players.player import Player, Views

CUT = "cut"  # the ending of a game that reached `max_actions`

_NO_ACTIONS = np.empty(0, np.int32)


@dataclass(frozen=True)
class Seating:
    """A game to be played: its number, who plays each side (indices of players), and actions that
    begin it, int32 [k], which nobody chooses (given setups)."""

    number: int
    seats: tuple[int, ...]
    opening: npt.NDArray[np.int32] = field(default_factory=lambda: _NO_ACTIONS)


@dataclass(frozen=True)
class Finished:
    """A game that was played: actions int32 [T], mu float32 [T] (NaN where nobody chose), returns
    float32 [players], and the ending's code in `Game.endings` (`cut`: 0)."""

    seating: Seating
    actions: npt.NDArray[np.int32]
    mu: npt.NDArray[np.float32]
    returns: npt.NDArray[np.float32]
    ending: int
    plies: int
    step: int = -1  # of the policy at the game's start, where self-play knows one


class Table:
    """`slots` games in lockstep.

    `schedule` yields the games to begin, or None for "none at the moment"; it ends when there
    are no more. `max_actions` cuts longer games (return 0), None cuts none. `seed` is chance's.
    """

    def __init__(
        self,
        game: Game,
        players: Sequence[Player],
        schedule: Iterator[Seating | None],
        slots: int,
        threads: int = 1,
        max_actions: int | None = None,
        seed: int = 0,
    ) -> None:
        self.game, self.players, self.schedule = game, players, schedule
        self.max_actions, self.seed = max_actions, seed
        self.batch = Batch(game, slots, threads)
        self.seated: list[Seating | None] = [None] * slots
        self.steps = np.full(slots, -1, np.int64)  # of the policy when the game began
        self.policy_step = -1
        self.ended = False
        self.waiting = False
        # Whether a round with so many live games is to be played now: whoever follows a learner has
        # reasons to wait for more.
        self.worth_playing: Callable[[int], bool] = lambda live: True
        self._actors = np.empty(slots, np.int8)
        self._legal = np.empty((slots, game.actions), np.uint8)
        self._observations = np.empty((slots, game.observation_bytes), np.uint8)
        self._games = np.zeros(slots, np.int64)
        self._numbers = np.zeros(slots, np.int32)
        self._seats = np.full((slots, game.players), -1, np.int32)
        self._opening = np.zeros(slots, np.int32)  # length of each game's opening
        self._live = np.zeros(slots, bool)
        self._actions = np.zeros((slots, 256), np.int32)
        self._mu = np.full((slots, 256), np.nan, np.float32)

    def rounds(self) -> Iterator[list[Finished]]:
        """Plays one action in every game at a time; yields the games that ended in each round.
        While there is nothing worth playing it is `waiting`, and yields empty lists."""
        while True:
            self._fill()
            live = int(self._live.sum())
            if not live and self.ended:
                return
            self.waiting = not live or not self.worth_playing(live)
            if self.waiting:
                yield []
            else:
                self._act()
                yield self._collect()

    def _fill(self) -> None:
        for row in np.flatnonzero(~self._live):
            if self.ended:
                return
            try:
                seating = next(self.schedule)
            except StopIteration:
                self.ended = True
                return
            if seating is None:
                return
            self._seat(int(row), seating)

    def _seat(self, row: int, seating: Seating) -> None:
        self.batch.start(row, b"")
        self.seated[row] = seating
        self._games[row], self._numbers[row] = seating.number, 0
        self._seats[row] = seating.seats
        self._opening[row] = len(seating.opening)
        self._live[row] = True
        self.steps[row] = self.policy_step
        if len(seating.opening) > self._actions.shape[1]:
            self._grow(len(seating.opening))
        self._actions[row, : len(seating.opening)] = seating.opening

    def _grow(self, least: int) -> None:
        wider = max(least, 2 * self._actions.shape[1])
        extra = wider - self._actions.shape[1]
        self._actions = np.pad(self._actions, ((0, 0), (0, extra)))
        self._mu = np.pad(self._mu, ((0, 0), (0, extra)))

    def _act(self) -> None:
        """One action in every live game."""
        if int(self._numbers.max()) >= self._actions.shape[1]:
            self._grow(0)
        self.batch.view(self._actors, self._legal, self._observations)
        rows = np.arange(len(self._live))
        forced = self._live & (self._numbers < self._opening)
        choosing = self._live & ~forced & (self._actors >= 0)
        chosen = np.full(len(rows), -1, np.int32)
        mu = np.full(len(rows), np.nan, np.float32)
        if (self._actors == CHANCE).any():
            self.batch.draw_chance(self.seed, self._games, self._numbers, chosen)
            chosen[~self._live] = -1
        chosen[forced] = self._actions[rows[forced], self._numbers[forced]]
        seat = self._seats[rows, np.maximum(self._actors, 0)]
        for index, player in enumerate(self.players):
            mine = rows[choosing & (seat == index)]
            if len(mine):
                decision = player.act(self._views(mine))
                if (decision.actions < 0).any():
                    raise StratkitError("a player's policy has no action: its network is damaged")
                chosen[mine], mu[mine] = decision.actions, decision.mu
        self.batch.apply(chosen)
        live = rows[self._live]
        self._actions[live, self._numbers[live]] = chosen[live]
        self._mu[live, self._numbers[live]] = mu[live]
        self._numbers[live] += 1

    def _views(self, rows: npt.NDArray[np.int64]) -> Views:
        return Views(
            self._games[rows], self._numbers[rows], self._legal[rows], self._observations[rows]
        )

    def _collect(self) -> list[Finished]:
        returns, endings, plies = self.batch.result()
        over = endings > 0
        if self.max_actions is not None:
            over |= self._numbers >= self.max_actions
        finished = []
        for row in np.flatnonzero(self._live & over):
            seating, length = self.seated[row], int(self._numbers[row])
            assert seating is not None
            finished.append(
                Finished(
                    seating,
                    self._actions[row, :length].copy(),
                    self._mu[row, :length].copy(),
                    returns[row].copy(),
                    int(endings[row]),
                    int(plies[row]),
                    int(self.steps[row]),
                )
            )
            self._live[row] = False
            self.seated[row] = None
        return finished


def in_order(
    finished: Iterator[list[Finished]], numbers: Iterator[int]
) -> Iterator[list[Finished]]:
    """The same games in the order of `numbers`, each as soon as all before it are there."""
    waiting: dict[int, Finished] = {}
    expected = next(numbers, None)
    for games in finished:
        waiting.update((game.seating.number, game) for game in games)
        ready = []
        while expected in waiting:
            ready.append(waiting.pop(expected))
            expected = next(numbers, None)
        yield ready
