"""The policy of turns that are single actions: of a game whose moves are, and of deployment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stratkit.players.player import Floats, Views
from stratkit.players.testtime.stages import Stage, Turns, policy_stages
from stratkit.players.testtime.turn_policy import SearchTargets, StagedPolicy, TurnPolicy
from stratkit.search.decision import SearchResult


class ActionPolicy(TurnPolicy):
    """The policy of a game whose moves are single actions."""

    def policy(
        self, views: Views, targets: SearchTargets, values: bool
    ) -> tuple[Floats, Floats | None]:
        seen = views.observations, views.legal, values
        policy, expected = self.evaluator.evaluate_distinct(*seen)
        left: list[tuple[str, Floats]] = [("network", policy)]
        searches: Sequence[SearchResult | None] = [None] * len(views)
        if self.search:
            staged = self.search(Turns(views), policy)
            left.append((self.search.name, staged.policy))
            searches = staged.searches or searches
            self._note(views, searches, targets)
        stages = policy_stages(self.options, deploying=False, seed=self.seed)
        left += self.through(stages, Turns(views), left[-1][1])[1:]
        for row in range(len(views)) if self.log else ():
            (actions,) = np.nonzero(views.legal[row])
            moves = [(action, action) for action in actions.tolist()]
            of_row = [(name, policy[row, actions]) for name, policy in left]
            value = None if expected is None else float(expected[row])
            self.explain(views, row, moves, of_row, value, None, searches[row])
        return left[-1][1], expected

    def _note(
        self, views: Views, searches: Sequence[SearchResult | None], targets: SearchTargets
    ) -> None:
        for row, result in enumerate(searches):
            if result:
                target, value = result.search_target
                actions = np.flatnonzero(views.legal[row])
                targets.note(row, actions, target, value * self.game.unit)


class DeploymentPolicy(StagedPolicy):
    """The policy of deployment: where the next piece goes."""

    def policy(self, views: Views, policy: Floats) -> Floats:
        """What the stages leave of the network's policy, float32 [n, actions]."""
        stages: list[Stage] = [self.search] if self.search else []
        stages += policy_stages(self.options, deploying=True, seed=self.seed)
        left = self.through(stages, Turns(views), policy)
        for row in range(len(views)) if self.log else ():
            (squares,) = np.nonzero(views.legal[row])
            moves = [(square, square) for square in squares.tolist()]
            self.explain(views, row, moves, [(name, p[row, squares]) for name, p in left])
        return left[-1][1]
