"""A network that meets every game with its own flag in the right half of the board.

The rules are symmetric under reflection: what is true of a position is true of its mirror image.
`NAME+mirrored` is `NAME+deployment`, but looks at a view with the flag on the left as in a mirror,
and so it acts. It learns one half of all games, and knows the other as well. It places the flag
first, and on either side with the same probability: which one, nobody can know who knows its
weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from stratkit.engine.observation import (
    CELLS,
    MOVES,
    ONLY_ATTACKS,
    PHASE,
    SELECTED,
    SHOWN_PLIES,
    TO_PLACE,
)
from stratkit.engine.stratego import FLAG, PIECE, SIDE, TYPE
from stratkit.nets.deployment import Embedding, Inputs, WithDeployment
from stratkit.nets.network import ROWS, Network, on_cpu


class Views(NamedTuple):
    """seen: the inputs of the views as the network meets them; bool [n]: which of these are
    mirrored, and which place the flag."""

    seen: Inputs
    mirrored: Tensor
    places_flag: Tensor


class Mirrored(WithDeployment):
    """As `WithDeployment`, of a board (82, H, W). Its inputs are `Views`."""

    image: Tensor

    def __init__(self, play: Network) -> None:
        super().__init__(play)
        _, height, width = self.shape
        square = torch.arange(height * width)
        self.register_buffer("image", square + width - 1 - 2 * (square % width), persistent=False)

    def prepare(self, packed: Tensor, pub: Tensor | None = None) -> Any:
        packed, mirrored, places_flag = self._meet(packed)
        if pub is not None:
            pub = torch.where(mirrored[:, None, None, None], pub.flip(-1), pub)
        return Views(super().prepare(packed, pub), mirrored, places_flag)

    def prepare_shared(self, packed: Tensor, unit: int = ROWS) -> Any:
        if not on_cpu(packed):
            return self.prepare(packed)
        packed, mirrored, places_flag = self._meet(packed)
        return Views(super().prepare_shared(packed, unit), mirrored, places_flag)

    def embed(self, inputs: Any) -> Embedding:
        return super().embed(inputs.seen)

    def embed_after(self, inputs: Any, before: Any) -> tuple[Embedding, Any]:
        return super().embed_after(inputs.seen, before)

    def logits(self, embedding: Embedding, inputs: Any, legal: Tensor) -> Tensor:
        """Logits float32 [n, A], -inf where illegal. A square on the left has its image's logit as
        a place for the flag, if that is free, too."""
        mirrored = inputs.mirrored[:, None]
        met = torch.where(mirrored, legal[:, self.image], legal)
        logits = super().logits(embedding, inputs.seen, met)
        left = self.image > torch.arange(len(self.image), device=legal.device)
        both = legal.bool() & legal[:, self.image].bool()
        turned = mirrored | (inputs.places_flag[:, None] & left & both)
        return torch.where(turned, logits[:, self.image], logits)

    def value(self, embedding: Embedding, inputs: Any) -> Tensor:
        return super().value(embedding, inputs.seen)

    def _meet(self, packed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The observations as the network meets them, and the other two of `Views`."""
        own_flag = (packed[:, CELLS:] & (PIECE | SIDE | TYPE)) == PIECE | FLAG
        _, height, width = self.shape
        mirrored = own_flag.view(-1, height, width)[:, :, : width // 2].any(2).any(1)
        seen = torch.where(mirrored[:, None], self.reflected(packed), packed)
        return seen, mirrored, (packed[:, PHASE] == 1) & (packed[:, TO_PLACE] == FLAG)

    def reflected(self, packed: Tensor) -> Tensor:
        """The observations of the mirror images, uint8 [n, 172 + S]."""
        image = self.image.byte()
        other = torch.arange(256, device=packed.device, dtype=torch.uint8)
        other[: len(image)] = image  # and what is no square stays as it is
        found = packed.clone()
        found[:, CELLS:] = packed[:, CELLS:][:, self.image]
        found[:, SELECTED] = other[packed[:, SELECTED].long()]
        plies = packed[:, MOVES:CELLS].view(-1, SHOWN_PLIES, 3)
        squares = other[plies[:, :, :2].long()]
        found[:, MOVES:CELLS] = torch.cat([squares, plies[:, :, 2:]], 2).flatten(1)
        bit = torch.arange(8, device=packed.device, dtype=torch.uint8)
        bits = (packed[:, ONLY_ATTACKS:MOVES, None] >> bit & 1).flatten(1)
        turned = bits[:, other[: bits.shape[1]].long()].reshape(-1, MOVES - ONLY_ATTACKS, 8)
        found[:, ONLY_ATTACKS:MOVES] = (turned << bit).sum(2, dtype=torch.uint8)
        return found
