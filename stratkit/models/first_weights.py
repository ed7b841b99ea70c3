"""The first weights of a run, where they are another network's: `train --weights`."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from stratkit.engine import Game
from stratkit.errors import InputError, error_context
from stratkit.models.open_model import PolicyModel, ValueModel, open_model
from stratkit.netnames import DEPLOYMENT, has_deployment, keeps_ending, without_ending
from stratkit.nets import Network
from stratkit.nets.deployment import WithDeployment
from stratkit.nets.grow import can_grow, grow
from stratkit.nets.network import load_weights
from stratkit.nets.pbs import PBSNet
from stratkit.storage.checkpoints import read_metadata, resolve


def net_of(path: str, deployment: bool) -> str:
    """The name of the network of this checkpoint, RUN or policy; with `deployment`, of one that has
    another for the deployment. `InputError`: there is none."""
    net = str(read_metadata(resolve(path))["net"])
    return net + DEPLOYMENT if deployment and not has_deployment(net) else net


def begin_with(networks: Mapping[str, Network], net: str, path: str) -> None:
    """Gives all of an algorithm's networks, of the kind `net`, the weights of the network at `path`
    that `match` would let play. Where only theirs have a network of its own for the deployment,
    these are the weights of the one for play. Larger ones of its kind grow from it.

    `InputError`: it is no policy, of another kind or shape, larger, or mirrored where these are
    not.
    """
    model = open_model(path).must_be(PolicyModel)
    its = model.net
    same = without_ending(its) == without_ending(net)
    if not keeps_ending(its, net) or not (same or can_grow(its, net)):
        what = f"weights of a network {its}, for a run with {net}"
        raise InputError(what, file=path)
    tensors = {name: torch.from_numpy(w) for name, w in model.weights.items()}
    for network in networks.values():
        into = network
        if isinstance(network, WithDeployment) and not has_deployment(its):
            into = network.play
        try:
            if same:
                into.load_state_dict(tensors)
            else:
                grow(into, tensors, its, net)
        except (RuntimeError, TypeError):
            what = f"its tensors are not those of a network {its} of this shape"
            raise InputError(what, file=path) from None


def begin_with_values(network: PBSNet, net: str, game: Game, path: str) -> None:
    """Gives the value network `net` for `game` the weights of the one at `path`. `InputError`: that
    is no value network, or another one."""
    model = open_model(path).must_be(ValueModel)
    with error_context(model.name):
        if (model.game, model.net) != (game.name, net):
            what = f"weights of a network {model.net} for {model.game}"
            raise InputError(f"{what}, for a run with {net} for {game.name}")
        load_weights(network, model.weights, net)
