"""R-NaD, regularised Nash dynamics, as DeepNash does it (Perolat et al. 2022, "DeepNash: R-NaD at
Scale" and supplement), from top to bottom:

    reward transform   L = log pi - log pi_reg, what the regularisation charges      log_ratio
    value estimate     two-player v-trace over whole episodes                        v_trace
    action values      Q from the value estimate, the regularisation and the gain    action_values
    policy loss        NeuRD, with a threshold on the logits                         neurd_loss
    value loss         squared error                                                 value_loss
    schedule           when the regularisation policy moves on                       EntropySchedule

Equations are the paper's where they are right. Where its text misleads, what is known to work
stands here, and a comment says so. All functions take and give torch tensors. [n] is a flat batch
of steps, whatever episodes they are from; only v-trace needs their order, and takes [T, B].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from stratkit.nets.policy import legal_policy

__all__ = [
    "EntropySchedule",
    "VTrace",
    "action_values",
    "legal_policy",
    "log_ratio",
    "mixture",
    "neurd_loss",
    "scan",
    "scan_by_doubling",
    "step_counts",
    "step_weights",
    "v_trace",
    "value_loss",
]

# ---- Reward transform ----


def mixture(log_reg: Tensor, log_previous: Tensor, alpha: float) -> Tensor:
    """Logarithms of the regularisation policy, float32 [n, A]: it slides from the previous one to
    the present one as alpha goes from 0 to 1.

    The mixture is one of logarithms: that is what interpolating the two transformed rewards means
    (the paper's text has an arithmetic mixture).
    """
    return alpha * log_reg + (1 - alpha) * log_previous


def log_ratio(log_pi: Tensor, log_reg: Tensor) -> Tensor:
    """L(a) = log pi(a) - log pi_reg(a). All float32 [n, A], 0 on illegal actions."""
    return log_pi - log_reg


# ---- Two-player v-trace ----


class VTrace(NamedTuple):
    """value: float32 [T, B], the estimate v_hat of the acting player's value.
    gain: float32 [T, B], what the action taken brought above the value: Q of it has gain / mu more.
    Both are 0 on padding."""

    value: Tensor
    gain: Tensor


def v_trace(
    value: Tensor,
    kl: Tensor,
    ratio: Tensor,
    player: Tensor,
    rewards: Tensor,
    *,
    eta: float,
    rho_bar: float = float("inf"),
    c_bar: float = 1.0,
    gain_c_bar: float | None = None,
) -> VTrace:
    """The value estimate of every step, for the player who acts there (gamma = lambda = 1), and the
    gain of its action. `gain_c_bar`: another c bar for what the gain is made of; None: the same.

    value: float32 [T, B], the target network's, for the acting player.
    kl: float32 [T, B], sum_a pi(a) L(a).
    ratio: float32 [T, B], pi(a_t) / mu(a_t).
    player: integer [T, B], 0 or 1; -1 is padding, which may stand before or after an episode.
    rewards: float32 [T, B, 2], the game's reward of each player after the action.

    Unlike in the paper's Eq. 5, only the opponent's ratios multiply the value that follows: the own
    action enters Q through 1 / mu. The regularisation enters by its expectation, not by its sample.
    Both players' estimates are computed side by side, as arrays [T, 2, B]; each step then keeps
    that of its own player.
    """
    v, tax, w = (x.detach().double()[:, None] for x in (value, eta * kl, ratio))
    r = rewards.movedim(2, 1).double()
    own = (player[:, None] == torch.arange(2, device=player.device)[:, None]).double()
    other = own.flip(1)  # the opponent acts; on padding both are 0, which clears what is carried

    # What lies between a step and the player's next own step, all of it linear recurrences:
    carried = scan(
        torch.stack([other * (tax + w * r), 1 - other, other * (r + tax), own * v], 1),
        torch.stack([other * w, other * w, other, other], 1),
        last=own.new_tensor([0.0, 1.0, 0.0, 0.0])[:, None, None],
    )
    followed = carried[1:, 0]  # reward, weighted by the opponent's ratios
    opponents = carried[1:, 1]  # the product of the opponent's ratios
    plain = carried[1:, 2]  # reward, unweighted
    next_v = carried[1:, 3]  # the network's value at the next own step

    importance = w * opponents
    delta = importance.clamp_max(rho_bar) * (r - tax + plain + next_v - v)

    def correction(c_bar: float) -> Tensor:
        """v_hat - v of this own step, or of the next."""
        return scan(own * delta, own * importance.clamp_max(c_bar) + other)

    of_value = correction(c_bar)
    of_gain = of_value if gain_c_bar in (None, c_bar) else correction(gain_c_bar)
    estimate = v + of_value[:-1]
    gain = r + followed + opponents * (next_v + of_gain[1:]) - v
    return VTrace(*((own * x).sum(1).to(value) for x in (estimate, gain)))


def scan(a: Tensor, b: Tensor, last: Tensor | float = 0.0) -> Tensor:
    """x[t] = a[t] + b[t] x[t + 1], backward from x[T] = `last`: float64 [T + 1, ...] of [T, ...].

    On a CPU step by step. Elsewhere, where each of T small operations would cost a launch, in
    log2 T large ones (`scan_by_doubling`).
    """
    return _scan_in_turn(a, b, last) if a.device.type == "cpu" else scan_by_doubling(a, b, last)


def _scan_in_turn(a: Tensor, b: Tensor, last: Tensor | float) -> Tensor:
    x = a.new_empty((len(a) + 1, *a.shape[1:]))
    x[-1] = last
    there, added, factor = x.numpy(), a.numpy(), b.numpy()  # a third of torch's time at each step
    for t in range(len(a) - 1, -1, -1):
        np.multiply(factor[t], there[t + 1], out=there[t])
        there[t] += added[t]
    return x


def scan_by_doubling(a: Tensor, b: Tensor, last: Tensor | float = 0.0) -> Tensor:
    """The same as `scan`: after k rounds, each step knows x[t] of x[t + 2^k]. The sums are made in
    another order, and so are rounded otherwise."""
    x = torch.cat([a, a.new_zeros((1, *a.shape[1:]))])
    x[-1] = last
    b = torch.cat([b, torch.zeros_like(x[:1])])
    reach = 1
    while reach < len(x):
        near, far = slice(None, -reach), slice(reach, None)
        x = torch.cat([x[near] + b[near] * x[far], x[-reach:]])
        b = torch.cat([b[near] * b[far], b[-reach:]])
        reach *= 2
    return x


def action_values(
    value: Tensor,
    log_ratio: Tensor,
    gain: Tensor,
    action: Tensor,
    mu: Tensor,
    *,
    eta: float,
    mu_floor: float = 0.0,
) -> Tensor:
    """Q(a) = v - eta L(a) + 1[a = a_t] gain / mu, for the acting player: float32 [n, A].

    value, gain, mu: float32 [n], the target network's value, v-trace's gain, and the probability
    with which the action was chosen; log_ratio: float32 [n, A], L of the reward transform; action:
    int64 [n]. mu_floor: 1 / mu is taken of at least this; 0 is the paper's. Rare actions
    otherwise get forces of hundreds, which a small batch does not average out.
    """
    taken = torch.zeros_like(log_ratio).scatter_(1, action[:, None], 1.0)
    return value[:, None] - eta * log_ratio + taken * (gain / mu.clamp_min(mu_floor))[:, None]


# ---- Losses ----


def step_counts(player: Tensor) -> Tensor:
    """N_k, how many steps of player k there are: float32 [2]. player: integer [n], 0 or 1, -1
    for an action that nobody sampled."""
    return (player[:, None] == torch.arange(2, device=player.device)).float().sum(0)


def step_weights(player: Tensor, counts: Tensor | None = None) -> Tensor:
    """1 / N_k for a step of player k, 0 for an action that nobody sampled: float32 [n].

    player: integer [n], 0 or 1, -1 for such an action. counts: N_k, [2], where the batch is a
    part of something larger (other chunks, other ranks): then the losses of the parts add up to
    the whole's.
    """
    players = torch.arange(2, device=player.device)
    mine = (player[:, None] == players).float()
    counts = step_counts(player) if counts is None else counts
    return (mine / counts.clamp_min(1)).sum(1)


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


def value_loss(value: Tensor, estimate: Tensor, weight: Tensor) -> Tensor:
    """sum over steps of weight (v - v_hat)^2; all float32 [n]. (The paper says "norm"; it is the
    square, without 1/2.)"""
    return (weight * (value - estimate.detach()).square()).sum()


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
