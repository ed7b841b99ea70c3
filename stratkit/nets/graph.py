"""A graph network for Diplomacy: provinces tell their neighbours what they hold.

A power orders its units one after the other, and meanwhile the position stays as it is: one
embedding serves all orders of a phase. In it a block adds to each province a layer of itself and of
the sum of its neighbours, as in GraphSAGE (Hamilton et al. 2017) and, with blocks between the same
nodes, as in the encoders of DipNet (Paquette et al. 2019). Weights are the same everywhere. What a
province is, a learned vector of its own tells. So the network is as large on any map, up to those
vectors.

An order is up to three actions. Each location is compared with what is asked, by additive attention
(Bahdanau et al. 2015), in the light of the own orders so far. Its own comparison gives a legal
location's logit, the sum of all beside the unit those of the verbs.

`GraphShares` tells of all powers at once what they may expect: one softmax, as in the encoders of
DipNet and SearchBot (Gray et al. 2021), which begins with the shares of squares.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot, relu

from stratkit.engine import distinct_views
from stratkit.engine.diplomacy import (
    ASK_VERB,
    COUNTERS,
    NONE,
    ORDER_FEATURES,
    PHASES,
    QUERIES,
    STAGES,
    VERBS,
    VIEW,
    Graph,
)
from stratkit.engine.graph import HIDDEN
from stratkit.errors import InputError
from stratkit.nets.network import (
    Network,
    ShareNetwork,
    last_layer,
    mask_indices,
    on_cpu,
    value_layer,
)
from stratkit.nets.threads import ROWS

UNIT = 1 / 16  # of years, and of those without a change: the last features
UNIT_TYPES, COASTS = 2, 4
NO_CENTRE = 0.25  # what units without one count as
# The features of a province end with what is asked there, the own orders, and those of the phase
# before (cengine/diplomacy/seen.c).
OWN = slice(-2 * ORDER_FEATURES, -ORDER_FEATURES)
OURS = 2  # the feature of a unit of the acting power: its type comes before


class GraphInputs(NamedTuple):
    """What the network reads of n views, which have m positions.

    provinces    float32 [m, P, F]
    everywhere   float32 [m, E], what is of no province
    key          uint8 [m, K], the positions' bytes
    position     int64 [n], each view's row among the positions
    orders       float32 [n, P, O], own orders so far, and whether each province's is complete
    query        float32 [n, stages * verbs], one-hot: stage and verb of the order in the making
    stage        int64 [n]
    at           int64 [n], the province whose order it is
    whom         int64 [n], the province that the order helps; P: none
    """

    provinces: Tensor
    everywhere: Tensor
    key: Tensor
    position: Tensor
    orders: Tensor
    query: Tensor
    stage: Tensor
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
        features = (shape[0] - graph.everywhere) // n - QUERIES - ORDER_FEATURES
        moment = graph.everywhere - STAGES - len(VERBS)
        self.entry = nn.Linear(features, channels)
        self.place = nn.Parameter(torch.randn(n, 1, channels) / 8)
        self.moment = nn.Linear(moment, channels, bias=False)
        self.blocks = nn.ModuleList(GraphBlock(channels) for _ in range(blocks))
        self.square = nn.Linear(channels, HIDDEN)
        self.order = nn.Linear(ORDER_FEATURES + 1, HIDDEN, bias=False)
        self.coast = nn.Parameter(torch.zeros(len(graph.parent), HIDDEN))
        features_of_query = 2 * (channels + ORDER_FEATURES + 1) + STAGES * len(VERBS)
        self.context = nn.Linear(features_of_query, HIDDEN, bias=False)
        self.verb = nn.Linear(2 * HIDDEN, len(VERBS))
        self.policy = nn.Linear(HIDDEN, 1, bias=False)
        for weight in (*self.verb.parameters(), self.policy.weight):
            nn.init.zeros_(weight)  # play begins uniform
        self.ordered = nn.Linear(channels + ORDER_FEATURES + 1, HIDDEN)
        self._add_critic(channels, moment)

    def _add_critic(self, channels: int, moment: int) -> None:
        """The layers behind those of the policy. `moment`: how many features are of no province."""
        self.critic: nn.Module = nn.Sequential(
            nn.Linear(channels + moment + HIDDEN, HIDDEN), nn.ReLU(), value_layer(HIDDEN)
        )

    def prepare(self, packed: Tensor, pub: Tensor | None = None) -> GraphInputs:
        """Each view has a position of its own. Nothing public is there to replace."""
        every = torch.arange(len(packed), device=packed.device)
        return self._inputs(packed, self._keys(packed), every, every)

    def prepare_shared(self, packed: Tensor, unit: int = ROWS) -> GraphInputs:
        """Views share positions: on a CPU each is there once. A GPU would wait for their number."""
        if not on_cpu(packed):
            return self.prepare(packed)
        keys = self._keys(packed)
        first, each = distinct_views(keys.numpy(), np.zeros((len(keys), 1), np.uint8))
        rows = torch.from_numpy(first.astype(np.int64))
        return self._inputs(packed, keys[rows], rows, torch.from_numpy(each.astype(np.int64)))

    def _inputs(self, packed: Tensor, keys: Tensor, rows: Tensor, position: Tensor) -> GraphInputs:
        n, first = len(self.near), self.shape[0] - self.everywhere
        features = packed[:, :first].reshape(len(packed), n, -1)
        moment = packed[rows, first : self.shape[0]].float()
        moment[:, -COUNTERS:] *= UNIT
        moment = torch.cat([moment[:, : -COUNTERS - STAGES - len(VERBS)], moment[:, -COUNTERS:]], 1)
        at, stage, verb, whom = (self._seen(packed, name)[:, 0].long() for name in _QUERY)
        query = one_hot(stage * len(VERBS) + verb, STAGES * len(VERBS)).float()
        done = torch.arange(n, device=packed.device) < at[:, None]
        orders = torch.cat([features[:, :, OWN], done[:, :, None]], 2).float()
        seen = features[rows]
        seen = torch.cat(
            [seen[:, :, : -QUERIES - 2 * ORDER_FEATURES], seen[:, :, -ORDER_FEATURES:]], 2
        ).float()
        whom = torch.where(whom == NONE, n, whom)
        return GraphInputs(seen, moment, keys, position, orders, query, stage, at, whom)

    def _seen(self, packed: Tensor, name: str) -> Tensor:
        """The bytes of this part of what a power knows, which is behind the features."""
        kind, offset = VIEW.fields[name][:2]  # type: ignore[index]
        at = self.shape[0] + int(offset)
        return packed[:, at : at + kind.itemsize]

    def _keys(self, packed: Tensor) -> Tensor:
        """Of each view what all views of its power and phase share."""
        return torch.cat([self._seen(packed, name) for name in ("position", "last", "power")], 1)

    def embed(self, inputs: GraphInputs) -> Tensor:
        """float32 [m, P, C], a row for each position."""
        return self._embed(inputs.provinces, inputs.everywhere)

    def _embed(self, provinces: Tensor, everywhere: Tensor) -> Tensor:
        # Provinces come first meanwhile: their neighbours are then one product of matrices.
        x = relu(self._enter(provinces, everywhere))
        for block in self.blocks:
            x = block(x, self.near)
        return x.transpose(0, 1)

    def _enter(self, provinces: Tensor, everywhere: Tensor) -> Tensor:
        """float32 [P, m, C]: what each province holds, before it hears others."""
        x: Tensor = self.entry(provinces.transpose(0, 1)) + self.moment(everywhere) + self.place
        return x

    def embed_after(self, inputs: GraphInputs, before: Any) -> tuple[Tensor, Any]:
        """The positions of the orders before are remembered."""
        places, known = before or ({}, None)
        keys = [row.tobytes() for row in inputs.key.numpy()]
        at = torch.tensor([places.get(key, -1) for key in keys])
        new = (at < 0).nonzero()[:, 0]
        if known is None or len(new) == len(at):
            embedding = self.embed(inputs)
        else:
            embedding = known[at]
            if len(new):
                embedding[new] = self._embed(inputs.provinces[new], inputs.everywhere[new])
        return embedding, (dict(zip(keys, range(len(keys)), strict=True)), embedding)

    def logits(self, embedding: Tensor, inputs: GraphInputs, legal: Tensor) -> Tensor:
        """Logits float32 [n, A], -inf where illegal. Only legal locations count, and those beside
        the unit whose verb is asked."""
        first, n = len(VERBS), len(self.near)
        rows = torch.arange(len(legal), device=legal.device)
        position, at, whom, orders = inputs.position, inputs.at, inputs.whom, inputs.orders
        helped = (whom < n)[:, None]
        whom = whom.clamp_max(n - 1)
        context = self.context(
            torch.cat([
                embedding[position, at], orders[rows, at],
                embedding[position, whom] * helped, orders[rows, whom] * helped, inputs.query,
            ], 1)
        )  # fmt: skip
        verbs, places = legal[:, :first].bool(), legal[:, first:].bool()
        looked = places.clone()
        looked[:, :n] |= (self.near[at] > 0) & (inputs.stage == ASK_VERB)[:, None]
        row, location = mask_indices(looked)
        province = self.parent[location]
        hidden = self.square(embedding[position[row], province])
        hidden = hidden + self.order(orders[row, province]) + self.coast[location]
        hidden = relu(hidden + context[row]) * looked[row, location, None]
        around = hidden.new_zeros(len(legal), HIDDEN).index_add(0, row, hidden)
        of_verbs = last_layer(self.verb, torch.cat([relu(context), around], 1))
        of_locations = last_layer(self.policy, hidden)[:, 0]
        of_places = of_locations.new_zeros(places.shape)
        of_places = of_places.index_put((row, location), of_locations)
        logits = torch.cat([of_verbs, of_places], 1)
        return logits.masked_fill(~torch.cat([verbs, places], 1), -torch.inf)

    def value(self, embedding: Tensor, inputs: GraphInputs) -> Tensor:
        """Values float32 [n] for the acting side: from sums over the map, and over the provinces
        with which the own orders so far have to do. So the value tells what an order is worth
        before the phase is carried out."""
        board = self._board(embedding, inputs)[inputs.position]
        ordered = self._own_orders(embedding, inputs)
        return last_layer(self.critic, torch.cat([board, ordered], 1))[:, 0]

    def _board(self, embedding: Tensor, inputs: GraphInputs) -> Tensor:
        """float32 [m, ...]: all provinces together, and what is of none."""
        board = embedding.sum(1) / len(self.near) ** 0.5
        return torch.cat([board, inputs.everywhere], 1)

    def _own_orders(self, embedding: Tensor, inputs: GraphInputs) -> Tensor:
        """float32 [n, HIDDEN]: the provinces with which the own orders so far have to do."""
        position, orders = inputs.position, inputs.orders
        ours = inputs.provinces[:, :, OURS][position] * orders[:, :, -1]
        concerned = orders[:, :, 1:ORDER_FEATURES].amax(2) + ours > 0
        row, province = mask_indices(concerned)
        hidden = torch.cat([embedding[position[row], province], orders[row, province]], 1)
        hidden = relu(self.ordered(hidden)) / 4 * concerned[row, province, None]
        return hidden.new_zeros(len(orders), HIDDEN).index_add(0, row, hidden)


class GraphShares(GraphNet, ShareNetwork):
    """`GraphNet` whose value is that of one softmax over all powers. A power's logit comes from the
    provinces where it has units, and from those whose centres it owns: all powers have the same
    weights, so that each learns from what the others may expect. And each province knows how many
    centres the powers have that hold it, which no neighbour can tell."""

    def _add_critic(self, channels: int, moment: int) -> None:
        self.powers = self.everywhere - len(PHASES) - STAGES - len(VERBS) - COUNTERS
        self.claim = nn.Linear(channels, HIDDEN)
        self.holds = nn.Linear(2 * HIDDEN, HIDDEN, bias=False)
        self.critic_board = nn.Linear(channels + moment, HIDDEN)
        self.critic_orders = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.critic = value_layer(HIDDEN)
        self.sizes = nn.Linear(self.powers, channels, bias=False)
        self.holders = nn.Linear(2, channels, bias=False)

    def _enter(self, provinces: Tensor, everywhere: Tensor) -> Tensor:
        units, owned, _ = self._held(provinces)
        sizes = owned.sum(1, keepdim=True) * UNIT  # [m, 1, powers]
        holders = torch.stack([(held * sizes).sum(2) for held in (units, owned)], 2)
        of_powers: Tensor = self.holders(holders) + self.sizes(sizes)
        return super()._enter(provinces, everywhere) + of_powers.transpose(0, 1)

    def shares(self, embedding: Tensor, inputs: GraphInputs) -> Tensor:
        """float32 [n, powers]: what each may expect of the whole, that acts first, the next one
        behind it; as `_own_orders` of the power that acts has it."""
        units, owned, alive = self._held(inputs.provinces)
        claims = relu(self.claim(embedding))  # [m, P, HIDDEN]
        by_units, by_centres = (held.transpose(1, 2) @ claims / 4 for held in (units, owned))
        board = self.critic_board(self._board(embedding, inputs))
        of_powers = self.holds(torch.cat([by_units, by_centres], 2)) + board[:, None]
        of_powers = of_powers[inputs.position]
        own = self.critic_orders(self._own_orders(embedding, inputs))
        first = torch.zeros(self.powers, 1, device=own.device)
        first[0] = 1
        hidden = relu(of_powers + own[:, None] * first)
        squares = 2 * owned.sum(1).clamp_min(NO_CENTRE).log()
        logits = last_layer(self.critic, hidden)[:, :, 0] + squares[inputs.position]
        logits = logits.masked_fill(~alive[inputs.position], -torch.inf)
        return torch.softmax(logits, 1)

    def _held(self, seen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Where each power has a unit, and owns a centre: float32 [m, P, powers]; whether it has
        any, bool [m, powers]. `seen`: `GraphInputs.provinces`."""
        n = self.powers
        begins = np.cumsum([UNIT_TYPES, n + COASTS + UNIT_TYPES, n])
        units, dislodged, owned = (seen[:, :, at : at + n] for at in begins.tolist())
        return units, owned, (units + dislodged + owned).sum(1) > 0

    def value(self, embedding: Tensor, inputs: GraphInputs) -> Tensor:
        """The own share; of two powers the difference, which is the game's return."""
        shares = self.shares(embedding, inputs)
        return shares[:, 0] - shares[:, 1] if self.powers == 2 else shares[:, 0]


class GraphBlock(nn.Module):
    """A layer of each province and of its neighbours, beside the identity."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.own = nn.Linear(channels, channels)
        self.others = nn.Linear(channels, channels, bias=False)

    def forward(self, x: Tensor, near: Tensor) -> Tensor:
        """x: float32 [P, n, C]; near: [P, P], weights of neighbours."""
        from_neighbours = (near @ self.others(x).flatten(1)).view_as(x)
        return x + relu(self.own(x) + from_neighbours)


_QUERY = ("at", "stage", "verb", "whom")
