"""R-NaD, regularised Nash dynamics, as DeepNash does it (Perolat et al. 2022, "DeepNash: R-NaD at
Scale" and supplement), from top to bottom:

    reference_update   one whole update on one screen, as the paper writes it
    equations          reward transform, action values, NeuRD, schedule
    RNaD               the same in parts, for the optimizer

v-trace has a file of its own (`v_trace.py`). Equations are the paper's where they are right. Where
its text misleads, what is known to work stands here, and a comment says so; `as_written` has the
text's instead, for those who repeat it. [n] is a flat batch of
steps, whatever episodes they are from; [m] are different views.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from stratkit.learn.algorithm import Algorithm, DistinctViews, Outputs, Steps
from stratkit.learn.averaging import average_rate, follow
from stratkit.learn.config import RNaDConfig
from stratkit.learn.data import StepBatch
from stratkit.learn.losses import value_loss, value_loss_as_written
from stratkit.learn.step_weights import explained_parts, weights_of
from stratkit.learn.v_trace import v_trace
from stratkit.nets import Network, legal_policy, process

# The acting network is learned by gradients. The target network follows it and gives v-trace its
# values. Regularisation policies, the present and the previous one, are copies of past target
# networks. The average is kept for play.
NETWORKS = ("online", "target", "regularization", "previous", "average")


def reference_update(
    networks: Mapping[str, Network],
    adam: torch.optim.Adam,
    batch: StepBatch,
    config: RNaDConfig,
    step: int,
) -> tuple[float, float]:
    """Update number `step`, counted from 0: plain and slow, to be read. `RNaD` by the optimizer
    does the same; a test compares them. Returns the losses of policy and value.

    networks: those of `NETWORKS`; adam: of the online one. Without post-processing, and with
    nothing `as_written`.
    """
    online, target, regularization, previous, average = (networks[name] for name in NETWORKS)
    alpha, last_of_iteration = EntropySchedule(config.sizes, config.repeats, config.ramp)(step)
    observations, legal = batch.observations[batch.view], batch.legal[batch.view]

    logits, value = online(observations, legal)
    pi, log_pi = legal_policy(logits.detach(), legal)
    with torch.no_grad():
        target_value = target(observations, legal)[1]
        log_reg = legal_policy(regularization(observations, legal)[0], legal)[1]
        log_previous = legal_policy(previous(observations, legal)[0], legal)[1]
    ratio = log_pi - mixture(log_reg, log_previous, alpha)
    trace = v_trace(
        value=batch.grid(target_value),
        price=batch.grid((pi * ratio).sum(1)),
        ratio=batch.grid(pi.gather(1, batch.action[:, None])[:, 0] / batch.mu),
        player=batch.grid(batch.player, fill=-1),
        rewards=batch.rewards(),
        eta=config.eta,
        rho_bar=config.rho,
        c_bar=config.c,
        policy_c_bar=config.policy_c,
    )
    q = action_values(
        target_value,
        ratio,
        batch.flat(trace.q_correction),
        batch.action,
        batch.mu,
        eta=config.eta,
        mu_floor=config.mu_floor,
    )
    weight = weights_of(batch, batch.step_counts(), config.weight_by)
    policy_loss = neurd_loss(logits, legal, pi, q, weight, beta=config.beta, clip=config.clip)
    critic_loss = value_loss(value, batch.flat(trace.value), weight)

    adam.zero_grad()
    torch.autograd.backward(policy_loss + critic_loss)
    nn.utils.clip_grad_norm_(online.parameters(), config.grad_norm or float("inf"))
    adam.step()
    follow(target, online, config.target_rate)
    follow(average, online, average_rate(config.average_rate, step))
    if last_of_iteration:
        previous.load_state_dict(regularization.state_dict())
        regularization.load_state_dict(target.state_dict())
    return policy_loss.item(), critic_loss.item()


# ---- Reward transform ----


def mixture(log_reg: Tensor, log_previous: Tensor, alpha: float) -> Tensor:
    """Logarithms of the regularisation policy, float32 [n, A]: it slides from the previous one to
    the present one as alpha goes from 0 to 1.

    The mixture is one of logarithms: that is what interpolating the two transformed rewards means
    (the paper's text has an arithmetic mixture).
    """
    return alpha * log_reg + (1 - alpha) * log_previous


def mixture_as_written(log_reg: Tensor, log_previous: Tensor, alpha: float) -> Tensor:
    """The same of the paper's text: of probabilities. 0 < alpha < 1."""
    return torch.logaddexp(log_reg + math.log(alpha), log_previous + math.log(1 - alpha))


def log_ratio(log_pi: Tensor, log_reg: Tensor) -> Tensor:
    """L(a) = log pi(a) - log pi_reg(a). All float32 [n, A], 0 on illegal actions."""
    return log_pi - log_reg


# ---- Action values ----


def action_values(
    value: Tensor,
    log_ratio: Tensor,
    q_correction: Tensor,
    action: Tensor,
    mu: Tensor,
    *,
    eta: float,
    mu_floor: float = 0.0,
) -> Tensor:
    """Q(a) = v - eta L(a) + 1[a = a_t] q_correction / mu, for the acting player: float32 [n, A].

    value, q_correction, mu: float32 [n], the target network's value, v-trace's correction, and the
    probability with which the action was chosen; log_ratio: float32 [n, A], L of the reward
    transform; action: int64 [n]. mu_floor: 1 / mu is taken of at least this; 0 is the paper's.
    Without it rare actions get forces of hundreds, which a small batch does not average out.
    """
    sampled = torch.zeros_like(log_ratio).scatter_(1, action[:, None], 1.0)
    return (
        value[:, None]
        - eta * log_ratio
        + sampled * (q_correction / mu.clamp_min(mu_floor))[:, None]
    )


# ---- Losses ----


def neurd_loss(
    logits: Tensor,
    legal: Tensor,
    pi: Tensor,
    q: Tensor,
    weight: Tensor,
    *,
    beta: float = 2.0,
    clip: float = 10_000.0,
) -> Tensor:
    """The loss whose gradient is NeuRD's: - sum over steps, legal actions of weight y force.

    logits, pi, q: float32 [n, A]; legal: bool or uint8 [n, A]; weight: float32 [n], of
    `step_weights`. y is the logit less the mean of the legal ones (the gradient flows through the
    mean). The force is the advantage Q - sum pi Q, clipped (the paper clips Q); where |y| has
    reached beta, a force that points outward is blocked (the paper asks the logit of after the
    step). No gradient flows through it.
    """
    allowed = legal.bool()
    known = logits.masked_fill(~allowed, 0.0)
    mean = known.sum(-1, keepdim=True) / allowed.sum(-1, keepdim=True).clamp_min(1)
    y = torch.where(allowed, known - mean, 0.0)
    with torch.no_grad():
        advantage = (q - (pi * q).sum(-1, keepdim=True)).clamp(-clip, clip)
        falling = (y > -beta) * advantage.clamp_max(0.0)
        rising = (y < beta) * advantage.clamp_min(0.0)
        force = falling + rising
    return -(weight * (y * force).sum(-1)).sum()


def neurd_loss_as_written(
    logits: Tensor,
    legal: Tensor,
    q: Tensor,
    weight: Tensor,
    *,
    beta: float,
    clip: float,
    lr: float,
) -> Tensor:
    """The same of the paper's text: - sum over steps, legal actions of weight l Clip(Q), where l is
    the logit itself, as long as l + lr Clip(Q) is within +-beta. Arguments: as of `neurd_loss`."""
    known = logits.masked_fill(~legal.bool(), 0.0)
    with torch.no_grad():
        force = q.clamp(-clip, clip) * legal.bool()
        force = force * ((known + lr * force).abs() <= beta)
    return -(weight * (known * force).sum(-1)).sum()


# ---- Schedule ----


class EntropySchedule:
    """Iterations of the regularisation policy.

    sizes, repeats: the first repeats[0] iterations take sizes[0] steps each, and so on; the last
    size goes on for ever. ramp: the part of an iteration over which alpha rises to 1 (paper: one
    half).
    """

    def __init__(
        self, sizes: Sequence[int], repeats: Sequence[int] = (1,), ramp: float = 0.5
    ) -> None:
        if len(sizes) != len(repeats) or min((*sizes, *repeats), default=0) < 1:
            raise ValueError("a schedule needs sizes and as many repeats, all at least 1")
        self.sizes, self.repeats, self.ramp = tuple(sizes), tuple(repeats), ramp

    def iteration(self, step: int) -> tuple[int, int, int]:
        """(number of the iteration, its first step, its size) for a step counted from 0."""
        number, start = 0, 0
        for size, repeat in zip(self.sizes[:-1], self.repeats[:-1], strict=True):
            if step < start + size * repeat:
                break
            number, start = number + repeat, start + size * repeat
        else:
            size = self.sizes[-1]
        passed = (step - start) // size
        return number + passed, start + passed * size, size

    def __call__(self, step: int) -> tuple[float, bool]:
        """(alpha of this step, whether the regularisation policy moves on after this step's
        update)."""
        _, start, size = self.iteration(step)
        ramp = self.ramp * size
        alpha = min(1.0, (step - start) / ramp) if ramp else 1.0
        return alpha, step == start + size - 1


# ---- All of it, for the optimizer ----


class RNaDForward(NamedTuple):
    """What networks say of m views, without a graph, beside the online one's outputs. All float32.

    log_ratio      [m, A], L of the reward transform
    played         [m, A], the policy whose values v-trace estimates
    kl             [m], its distance from the regularisation policy; as written it is not asked
    target_value   [m]
    metrics        [m, 5], `RNaD.view_metrics`
    """

    log_ratio: Tensor
    played: Tensor
    kl: Tensor
    target_value: Tensor
    metrics: Tensor


class RNaDTargets(NamedTuple):
    """What n steps are to learn. All float32 [n].

    q_correction   v-trace's, of the action's value
    value          v-trace's
    weight         of the step
    explained      its part in the explained variance
    """

    q_correction: Tensor
    value: Tensor
    weight: Tensor
    explained: Tensor


class RNaD(Algorithm[RNaDForward, RNaDTargets]):
    """R-NaD's networks and its update."""

    config: RNaDConfig
    network_names = NETWORKS
    loss_metrics = ("policy_loss", "value_loss", "is_weight_variance", "explained")
    view_metrics = ("entropy", "kl", "value", "mass_removed", "frac_saturated")
    _one_regularization = True  # both regularisation policies are the same network

    @functools.cached_property
    def schedule(self) -> EntropySchedule:
        """The length of each iteration, and how its two policies are mixed."""
        config = self.config
        return EntropySchedule(config.sizes, config.repeats, config.ramp)

    def forward(self, views: DistinctViews, outputs: Outputs, step: int) -> RNaDForward:
        inputs, legal = views
        logits, value = outputs
        pi, log_pi = legal_policy(logits, legal)
        ratio = log_ratio(log_pi, self._log_regularization(views, self.schedule(step)[0]))
        target = self.networks["target"]
        # Fine-tuning estimates the values of the policy without rare actions, which plays by
        # `per=action`. What it pays for its distance is expected under that policy; the logarithms,
        # and the advantage, are the network's own.
        embedding = target.embed_without_graph(inputs)
        valued = pi
        if "policy" in self.config.as_written:
            valued = legal_policy(target.logits(embedding, inputs, legal), legal)[0]
        played = process(valued, self.config.threshold, self.config.quanta)
        allowed = legal.bool()
        number = allowed.sum(1).clamp_min(1)
        y = log_pi - (log_pi.sum(1) / number)[:, None]  # as of logits: these differ by a constant
        metrics = (
            -(pi * log_pi).sum(1),
            (pi * ratio).sum(1),
            value,
            (pi * (played == 0)).sum(1),
            ((y.abs() >= self.config.beta) & allowed).sum(1) / number,
        )
        return RNaDForward(
            ratio,
            played,
            (played * ratio).sum(1),
            target.value(embedding, inputs),
            torch.stack(metrics, 1),
        )

    def _log_regularization(self, views: DistinctViews, alpha: float) -> Tensor:
        """Logarithms of the mixture of the regularisation policies, float32 [m, A]."""

        def log_policy(name: str) -> Tensor:
            network = self.networks[name]
            embedding = network.embed_without_graph(views.inputs)
            logits = network.logits(embedding, views.inputs, views.legal)
            return legal_policy(logits, views.legal)[1]

        if alpha == 1 or self._one_regularization:
            return log_policy("regularization")
        if alpha == 0:
            return log_policy("previous")
        mix = mixture_as_written if "mixture" in self.config.as_written else mixture
        return mix(log_policy("regularization"), log_policy("previous"), alpha)

    def targets(
        self, batch: StepBatch, outputs: Outputs, forward: RNaDForward, counts: Tensor
    ) -> RNaDTargets:
        config = self.config
        as_written = "rewards" in config.as_written
        sampled = forward.log_ratio[batch.view, batch.action]
        trace = v_trace(
            batch.grid(forward.target_value[batch.view]),
            batch.grid(sampled if as_written else forward.kl[batch.view]),
            batch.grid(forward.played[batch.view, batch.action] / batch.mu),
            batch.grid(batch.player, fill=-1),
            batch.rewards(),
            eta=config.eta,
            rho_bar=config.rho,
            c_bar=config.c,
            policy_c_bar=config.policy_c,
            as_written=as_written,
        )
        weight = weights_of(batch, counts, config.weight_by, self.ranks)
        parts = explained_parts(batch, outputs[1][batch.view], weight, counts)
        return RNaDTargets(batch.flat(trace.q_correction), batch.flat(trace.value), weight, parts)

    def loss(
        self,
        batch: StepBatch,
        steps: Steps,
        outputs: Outputs,
        forward: RNaDForward,
        targets: RNaDTargets,
    ) -> tuple[Tensor, Tensor]:
        config = self.config
        view, action, weight = batch.view[steps], batch.action[steps], targets.weight[steps]
        logits, value = outputs
        legal = batch.legal[view]
        q = action_values(
            forward.target_value[view],
            forward.log_ratio[view],
            targets.q_correction[steps],
            action,
            batch.mu[steps],
            eta=config.eta,
            mu_floor=config.mu_floor,
        )
        if "force" in config.as_written:
            policy_loss = neurd_loss_as_written(
                logits, legal, q, weight, beta=config.beta, clip=config.clip, lr=config.lr
            )
        else:
            pi = legal_policy(logits.detach(), legal)[0]
            bounds = {"beta": config.beta, "clip": config.clip}
            policy_loss = neurd_loss(logits, legal, pi, q, weight, **bounds)
        distance = value_loss_as_written if "critic" in config.as_written else value_loss
        critic_loss = distance(value, targets.value[steps], weight)
        w = forward.played[view, action] / batch.mu[steps]
        variance = (weight * (w - 1).square()).sum() / batch.returns.shape[1]
        metrics = (policy_loss, critic_loss, variance, targets.explained[steps].sum())
        return policy_loss + critic_loss, torch.stack(metrics).detach()

    def after_step(self, step: int) -> Mapping[str, float]:
        online, target, regularization, previous, average = self.networks.values()
        alpha, last_of_iteration = self.schedule(step)
        follow(target, online, self.config.target_rate)
        follow(average, online, average_rate(self.config.average_rate, step))
        if last_of_iteration:
            self._one_regularization = False
            previous.load_state_dict(regularization.state_dict())
            regularization.load_state_dict(target.state_dict())
        return {"alpha": alpha, "iteration": self.schedule.iteration(step)[0]}

    def after_load(self) -> None:
        both = (self.networks[name].parameters() for name in ("regularization", "previous"))
        self._one_regularization = all(map(torch.equal, *both))
