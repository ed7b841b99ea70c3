"""What the learner needs of an algorithm.

An algorithm is a file of its own that reads like its paper: `rnad.py`, `mmd.py`, `alphaze.py`,
`belief.py`, `rebel.py`. It knows networks, targets and losses. It knows neither chunks nor threads,
precision and Adam: those are the optimizer's (`optimizer.py`), which in turn knows no algorithm.
Losses and gradients are summed over ranks there; targets that depend on the whole batch ask
`ranks`.

One update goes through the methods in this order:

    prepare, outputs, forward   chunk by chunk of the different views of a batch
    targets                     once, for all steps, since a target depends on what follows
    loss                        part by part of the steps
    outputs                     again, if the graphs of all chunks would not fit into memory
    after_step                  once, after the optimizer's step

An algorithm with `minibatches` (PPO) has several of Adam's steps in an update: each by the outputs
and the loss of some of the steps, whose targets stay.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor

from stratkit.engine import Game
from stratkit.learn.config import AdamConfig
from stratkit.learn.data import StepBatch
from stratkit.learn.ranks import ALONE
from stratkit.models.first_weights import begin_with
from stratkit.nets import Network, build, place

CPU = torch.device("cpu")


class DistinctViews(NamedTuple):
    """Some different views [m] of a batch: what the networks read, and the legal actions, uint8
    [m, A]."""

    inputs: Any
    legal: Tensor


class HasMetrics(Protocol):
    """What the optimizer needs to know of a `Forward`: a NamedTuple of tensors [m, ...]."""

    @property
    def metrics(self) -> Tensor:  # float32 [m, number of `view_metrics`]
        """float32 [m, number of `view_metrics`]."""


F = TypeVar("F", bound=HasMetrics)  # what `forward` computes of each view
T = TypeVar("T")  # the targets of each step
Outputs = tuple[Tensor, ...]  # of the trained network, each [m, ...]
Steps = slice | Tensor  # some of the steps [n] of a batch: neighbours, or int64 rows


class Algorithm(ABC, Generic[F, T]):
    """The state of an algorithm, and its equations.

    `net`, `game`, `seed`: which untrained network (`nets.build`); it computes on `device`.
    `InputError`: none for this algorithm.

    networks      by the names that they have in a checkpoint, `network_names`; the first one is
                  trained by gradients and acts in self-play, the others begin as its copies
    ranks         those that share a batch, all of which compute their targets at the same time
    decisions     how many all ranks have learned from; of `rebel`, values
    loss_metrics  the names of what `loss` reports, as sums over the steps
    view_metrics  the names of what `forward` reports, as means over the steps learned from
    """

    config: AdamConfig
    network_names: tuple[str, ...] = ("online", "average")  # the average is for play
    loss_metrics: tuple[str, ...]
    view_metrics: tuple[str, ...]
    slices = False  # of one's own: whether it learns from slices of games, too
    ranks = ALONE
    decisions = 0

    def __init__(
        self,
        net: str,
        game: Game,
        config: AdamConfig,
        seed: int,
        device: torch.device = CPU,
    ) -> None:
        self.net, self.config, self.seed = net, config, seed
        online = self.untrained(game, seed)
        place(online, device)
        copies = (copy.deepcopy(online).requires_grad_(False) for _ in self.network_names[1:])
        self.networks = dict(zip(self.network_names, (online, *copies), strict=True))

    def untrained(self, game: Game, seed: int) -> Network:
        """The network with its first weights."""
        return build(self.net, game, seed)

    @property
    def sparse(self) -> bool:
        """Whether many steps have no gradient, so that it pays to look which."""
        return False

    @property
    def decay(self) -> float:
        """By this part of the learning rate every step shrinks the weights (AdamW)."""
        return 0.0

    @property
    def momentum(self) -> float:
        """Nesterov's, of gradient descent; 0: Adam descends."""
        return 0.0

    @property
    def trained(self) -> Network:
        """The network that is trained by gradients and acts in self-play."""
        return next(iter(self.networks.values()))

    def prepare(self, observations: Tensor) -> Any:
        """What the networks read, made from packed observations, uint8 [m, B]."""
        return self.trained.prepare_shared(observations)

    def outputs(self, views: DistinctViews) -> Outputs:
        """What the trained network says of some views, each [m, ...]: the loss is a function of
        these. Called with or without recording a graph."""
        network, inputs = self.trained, views.inputs
        graph = torch.is_grad_enabled()
        embedding = network.embed(inputs) if graph else network.embed_without_graph(inputs)
        return network.logits_and_value(embedding, inputs, views.legal)

    def learning_rate(self, step: int) -> float:
        """Adam's rate in update number `step`, counted from 0."""
        return self.config.rate(step, self.decisions)

    @abstractmethod
    def forward(self, views: DistinctViews, outputs: Outputs, step: int) -> F:
        """What else targets and losses need to know of some views, without a graph: a NamedTuple of
        tensors [m, ...]. `outputs`: of `outputs`, without their graph. `step`: updates done."""

    @abstractmethod
    def targets(self, batch: StepBatch, outputs: Outputs, forward: F, counts: Tensor) -> T:
        """What all steps [n] of whole episodes, or of slices, are to learn. `outputs`, `forward`:
        of all views. `counts`: float32 [P], how many steps of each player all ranks learn from."""

    def minibatches(self, trained: Tensor, step: int) -> Iterable[Tensor] | None:
        """Of which steps each of Adam's steps in update number `step` has the loss: int64 rows,
        some of those that are learned from, `trained` [m]. Equally many on all ranks. None: Adam
        has one step, of all."""
        return None

    @abstractmethod
    def loss(
        self, batch: StepBatch, steps: Steps, outputs: Outputs, forward: F, targets: T
    ) -> tuple[Tensor, Tensor]:
        """The loss of some steps, and its metrics [number of `loss_metrics`]. Losses and metrics of
        parts add up to the whole's. `outputs`: of the view of each of these steps, with a graph;
        `forward`: of all views, which `batch.view` indexes."""

    @abstractmethod
    def after_step(self, step: int) -> Mapping[str, float]:
        """Moves the other networks after update number `step`, counted from 0. Returns the
        schedule's state during that update, as metrics."""

    def after_load(self) -> None:
        """The weights of all networks have been replaced by a checkpoint's."""

    def begin_with(self, path: str) -> None:
        """Gives all networks the weights of another checkpoint, RUN or policy. `InputError`: it is
        of another kind."""
        begin_with(self.networks, self.net, path)

    def measured(self) -> Mapping[str, Any]:
        """What else the line of a step at a checkpoint is to say, where that takes its time."""
        return {}
