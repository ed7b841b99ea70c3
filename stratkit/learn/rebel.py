"""ReBeL's learning (Brown et al. 2020, section 5 and appendix E): a network learns what search
has found, from top to bottom:

    loss_of         Huber's loss, over the hands that are there
    policy_loss_of  the squared error of probabilities, over the actions that are there
    ReBeL           the network, its loss, and its exponential average

Self-play searches with the online network and makes the examples (`stratkit.search.generate`).
`stratkit.learn.buffer` draws from the newest ones.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from stratkit.engine import Game, PublicTree
from stratkit.learn.algorithm import Algorithm, DistinctViews, Outputs, Steps
from stratkit.learn.averaging import follow
from stratkit.learn.config import ReBeLConfig
from stratkit.models.first_weights import begin_with_values
from stratkit.netnames import POLICY_HEAD
from stratkit.nets.pbs import PBSNet, build_pbs
from stratkit.search.leaves import NetworkLeaves
from stratkit.search.safe import PBSSearch
from stratkit.search.value_error import states_of_selfplay, value_errors

EXACT, PLAY = 1024, PBSSearch(updates=32)  # how states of --exact are solved, and how come upon


def loss_of(values: Tensor, targets: Tensor) -> Tensor:
    """The sum of x^2 where |x| <= 1 and 2 |x| - 1 beyond, over the hands that are there: Huber's,
    twice. float32 [n, hands], `targets` NaN of hands that are not."""
    x = torch.where(targets.isnan(), 0.0, values - targets).abs()
    return torch.where(x <= 1, x * x, 2 * x - 1).sum()


def policy_loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """The sum of squared errors of probabilities, over the actions that are there. float32 [n,
    hands, actions], `targets` NaN of actions that are not."""
    there = ~targets.isnan()
    found = logits.masked_fill(~there, -1e9).softmax(-1)
    return torch.where(there, found - targets, 0.0).square().sum()


class ReBeLForward(NamedTuple):
    """Nothing is known beside the network's outputs.

    metrics   float32 [m, 0]
    """

    metrics: Tensor


class ReBeLTargets(NamedTuple):
    """What n examples teach.

    values    float32 [n, hands]; NaN: of hands that are not there
    number    float32 [], how many are there, of all ranks
    policies  float32 [n, hands, actions], of a policy head; NaN: of actions that are not there
    actions   float32 [], how many are there, of all ranks
    """

    values: Tensor
    number: Tensor
    policies: Tensor
    actions: Tensor


class ReBeL(Algorithm[ReBeLForward, ReBeLTargets]):
    """The network and its update, by an `ExampleBatch` of `stratkit.learn.buffer`. `InputError`:
    the game has no public belief states of few hands, or with `exact`, none that can be solved."""

    config: ReBeLConfig
    loss_metrics: tuple[str, ...] = ("value_loss",)
    view_metrics = ()

    @property
    def policies(self) -> bool:
        """Whether the network has a policy head."""
        return self.net.endswith(POLICY_HEAD)

    def untrained(self, game: Game, seed: int) -> Any:
        self.game = game
        if self.policies:
            self.loss_metrics = ("value_loss", "policy_loss")
        self._tree = PublicTree(game) if self.config.exact else None
        network = build_pbs(self.net, game, seed)
        if self._tree:  # a game that leads to no such state is refused at once
            states_of_selfplay(self._tree, PLAY, NetworkLeaves(network), 1, seed)
        return network

    def begin_with(self, path: str) -> None:
        for network in self.networks.values():
            begin_with_values(cast(PBSNet, network), self.net, self.game, path)

    def prepare(self, observations: Tensor) -> Tensor:
        return observations

    def outputs(self, views: DistinctViews) -> Outputs:
        return (cast(PBSNet, self.trained).learned(views.inputs),)

    def forward(self, views: DistinctViews, outputs: Outputs, step: int) -> ReBeLForward:
        return ReBeLForward(outputs[0].new_zeros((len(outputs[0]), 0)))

    def targets(
        self, batch: Any, outputs: Outputs, forward: ReBeLForward, counts: Tensor
    ) -> ReBeLTargets:
        values, policies = self._split(batch.values)
        actions = self.ranks.sum((~policies.isnan()).sum().float())
        number = counts.sum() - actions
        return ReBeLTargets(values, number.clamp_min(1), policies, actions.clamp_min(1))

    def _split(self, learned: Tensor) -> tuple[Tensor, Tensor]:
        """Values [n, hands], and what is said of policies [n, hands, actions or 0]."""
        hands = self.game.hands
        values, policies = learned[:, :hands], learned[:, hands:]
        return values, policies.reshape(len(values), hands, policies.shape[1] // hands)

    def loss(
        self,
        batch: Any,
        steps: Steps,
        outputs: Outputs,
        forward: ReBeLForward,
        targets: ReBeLTargets,
    ) -> tuple[Tensor, Tensor]:
        values, logits = self._split(outputs[0])
        losses = [loss_of(values, targets.values[steps]) / targets.number]
        if self.policies:
            losses += [policy_loss_of(logits, targets.policies[steps]) / targets.actions]
        loss = torch.stack(losses)
        return loss.sum(), loss.detach()

    def learning_rate(self, step: int) -> float:
        """As the config says, and halved at each of its `halve` steps."""
        return super().learning_rate(step) * 0.5 ** sum(step >= at for at in self.config.halve)

    def after_step(self, step: int) -> Mapping[str, float]:
        rate = max(self.config.average_rate, 1 / (2 + step))  # first a mean of all
        follow(self.networks["average"], self.trained, rate)
        return {"lr": self.learning_rate(step)}

    def measured(self) -> Mapping[str, Any]:
        """The average network's errors, in states to which it leads self-play: by the decisions
        that are left. Nothing, unless they are wanted."""
        if not self._tree:
            return {}
        average = copy.deepcopy(self.networks["average"]).cpu()
        network = NetworkLeaves(cast(PBSNet, average))
        states = states_of_selfplay(self._tree, PLAY, network, self.config.exact, self.seed)
        errors = value_errors(self._tree, network, states, EXACT)
        return {"value_error": {str(at.left): at.rms for at in errors}}
