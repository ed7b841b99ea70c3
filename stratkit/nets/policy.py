"""From logits to a policy over the legal actions, and to the policy that plays."""

from __future__ import annotations

import torch
from torch import Tensor

from stratkit.nets.numpy_policy import SLACK


def legal_policy(logits: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
    """The policy over legal actions and its logarithm.

    logits: float32 [..., A]; legal: bool or uint8 [..., A]. What illegal logits hold does not
    matter. Returns (pi, log_pi), float32 [..., A]; both are 0 on illegal actions (and in a row
    without any legal action, as chance's are).
    """
    # Torch's own kernels: exp alone, of -inf, takes longer. The least number is as good, and makes
    # no NaN of a row without legal actions.
    logits = logits.masked_fill(~legal.bool(), torch.finfo(logits.dtype).min)
    allowed = legal.to(logits.dtype)
    return logits.softmax(-1) * allowed, logits.log_softmax(-1) * allowed


def softmax(logits: Tensor) -> Tensor:
    """The policy alone, for whoever plays: that of `legal_policy`, up to rounding.

    logits: float32 [..., A], -inf where illegal; they are overwritten.
    """
    weights = _below_highest(logits).exp_()
    return weights.div_(_total(weights))


def _below_highest(logits: Tensor) -> Tensor:
    # Where chance acts, a side may do nothing: shift by a number, not by the maximum of -inf.
    highest = logits.detach().amax(-1, keepdim=True).clamp_min(torch.finfo(logits.dtype).min)
    return logits - highest


def _total(weights: Tensor) -> Tensor:
    return weights.sum(-1, keepdim=True).clamp_min(torch.finfo(weights.dtype).tiny)


def at_temperature(pi: Tensor, temperature: float) -> Tensor:
    """The policy to the power 1 / `temperature`, renormalised: below 1 it is surer of itself.

    pi: float32 [n, A], 0 on illegal actions (a row may be 0 throughout). Returns the same shape.
    """
    most = pi.amax(-1, keepdim=True).clamp_min(torch.finfo(pi.dtype).tiny)
    powers = (pi / most) ** (1.0 / temperature)  # the greatest is 1, so not all of them vanish
    return powers / powers.sum(-1, keepdim=True).clamp_min(1.0)


def process(
    pi: Tensor, threshold: float = 0.0, quanta: int = 0, ties: Tensor | None = None
) -> Tensor:
    """The policy without its rare actions, and of few different probabilities.

    First, actions below `threshold` are dropped and the rest is renormalised; a policy that has
    nothing else stays as it is. Then (unless `quanta` is 0) probabilities are rounded up to
    multiples of 1 / `quanta`, from the most probable action on until the whole is given away; what
    would be left over goes to the most probable one. Among equal ones the lower index comes first,
    or that with the smaller number in `ties`, float32 [n, A].

    pi: float32 [n, A], 0 on illegal actions (a row may be 0 throughout, as chance's are). Returns
    the same shape. (Perolat et al. 2022, supplement, "Post-processing of policy".)
    """
    frequent = torch.where(pi >= threshold, pi, 0.0)
    total = frequent.sum(-1, keepdim=True)
    frequent = torch.where(total > 0, frequent / total.clamp_min(torch.finfo(pi.dtype).tiny), pi)
    if not quanta:
        return frequent
    order = torch.argsort(frequent, dim=-1, descending=True, stable=True)
    if ties is not None:
        drawn = ties.argsort(-1)
        by_chance = torch.argsort(frequent.gather(-1, drawn), dim=-1, descending=True, stable=True)
        order = drawn.gather(-1, by_chance)
    due = ((frequent.gather(-1, order) - SLACK) * quanta).ceil().clamp_min(0.0)
    before = due.cumsum(-1) - due
    given = torch.minimum(due, (quanta - before).clamp_min(0.0))
    given[..., 0] += quanta - given.sum(-1)
    given *= frequent.sum(-1, keepdim=True) > 0  # there may be nothing to give away
    return torch.zeros_like(frequent).scatter(-1, order, given / quanta)


def draw(pi: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    """What `stratkit.engine.sample` does, where the policy is.

    pi: float32 [n, A], 0 on illegal actions; u: float64 [n] in [0, 1), on the same device. Returns
    the actions by the inverse CDF in index order, int32 [n], and their probabilities, float32 [n];
    -1 and NaN where there is no positive one.
    """
    possible = pi > 0  # not NaN, either
    sums = torch.where(possible, pi, 0.0).double().cumsum(-1)
    beyond = possible & (sums > (u * sums[:, -1])[:, None])
    # A sum computed in parallel may fall at the end by a rounding error: then the most probable.
    chosen = torch.where(beyond.any(-1), beyond.int().argmax(-1), pi.argmax(-1))
    mu = pi.gather(-1, chosen[:, None])[:, 0]
    none = ~possible.any(-1)
    return chosen.masked_fill(none, -1).int(), mu.masked_fill(none, torch.nan)
