"""From logits to a policy over the legal actions."""

from __future__ import annotations

import torch
from torch import Tensor


def legal_policy(logits: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
    """The policy over legal actions and its logarithm.

    logits: float32 [..., A]; legal: bool or uint8 [..., A]. What illegal logits hold does not
    matter. Returns (pi, log_pi), float32 [..., A]; both are 0 on illegal actions (and in a row
    without any legal action, as padding has).
    """
    allowed = legal.bool()
    masked = logits.masked_fill(~allowed, -torch.inf)
    # A row of padding allows nothing: shift it by 0, not by its maximum of -inf.
    highest = masked.detach().amax(-1, keepdim=True).clamp_min(torch.finfo(logits.dtype).min)
    shifted = torch.where(allowed, masked - highest, 0.0)
    weights = torch.where(allowed, shifted.exp(), 0.0)
    total = weights.sum(-1, keepdim=True).clamp_min(torch.finfo(logits.dtype).tiny)
    return weights / total, torch.where(allowed, shifted - total.log(), 0.0)
