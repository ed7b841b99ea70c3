"""A belief network: what the enemy's hidden pieces are, square by square.

The probability of a world is a product over the hidden pieces, by square in row-major order, each
given all that stand before it:

    p(type) is proportional to u(type) exp(logit(type))

where u is the probability under the belief that all worlds are equally likely. So the sum over all
worlds is exactly 1, what public information excludes has probability 0, and a network without
training believes in all worlds alike. The logits are made of the board's embedding at the square,
of causal attention to the pieces before it with their types, and of the types that are left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, one_hot, relu

from stratkit.arrays import Bytes, Float64s, Int64s, Weights
from stratkit.engine import Game
from stratkit.engine.observation import (
    CELLS,
    ENEMY_UNREVEALED,
    MOVES,
    NO_SQUARE,
    ONLY_ATTACKS,
    SHOWN_PLIES,
)
from stratkit.engine.stratego import BOMB, FLAG, MOVED, NO_PIECE, PIECE, REVEALED, SIDE, TYPES
from stratkit.errors import InputError
from stratkit.nets import fromto
from stratkit.nets.builder import build
from stratkit.nets.network import last_layer, load_weights

WIDTH, HEADS = 32, 4  # of the decoder
KINDS = len(TYPES)
MAX_MOVES = 7  # of a piece that are counted
ROWS = 1024  # worlds at a time


class Hidden(NamedTuple):
    """The hidden pieces of the enemy in n views, k at most, by square in row-major order.

    squares   int64 [n, k], where they stand; 0 where there are fewer
    present   bool [n, k], whether there is a piece at all
    still     bool [n, k], whether it has never moved
    left      int64 [n, 12], how many of each type they are
    origins   int64 [n, k], where each stood at first, as far as the moves that are shown tell
    moves     int64 [n, k], how often each has moved, as far as these tell
    """

    squares: Tensor
    present: Tensor
    still: Tensor
    left: Tensor
    origins: Tensor
    moves: Tensor


def hidden_pieces(packed: Tensor) -> Hidden:
    """Of packed observations, uint8 [n, B], of boards where both sides have deployed."""
    cells = packed[:, CELLS:]
    hidden = (cells & (PIECE | SIDE | REVEALED)) == PIECE | SIDE
    counts = hidden.sum(1)
    most = max(int(counts.max()), 1)
    squares = (~hidden).int().argsort(dim=1, stable=True)[:, :most]
    present = torch.arange(most, device=packed.device) < counts[:, None]
    still = present & (cells.gather(1, squares) & MOVED == 0)
    left = packed[:, ENEMY_UNREVEALED:ONLY_ATTACKS].long() * (counts > 0)[:, None]
    squares = squares * present
    return Hidden(squares, present, still, left, *_walked(packed, squares, present))


def _walked(packed: Tensor, squares: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
    """`Hidden.origins` and `Hidden.moves`: every piece walked back, the latest move first."""
    origins, moves = squares, torch.zeros_like(squares)
    shown = packed[:, MOVES:CELLS].view(len(packed), SHOWN_PLIES, 3).long()
    for start, end, _ in shown.permute(1, 2, 0)[:, :, :, None].unbind():
        came = present & (end == origins) & (start != NO_SQUARE)
        origins = torch.where(came, start, origins)
        moves = moves + came
    return origins, moves


def log_uniform(left: Tensor, still: Tensor, squares: Tensor) -> Tensor:
    """The logarithm of the probability of each type for the next piece, if all worlds are equally
    likely: float32 [..., 12], -inf where it is impossible.

    left: int64 [..., 12], the types of the pieces that are left, this one included; still: bool
    [...], it has never moved; squares: int64 [...], how many of those that are left never moved.
    """
    immovable = left[..., FLAG] + left[..., BOMB]
    movable = left.sum(-1) - immovable
    open_ = (squares - immovable)[..., None].clamp_min(0)  # for pieces that move
    squares, movable = squares[..., None].clamp_min(1), movable[..., None].clamp_min(1)
    fixed = torch.zeros(KINDS, dtype=torch.bool, device=left.device)
    fixed[FLAG] = fixed[BOMB] = True
    never = torch.where(fixed, left / squares, left * open_ / (squares * movable))
    moved = torch.where(fixed, 0.0, left / movable)
    return torch.where(still[..., None], never, moved).log()


class BeliefNet(nn.Module):
    """The torso of the network `net` for a game on a board, and a decoder. `seed` as of `build`.
    `InputError`: the game or `net` is not for boards."""

    def __init__(self, net: str, game: Game, seed: int | None = None) -> None:
        super().__init__()
        if len(game.shape) != 3:
            raise InputError("a belief network is for boards, and this game has none")
        with torch.random.fork_rng(devices=[], enabled=seed is not None):
            if seed is not None:
                torch.manual_seed(seed)
            self._build(net, game)

    def _build(self, net: str, game: Game) -> None:
        _, height, width = game.shape
        self.torso = build(net, game)
        channels = _without_heads(self.torso, CELLS + height * width)
        rank, file = torch.arange(height * width) // width, torch.arange(height * width) % width
        steps = (rank[:, None] - rank + height - 1) * (2 * width - 1)
        self.register_buffer("steps", steps + file[:, None] - file + width - 1, persistent=False)
        self.enter = nn.Linear(channels, WIDTH)
        self.place = nn.Parameter(0.1 * torch.randn(height * width, WIDTH))
        self.tempo = nn.Parameter(0.1 * torch.randn(MAX_MOVES + 1, WIDTH))
        self.habit = nn.Parameter(torch.zeros(height * width, KINDS))
        self.told = nn.Parameter(torch.randn(KINDS, WIDTH))
        self.near = nn.Parameter(torch.zeros((2 * height - 1) * (2 * width - 1), HEADS))
        self.nobody = nn.Parameter(torch.zeros(2, WIDTH))  # key and value where none stands before
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.inner = nn.Linear(2 * WIDTH + KINDS, 2 * WIDTH)
        self.last = nn.Linear(2 * WIDTH, KINDS)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def embed(self, packed: Tensor) -> tuple[Hidden, Tensor]:
        """The hidden pieces of packed observations, uint8 [n, B], and what is known of each:
        float32 [n, k, WIDTH]."""
        hidden = hidden_pieces(packed)
        board = _squares(self.torso, packed)
        at = hidden.squares[..., None].expand(-1, -1, board.shape[2])
        known = relu(self.enter(board.gather(1, at))) + self.place[hidden.origins]
        return hidden, known + self.tempo[hidden.moves.clamp_max(MAX_MOVES)]

    def log_probabilities(self, packed: Tensor, types: Tensor) -> tuple[Tensor, Tensor]:
        """Of worlds, `types` uint8 [n, S] of hidden pieces (`engine.hidden_types`): the logarithms
        of their probability by the network, and if all are equally likely. float32 [n]."""
        hidden, known = self.embed(packed)
        truth = types.gather(1, hidden.squares).long().masked_fill(~hidden.present, 0)
        given = one_hot(truth, KINDS) * hidden.present[..., None]
        left = hidden.left[:, None] - (given.cumsum(1) - given)
        pieces = hidden.still.long()
        squares = pieces.sum(1, keepdim=True) - (pieces.cumsum(1) - pieces)
        keys, values = self._keys_values(known, truth)
        before = torch.ones(truth.shape[1], truth.shape[1], device=packed.device).tril(-1).bool()
        context = self._attend(known, hidden.origins, keys, values, hidden.origins, before)
        prior = log_uniform(left, hidden.still, squares)
        prior = torch.where(hidden.present[..., None], prior, 0.0)
        log_p = (prior + self._logits(known, context, left, hidden.origins)).log_softmax(-1)
        both = [x.gather(2, truth[..., None])[..., 0] for x in (log_p, prior)]
        sums = [torch.where(hidden.present, x, 0.0).sum(1) for x in both]
        return sums[0], sums[1]

    def _keys_values(self, known: Tensor, types: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of pieces whose types are told, float32 [n, k, WIDTH]."""
        embedded = known + embedding(types, self.told)
        return self.key(embedded), self.value(embedded)

    def _attend(
        self,
        known: Tensor,
        squares: Tensor,
        keys: Tensor,
        values: Tensor,
        key_squares: Tensor,
        before: Tensor,
    ) -> Tensor:
        """What the pieces [n, k] that began on `squares` learn from those told [n, j], on squares
        `key_squares`, that come `before` them, bool [k, j]: float32 [n, k, WIDTH]."""
        n, k, _ = known.shape
        first, second = (x.expand(n, 1, WIDTH) for x in self.nobody)
        split = (n, -1, HEADS, WIDTH // HEADS)
        query = self.query(known).view(split)
        keys = torch.cat([first, keys], 1).view(split)
        values = torch.cat([second, values], 1).view(split)
        scores = torch.einsum("nkhd,njhd->nkjh", query, keys) / (WIDTH // HEADS) ** 0.5
        steps = self.steps[squares[:, :, None], key_squares[:, None]]  # type: ignore[index]
        bias = embedding(steps, self.near).masked_fill(~before[None, :, :, None], -torch.inf)
        scores = scores + torch.cat([bias.new_zeros(n, k, 1, HEADS), bias], 2)
        return torch.einsum("nkjh,njhd->nkhd", scores.softmax(2), values).flatten(2)

    def _logits(self, known: Tensor, context: Tensor, left: Tensor, origins: Tensor) -> Tensor:
        share = left / left.sum(-1, keepdim=True).clamp_min(1)
        inner = relu(self.inner(torch.cat([known, context, share.float()], -1)))
        return last_layer(self.last, inner) + self.habit[origins]

    def draw(self, packed: Tensor, of: Tensor, u: Tensor) -> Tensor:
        """Worlds of n views, drawn by the inverse CDF: types uint8 [m, S] as of
        `engine.hidden_types`. of: int64 [m], the view that each is of. u: float64 [m, k or more] in
        [0, 1), one for each hidden piece."""
        one_each, known = self.embed(packed)
        hidden, known = Hidden(*(x[of] for x in one_each)), known[of]
        m, most = hidden.present.shape
        types = torch.full((m, packed.shape[1] - CELLS), NO_PIECE, dtype=torch.uint8)
        types = types.to(packed.device)
        left, squares = hidden.left.clone(), hidden.still.sum(1)
        keys, values = known[:, :0], known[:, :0]
        rows = torch.arange(m, device=packed.device)
        for i in range(most):
            at, now = hidden.origins[:, i : i + 1], known[:, i : i + 1]
            before = torch.ones(1, i, dtype=torch.bool, device=packed.device)
            context = self._attend(now, at, keys, values, hidden.origins[:, :i], before)
            logits = self._logits(now, context, left[:, None], at)[:, 0]
            prior = log_uniform(left, hidden.still[:, i], squares)
            present = hidden.present[:, i]
            p = torch.where(present[:, None], (prior + logits).softmax(-1), 1.0).double()
            sums = p.cumsum(-1)
            chosen = (p > 0) & (sums > (u[:, i] * sums[:, -1])[:, None])
            kind = chosen.int().argmax(-1)
            types[rows[present], hidden.squares[present, i]] = kind[present].to(torch.uint8)
            left -= one_hot(kind, KINDS) * present[:, None]
            squares = squares - hidden.still[:, i].long()
            key, value = self._keys_values(now, kind[:, None])
            keys, values = torch.cat([keys, key], 1), torch.cat([values, value], 1)
        return types


class BeliefEvaluator:
    """A belief network on the CPU, with numbers of numpy."""

    def __init__(self, network: BeliefNet) -> None:
        self.network = network.eval()

    def load(self, weights: Weights) -> None:
        """Evaluates these weights from now on. `InputError`: they are another network's, or not
        finite."""
        load_weights(self.network, weights)

    @torch.inference_mode()
    def log_probabilities(self, observations: Bytes, types: Bytes) -> Float64s:
        """float64 [n]: of worlds with these `types`, uint8 [n, S] as of `engine.hidden_types`, of
        views uint8 [n, observation_bytes]."""
        parts = [
            self.network.log_probabilities(*map(torch.from_numpy, (observations[at], types[at])))[0]
            for at in _blocks(len(types))
        ]
        return np.concatenate([x.numpy() for x in parts]).astype(np.float64)

    @torch.inference_mode()
    def draw(self, observations: Bytes, of: Int64s, u: Float64s) -> Bytes:
        """`BeliefNet.draw`."""
        parts = [
            self.network.draw(*map(torch.from_numpy, (observations, of[at], u[at])))
            for at in _blocks(len(of))
        ]
        return np.concatenate([x.numpy() for x in parts])


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(at, at + ROWS) for at in range(0, rows, ROWS))


def _without_heads(torso: nn.Module, size: int) -> int:
    """Takes away what the embedding of boards, packed in `size` bytes, does not use; its number of
    channels."""
    board = _squares(torso, torch.zeros((1, size), dtype=torch.uint8))
    parameters = dict(torso.named_parameters())
    gradients = torch.autograd.grad(board.sum(), list(parameters.values()), allow_unused=True)
    used = {name for name, slope in zip(parameters, gradients, strict=True) if slope is not None}
    parts = {name.partition(".")[0] for name in parameters}
    for name in parts - {name.partition(".")[0] for name in used}:
        delattr(torso, name)
    return board.shape[2]


def _squares(torso: nn.Module, packed: Tensor) -> Tensor:
    """What a torso says of each square: float32 [n, S, C]. `InputError`: it says nothing."""
    embedded = torso.embed(torso.prepare(packed))  # type: ignore[operator]
    if isinstance(embedded, fromto.FromToEmbedding):
        return embedded.squares
    if isinstance(embedded, Tensor) and embedded.dim() == 4:
        return embedded.flatten(2).transpose(1, 2)
    raise InputError("a belief network is made of a network that has numbers for each square")
