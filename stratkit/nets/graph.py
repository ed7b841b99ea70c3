"""A graph network for Diplomacy: provinces tell their neighbours what they hold.

A block adds to each province a layer of itself and of the sum of its neighbours, as in GraphSAGE
(Hamilton et al. 2017) and, with blocks between the same nodes, as in the encoders of DipNet
(Paquette et al. 2019). Weights are the same everywhere. What a province is, a learned vector of its
own tells. So the network is as large on any map, up to those vectors.

An order is up to three actions. The verb's logits come from the province that is asked. A
location's come from its province, the one that is asked, and the one that is helped, by additive
attention (Bahdanau et al. 2015). They are computed where they are legal alone: few locations are.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot, relu

from stratkit.engine.diplomacy import ASK_WHITHER, NONE, VERBS, VIEW, Graph
from stratkit.errors import InputError
from stratkit.nets.network import Network, last_layer, value_layer

HIDDEN = 32  # of a location and what it is compared with
COUNTERS, UNIT = 2, 1 / 16  # years, and those without a change: the last features, in this unit
STAGES = ASK_WHITHER + 1


class Inputs(NamedTuple):
    """What the network reads of n views: float32 [n, P, F] of provinces, [n, E] of the moment and
    [n, stages * verbs] of what is asked; int64 [n] provinces, `whom` P for none."""

    provinces: Tensor
    everywhere: Tensor
    asked: Tensor
    at: Tensor
    whom: Tensor


class GraphNet(Network):
    """shape: (C,) of the observation of a game of Diplomacy, and graph: that of its map. Actions
    are the verbs and the L locations. `InputError`: the observation is another game's."""

    near: Tensor
    parent: Tensor

    def __init__(self, shape: tuple[int, ...], graph: Graph, channels: int, blocks: int) -> None:
        super().__init__()
        self.shape, self.everywhere = shape, graph.everywhere
        n = len(graph.near)
        if len(shape) != 1 or (shape[0] - graph.everywhere) % n:
            raise InputError(f"{shape} are no features of {n} provinces")
        near = torch.from_numpy(graph.near).float()
        near = near / near.sum(1, keepdim=True).clamp_min(1).sqrt()
        self.register_buffer("near", near, persistent=False)  # the game's, not learned
        self.register_buffer("parent", torch.from_numpy(graph.parent).long(), persistent=False)
        self.entry = nn.Linear((shape[0] - graph.everywhere) // n, channels)
        self.place = nn.Parameter(torch.randn(n, 1, channels) / 8)
        self.moment = nn.Linear(graph.everywhere, channels, bias=False)
        self.blocks = nn.ModuleList(Block(channels) for _ in range(blocks))
        self.verb = nn.Sequential(
            nn.Linear(channels, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, len(VERBS))
        )
        self.square = nn.Linear(channels, HIDDEN)
        self.coast = nn.Parameter(torch.zeros(len(graph.parent), HIDDEN))
        self.context = nn.Linear(2 * channels + STAGES * len(VERBS), HIDDEN, bias=False)
        self.policy = nn.Linear(HIDDEN, 1, bias=False)
        for weight in (*self.verb[2].parameters(), self.policy.weight):
            nn.init.zeros_(weight)  # play begins uniform
        self.critic = nn.Sequential(
            nn.Linear(channels + graph.everywhere, HIDDEN), nn.ReLU(), value_layer(HIDDEN)
        )

    def prepare(self, packed: Tensor, pub: Tensor | None = None) -> Inputs:
        """Nothing public is there to replace."""
        n, first = len(self.near), self.shape[0] - self.everywhere
        provinces = packed[:, :first].reshape(len(packed), n, -1).float()
        everywhere = packed[:, first : self.shape[0]].float()
        everywhere[:, -COUNTERS:] *= UNIT
        at, stage, verb, whom = (self._view(packed, name) for name in _ASKED)
        asked = one_hot(stage * len(VERBS) + verb, STAGES * len(VERBS)).float()
        whom = torch.where(whom == NONE, n, whom)
        return Inputs(provinces, everywhere, asked, at, whom)

    def _view(self, packed: Tensor, name: str) -> Tensor:
        """This byte of what a power knows, behind the features: int64 [n]."""
        return packed[:, self.shape[0] + _OFFSETS[name]].long()

    def embed(self, inputs: Inputs) -> Tensor:
        """float32 [n, P, C]."""
        # Provinces come first meanwhile: their neighbours are then one product of matrices.
        x: Tensor = self.entry(inputs.provinces.transpose(0, 1))
        x = relu(x + self.moment(inputs.everywhere) + self.place)
        for block in self.blocks:
            x = block(x, self.near)
        return x.transpose(0, 1)

    def logits(self, embedding: Tensor, inputs: Inputs, legal: Tensor) -> Tensor:
        """Logits float32 [n, A], -inf where illegal."""
        at = _rows(embedding, inputs.at)
        none = embedding.new_zeros(len(embedding), 1, embedding.shape[2])
        whom = _rows(torch.cat([embedding, none], 1), inputs.whom)
        context = self.context(torch.cat([at, whom, inputs.asked], 1))
        first = len(VERBS)
        row, location = legal[:, first:].nonzero(as_tuple=True)
        hidden = self.square(embedding[row, self.parent[location]]) + self.coast[location]
        found = last_layer(self.policy, relu(hidden + context[row]))[:, 0]
        places = found.new_full((len(legal), len(self.coast)), -torch.inf)
        places = places.index_put((row, location), found)
        verbs = last_layer(self.verb, at).masked_fill(~legal[:, :first].bool(), -torch.inf)
        return torch.cat([verbs, places], 1)

    def value(self, embedding: Tensor, inputs: Inputs) -> Tensor:
        """Values float32 [n] for the acting side: from the sum over the map."""
        board = embedding.sum(1) / len(self.near) ** 0.5
        return last_layer(self.critic, torch.cat([board, inputs.everywhere], 1))[:, 0]


class Block(nn.Module):
    """A layer of each province and of its neighbours, beside the identity."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.own = nn.Linear(channels, channels)
        self.others = nn.Linear(channels, channels, bias=False)

    def forward(self, x: Tensor, near: Tensor) -> Tensor:
        """x: float32 [P, n, C]; near: [P, P], weights of neighbours."""
        told = (near @ self.others(x).flatten(1)).view_as(x)
        return x + relu(self.own(x) + told)


_ASKED = ("at", "stage", "verb", "whom")
_OFFSETS = {name: int(VIEW.fields[name][1]) for name in _ASKED}  # type: ignore[index]


def _rows(embedding: Tensor, province: Tensor) -> Tensor:
    """[n, C]: one province of each view."""
    return embedding[torch.arange(len(embedding), device=embedding.device), province]
