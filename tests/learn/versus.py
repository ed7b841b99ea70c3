"""How often a network wins against uniformly random play."""

from __future__ import annotations

import numpy as np
import torch

from stratkit.engine import Batch, Game, sample
from stratkit.nets import UNet, legal_policy


@torch.inference_mode()
def share_of_wins(game: Game, network: UNet, games: int = 400, seed: int = 5) -> float:
    """The network's raw policy, half of the games as the first player; draws are no wins."""
    batch = Batch(game, games)
    batch.reset()
    numbers, side = np.zeros(games, np.int32), np.arange(games) % 2
    while ((actors := batch.actors()) >= 0).any():
        packed, legal = batch.observe(), batch.legal()
        policy = legal / np.maximum(legal.sum(1, keepdims=True), 1).astype(np.float32)
        mine = np.flatnonzero(actors == side)
        if len(mine):
            allowed = torch.from_numpy(legal[mine])
            logits, _ = network(torch.from_numpy(packed[mine]), allowed)
            policy[mine] = legal_policy(logits, allowed)[0]
        actions, _ = sample(policy.astype(np.float32), legal, seed, np.arange(games), numbers)
        batch.apply(actions)
        numbers += 1
    return float((batch.returns()[np.arange(games), side] > 0).mean())
