"""v-trace over whole episodes, for any number of players, from episodes of another policy.

Perolat et al. 2022, supplement, "Two-player v-trace", after Espeholt et al. 2018 (IMPALA). It
consists of linear recurrences backward through time: `scan`.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from stratkit.engine import recurrence


class VTrace(NamedTuple):
    """value: float32 [T, B], the estimate v_hat of the acting player's value.
    q_correction: float32 [T, B], added to Q of the sampled action after division by mu.
    Both are 0 on padding."""

    value: Tensor
    q_correction: Tensor


def v_trace(
    value: Tensor,
    price: Tensor,
    ratio: Tensor,
    player: Tensor,
    rewards: Tensor,
    *,
    eta: float,
    rho_bar: float = float("inf"),
    c_bar: float = 1.0,
    policy_c_bar: float | None = None,
    as_written: bool = False,
) -> VTrace:
    """The value estimate of every step, for the player who acts there (gamma = lambda = 1), and the
    correction of its action's Q. `policy_c_bar`: another c bar for the correction; None: the same.

    value: float32 [T, B], the target network's, for the acting player.
    price: float32 [T, B], of the distance, sum_a pi(a) L(a); as written: of the action, L(a_t).
    ratio: float32 [T, B], pi(a_t) / mu(a_t).
    player: integer [T, B], 0 to P - 1; -1 is padding, which may stand before or after an episode.
    rewards: float32 [T, B, P], the game's reward of each player after the action.

    Only the other players' ratios multiply the value that follows: the own action enters Q through
    1 / mu. A player pays for its own distance and is paid for each other player's, as expected.
    `as_written`: Eqs. 1 to 5 of the paper's text, with the own ratio, too, and sampled prices. The
    estimates of all players are computed side by side, [T, P, B]; each step keeps its own player's.
    """
    v, tax, w = (x.detach().double()[:, None] for x in (value, eta * price, ratio))
    r = rewards.movedim(2, 1).double()
    own = (player[:, None] == torch.arange(r.shape[1], device=r.device)[:, None]).double()
    # Another player acts. On padding both are 0, which clears what is carried.
    other = (player >= 0)[:, None].double() - own

    # What lies between a step and the player's next own step, all of it linear recurrences:
    first = tax + r if as_written else tax + w * r  # what is sampled is weighted
    carried = scan(
        torch.stack([other * first, 1 - other, other * (r + tax), own * v], 1),
        torch.stack([other * w, other * w, other, other], 1),
        last=own.new_tensor([0.0, 1.0, 0.0, 0.0])[:, None, None],
    )
    followed = carried[1:, 0]  # reward, weighted by the others' ratios
    others = carried[1:, 1]  # the product of the others' ratios
    plain = carried[1:, 2]  # reward, unweighted
    next_v = carried[1:, 3]  # the network's value at the next own step

    importance = w * others
    between = w * followed if as_written else plain
    delta = importance.clamp_max(rho_bar) * (r - tax + between + next_v - v)

    def correction(c_bar: float) -> Tensor:
        """v_hat - v of this own step, or of the next."""
        return scan(own * delta, own * importance.clamp_max(c_bar) + other)

    of_value = correction(c_bar)
    of_policy = of_value if policy_c_bar in (None, c_bar) else correction(policy_c_bar)
    estimate = v + of_value[:-1]
    then = next_v + of_policy[1:]
    q_correction = r - v + (w * (followed + then) if as_written else followed + others * then)
    return VTrace(*((own * x).sum(1).to(value) for x in (estimate, q_correction)))


def scan(a: Tensor, b: Tensor, last: Tensor | float = 0.0) -> Tensor:
    """x[t] = a[t] + b[t] x[t + 1], backward from x[T] = `last`: [T + 1, ...] of [T, ...], as `a`.

    On a CPU step by step, by the engine. Elsewhere, where each of T small operations would cost a
    launch, in log2 T large ones (`scan_by_doubling`).
    """
    return _scan_in_turn(a, b, last) if a.device.type == "cpu" else scan_by_doubling(a, b, last)


def _scan_in_turn(a: Tensor, b: Tensor, last: Tensor | float) -> Tensor:
    end = torch.empty(a.shape[1:], dtype=torch.float64).copy_(torch.as_tensor(last))
    rows = len(a), end.numel()
    a_rows, b_rows = (
        each.double().expand_as(a).reshape(rows).contiguous().numpy() for each in (a, b)
    )
    x = torch.from_numpy(recurrence(a_rows, b_rows, end.flatten().numpy()))
    return x.view(-1, *a.shape[1:]).to(a.dtype)


def scan_by_doubling(a: Tensor, b: Tensor, last: Tensor | float = 0.0) -> Tensor:
    """The same as `scan`: after k rounds, each step knows x[t] of x[t + 2^k]. The sums have another
    order, and so another rounding."""
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
