"""How much each step of a batch counts, and how much of its outcome the value explained: what
algorithms have in common."""

from __future__ import annotations

import torch
from torch import Tensor

from stratkit.learn.data import StepBatch
from stratkit.learn.ranks import ALONE, Ranks


def weights_of(batch: StepBatch, counts: Tensor, weight_by: str, ranks: Ranks = ALONE) -> Tensor:
    """The weight of each step [n] in the loss, by `weight_by`: "step", `step_weights`; "game",
    `game_weights`; "trajectory", `trajectory_weights`. `counts`: N_k of all ranks."""
    if weight_by == "step":
        return step_weights(batch.player, counts)
    player = batch.grid(batch.player, fill=-1)
    if weight_by == "trajectory":
        games = ranks.sum((player >= 0).any(0).sum()[None].float())
        return batch.flat(trajectory_weights(player, games))
    return batch.flat(game_weights(player, ranks.sum(game_counts(player, len(counts)))))


def step_weights(player: Tensor, counts: Tensor) -> Tensor:
    """1 / N_k for a step of player k, 0 for an action that nobody sampled: float32 [n].

    player: integer [n], 0 to P - 1, or -1 for such an action. counts: N_k, float32 [P], of all
    steps: the losses of parts (chunks, ranks) then add up to the whole's.
    """
    players = torch.arange(len(counts), device=player.device)
    own = (player[:, None] == players).float()
    return (own / counts.clamp_min(1)).sum(1)


def game_counts(player: Tensor, players: int) -> Tensor:
    """G_k, in how many games player k has steps: float32 [players]. player: as in
    `game_weights`."""
    return torch.stack([(player == k).any(0).sum() for k in range(players)]).float()


def game_weights(player: Tensor, games: Tensor) -> Tensor:
    """1 / (G_k n) for a step of player k in a game where it has n of them: each game has one vote,
    which its steps share. Each player's weights add up to 1, as in `step_weights`. float32 [T, B].

    player: integer [T, B]; -1 is padding. games: G_k of all ranks, float32 [P].
    """
    out = torch.zeros(player.shape, device=player.device)
    for k, number in enumerate(games.clamp_min(1)):
        own = player == k
        out += own / (number * own.sum(0).clamp_min(1))
    return out


def trajectory_weights(player: Tensor, games: Tensor) -> Tensor:
    """1 / (G n) for a step of a game that has n of them, whoever acts: DeepNash's 1 / t_effective,
    as a mean over the games. All weights add up to 1. float32 [T, B].

    player: as in `game_weights`. games: G of all ranks, float32 [1].
    """
    there = player >= 0
    return there / (games.clamp_min(1) * there.sum(0).clamp_min(1))


def outcomes(batch: StepBatch) -> Tensor:
    """What the game of each step [n] brought the player who acts there: float32."""
    player = batch.grid(batch.player, fill=-1)
    return batch.flat(batch.returns.gather(1, player.clamp_min(0).T).T)


def explained_parts(batch: StepBatch, value: Tensor, weight: Tensor, counts: Tensor) -> Tensor:
    """Of each step [n] its part in the explained variance of the batch, as far as games have ended:
    what the network said is compared with how they did. With several ranks, a mean over them.
    Setups that are judged by the outcome are left out: before the first move there is little to
    know, and with slices they would be half of the steps that are compared."""
    known = batch.flat(batch.ended * batch.grid(weight)) * ~batch.by_outcome
    return explained(value, outcomes(batch), known) * (batch.states / counts.sum().clamp_min(1))


def explained(value: Tensor, outcome: Tensor, weight: Tensor) -> Tensor:
    """Parts whose sum is the explained variance, 1 - Var(outcome - value) / Var(outcome): float32
    [n]. All float32 [n]; weight: 0 where a step does not count. Without any variance, such as where
    all games against a frozen player were lost, all are 0."""
    share = weight / weight.sum().clamp_min(torch.finfo(weight.dtype).tiny)
    variance = (share * (outcome - (share * outcome).sum()).square()).sum()
    error = outcome - value
    unexplained = share * (error - (share * error).sum()).square()
    least = 1e-9 * (share * outcome.square()).sum()  # what rounding may make of none
    return torch.where(variance > least, share - unexplained / variance.clamp_min(1e-12), 0.0)
