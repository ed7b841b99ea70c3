"""MMD, magnetic mirror descent, as a policy gradient over whole games or slices of them (Sokota et
al. 2022, arXiv 2206.05825; with a clipped ratio and annealing as in Ataraxos, arXiv 2511.07312),
from top to bottom:

    reference_update   one whole update on one screen
    largest            the steps that are learned from
    MMD                all of it in parts, for the optimizer

At an information set, mirror descent goes from the policy mu to the pi that maximises

    sum_a pi(a) q(a) - eta KL(pi | magnet) - kl_mu KL(pi | mu)

where 1 / kl_mu is the paper's step size and eta its alpha, and q is in the game's unit of returns.
The losses below estimate minus this from games that mu has played. Their gradient at pi = mu is
that of exact MMD; Adam and the clipped ratio then bound the step. The online network gives the
values, and no network is evaluated whose output is not used. [n] is a flat batch of steps, [m] are
different views.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.learn.advantages import estimates
from stratkit.learn.algorithm import CPU, Algorithm, DistinctViews, Outputs, Steps
from stratkit.learn.averaging import average_rate, follow
from stratkit.learn.config import Magnet, MMDConfig
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
from stratkit.learn.step_weights import explained_parts, outcomes, weights_of
from stratkit.netnames import DEPLOYMENT, has_deployment
from stratkit.nets import Network, legal_policy
from stratkit.nets.deployment import WithDeployment

# The acting network is learned by gradients. The average follows it, for play, and as a magnet
# where that is asked for. A magnet of its own is behind them.
NETWORKS = ("online", "average")


def reference_update(
    networks: Mapping[str, Network],
    adam: torch.optim.Adam,
    batch: StepBatch,
    config: MMDConfig,
    step: int,
    decisions: int = 0,
) -> tuple[float, float]:
    """Update number `step`, counted from 0, after so many decisions: plain and slow. `MMD` by the
    optimizer does the same; a test compares them. Returns the losses of policy and value.

    networks: those of `NETWORKS`; adam: of the online one. For one rank.
    """
    batch, online = batch.with_draws(config.draw_score * batch.unit), networks["online"]
    observations, legal = batch.observations[batch.view], batch.legal[batch.view]
    eta = config.temperature(step, decisions)
    temperature = torch.where(batch.by_outcome, config.deployment_eta, eta)
    logits, value = online(observations, legal)
    pi, log_pi = legal_policy(logits, legal)
    ratio = pi.gather(1, batch.action[:, None])[:, 0] / batch.mu
    with torch.no_grad():
        name, rate, every = Magnet.read(config.magnet)
        log_of_magnet = -legal.sum(1, keepdim=True).float().log()
        if name is not None:
            log_of_magnet = legal_policy(networks[name](observations, legal)[0], legal)[1]
        aim, advantage = estimates(
            value=batch.grid(value),
            ratio=batch.grid(ratio),
            player=batch.grid(batch.actor, fill=-1),
            rewards=batch.rewards(),
            trained=batch.grid(batch.player, fill=-1) >= 0,
            value_lambda=config.value_lambda,
            advantage_lambda=config.advantage_lambda,
            rho_bar=config.rho,
            c_bar=config.c,
        )
        setup, outcome = batch.by_outcome, outcomes(batch)  # a setup is judged by its game
        aim = torch.where(setup, outcome, batch.flat(aim))
        advantage = torch.where(setup, outcome - value, batch.flat(advantage))
        weight = weights_of(batch, batch.step_counts(), config.weight_by)
        if config.advantage_filter:
            in_play = largest(advantage, weight * ~setup, config.advantage_filter)
            weight = torch.where(setup, weight, in_play)
        advantage = advantage / batch.unit
    clipped = ratio.clamp(1 - config.ratio_clip, 1 + config.ratio_clip)
    gain = torch.minimum(ratio * advantage, clipped * advantage)
    to_magnet = (pi * (log_pi - log_of_magnet)).sum(1)
    to_mu = ratio * ratio.log() - ratio + 1
    policy_loss = (weight * (temperature * to_magnet + config.kl_mu * to_mu - gain)).sum()
    critic_loss = (weight * (value - aim).square()).sum()

    adam.zero_grad()
    torch.autograd.backward(policy_loss + config.value_weight * critic_loss / batch.unit**2)
    nn.utils.clip_grad_norm_(online.parameters(), config.grad_norm or float("inf"))
    adam.param_groups[0]["lr"] = config.rate(step, decisions)
    adam.step()
    follow(networks["average"], online, average_rate(config.average_rate, step))
    if rate and (step + 1) % every == 0:
        follow(networks["magnet"], online, rate)
    return policy_loss.item(), critic_loss.item()


# ---- The steps that are learned from ----


def largest(advantage: Tensor, weight: Tensor, quantile: float, ranks: Ranks = ALONE) -> Tensor:
    """The weights without the steps [n] whose absolute advantage is below this quantile of all that
    have a weight; those that are left have more of it, and so the same sum: float32 [n]. All means
    those of all ranks: one rank may be left with more weight, and another one with none.

    Most actions hardly matter. What these few say has less noise in it, and saves the others'
    backward passes. (Ataraxos' advantage filter.) Its gradient is no longer that of all steps.
    """
    size = ranks.gather(advantage.abs()[weight > 0])
    if not len(size):
        return weight
    selected = weight * (advantage.abs() >= size.quantile(quantile))
    sums = ranks.sum(torch.stack([weight.sum(), selected.sum()]))
    return selected * (sums[0] / sums[1])


# ---- All of it, for the optimizer ----


class MMDForward(NamedTuple):
    """What is known of m views beside the online network's outputs, without a graph. All float32.

    pi           [m, A], the policy before the update
    log_magnet   [m, A], or [m, 1] of a uniform magnet
    eta          [m], this update's
    metrics      [m, 3], `MMD.view_metrics`
    """

    pi: Tensor
    log_magnet: Tensor
    eta: Tensor
    metrics: Tensor


class MMD(Algorithm[MMDForward, SurrogateTargets]):
    """MMD's networks and its update."""

    config: MMDConfig
    loss_metrics = ("policy_loss", "value_loss", "clipped", "explained")
    view_metrics = ("entropy", "kl", "value")

    def __init__(
        self, net: str, game: Game, config: MMDConfig, seed: int, device: torch.device = CPU
    ) -> None:
        self.network_names = with_magnet(NETWORKS, config.magnet)
        super().__init__(net, game, config, seed, device)

    def untrained(self, game: Game, seed: int) -> Network:
        if self.config.deployment_only and not has_deployment(self.net):
            what = f"to learn the deployment alone needs a network of its own, NAME{DEPLOYMENT}"
            raise InputError(what, text=self.net)
        network = super().untrained(game, seed)
        if isinstance(network, WithDeployment):
            network.deploys_only = self.config.deployment_only
        return network

    @property
    def sparse(self) -> bool:
        return self.config.advantage_filter > 0

    def eta(self, step: int) -> float:
        """The temperature of update number `step`."""
        return self.config.temperature(step, self.decisions)

    def forward(self, views: DistinctViews, outputs: Outputs, step: int) -> MMDForward:
        logits, value = outputs
        pi, log_pi = legal_policy(logits, views.legal)
        to = log_magnet(self.config.magnet, self.networks, views)
        entropy, kl = -(pi * log_pi).sum(1), (pi * (log_pi - to)).sum(1)
        eta = torch.full_like(value, self.eta(step))
        return MMDForward(pi, to, eta, torch.stack([entropy, kl, value], 1))

    def targets(
        self, batch: StepBatch, outputs: Outputs, forward: MMDForward, counts: Tensor
    ) -> SurrogateTargets:
        batch = batch.with_draws(self.config.draw_score * batch.unit)
        value = outputs[1][batch.view]
        player, rewards = batch.grid(batch.player, fill=-1), batch.rewards()
        actor = batch.grid(batch.actor, fill=-1)
        estimated = estimates(
            batch.grid(value),
            batch.grid(forward.pi[batch.view, batch.action] / batch.mu),
            actor,
            rewards,
            player >= 0,
            value_lambda=self.config.value_lambda,
            advantage_lambda=self.config.advantage_lambda,
            rho_bar=self.config.rho,
            c_bar=self.config.c,
        )
        weight = weights_of(batch, counts, self.config.weight_by, self.ranks)
        parts = explained_parts(batch, value, weight, counts)
        # A setup is judged by its game. Values soon after it know less of it than they err.
        setup, outcome = batch.by_outcome, outcomes(batch)
        advantage = torch.where(setup, outcome - value, batch.flat(estimated.advantage))
        estimate = torch.where(setup, outcome, batch.flat(estimated.value))
        if quantile := self.config.advantage_filter:
            in_play = largest(advantage, weight * ~setup, quantile, self.ranks)
            weight = torch.where(setup, weight, in_play)
        return SurrogateTargets(advantage / batch.unit, estimate, weight, parts)

    def loss(
        self,
        batch: StepBatch,
        steps: Steps,
        outputs: Outputs,
        forward: MMDForward,
        targets: SurrogateTargets,
    ) -> tuple[Tensor, Tensor]:
        config = self.config
        advantage, estimate, weight, parts = (x[steps] for x in targets)
        view, action = batch.view[steps], batch.action[steps]
        logits, value = outputs
        pi, log_pi = legal_policy(logits, batch.legal[view])
        log_ratio = log_pi.gather(1, action[:, None])[:, 0] - batch.mu[steps].log()
        ratio = log_ratio.exp()
        eta = forward.eta[view].masked_fill(batch.by_outcome[steps], config.deployment_eta)
        policy_loss = (
            surrogate_loss(ratio, advantage, weight, config.ratio_clip)
            + magnet_loss(pi, log_pi, forward.log_magnet[view], weight * eta)
            + config.kl_mu * behaviour_loss(log_ratio, weight)
        )
        critic_loss = value_loss(value, estimate, weight)
        outside = (ratio - 1).abs() > config.ratio_clip
        clipped = (weight * outside).sum() / batch.returns.shape[1]
        metrics = torch.stack([policy_loss, critic_loss, clipped, parts.sum()]).detach()
        return policy_loss + config.value_weight * critic_loss / batch.unit**2, metrics

    def after_step(self, step: int) -> Mapping[str, float]:
        follow(self.networks["average"], self.trained, average_rate(self.config.average_rate, step))
        move_magnet(self.config.magnet, self.networks, step)
        return {"eta": self.eta(step), "lr": self.learning_rate(step)}
