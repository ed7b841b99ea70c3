"""A network of one's own, linear in what it sees, for any game.

train games/ --out run --net py:linear_net:LinearNet
STRATKIT_NETS=py:linear_net:LinearNet match run random -n 100 --game kuhn -o games.jsonl
"""

import torch
from torch import Tensor, nn

from stratkit.nets import Network, expand


class LinearNet(Network):
    def __init__(self, shape: tuple[int, ...], actions: int) -> None:
        super().__init__()
        self.shape = shape
        self.heads = nn.Linear(torch.Size(shape).numel(), actions + 1)

    def prepare(self, packed: Tensor, pub: Tensor | None = None) -> Tensor:
        return expand(packed, self.shape, pub).flatten(1) if self.shape[1:] else packed.float()

    def embed(self, inputs: Tensor) -> Tensor:
        return self.heads(inputs).float()

    def logits(self, embedding: Tensor, inputs: Tensor, legal: Tensor) -> Tensor:
        return embedding[:, :-1].masked_fill(~legal.bool(), -torch.inf)

    def value(self, embedding: Tensor, inputs: Tensor) -> Tensor:
        return embedding[:, -1]
