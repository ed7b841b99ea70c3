"""A belief network, from games of any players: what are the enemy's hidden pieces?

The loss is the mean of - log p(truth), in nats, over the moments at which a side begins a move and
the enemy has a hidden piece. Its minimum is the posterior of the players whose games these are.
Whether anybody sampled the actions, and from which policy, does not matter. (Ataraxos, arXiv
2511.07312, learns its belief so, too.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from stratkit.engine import Game
from stratkit.learn.algorithm import Algorithm, DistinctViews, Outputs, Steps
from stratkit.learn.averaging import average_rate, follow
from stratkit.learn.config import BeliefConfig
from stratkit.learn.data import StepBatch
from stratkit.nets.belief import BeliefNet


class BeliefForward(NamedTuple):
    """What is known of m views beside the network's outputs.

    metrics   float32 [m, 2], `Belief.view_metrics`
    """

    metrics: Tensor


class BeliefTargets(NamedTuple):
    """What n steps are to learn.

    weight   float32 [n]; those of all ranks sum to 1
    """

    weight: Tensor


class Belief(Algorithm[BeliefForward, BeliefTargets]):
    """The network and its update. `InputError`: the game is on no board."""

    config: BeliefConfig
    loss_metrics = ("loss",)
    view_metrics = ("nats", "uniform")

    def untrained(self, game: Game, seed: int) -> Any:
        network = BeliefNet(self.net, game, seed)
        self.packed = game.observation_bytes
        return network

    def prepare(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Packed observations, and the truth that `make_batch` has put behind each."""
        return observations[:, : self.packed], observations[:, self.packed :]

    def outputs(self, views: DistinctViews) -> Outputs:
        """log p of the truth by the network, and if all worlds are alike: float32 [m] each."""
        online: Any = self.trained
        log_p, uniform = online.log_probabilities(*views.inputs)
        return log_p, uniform + 0 * log_p

    def forward(self, views: DistinctViews, outputs: Outputs, step: int) -> BeliefForward:
        return BeliefForward(-torch.stack(outputs, 1))

    def targets(
        self, batch: StepBatch, outputs: Outputs, forward: BeliefForward, counts: Tensor
    ) -> BeliefTargets:
        return BeliefTargets((batch.player >= 0) / counts.sum().clamp_min(1))

    def loss(
        self,
        batch: StepBatch,
        steps: Steps,
        outputs: Outputs,
        forward: BeliefForward,
        targets: BeliefTargets,
    ) -> tuple[Tensor, Tensor]:
        log_p, uniform = outputs
        loss = -(targets.weight[steps] * log_p).sum()
        return loss + 0 * uniform.sum(), loss.detach()[None]

    def after_step(self, step: int) -> Mapping[str, float]:
        follow(self.networks["average"], self.trained, average_rate(self.config.average_rate, step))
        return {}
