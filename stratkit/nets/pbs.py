"""The value network of public belief states (Brown et al. 2020, ReBeL, appendix E): what each hand
of the player that is asked may expect, and, with a policy head, what the player who acts plays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from stratkit.arrays import Weights
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.netnames import POLICY_HEAD, check_net, hidden_sizes
from stratkit.nets.network import last_layer, load_weights

LAST_LAYER_SCALE = 0.01  # by which the first weights of the last layer are multiplied


class PBSNet(nn.Module):
    """Layers with layer normalisation and then GELU; `inputs` as `Subgames.inputs` has them; one
    value for each of `hands`.

    policy: the same for logits of each of `actions` of each hand, by layers of its own; None: there
    are no actions.
    """

    def __init__(self, inputs: int, hands: int, sizes: Sequence[int], actions: int = 0) -> None:
        super().__init__()
        widths = [inputs, *sizes]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(widths))
        self.norms = nn.ModuleList(nn.LayerNorm(b) for b in sizes)
        self.last = nn.Linear(widths[-1], hands)
        with torch.no_grad():
            self.last.weight.mul_(LAST_LAYER_SCALE)
            self.last.bias.mul_(LAST_LAYER_SCALE)
        self.policy = PBSNet(inputs, hands * actions, sizes) if actions else None

    def forward(self, rows: Tensor) -> Tensor:
        """float32 [n, hands] of rows float32 [n, inputs]."""
        for layer, norm in zip(self.layers, self.norms, strict=True):
            rows = gelu(norm(layer(rows)), approximate="tanh")
        return last_layer(self.last, rows)

    def learned(self, rows: Tensor) -> Tensor:
        """What examples teach: the values, and behind them the logits, if it has any."""
        heads = [self(rows), *([self.policy(rows)] if self.policy else [])]
        return torch.cat(heads, 1)


def build_pbs(net: str, game: Game, seed: int) -> PBSNet:
    """The network `net`, `pbs` or `pbs:WIDTHxWIDTH...`, or one with `+policy`, for a game of few
    hands; the seed draws its weights, without touching torch's global random state. `InputError`:
    it is another kind."""
    check_net(net)
    sizes = hidden_sizes(net, "pbs")
    if not sizes:
        what = "the value network of public belief states is pbs, or pbs:WIDTHxWIDTH"
        raise InputError(what, text=net)
    if not game.hands:
        raise InputError(f"{game.name} has no public belief states of few hands")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        actions = game.actions if net.endswith(POLICY_HEAD) else 0
        return PBSNet(game.pbs_inputs, game.hands, sizes, actions)


def load_pbs(net: str, weights: Weights, game: Game) -> PBSNet:
    """The network with these weights, which only evaluates. `InputError`: they are another's."""
    network = build_pbs(net, game, 0).requires_grad_(False).eval()
    load_weights(network, weights, net)
    return network
