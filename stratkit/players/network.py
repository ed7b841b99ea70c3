"""A network as a player: it draws from its policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from stratkit.engine import Game, sample, uniform
from stratkit.nets import numpy_policy
from stratkit.nets.evaluator import Evaluator
from stratkit.players.player import Decision, Explanation, Floats, Player, Views
from stratkit.players.testtime.options import PostProcessing

if TYPE_CHECKING:
    from torch import Tensor

    from stratkit.players.testtime.pipeline import PostprocessedPlayer


class NetworkPlayer(Player):
    """Plays `game` by the policy of `evaluator`, whose rare actions are dropped by `processing`:
    a threshold and quanta of single actions, as fine-tuning has them."""

    def __init__(
        self, evaluator: Evaluator, game: Game, seed: int, processing: tuple[float, int] = (0.0, 0)
    ) -> None:
        self.evaluator, self.game, self.seed = evaluator, game, seed
        self.processing = processing

    random_ties = False

    def load(self, weights: Mapping[str, Floats], processing: tuple[float, int]) -> None:
        """Plays by these weights from now on. `InputError`: they are another network's, or not
        finite."""
        self.evaluator.load(weights)
        self.processing = processing

    def policy(self, views: Views) -> Floats:
        """`PolicyPlayer.policy`."""
        return self._policy(views, values=False)[0]

    def act(self, views: Views) -> Decision:
        return self._act(views, values=False)

    def act_with_values(self, views: Views) -> Decision:
        """`ValuePlayer.act_with_values`."""
        return self._act(views, values=True)

    def explained(self, log: Callable[[Explanation], None]) -> Player:
        """`Explainer.explained`."""
        return self._in_stages(log)

    def explain(self, views: Views) -> list[Explanation]:
        """`Explainer.explain`."""
        return self._in_stages().explain(views)

    def _in_stages(self, log: Callable[[Explanation], None] | None = None) -> PostprocessedPlayer:
        """The same player, looked at move by move."""
        from stratkit.players.testtime.pipeline import PostprocessedPlayer

        threshold, quanta = self.processing
        asked = PostProcessing(threshold=threshold, quanta=quanta, per="action")
        return PostprocessedPlayer(self.evaluator, self.game, self.seed, asked, log)

    def _policy(self, views: Views, values: bool) -> tuple[Floats, Floats | None]:
        policy, expected = self.evaluator.evaluate_distinct(views.observations, views.legal, values)
        if any(self.processing):
            policy = numpy_policy.process(policy, *self.processing)
        return policy, expected

    def _act(self, views: Views, values: bool) -> Decision:
        """The engine draws, or on a GPU, by the same random numbers, the evaluator."""
        if self.evaluator.on_cpu:
            policy, expected = self._policy(views, values)
            chosen = sample(policy, views.legal, self.seed, views.games, views.numbers)
            return Decision(*chosen, expected)
        u = uniform(self.seed, views.games, views.numbers)
        drawn = self.evaluator.draw(views.observations, views.legal, u, self._process, values)
        return Decision(*drawn)

    def _process(self, policy: Tensor) -> Tensor:
        """What actions are drawn from on a GPU, float32 [n, A]."""
        from stratkit.nets import process

        return process(policy, *self.processing) if any(self.processing) else policy
