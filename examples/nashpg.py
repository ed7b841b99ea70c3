"""NashPG, Nash policy gradients (Yu et al. 2026, arXiv 2510.18183), as an algorithm of one's own.

PPO (Schulman et al. 2017) against itself, and a distance to a magnet: a copy of the policy, which
is replaced every so many updates. With `--magnet-weight 0` it is PPO.

selfplay --game leduc --policy run --follow --net mlp:128x128 |
train --out run --algorithm py:nashpg:NashPG --net mlp:128x128 --batch 400
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from stratkit.learn.algorithm import Algorithm, DistinctViews, Outputs, Steps
from stratkit.learn.config import PlayConfig
from stratkit.learn.data import StepBatch
from stratkit.learn.options import option
from stratkit.learn.step_weights import step_weights
from stratkit.nets import legal_policy


@dataclass(frozen=True)
class Config(PlayConfig):
    lr: float = option(1e-3, "learning rate of Adam", more_than=0)
    b1: float = option(0.9, "decay of Adam's first moment", at_least=0, less_than=1)
    eps: float = option(1e-5, "epsilon of Adam", more_than=0)
    grad_norm: float = option(0.5, "clip the norm of the gradient to this", at_least=0)
    epochs: int = option(4, "how often an update learns from each step", at_least=1)
    minibatches: int = option(4, "minibatches of an epoch", at_least=1)
    ratio_clip: float = option(0.2, "where the ratio pi/mu is clipped", more_than=0)
    gae_lambda: float = option(0.95, "lambda of the advantages", at_least=0, at_most=1)
    value_weight: float = option(0.5, "weight of the value's squared error", at_least=0)
    entropy_weight: float = option(0.1, "weight of the entropy", at_least=0)
    magnet_weight: float = option(0.2, "weight of KL(pi|magnet)", at_least=0)
    magnet_every: int = option(40, "updates after which the magnet is replaced", at_least=1)


class Forward(NamedTuple):
    """Of each view: log_magnet [m, A]; metrics [m, 2]."""

    log_magnet: Tensor
    metrics: Tensor


class Targets(NamedTuple):
    """Of each step [n]: the normalised advantage, the value's target, and its weight."""

    advantage: Tensor
    value: Tensor
    weight: Tensor


def advantages(
    value: Tensor, player: Tensor, learned: Tensor, rewards: Tensor, decay: float
) -> Tensor:
    """Generalised advantages (Schulman et al. 2016) of each player's own steps, float32 [T, B].

    value: float32 [T, B]. player: integer [T, B], -1: padding. learned: bool [T, B]; of other steps
    the value alone counts. rewards: float32 [T, B, P].
    """
    out = torch.zeros_like(value)
    gain, next_value, later = torch.zeros(3, *rewards.shape[1:])
    for t in reversed(range(len(value))):
        gain = gain + rewards[t]
        own = player[t][:, None] == torch.arange(rewards.shape[2])
        advantage = gain + next_value - value[t][:, None] + decay * later
        advantage = advantage * learned[t][:, None]
        out[t] = (own * advantage).sum(1)
        later = torch.where(own, advantage, later)
        next_value = torch.where(own, value[t][:, None], next_value)
        gain = gain * ~own
    return out


class NashPG(Algorithm[Forward, Targets]):
    config: Config
    network_names = ("online", "magnet")
    loss_metrics = ("policy_loss", "value_loss", "clipped")
    view_metrics = ("entropy", "kl")
    slices = True

    def forward(self, views: DistinctViews, outputs: Outputs, step: int) -> Forward:
        pi, log_pi = legal_policy(outputs[0], views.legal)
        magnet = self.networks["magnet"]
        logits = magnet.logits(magnet.embed(views.inputs), views.inputs, views.legal)
        log_magnet = legal_policy(logits, views.legal)[1]
        metrics = torch.stack([-(pi * log_pi).sum(1), (pi * (log_pi - log_magnet)).sum(1)], 1)
        return Forward(log_magnet, metrics)

    def targets(
        self, batch: StepBatch, outputs: Outputs, forward: Forward, counts: Tensor
    ) -> Targets:
        value = outputs[1][batch.view]
        found = advantages(
            batch.grid(value),
            batch.grid(batch.actor, fill=-1),
            batch.grid(batch.player, fill=-1) >= 0,
            batch.rewards(),
            self.config.gae_lambda,
        )
        advantage = batch.flat(found)
        of_learned = advantage[batch.learned]
        sums = torch.stack([of_learned.sum(), of_learned.square().sum()])
        mean, square = self.ranks.sum(sums) / counts.sum().clamp_min(1)
        normalised = (advantage - mean) / ((square - mean**2).clamp_min(0).sqrt() + 1e-8)
        weight = step_weights(batch.player, counts) * self.config.minibatches
        return Targets(normalised, value + advantage, weight)

    def minibatches(self, learned: Tensor, step: int) -> Iterator[Tensor]:
        random = torch.Generator().manual_seed(hash((self.seed, step)))
        for _ in range(self.config.epochs):
            order = torch.randperm(len(learned), generator=random).to(learned.device)
            yield from learned[order].tensor_split(self.config.minibatches)

    def loss(
        self, batch: StepBatch, steps: Steps, outputs: Outputs, forward: Forward, targets: Targets
    ) -> tuple[Tensor, Tensor]:
        config = self.config
        advantage, estimate, weight = (x[steps] for x in targets)
        view = batch.view[steps]
        pi, log_pi = legal_policy(outputs[0], batch.legal[view])
        ratio = pi.gather(1, batch.action[steps, None])[:, 0] / batch.mu[steps]
        clipped = ratio.clamp(1 - config.ratio_clip, 1 + config.ratio_clip)
        gain = torch.minimum(ratio * advantage, clipped * advantage)
        entropy = -(pi * log_pi).sum(1)
        to_magnet = (pi * (log_pi - forward.log_magnet[view])).sum(1)
        penalty = config.magnet_weight * to_magnet - config.entropy_weight * entropy
        policy_loss = (weight * (penalty - gain)).sum()
        value_loss = (weight * (outputs[1] - estimate).square()).sum()
        outside = (weight * (ratio != clipped)).sum() / batch.returns.shape[1]
        loss = policy_loss + config.value_weight * value_loss / batch.unit**2
        return loss, torch.stack([policy_loss, value_loss, outside]).detach()

    def after_step(self, step: int) -> Mapping[str, float]:
        if (step + 1) % self.config.magnet_every == 0:
            self.networks["magnet"].load_state_dict(self.trained.state_dict())
        return {"lr": self.learning_rate(step)}
