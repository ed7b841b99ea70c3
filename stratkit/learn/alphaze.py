"""AlphaZero's loss, for games of hidden information (Silver et al. 2018; Blüml, Czech, Kersting
2023, "AlphaZe**", equation 5), from top to bottom:

    policy_loss  the cross-entropy of the search's policy
    blended      the value's target: the game's result, and the search's value
    AlphaZe      both, for the optimizer

The network learns what a search has found at each decision of self-play, and the search begins
from what the network says. Nothing pulls towards an equilibrium: the limit is the search's own.
Or it learns the actions that somebody has played, which is imitation.
[n] is a flat batch of steps, [m] are different views.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.learn.algorithm import Algorithm, DistinctViews, Outputs, Steps
from stratkit.learn.averaging import average_rate, follow
from stratkit.learn.config import AlphaZeConfig
from stratkit.learn.data import StepBatch
from stratkit.learn.losses import value_loss
from stratkit.learn.step_weights import explained_parts, outcomes, weights_of
from stratkit.nets import Network, legal_policy

OF_TURNS = {"search=rm", "preset=searchbot"}  # keys of searches of simultaneous turns alone


def policy_loss(log_pi: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """- sum over steps of weight sum_a target(a) log pi(a). log_pi, target: float32 [n, A], both 0
    on illegal actions, target 0 on a step without one; weight: float32 [n]."""
    return -(weight * (target * log_pi).sum(1)).sum()


def blended(outcome: Tensor, root_value: Tensor, share: float) -> Tensor:
    """(1 - share) outcome + share root_value, float32 [n]; the outcome where the value is NaN."""
    blend = torch.where(root_value.isnan(), outcome, root_value)
    return (1 - share) * outcome + share * blend


class AlphaZeForward(NamedTuple):
    """What is known of m views beside the network's outputs.

    metrics   float32 [m, 2], `AlphaZe.view_metrics`
    """

    metrics: Tensor


class AlphaZeTargets(NamedTuple):
    """What n steps are to learn. All float32.

    policy      [n, A], the search's, or what was played
    value       [n]
    weight      [n], of the step
    explained   [n], its part in the explained variance
    """

    policy: Tensor
    value: Tensor
    weight: Tensor
    explained: Tensor


class AlphaZe(Algorithm[AlphaZeForward, AlphaZeTargets]):
    """The network and its update."""

    config: AlphaZeConfig
    loss_metrics = ("policy_loss", "value_loss", "target_kl", "explained")
    view_metrics = ("entropy", "value")

    @property
    def decay(self) -> float:
        return self.config.decay

    @property
    def momentum(self) -> float:
        return self.config.momentum

    def untrained(self, game: Game, seed: int) -> Network:
        """`InputError`: the game has no hidden pieces that could be seen, or most of its decisions
        would have no target."""
        of_turns = OF_TURNS.intersection(self.config.actors.split(","))
        if self.config.searched and of_turns and game.actions_per_ply > 1:
            what = "search=rm leaves moves without a target: it goes with --targets played"
            raise InputError(what, text=game.name)
        if self.config.face_up and not game.shows_face_up:
            raise InputError("sees=world: no pieces or stones to show face up", text=game.name)
        return super().untrained(game, seed)

    def learning_rate(self, step: int) -> float:
        """Constant after the warm-up; or from there along half a cosine to its floor."""
        c, rate = self.config, super().learning_rate(step)
        if not c.lr_cosine or step < c.warm_up:
            return rate
        done = c.done(step - c.warm_up, self.decisions)
        part = min(1.0, done / c.lr_cosine)
        return c.lr_floor + (rate - c.lr_floor) * (1 + math.cos(math.pi * part)) / 2

    def forward(self, views: DistinctViews, outputs: Outputs, step: int) -> AlphaZeForward:
        logits, value = outputs
        pi, log_pi = legal_policy(logits, views.legal)
        return AlphaZeForward(torch.stack([-(pi * log_pi).sum(1), value], 1))

    def targets(
        self, batch: StepBatch, outputs: Outputs, forward: AlphaZeForward, counts: Tensor
    ) -> AlphaZeTargets:
        value = outputs[1][batch.view]
        weight = weights_of(batch, counts, self.config.weight_by, self.ranks)
        parts = explained_parts(batch, value, weight, counts)
        estimate = outcomes(batch)
        if not self.config.searched:
            played = one_hot(batch.action, batch.legal.shape[1])
            return AlphaZeTargets(played.to(value), estimate, weight, parts)
        assert batch.target is not None and batch.root_value is not None  # make_batch has asked
        estimate = blended(estimate, batch.root_value, self.config.root_value)
        return AlphaZeTargets(batch.target, estimate, weight, parts)

    def loss(
        self,
        batch: StepBatch,
        steps: Steps,
        outputs: Outputs,
        forward: AlphaZeForward,
        targets: AlphaZeTargets,
    ) -> tuple[Tensor, Tensor]:
        config = self.config
        target, estimate, weight, parts = (x[steps] for x in targets)
        logits, value = outputs
        log_pi = legal_policy(logits, batch.legal[batch.view[steps]])[1]
        actor_loss = policy_loss(log_pi, target, weight)
        critic_loss = value_loss(value, estimate, weight)
        entropy = -(weight * torch.special.xlogy(target, target).sum(1)).sum()
        metrics = torch.stack([actor_loss, critic_loss, actor_loss - entropy, parts.sum()])
        return actor_loss + config.value_weight * critic_loss, metrics.detach()

    def after_step(self, step: int) -> Mapping[str, float]:
        follow(self.networks["average"], self.trained, average_rate(self.config.average_rate, step))
        return {"lr": self.learning_rate(step)}
