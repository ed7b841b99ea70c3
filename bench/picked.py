"""The logits of `FromTo` before f9694da2, by rows that are picked one by one, for a comparison."""

import torch
from torch import Tensor
from torch.nn.functional import relu

from stratkit.nets.fromto import CERTAIN, DEPLOY, TARGET, FromToEmbedding, FromToInputs, _at
from stratkit.nets.network import mask_indices, on_cpu


def logits(self, embedding: FromToEmbedding, inputs: FromToInputs, legal: Tensor) -> Tensor:
    """Logits float32 [n, A], -inf where illegal. On a CPU only the legal squares are looked at,
    which are a tenth."""
    squares, part = embedding.squares, inputs.part
    chosen = self.context(_at(squares, inputs.position, inputs.square))
    none = self.part((part == DEPLOY).long())
    context = torch.where((part == TARGET)[:, None], chosen, none)
    view, square = mask_indices(legal)
    action = view * legal.shape[1] + square
    met = inputs.outcomes.flatten(0, 1).index_select(0, action)
    met = torch.cat([met, (met[:, :2] > CERTAIN).float()], 1)
    position = inputs.position.index_select(0, view)
    hidden = self.square(_at(squares, position, square))
    hidden = hidden + context.index_select(0, view) + self.outcome(met)
    with torch.autocast(hidden.device.type, enabled=False):  # as in `last_layer`
        scores = self.policy(relu(hidden).float())
    scores = scores.gather(1, part[view, None])[:, 0]
    scores = scores + met @ self.met
    scores = scores + self.deploy[inputs.to_place[view], square] * (part[view] == DEPLOY)
    nowhere = scores.new_full((legal.numel(),), -torch.inf)
    logits: Tensor = nowhere.scatter(0, action, scores).view(legal.shape)
    # What is illegal has been looked at where the host does not wait.
    return logits if on_cpu(legal) else logits.masked_fill(~legal.bool(), -torch.inf)
