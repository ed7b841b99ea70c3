"""PPO, proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347), against itself; and
NashPG, Nash policy gradients (Yu et al. 2026, arXiv 2510.18183), which is PPO and a magnet. From
top to bottom:

    reference_update   one whole update of NashPG on one screen
    shuffled           the minibatches
    normalised         advantages of mean 0 and deviation 1
    PPO                all of it in parts, for the optimizer
    NashPG             the magnet, beside it

An update learns from a batch several times (epochs), a minibatch at a time. Each of these gradient
steps lowers, over the steps of its minibatch, the mean of

    - min(r A, r_clipped A) - c_H H(pi) + c_M KL(pi | magnet) + c_v (v - v_hat)^2 + c_mu D

where r is pi / mu, D = r log r - r + 1, whose mean is KL(pi | mu) (`--kl-mu`, 0), A the normalised
generalised advantage, and v_hat = v + A before normalisation. The magnet is a copy of the policy,
which is replaced every 40 updates (`--magnet`): each magnet's game has one equilibrium that is
found easily, and the equilibria approach the true game's. Without a magnet, PPO may circle around
it for ever. [n] is a flat batch of steps, [m] are different views.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from stratkit.engine import Game
from stratkit.learn.advantages import estimates
from stratkit.learn.algorithm import CPU, Algorithm, DistinctViews, Outputs, Steps
from stratkit.learn.averaging import average_rate, follow
from stratkit.learn.config import Magnet, NashPGConfig, PPOConfig
from stratkit.learn.data import StepBatch
from stratkit.learn.losses import (
    SurrogateTargets,
    behaviour_loss,
    magnet_loss,
    surrogate_loss,
    value_loss,
)
from stratkit.learn.magnet import log_magnet, move_magnet, with_magnet
from stratkit.learn.ranks import ALONE, Ranks
from stratkit.learn.step_weights import explained_parts, weights_of
from stratkit.nets import Network, legal_policy

# The acting network is learned by gradients. The average follows it, for play. NashPG's magnet is
# behind them, unless it is the average or uniform.
NETWORKS = ("online", "average")


def reference_update(
    networks: Mapping[str, Network],
    adam: torch.optim.Adam,
    batch: StepBatch,
    config: NashPGConfig,
    seed: int,
    step: int,
    decisions: int = 0,
) -> tuple[float, float]:
    """Update number `step`, counted from 0, after so many decisions: plain and slow, to be read.
    `NashPG` by the optimizer does the same; a test compares them. Returns the mean losses of policy
    and value.

    networks: those of `NETWORKS`; adam: of the online one. For one rank, and games of two players.
    """
    online, entropy_weight = networks["online"], config.entropy(step, decisions)
    name, rate, every = Magnet.read(config.magnet)
    observations, legal = batch.observations[batch.view], batch.legal[batch.view]
    with torch.no_grad():
        value = online(observations, legal)[1]
        log_of_magnet = -legal.sum(1, keepdim=True).float().log()
        if name is not None:
            log_of_magnet = legal_policy(networks[name](observations, legal)[0], legal)[1]
        advantage, first = torch.zeros_like(value), 0
        for game, length in enumerate(batch.lengths.tolist()):
            for player in (0, 1):
                after, later = batch.returns[game, player], 0.0  # at the player's next step: value
                for at in reversed(range(first, first + length)):
                    if batch.player[at] == player:
                        later = after - value[at] + config.advantage_lambda * later
                        after, advantage[at] = value[at], later
            first += length
        estimate = value + advantage
        of_trained = advantage[batch.trained]
        advantage = (advantage - of_trained.mean()) / of_trained.std(unbiased=False)
        weight = config.minibatches * weights_of(batch, batch.step_counts(), config.weight_by)
    losses = []
    for steps in shuffled(batch.trained, config.epochs, config.minibatches, seed, step):
        logits, value = online(observations[steps], legal[steps])
        pi, log_pi = legal_policy(logits, legal[steps])
        ratio = pi.gather(1, batch.action[steps, None])[:, 0] / batch.mu[steps]
        clipped = ratio.clamp(1 - config.ratio_clip, 1 + config.ratio_clip)
        gain = torch.minimum(ratio * advantage[steps], clipped * advantage[steps])
        gain -= entropy_weight * (pi * log_pi).sum(1)
        to_magnet = (pi * (log_pi - log_of_magnet[steps])).sum(1)
        price = config.magnet_weight * to_magnet + config.kl_mu * (ratio * ratio.log() - ratio + 1)
        policy_loss = (weight[steps] * (price - gain)).sum()
        critic_loss = (weight[steps] * (value - estimate[steps]).square()).sum()

        adam.zero_grad()
        torch.autograd.backward(policy_loss + config.value_weight * critic_loss / batch.unit**2)
        nn.utils.clip_grad_norm_(online.parameters(), config.grad_norm or float("inf"))
        adam.param_groups[0]["lr"] = config.rate(step, decisions)
        adam.step()
        losses.append((policy_loss.item(), critic_loss.item()))
    follow(networks["average"], online, average_rate(config.average_rate, step))
    if rate and (step + 1) % every == 0:
        follow(networks["magnet"], online, rate)
    policy_losses, critic_losses = np.mean(losses, axis=0).tolist()
    return policy_losses, critic_losses


def shuffled(
    trained: Tensor, epochs: int, minibatches: int, seed: int, step: int
) -> Iterator[Tensor]:
    """The minibatches of update number `step`: the rows `trained` in an order that is drawn anew
    for each epoch, in equal parts."""
    random = np.random.default_rng([seed, step])
    for _ in range(epochs):
        order = torch.from_numpy(random.permutation(len(trained))).to(trained.device)
        yield from trained[order].tensor_split(minibatches)


def normalised(advantage: Tensor, trained: Tensor, ranks: Ranks = ALONE) -> Tensor:
    """The advantages [n], of mean 0 and deviation 1 over the rows `trained` of all ranks."""
    x = advantage[trained].double()
    number, total, square = ranks.sum(torch.stack([torch.ones_like(x), x, x * x]).sum(1))
    mean = total / number.clamp_min(1)
    deviation = (square / number.clamp_min(1) - mean * mean).clamp_min(0).sqrt()
    return advantage.sub(mean).div(deviation.clamp_min(1e-8)).float()


class PPOForward(NamedTuple):
    """What is known of m views beside the online network's outputs, without a graph.

    log_magnet   float32 [m, A], of the magnet's policy; [m, 1]: it is uniform, or there is none
    entropy      float32 [m], the weight of the entropy in this update
    metrics      float32 [m, number of `view_metrics`]
    """

    log_magnet: Tensor
    entropy: Tensor
    metrics: Tensor


class PPO(Algorithm[PPOForward, SurrogateTargets]):
    """PPO's network and its update."""

    config: PPOConfig
    loss_metrics = ("policy_loss", "value_loss", "clipped", "explained")
    view_metrics: tuple[str, ...] = ("entropy", "value")

    def forward(self, views: DistinctViews, outputs: Outputs, step: int) -> PPOForward:
        logits, value = outputs
        pi, log_pi = legal_policy(logits, views.legal)
        weight = torch.full_like(value, self.config.entropy(step, self.decisions))
        metrics = torch.stack([-(pi * log_pi).sum(1), value], 1)
        return PPOForward(logits[:, :1], weight, metrics)

    def targets(
        self, batch: StepBatch, outputs: Outputs, forward: PPOForward, counts: Tensor
    ) -> SurrogateTargets:
        value = outputs[1][batch.view]
        estimated = estimates(
            batch.grid(value),
            batch.grid(torch.ones_like(value)),
            batch.grid(batch.actor, fill=-1),
            batch.rewards(),
            batch.grid(batch.player, fill=-1) >= 0,
            value_lambda=self.config.advantage_lambda,
            advantage_lambda=self.config.advantage_lambda,
        )
        advantage = normalised(batch.flat(estimated.advantage), batch.trained, self.ranks)
        weight = weights_of(batch, counts, self.config.weight_by, self.ranks)
        parts = explained_parts(batch, value, weight, counts)
        minibatches = self.config.minibatches
        return SurrogateTargets(
            advantage, batch.flat(estimated.value), minibatches * weight, minibatches * parts
        )

    def minibatches(self, trained: Tensor, step: int) -> Iterator[Tensor]:
        return shuffled(trained, self.config.epochs, self.config.minibatches, self.seed, step)

    def loss(
        self,
        batch: StepBatch,
        steps: Steps,
        outputs: Outputs,
        forward: PPOForward,
        targets: SurrogateTargets,
    ) -> tuple[Tensor, Tensor]:
        config = self.config
        advantage, estimate, weight, parts = (x[steps] for x in targets)
        view, (logits, value) = batch.view[steps], outputs
        pi, log_pi = legal_policy(logits, batch.legal[view])
        ratio = pi.gather(1, batch.action[steps][:, None])[:, 0] / batch.mu[steps]
        policy_loss = (
            surrogate_loss(ratio, advantage, weight, config.ratio_clip)
            + (weight * forward.entropy[view] * (pi * log_pi).sum(1)).sum()
            + self.distance(pi, log_pi, forward.log_magnet[view], weight)
        )
        if config.kl_mu:
            policy_loss = policy_loss + config.kl_mu * behaviour_loss(ratio.log(), weight)
        critic_loss = value_loss(value, estimate, weight)
        outside = (ratio - 1).abs() > config.ratio_clip
        clipped = (weight * outside).sum() / batch.returns.shape[1]
        metrics = torch.stack([policy_loss, critic_loss, clipped, parts.sum()]).detach()
        return policy_loss + config.value_weight * critic_loss / batch.unit**2, metrics

    def distance(self, pi: Tensor, log_pi: Tensor, log_magnet: Tensor, weight: Tensor) -> Tensor:
        """The price of the distance from the magnet; here, of none."""
        return pi.new_zeros(())

    def after_step(self, step: int) -> Mapping[str, float]:
        follow(self.networks["average"], self.trained, average_rate(self.config.average_rate, step))
        return {"lr": self.learning_rate(step)}


class NashPG(PPO):
    """NashPG's networks and its update."""

    config: NashPGConfig
    view_metrics = ("entropy", "value", "kl")

    def __init__(
        self, net: str, game: Game, config: NashPGConfig, seed: int, device: torch.device = CPU
    ) -> None:
        self.network_names = with_magnet(NETWORKS, config.magnet)
        super().__init__(net, game, config, seed, device)

    def forward(self, views: DistinctViews, outputs: Outputs, step: int) -> PPOForward:
        pi, log_pi = legal_policy(outputs[0], views.legal)
        to = log_magnet(self.config.magnet, self.networks, views)
        kl = (pi * (log_pi - to)).sum(1, keepdim=True)
        of_ppo = super().forward(views, outputs, step)
        return of_ppo._replace(log_magnet=to, metrics=torch.cat([of_ppo.metrics, kl], 1))

    def distance(self, pi: Tensor, log_pi: Tensor, log_magnet: Tensor, weight: Tensor) -> Tensor:
        return self.config.magnet_weight * magnet_loss(pi, log_pi, log_magnet, weight)

    def after_step(self, step: int) -> Mapping[str, float]:
        move_magnet(self.config.magnet, self.networks, step)
        return super().after_step(step)
