"""A network that sees every game with its own flag in the right half of the board.

The rules are symmetric under reflection: what is true of a position is true of its mirror image.
`NAME+mirrored` is `NAME+deployment`, but reflects a position whose own flag is in the left half,
and plays the reflected move. What it learns on one side it knows on the other. The flag goes to
either side with equal probability, so its weights do not tell which. A board whose lakes are not
symmetric is reflected with its lakes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
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
from stratkit.nets.deployment import DeploymentEmbedding, DeploymentInputs, WithDeployment
from stratkit.nets.network import Network, on_cpu
from stratkit.nets.threads import ROWS
from stratkit.nets.whole_moves import Moves


class Seen(NamedTuple):
    """n views as the network sees them.

    inputs       of the other network
    mirrored     bool [n], which of them are mirror images
    like_image   bool [n, S], of views that place the flag, the squares on the left
    """

    inputs: DeploymentInputs
    mirrored: Tensor
    like_image: Tensor


class Mirrored(WithDeployment):
    """As `WithDeployment`, of a board (82, H, W). Its inputs are `Seen`."""

    image: Tensor

    def __init__(self, play: Network) -> None:
        super().__init__(play)
        _, height, width = self.shape
        square = torch.arange(height * width)
        self.register_buffer("image", square + width - 1 - 2 * (square % width), persistent=False)

    def prepare(self, packed: Tensor, pub: Tensor | None = None) -> Any:
        seen, mirrored, like_image = self._see(packed)
        if pub is not None:
            pub = torch.where(mirrored[:, None, None, None], pub.flip(-1), pub)
        return Seen(super().prepare(seen, pub), mirrored, like_image)

    def prepare_shared(self, packed: Tensor, unit: int = ROWS) -> Any:
        if not on_cpu(packed):
            return self.prepare(packed)
        seen, mirrored, like_image = self._see(packed)
        return Seen(super().prepare_shared(seen, unit), mirrored, like_image)

    def embed(self, inputs: Any) -> DeploymentEmbedding:
        return super().embed(inputs.inputs)

    def embed_without_graph(self, inputs: Any) -> DeploymentEmbedding:
        return super().embed_without_graph(inputs.inputs)

    def embed_after(self, inputs: Any, before: Any) -> tuple[DeploymentEmbedding, Any]:
        return super().embed_after(inputs.inputs, before)

    def logits(self, embedding: DeploymentEmbedding, inputs: Any, legal: Tensor) -> Tensor:
        """Logits float32 [n, A], -inf where illegal. Where the flag is to be placed, a square on
        the left has the logit of its image, whether that is legal or not."""
        logits = super().logits(embedding, inputs.inputs, self._legal_seen(inputs, legal))
        return self._turned(inputs, legal, logits)

    def logits_and_value(
        self, embedding: DeploymentEmbedding, inputs: Any, legal: Tensor
    ) -> tuple[Tensor, Tensor]:
        seen = self._legal_seen(inputs, legal)
        logits, values = super().logits_and_value(embedding, inputs.inputs, seen)
        return self._turned(inputs, legal, logits), values

    def _legal_seen(self, inputs: Seen, legal: Tensor) -> Tensor:
        """The legal squares of the views as the network sees them, bool [n, S], and the images of
        those on the left that the flag may be placed on."""
        reflected = legal[:, self.image].bool()
        seen = torch.where(inputs.mirrored[:, None], reflected, legal.bool())
        return seen | (reflected & inputs.like_image[:, self.image])

    def _turned(self, inputs: Seen, legal: Tensor, logits: Tensor) -> Tensor:
        """Logits of the views as they are, of those that the network gives."""
        images = inputs.mirrored[:, None] | inputs.like_image
        turned = torch.where(images, logits[:, self.image], logits)
        return turned.masked_fill(~legal.bool(), -torch.inf)

    def move_logits(self, embedding: DeploymentEmbedding, inputs: Any, moves: Moves) -> Tensor:
        mirrored, image = inputs.mirrored.cpu().numpy()[moves.row], self.image.cpu().numpy()
        source, target = (
            np.where(mirrored, image[square], square) for square in (moves.source, moves.target)
        )
        seen = moves._replace(source=source, target=target)
        return super().move_logits(embedding, inputs.inputs, seen)

    def value(self, embedding: DeploymentEmbedding, inputs: Any) -> Tensor:
        return super().value(embedding, inputs.inputs)

    def _see(self, packed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The observations as the network sees them, and the other two of `Seen`."""
        cells, (_, height, width) = packed[:, CELLS:], self.shape
        own_flag = (cells & (PIECE | SIDE | TYPE)) == PIECE | FLAG
        mirrored = own_flag.view(-1, height, width)[:, :, : width // 2].any(2).any(1)
        places_flag = (packed[:, PHASE] == 1) & (packed[:, TO_PLACE] == FLAG)
        left = self.image > torch.arange(height * width, device=packed.device)
        like_image = places_flag[:, None] & left
        if on_cpu(packed):
            seen, rows = packed.clone(), mirrored.nonzero()[:, 0]
            seen[rows] = self.reflected(packed[rows])
        else:
            seen = torch.where(mirrored[:, None], self.reflected(packed), packed)
        return seen, mirrored, like_image

    def reflected(self, packed: Tensor) -> Tensor:
        """The observations of the mirror images, uint8 [n, 172 + S]."""
        image = self.image.byte()
        other = torch.arange(256, device=packed.device, dtype=torch.uint8)
        other[: len(image)] = image  # and what is no square stays as it is
        mirrored = packed.clone()
        mirrored[:, CELLS:] = packed[:, CELLS:][:, self.image]
        mirrored[:, SELECTED] = other[packed[:, SELECTED].long()]
        plies = packed[:, MOVES:CELLS].view(-1, SHOWN_PLIES, 3)
        squares = other[plies[:, :, :2].long()]
        mirrored[:, MOVES:CELLS] = torch.cat([squares, plies[:, :, 2:]], 2).flatten(1)
        bit = torch.arange(8, device=packed.device, dtype=torch.uint8)
        bits = (packed[:, ONLY_ATTACKS:MOVES, None] >> bit & 1).flatten(1)
        turned = bits[:, other[: bits.shape[1]].long()].reshape(-1, MOVES - ONLY_ATTACKS, 8)
        mirrored[:, ONLY_ATTACKS:MOVES] = (turned << bit).sum(2, dtype=torch.uint8)
        return mirrored
