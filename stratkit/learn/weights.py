"""The first weights of a run, where they are another network's: `train --weights`."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from stratkit.errors import InputError
from stratkit.netnames import DEPLOYMENT, has_deployment, keeps_ending, without_ending
from stratkit.nets import Network
from stratkit.nets.deployment import WithDeployment
from stratkit.nets.grow import can_grow, grow
from stratkit.storage.checkpoints import load_network, read_metadata, resolve


def net_of(path: str, deployment: bool) -> str:
    """The name of the network of this checkpoint, RUN or policy; with `deployment`, of one that has
    another for the deployment. `InputError`: there is none."""
    net = str(read_metadata(resolve(path))["net"])
    return net + DEPLOYMENT if deployment and not has_deployment(net) else net


def begin_with(networks: Mapping[str, Network], net: str, path: str) -> None:
    """Gives all of an algorithm's networks, of the kind `net`, the weights of the network at `path`
    that `match` would let play. Where only theirs have a network of its own for the deployment,
    these are the weights of the one for play. Larger ones of its kind grow from it.

    `InputError`: it is of another kind or shape, larger, or mirrored where these are not.
    """
    file = resolve(path)
    weights, metadata, _ = load_network(file, None)
    its = str(metadata["net"])
    same = without_ending(its) == without_ending(net)
    if not keeps_ending(its, net) or not (same or can_grow(its, net)):
        what = f"weights of a network {its}, for a run with {net}"
        raise InputError(what, file=path)
    tensors = {name: torch.from_numpy(w) for name, w in weights.items()}
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
