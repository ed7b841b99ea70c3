"""A network that looks at a position once for both parts of a move: where from, and where to.

A ply is two actions: a piece, and its destination. Between them the position stays as it is, so one
embedding of the board serves both. The destinations' logits compare each square with the chosen
piece: with the embedding of its square, as additive attention does (Bahdanau et al. 2015), and with
what an attack there would bring. So does the choice of a piece that can only attack. At the same
cost the torso is twice as large as that of a network that looks twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn, relu_
from torch.autograd.function import once_differentiable
from torch.nn.functional import one_hot, relu

from stratkit.engine import distinct_views
from stratkit.engine.entry import entry, entry_gradient
from stratkit.engine.heads import HeadViews, heads, heads_gradient
from stratkit.engine.observation import (
    COUNTS,
    FEATURES,
    MOVES,
    NO_SQUARE,
    ONLY_ATTACKS,
    PHASE,
    SELECTED,
    STAGE,
    TO_PLACE,
)
from stratkit.engine.stratego import TYPES
from stratkit.nets.features import features, outcomes
from stratkit.nets.fromto_weights import (
    CERTAIN,
    DEPLOY,
    HIDDEN,
    MET,
    SELECT,
    TARGET,
    entry_layers,
    head_layers,
)
from stratkit.nets.network import MoveNetwork, last_layer, on_cpu, value_layer
from stratkit.nets.plain import ResidualBlock, engine_is_faster, through, through_without_graph
from stratkit.nets.threads import ROWS, row_blocks, side_by_side
from stratkit.nets.whole_moves import Moves

# The last number is of certain losses: positions in which they could be unlearned are rare, and
# mostly lost (bench/learning-barrage.md).
FIRST_MET = [0.0, 0.0, 0.0, 0.0, -16.0]  # as `MET` has them


class FromToInputs(NamedTuple):
    """What the network reads of n views, which have m positions.

    packed     uint8 [m, B], observations from before a piece was selected
    pub        float32, as in `expand`, or None
    position   int64 [n], each view's row among the positions
    part       int64 [n], what is decided: `DEPLOY`, `SELECT` or `TARGET`
    square     int64 [n], the selected piece's
    to_place   int64 [n], the type to be placed; 0: none
    outcomes   float32 [n, S, 3], as of `features.outcomes`
    """

    packed: Tensor
    pub: Tensor | None
    position: Tensor
    part: Tensor
    square: Tensor
    to_place: Tensor
    outcomes: Tensor


class FromToEmbedding(NamedTuple):
    """Of m positions.

    squares   float32 [m, S, C]
    counts    float32 [m, 51]
    """

    squares: Tensor
    counts: Tensor

    def take(self, rows: Tensor) -> FromToEmbedding:
        """These rows, int64 [m]."""
        return FromToEmbedding(self.squares[rows], self.counts[rows])


_NOTHING = FromToEmbedding(torch.empty(0), torch.empty(0))


class FromTo(MoveNetwork):
    """shape: (82, H, W) of the game's observation; actions are the H * W squares."""

    shape: tuple[int, int, int]
    shares_positions = True
    same_for_all = True

    def __init__(self, shape: tuple[int, int, int], channels: int, blocks: int) -> None:
        super().__init__()
        self.shape = shape
        self.entry = nn.Conv2d(FEATURES, channels, 1)
        self.place = nn.Parameter(torch.zeros(channels, *shape[1:]))  # of each square
        self.counts = nn.Linear(COUNTS, channels)
        self.blocks = nn.ModuleList(ResidualBlock(channels) for _ in range(blocks))
        self.square = nn.Linear(channels, HIDDEN)
        self.outcome = nn.Linear(MET, HIDDEN, bias=False)
        self.met = nn.Parameter(torch.tensor(FIRST_MET))  # straight to the logit
        self.context = nn.Linear(channels, HIDDEN)  # of the chosen piece
        self.part = nn.Embedding(2, HIDDEN)  # where none is chosen
        self.deploy = nn.Parameter(torch.zeros(len(TYPES), shape[1] * shape[2]))
        self.policy = nn.Linear(HIDDEN, 3)
        nn.init.zeros_(self.policy.weight)  # play begins uniform
        nn.init.zeros_(self.policy.bias)
        self.critic = nn.Sequential(
            nn.Linear(3 * channels + COUNTS, channels), nn.ReLU(), value_layer(channels)
        )

    def prepare(self, packed: Tensor, pub: Tensor | None = None) -> FromToInputs:
        """Each view has a position of its own; `pub` as in `expand`."""
        own = torch.arange(len(packed), device=packed.device)
        return self._inputs(packed, pub, _positions(packed), own)

    def prepare_shared(self, packed: Tensor, unit: int = ROWS) -> FromToInputs:
        """Views share positions: on a CPU each is there once, then the first again up to a multiple
        of `unit`. A GPU would wait for their number."""
        if not on_cpu(packed):
            return self.prepare(packed)
        positions = _positions(packed).numpy()
        first, each = distinct_views(positions, np.zeros((len(positions), 1), np.uint8))
        first = np.append(first, np.repeat(first[:1], -len(first) % unit))
        return self._inputs(
            packed, None, torch.from_numpy(positions[first]), torch.from_numpy(each)
        )

    def _inputs(
        self, packed: Tensor, pub: Tensor | None, positions: Tensor, position: Tensor
    ) -> FromToInputs:
        selected, to_place = packed[:, SELECTED], packed[:, TO_PLACE]
        return FromToInputs(
            positions,
            pub,
            position,
            torch.where(packed[:, PHASE] == 1, DEPLOY, SELECT + packed[:, STAGE].long()),
            torch.where(selected != NO_SQUARE, selected, 0).long(),
            torch.where(to_place < len(TYPES), to_place, 0).long(),
            outcomes(packed, self.shape, pub),
        )

    def embed(self, inputs: FromToInputs) -> FromToEmbedding:
        """A row for each position. If a gradient is wanted, by the engine where it is faster."""
        return self._embed(inputs.packed, inputs.pub, torch.is_grad_enabled())

    def embed_without_graph(self, inputs: FromToInputs) -> FromToEmbedding:
        """By the engine, where it is faster."""
        return self._embed(inputs.packed, inputs.pub, True, through_without_graph)

    def _embed(
        self,
        packed: Tensor,
        pub: Tensor | None,
        by_engine: bool = False,
        go_through: Callable[[nn.ModuleList, Tensor], Tensor] = through,
    ) -> FromToEmbedding:
        board, counts = features(packed, self.shape, pub)
        if by_engine and pub is None and engine_is_faster(self.place[None]):
            x = self._enter_by_engine(board, counts)
        else:
            # As the board's features lie in memory: channels last.
            everywhere = self.place.permute(1, 2, 0) + self.counts(counts)[:, None, None]
            x = relu_(self.entry(board) + everywhere.permute(0, 3, 1, 2))
        x = go_through(self.blocks, x)
        return FromToEmbedding(x.permute(0, 2, 3, 1).flatten(1, 2), counts)

    def _enter_by_engine(self, board: Tensor, counts: Tensor) -> Tensor:
        """[m, C, H, W]: what is behind the first layer, up to rounding."""
        weights = torch.cat(entry_layers(dict(self.named_parameters())))
        x: Tensor = _Enter.apply(board, counts, weights)  # type: ignore[no-untyped-call]
        return x

    def _embed_side_by_side(self, packed: Tensor) -> FromToEmbedding:
        """Without a graph. Threads do not inherit layers of another precision."""
        if torch.is_autocast_enabled("cpu"):
            return self._embed(packed, None)

        @torch.inference_mode()
        def share(rows: slice) -> FromToEmbedding:
            return self._embed(packed[rows], None)

        return FromToEmbedding(
            *map(torch.cat, zip(*side_by_side(share, row_blocks(len(packed))), strict=True))
        )

    def embed_after(self, inputs: FromToInputs, before: Any) -> tuple[FromToEmbedding, Any]:
        """The positions of pieces that were selected a moment ago are remembered."""
        places, known = before or ({}, _NOTHING)
        keys = [row.tobytes() for row in inputs.packed.numpy()]
        at = torch.tensor([places.get(key, -1) for key in keys])
        new = (at < 0).nonzero()[:, 0]
        if len(new) == len(at):
            embedding = self._embed_side_by_side(inputs.packed)
        else:
            embedding = known.take(at)
            if len(new):
                rows = torch.cat([new, new[:1].expand(-len(new) % ROWS)])
                more = self._embed_side_by_side(inputs.packed[rows])
                for all_, some in zip(embedding, more, strict=True):
                    all_[new] = some[: len(new)]
        return embedding, (dict(zip(keys, range(len(keys)), strict=True)), embedding)

    def logits(self, embedding: FromToEmbedding, inputs: FromToInputs, legal: Tensor) -> Tensor:
        """Logits float32 [n, A], -inf where illegal. On a CPU only the legal squares are looked at,
        which are a tenth."""
        squares = embedding.squares
        chosen = _at(squares, inputs.position, inputs.square)
        if not on_cpu(legal):
            everywhere = self._logits_everywhere(squares, inputs, self.context(chosen))
            return everywhere.masked_fill(~legal.bool(), -torch.inf)
        view, square = legal.nonzero(as_tuple=True)
        part, action = inputs.part, view * legal.shape[1] + square
        none = self.part((part == DEPLOY).long())
        context = torch.where((part == TARGET)[:, None], self.context(chosen), none)
        met = inputs.outcomes.flatten(0, 1).index_select(0, action)
        met = torch.cat([met, (met[:, :2] > CERTAIN).float()], 1)
        targets = _at(squares, inputs.position.index_select(0, view), square)
        hidden = self.square(targets) + context.index_select(0, view) + self.outcome(met)
        with torch.autocast(hidden.device.type, enabled=False):  # as in `last_layer`
            scores = self.policy(relu(hidden).float())
        scores = scores.gather(1, part[view, None])[:, 0]
        scores = scores + met @ self.met
        scores = scores + self.deploy[inputs.to_place[view], square] * (part[view] == DEPLOY)
        nowhere = scores.new_full((legal.numel(),), -torch.inf)
        logits: Tensor = nowhere.scatter(0, action, scores).view(legal.shape)
        return logits

    def logits_and_value(
        self, embedding: FromToEmbedding, inputs: FromToInputs, legal: Tensor
    ) -> tuple[Tensor, Tensor]:
        """By the engine where it is faster: its sums differ by rounding."""
        if not engine_is_faster(self.place[None]):
            return super().logits_and_value(embedding, inputs, legal)
        layers = head_layers(dict(self.named_parameters()))
        weights = torch.cat([layer.flatten() for layer in layers])
        seen = inputs.position, inputs.part, inputs.square, inputs.to_place, inputs.outcomes
        said: tuple[Tensor, Tensor] = _Heads.apply(  # type: ignore[no-untyped-call]
            embedding.squares, weights, embedding.counts, *seen, legal
        )
        return said

    def _logits_everywhere(self, squares: Tensor, inputs: FromToInputs, chosen: Tensor) -> Tensor:
        """The same on all squares, [n, A], where each view has a position of its own. Nothing is
        picked by rows: on a GPU the gradient of a row that many pick comes one after the other."""
        part = inputs.part[:, None]
        none = torch.where(part == DEPLOY, self.part.weight[1], self.part.weight[0])
        context = torch.where(part == TARGET, chosen, none)
        met = torch.cat([inputs.outcomes, (inputs.outcomes[:, :, :2] > CERTAIN).float()], 2)
        hidden = self.square(squares) + context[:, None] + self.outcome(met)
        types = torch.arange(len(self.deploy), device=squares.device)
        placed = (inputs.to_place[:, None] == types) & (part == DEPLOY)
        with torch.autocast(hidden.device.type, enabled=False):  # as in `last_layer`
            of_parts = one_hot(inputs.part, 3).float()
            scores = (self.policy(relu(hidden).float()) * of_parts[:, None]).sum(2)
            logits: Tensor = scores + met @ self.met + placed.float() @ self.deploy
        return logits

    def move_logits(self, embedding: FromToEmbedding, inputs: FromToInputs, moves: Moves) -> Tensor:
        """As of `MoveNetwork`."""
        squares = embedding.squares
        row, source, target, met = (
            torch.from_numpy(x).to(squares.device)
            for x in (moves.row, moves.source, moves.target, moves.outcomes)
        )
        met = torch.cat([met, (met[:, :2] > CERTAIN).float()], 1)
        position = inputs.position.index_select(0, row)
        hidden = self.square(_at(squares, position, target))
        hidden = hidden + self.context(_at(squares, position, source)) + self.outcome(met)
        with torch.autocast(hidden.device.type, enabled=False):  # as in `last_layer`
            scores: Tensor = self.policy(relu(hidden).float())[:, TARGET]
        return scores + met @ self.met

    def value(self, embedding: FromToEmbedding, inputs: FromToInputs) -> Tensor:
        """Values float32 [n] for the acting side: from the means and maxima over the board, the
        counts, and the chosen piece."""
        squares, counts = embedding
        mean, most = _Read.apply(self._board(squares))  # type: ignore[no-untyped-call]
        board = torch.cat([mean, most, counts], 1).index_select(0, inputs.position)
        chosen = _at(squares, inputs.position, inputs.square)
        chosen = chosen * (inputs.part == TARGET)[:, None]
        return last_layer(self.critic, torch.cat([chosen, board], 1))[:, 0]

    def _board(self, squares: Tensor) -> Tensor:
        """[m, H, W, C]."""
        return squares.view(len(squares), *self.shape[1:], -1)


class _Enter(torch.autograd.Function):
    """The first layer by the engine, forth and back: features [m, 48, H, W] and counts [m, 51] by
    weights [48 + 51 + H * W, C] to [m, C, H, W], both channels last in memory."""

    @staticmethod
    def forward(ctx: Any, board: Tensor, counts: Tensor, weights: Tensor) -> Tensor:
        inputs = board.permute(0, 2, 3, 1).numpy(), counts.numpy()
        boards = entry(*inputs, weights.numpy())
        ctx.kept = *inputs, boards
        return torch.from_numpy(boards).permute(0, 3, 1, 2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, Tensor]:
        upon = gradient.permute(0, 2, 3, 1).contiguous().numpy()
        features, counts, boards = ctx.kept
        return None, None, torch.from_numpy(entry_gradient(features, counts, boards, upon))


class _Read(torch.autograd.Function):
    """What a value reads of boards [m, H, W, C]: means and maxima over each, [m, C]. Equal maxima
    share a gradient.

    On a CPU `amax`, over all squares at once, and its gradient take as long as a convolution."""

    @staticmethod
    def forward(ctx: Any, boards: Tensor) -> tuple[Tensor, Tensor]:
        most = boards.amax(1).amax(1)
        ctx.save_for_backward(boards, most)
        return boards.mean((1, 2)), most

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_mean: Tensor, of_most: Tensor) -> Tensor:
        boards, most = ctx.saved_tensors
        squares = boards.flatten(1, 2)
        gradient = torch.empty_like(squares)  # 0 and 1: bools take longer
        torch.eq(squares, most[:, None], out=gradient)
        of_most = of_most / gradient.sum(1)
        of_mean = of_mean / squares.shape[1]
        torch.addcmul(of_mean[:, None], gradient, of_most[:, None], out=gradient)
        return gradient.view_as(boards)


class _Heads(torch.autograd.Function):
    """Logits and values by the engine, forth and back: `HeadViews` of boards by weights as `heads`
    reads them. All but these two have no gradient."""

    @staticmethod
    def forward(ctx: Any, boards: Tensor, weights: Tensor, *more: Tensor) -> tuple[Tensor, ...]:
        *seen, legal = more
        each = boards.contiguous(), *seen, legal.contiguous().view(torch.uint8)
        views = HeadViews(*(x.numpy() for x in each))
        logits, values, read = heads(views, weights.numpy())
        ctx.kept = views, weights.numpy(), read
        return torch.from_numpy(logits), torch.from_numpy(values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_logits: Tensor, of_values: Tensor) -> tuple[Any, ...]:
        upon = (x.contiguous().numpy() for x in (of_logits, of_values))
        found = map(torch.from_numpy, heads_gradient(*ctx.kept, *upon))
        return *found, *(None for _ in ctx.needs_input_grad[2:])


def _at(squares: Tensor, position: Tensor, square: Tensor) -> Tensor:
    """[k, C]: these squares of these positions, of [m, S, C]."""
    return squares.flatten(0, 1).index_select(0, position * squares.shape[1] + square)


def _positions(packed: Tensor) -> Tensor:
    """The observations as they were before a piece was selected."""
    positions = packed.clone()
    positions[:, STAGE], positions[:, SELECTED] = 0, NO_SQUARE
    positions[:, ONLY_ATTACKS:MOVES] = 0  # which nothing reads of a position
    return positions
