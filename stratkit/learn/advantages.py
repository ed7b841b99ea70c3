"""Advantages and values of each player's own steps, of any number of players: MMD's and PPO's."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from stratkit.learn.v_trace import scan


class Estimates(NamedTuple):
    """Of the acting player, float32 [T, B]: its value at each step, and the advantage of its action
    there. Both are 0 on padding, and where nothing is learned."""

    value: Tensor
    advantage: Tensor


def estimates(
    value: Tensor,
    ratio: Tensor,
    player: Tensor,
    rewards: Tensor,
    trained: Tensor,
    *,
    value_lambda: float = 1.0,
    advantage_lambda: float = 1.0,
    rho_bar: float = float("inf"),
    c_bar: float = 1.0,
) -> Estimates:
    """lambda-returns, and generalised advantages (Schulman et al. 2016), corrected for episodes of
    another policy as v-trace does (Espeholt et al. 2018), for any number of players (gamma = 1).

    value: float32 [T, B], the network's, for the acting player.
    ratio: float32 [T, B], pi(a_t) / mu(a_t).
    player: integer [T, B], 0 to P - 1; -1 is padding, which may stand before or after an episode.
    rewards: float32 [T, B, P], the game's reward of each player after the action.
    trained: bool [T, B]; of other steps only value and ratio count. Such is a player's last step in
    a slice: its value stands for what follows.

    Each player has a chain of its own steps, and what the others do between two of them is chance
    to it. Where w is the ratio of a step, o the product of the others' ratios until the next own
    step, and r all its rewards until then:

        delta       = r + v' - v
        correction  = min(w o, rho_bar) delta + lambda min(w o, c_bar) correction'
        value       = v + correction                                        by value_lambda
        advantage   = min(o, rho_bar) delta + lambda min(o, c_bar) correction'  by advantage_lambda

    The own ratio is not in the advantage: it is in the loss. The estimates of all players are
    computed side by side, as arrays [T, P, B]; each step then keeps that of its own player.
    """
    v, w = (x.detach().double()[:, None] for x in (value, ratio))
    r = rewards.movedim(2, 1).double()
    players = torch.arange(rewards.shape[2], device=player.device)
    own = (player[:, None] == players[:, None]).double()
    known = own * trained[:, None]
    # Another player acts. On padding both are 0, which clears what is carried.
    other = (player >= 0)[:, None].double() - own

    later, others, next_v = _until_next(own, other, v, w, r)
    delta = r + later + next_v - v
    both = w * others

    def correction(decay: float) -> Tensor:
        """Of this own step, or of the next."""
        error = known * both.clamp_max(rho_bar) * delta
        return scan(error, own * decay * both.clamp_max(c_bar) + other)

    advantage = (
        others.clamp_max(rho_bar) * delta
        + advantage_lambda * others.clamp_max(c_bar) * correction(advantage_lambda)[1:]
    )
    value_estimate = v + correction(value_lambda)[:-1]
    return Estimates(*((known * x).sum(1).to(value) for x in (value_estimate, advantage)))


def _until_next(
    own: Tensor, other: Tensor, v: Tensor, w: Tensor, r: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """What lies between a step and the player's next own step: its rewards, the product of the
    others' ratios, and the network's value there. All float64 [T, P, B], or [T, 1, B]."""
    carried = scan(
        torch.stack([other * r, 1 - other, own * v], 1),
        torch.stack([other, other * w, other], 1),
        last=own.new_tensor([0.0, 1.0, 0.0])[:, None, None],
    )
    return carried[1:].unbind(1)  # type: ignore[return-value]
