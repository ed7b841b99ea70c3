"""The magnet: the policy near which MMD and NashPG stay, by its word (`config.Magnet`)."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from stratkit.learn.algorithm import DistinctViews
from stratkit.learn.averaging import follow
from stratkit.learn.config import Magnet
from stratkit.nets import Network, legal_policy


def with_magnet(names: tuple[str, ...], word: str) -> tuple[str, ...]:
    """The names of an algorithm's networks, and of a magnet that is none of these."""
    network = Magnet.read(word).network
    return names if network is None or network in names else (*names, network)


def log_magnet(word: str, networks: Mapping[str, Network], views: DistinctViews) -> Tensor:
    """Logarithms of the magnet's policy, float32 [m, A] or [m, 1]. A uniform one is local: of a
    move that is made as two actions, uniform over the pieces and then over a piece's moves."""
    name = Magnet.read(word).network
    if name is None:
        return -views.legal.sum(1, keepdim=True).clamp_min(1).float().log()
    network = networks[name]
    logits = network.logits(network.embed_without_graph(views.inputs), views.inputs, views.legal)
    return legal_policy(logits, views.legal)[1]


def move_magnet(word: str, networks: Mapping[str, Network], step: int) -> None:
    """Moves a magnet that is a network of its own, after update number `step`, from 0."""
    magnet = Magnet.read(word)
    if magnet.rate and (step + 1) % magnet.every == 0:
        follow(networks[str(magnet.network)], next(iter(networks.values())), magnet.rate)
