"""What a person's opponent has played is played again when the match is resumed.

A search that ends by the clock would decide otherwise the second time, and the person would meet
another game than the one that was left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stratkit.errors import InputError
from stratkit.humans.draws import DrawOffers
from stratkit.humans.session import MISFIT
from stratkit.players.player import (
    Decision,
    Games,
    Player,
    Sides,
    Views,
    WrappingPlayer,
    decide,
    watch,
)


@dataclass
class Done:
    """How many actions of a game are decided, by all who play from one list together."""

    actions: int = 0


class ReplayedOpponent(WrappingPlayer):
    """`player`, which plays one game at a time, by the actions that it has `played` in a game
    before, as far as they go; `keep` is told the game and each action after these, for `file`.
    `done`: shared by all who have played these actions, in games of more than two.

    `draws`, where it is player `me`: it accepts a draw where it expects no more, and declines one
    where it expects more or expects nothing. None: it answers for itself.
    """

    def __init__(
        self,
        player: Player,
        played: Mapping[int, Sequence[int]],
        keep: Callable[[int, int], None],
        file: str,
        draws: DrawOffers | None = None,
        me: int = 1,
        done: Done | None = None,
    ) -> None:
        super().__init__(player)
        self.draws, self.me = draws, me
        self.played, self.keep, self.file = played, keep, file
        self._done = Done() if done is None else done

    def begin(self, games: Games, sides: Sides) -> None:
        self._done.actions = 0  # nobody has decided yet
        super().begin(games, sides)

    def _decide(self, views: Views, values: bool) -> Decision:
        [game], done = views.games.tolist(), self._done.actions
        before = self.played.get(game, ())
        self._done.actions += 1
        if done >= len(before):
            decision = self._decided(views, values)
            if decision.actions[0] >= 0:
                self.keep(game, int(decision.actions[0]))
            return decision
        watch(self.player, views)  # so that it knows later what it would have known
        action = before[done]
        if not 0 <= action < views.legal.shape[1] or not views.legal[0, action]:
            what = f"what was played {MISFIT}"
            raise InputError(what, file=self.file, text=str(action))
        return Decision(np.array([action], np.int32), np.ones(1, np.float32))

    def _decided(self, views: Views, values: bool) -> Decision:
        if self.draws is None or not self.draws.is_offered_to(self.me):
            return decide(self.player, views, values)
        decision = decide(self.player, views, values=True)
        if decision.values is not None and decision.values[0] <= 0:
            return Decision(np.array([-1], np.int32), decision.mu, agreed=np.ones(1, bool))
        self.draws.decline(self.me)
        return decision
