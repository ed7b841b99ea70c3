"""What a file of weights is: a policy, a belief or values.

Only the methods that make a network import what computes it: who asks what a file is does not wait
for that.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from stratkit.arrays import Weights
from stratkit.engine import Game
from stratkit.engine.stratego import differ_by_lakes
from stratkit.errors import InputError, error_context
from stratkit.models.shipped import SHIPPED, shipped_file, weights_file
from stratkit.netnames import POLICY_HEAD
from stratkit.storage.checkpoints import POLICY_FILE, StrPath, load_network

if TYPE_CHECKING:
    from stratkit.nets.belief import BeliefEvaluator
    from stratkit.nets.evaluator import Evaluator
    from stratkit.nets.pbs import PBSNet

M = TypeVar("M", bound="Model")


@dataclass(frozen=True)
class Model(ABC):
    """The weights of a network, of the file that they are from.

    file      its path
    part      which of the checkpoint's networks it is (`target`, ...)
    weights   by their names in the network
    metadata  all else that the file says (formats/checkpoint.md)
    """

    file: str
    part: str
    weights: Weights
    metadata: Mapping[str, Any]

    title: ClassVar[str]  # with its article
    use: ClassVar[str]  # what takes it, where a policy is needed
    source: ClassVar[str]  # what makes it

    @property
    def name(self) -> str:
        """What messages call it: its file, or its name if it comes with stratkit."""
        return next((name for name in SHIPPED if shipped_file(name) == self.file), self.file)

    @property
    def net(self) -> str:
        """The name of its network."""
        return str(self.metadata["net"])

    @property
    def game(self) -> str:
        """The name of the game that it learned."""
        return str(self.metadata["game"])

    @property
    def step(self) -> int:
        """How many steps it has learned."""
        return int(self.metadata["step"])

    def must_be(self, kind: type[M]) -> M:
        """Itself. `InputError`: it is a model of another kind."""
        if isinstance(self, kind):
            return self
        hint = self.use if kind is PolicyModel else kind.source
        what = f"{self.title}, where {kind.title} is needed: {hint}"
        raise InputError(what, file=self.name)

    def check_game(self, game: Game) -> None:
        """`InputError`: it is for another game."""
        if not self._fits(game):
            what = f"{self.title} for {self.game}, not for {game.name}"
            raise InputError(what, file=self.name)

    @abstractmethod
    def _fits(self, game: Game) -> bool:
        """Whether the network reads the game's observations, and learned what they mean."""


class PolicyModel(Model):
    """Gives probabilities of actions, and values."""

    title, source = "a policy", "train makes one"

    def _fits(self, game: Game) -> bool:
        return self.game == game.name or differ_by_lakes(self.game, game.name)

    def evaluator(
        self, game: Game, rows: int, elastic: bool = False, a_module: bool = False
    ) -> Evaluator:
        """Its network; `rows` and `elastic` as in `Evaluator`, `a_module` as in `network_with`.
        `InputError`: the weights are another network's."""
        from stratkit.nets.choice import network_with
        from stratkit.nets.evaluator import Evaluator

        with error_context(self.file):
            network = network_with(self.net, game, self.weights, a_module)
        return Evaluator(self.net, network, rows, elastic)


class BeliefModel(Model):
    """Gives probabilities of the enemy's hidden pieces."""

    title, source = "a belief network", "train --algorithm belief makes one"
    use = "belief=FILE takes it"

    def _fits(self, game: Game) -> bool:
        return self.game == game.name

    def evaluator(self, game: Game) -> BeliefEvaluator:
        """Its network. `InputError`: it is for another game, or the weights are another's."""
        from stratkit.nets.belief import BeliefEvaluator, BeliefNet
        from stratkit.nets.threads import one_thread

        self.check_game(game)
        one_thread()
        with error_context(self.file):
            evaluator = BeliefEvaluator(BeliefNet(self.net, game, 0))
            evaluator.load(self.weights)
        return evaluator


class ValueModel(Model):
    """Gives values of public belief states."""

    title, source = "a value network", "train --algorithm rebel makes one"
    use = "search=cfr, cfr-avg or flop takes it"

    def _fits(self, game: Game) -> bool:
        return (self.game, self.metadata["rules"]) == (game.name, game.rules)

    def network(self, game: Game, policies: bool = False) -> PBSNet:
        """Its network. `InputError`: it is for another game, the weights are another's, or it has
        no policy head where it is to say `policies`."""
        from stratkit.nets.pbs import load_pbs
        from stratkit.nets.threads import one_thread

        self.check_game(game)
        if policies and not self.net.endswith(POLICY_HEAD):
            what = f"no policy head for warm=: train a network {self.net}{POLICY_HEAD}"
            raise InputError(what, file=self.file)
        one_thread()
        with error_context(self.file):
            return load_pbs(self.net, self.weights, game)


_KINDS: dict[str | None, type[Model]] = {"belief": BeliefModel, "rebel": ValueModel}  # by algorithm


def open_model(path: StrPath, net: str | None = None) -> Model:
    """What the file at that path is: a checkpoint, a RUN, or a network of stratkit's by its name.

    net: which of the checkpoint's networks; None: the one for play (`load_network`).
    `InputError`: it is none.
    """
    file = os.fspath(weights_file(os.fspath(path)))
    weights, metadata, part = load_network(file, net)
    return model_of(file, weights, metadata, part)


def open_published(path: str) -> Model:
    """What a RUN publishes for self-play, else the acting network of its newest checkpoint."""
    return open_model(published_file(path), "online")


def published_file(path: str) -> str:
    """The file that a RUN publishes for self-play, if there is one, else the path itself."""
    file = os.path.join(path, POLICY_FILE)
    return file if path not in SHIPPED and os.path.isfile(file) else path


def model_of(
    file: str, weights: Weights, metadata: Mapping[str, Any], part: str = "online"
) -> Model:
    """What these weights are, by their metadata."""
    kind = _KINDS.get(metadata.get("algorithm"), PolicyModel)
    return kind(file, part, weights, metadata)
