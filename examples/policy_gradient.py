"""An algorithm of one's own: policy gradients, with the value as baseline and an entropy bonus.

selfplay --game kuhn --policy run --follow |
train --out run --algorithm py:policy_gradient:PolicyGradient --bonus 0.05
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from stratkit.learn.algorithm import Algorithm, DistinctViews, Outputs, Steps
from stratkit.learn.config import PlayConfig
from stratkit.learn.data import StepBatch
from stratkit.learn.step_weights import outcomes, step_weights
from stratkit.nets import legal_policy


@dataclass(frozen=True)
class Config(PlayConfig):
    lr: float = 1e-3
    bonus: float = 0.01  # weight of the entropy


class Forward(NamedTuple):
    metrics: Tensor  # [m, 1] of each view: the entropy


class Targets(NamedTuple):
    outcome: Tensor  # [n] of each step: what the game brought its player
    advantage: Tensor
    weight: Tensor


class PolicyGradient(Algorithm[Forward, Targets]):
    config: Config
    network_names = ("online",)
    loss_metrics = ("policy_loss", "value_loss")
    view_metrics = ("entropy",)

    def forward(self, views: DistinctViews, outputs: Outputs, step: int) -> Forward:
        pi, log_pi = legal_policy(outputs[0], views.legal)
        return Forward(-(pi * log_pi).sum(1, keepdim=True))

    def targets(
        self, batch: StepBatch, outputs: Outputs, forward: Forward, counts: Tensor
    ) -> Targets:
        outcome = outcomes(batch) / batch.unit
        weight = step_weights(batch.player, counts)
        return Targets(outcome, outcome - outputs[1][batch.view], weight)

    def loss(
        self, batch: StepBatch, steps: Steps, outputs: Outputs, forward: Forward, targets: Targets
    ) -> tuple[Tensor, Tensor]:
        outcome, advantage, weight = (x[steps] for x in targets)
        pi, log_pi = legal_policy(outputs[0], batch.legal[batch.view[steps]])
        of_action = log_pi.gather(1, batch.action[steps, None])[:, 0]
        bonus = self.config.bonus * (pi * log_pi).sum(1)
        policy_loss = (weight * (bonus - advantage * of_action)).sum()
        value_loss = (weight * (outputs[1] - outcome).square()).sum()
        return policy_loss + value_loss, torch.stack([policy_loss, value_loss]).detach()

    def after_step(self, step: int) -> Mapping[str, float]:
        return {"lr": self.learning_rate(step)}
