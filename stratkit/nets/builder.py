"""Networks by name."""

from __future__ import annotations

from collections.abc import Callable

import torch

from stratkit.arrays import Weights
from stratkit.engine import Game
from stratkit.engine.diplomacy import graph_of
from stratkit.engine.phantom import joins_borders
from stratkit.errors import InputError, one_line
from stratkit.netnames import (
    ALLOWED,
    CRITIC,
    EQUATION_6,
    MIRRORED,
    SHARES,
    channels_and_blocks,
    check_net,
    has_deployment,
    hidden_sizes,
    is_allowed,
    without_ending,
)
from stratkit.nets.alphaze import AlphaZeNet
from stratkit.nets.alphaze_hex import AlphaZeHex
from stratkit.nets.deployment import WithDeployment
from stratkit.nets.fromto import FromTo
from stratkit.nets.graph import GraphNet, GraphShares
from stratkit.nets.mirrored import Mirrored
from stratkit.nets.mlp import MLP
from stratkit.nets.network import Network, load_weights
from stratkit.nets.plain import PlainNet
from stratkit.nets.rise import Rise, sees_stones
from stratkit.nets.threads import one_thread
from stratkit.nets.unet import Size, UNet
from stratkit.python_class import PYTHON, python_class

# The U-Nets. `paper` has the channels of the DeepNash paper; how many blocks its pyramids have is
# not told there: two of each is a choice.
U_NETS = {
    "tiny": Size(outer=16, inner=24, outer_blocks=1, inner_blocks=1),
    "small": Size(outer=64, inner=96, outer_blocks=1, inner_blocks=1),
    "paper": Size(outer=256, inner=320, outer_blocks=2, inner_blocks=2),
}


def build(net: str, game: Game, seed: int | None = None) -> Network:
    """The untrained network called `net` for the observations of `game`.

    seed: draws the weights, without touching torch's global random state; None: from that state.
    `py:MODULE:CLASS` is `CLASS(shape, actions)`, a `Network` of the user's own, which the user has
    allowed (`netnames.allow_net`). The folder at work is searched for MODULE, too.
    InputError: there is no such network, it is not allowed, or it does not read such observations.
    """
    check_net(net)
    with torch.random.fork_rng(devices=[], enabled=seed is not None):
        if seed is not None:
            torch.manual_seed(seed)
        return _build(net, game)


def build_with(net: str, game: Game, weights: Weights) -> Network:
    """The network called `net` with these weights, which computes in the calling thread alone.
    `InputError`: they are another network's."""
    one_thread()
    network = build(net, game, 0)
    load_weights(network, weights, net)
    return network


def _build(net: str, game: Game) -> Network:
    shape, actions = game.shape, game.actions
    if net.partition(":")[0] == "pbs":
        raise InputError("values public belief states, and has no policy", text=net)
    if has_deployment(net):
        if len(shape) != 3:
            raise InputError("a network for the deployment is for boards", text=net)
        network = Mirrored if net.endswith(MIRRORED) else WithDeployment
        return network(_build(without_ending(net), game))
    if net.startswith(PYTHON):
        cls = _user_class(net)
        try:
            return cls(shape, actions)
        except (InputError, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            raise InputError(f"cannot be made: {one_line(error)}", text=net) from error
    sizes = hidden_sizes(net)
    if net.startswith("alphaze"):
        if game.board and joins_borders(game):
            return AlphaZeHex(shape, game.board, *channels_and_blocks(net))
        if len(shape) != 3:
            what = f"its planes are those of boards of Stratego and of Hex, not of {game.name}"
            raise InputError(what, text=net)
        return AlphaZeNet((shape[0], shape[1], shape[2]), *channels_and_blocks(net))
    if net.startswith("rise") and game.board and (len(shape) == 3 or sees_stones(game)):
        return Rise(shape, game.board, *channels_and_blocks(net))
    if net.startswith("graph"):
        graph = graph_of(game)
        if not graph:
            raise InputError("this network is for Diplomacy, whose maps are graphs", text=net)
        of_graph = GraphShares if net.endswith(SHARES) else GraphNet
        return of_graph(shape, graph, *channels_and_blocks(net.removesuffix(SHARES)))
    if len(shape) == 1 and sizes:
        return MLP(shape, actions, sizes, net.endswith(CRITIC))
    if len(shape) == 3 and not sizes:
        board = (shape[0], shape[1], shape[2])
        size = U_NETS.get(net.removesuffix(EQUATION_6))
        if size:
            return UNet(board, size, as_written=net.endswith(EQUATION_6))
        if net.startswith("fromto"):
            return FromTo(board, *channels_and_blocks(net))
        return PlainNet(board, *channels_and_blocks(net))
    kind = "boards" if len(shape) == 1 else "vectors"
    hint = " (Hex has the nets rise, alphaze and mlp)" if sees_stones(game) else ""
    what = f"this network is for {kind}, and the observation of {game.name} is none{hint}"
    raise InputError(what, text=net)


def _user_class(net: str) -> Callable[[tuple[int, ...], int], Network]:
    """The class `py:MODULE:CLASS`. A checkpoint may name any: only an allowed one is imported."""
    if not is_allowed(net):
        what = f"this network runs code of its own: allow it by {ALLOWED}={net}"
        raise InputError(what, text=net)
    cls = python_class(net)
    if not issubclass(cls, Network):
        raise InputError("no subclass of stratkit.nets.Network", text=net)
    return cls
