"""A network as a player: samples from its policy, unprocessed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch

from stratkit.engine import Game, distinct_rows, sample
from stratkit.errors import InputError
from stratkit.nets import Network, build, legal_policy
from stratkit.players.player import Decision, Views

Floats = npt.NDArray[np.float32]

MOST_DISTINCT = 256


class NetworkPlayer:
    """Plays by `network`, evaluating `rows` views at a time.

    The last rows of a batch are padded: the shape of the computation, and with it the rounding,
    does not depend on how many games happen to wait for a decision. Of a small game, many views are
    the same: those that differ are evaluated, at most `MOST_DISTINCT` at a time.
    """

    def __init__(self, net: str, network: Network, seed: int, rows: int) -> None:
        self.net, self.network, self.seed = net, network.eval(), seed
        self.small = len(network.shape) == 1
        self.rows = min(rows, MOST_DISTINCT) if self.small else rows
        self.tells_values = False  # with its decisions; they take time

    def load(self, weights: Mapping[str, npt.NDArray[np.float32]]) -> None:
        """Plays by these weights from now on. `InputError`: they are another network's."""
        try:
            tensors = {name: torch.from_numpy(w) for name, w in weights.items()}
            self.network.load_state_dict(tensors)
        except (RuntimeError, TypeError):  # torch's: missing, unknown or misshapen tensors
            raise InputError("its tensors are not this network's", text=self.net) from None

    def policy(self, views: Views) -> npt.NDArray[np.float32]:
        """float32 [n, actions]: the probability of each action, 0 where illegal."""
        return self._policies_and_values(views)[0]

    def act(self, views: Views) -> Decision:
        probabilities, values = self._policies_and_values(views)
        chosen = sample(probabilities, views.legal, self.seed, views.games, views.numbers)
        return Decision(*chosen, values if self.tells_values else None)

    def _policies_and_values(self, views: Views) -> tuple[Floats, Floats]:
        if self.small:
            first, each = distinct_rows(views.observations)
            found = self._in_parts(views.observations[first], views.legal[first])
            return found[0][each], found[1][each]
        return self._in_parts(views.observations, views.legal)

    def _in_parts(
        self, observations: npt.NDArray[np.uint8], legal: npt.NDArray[np.uint8]
    ) -> tuple[Floats, Floats]:
        starts = range(0, len(observations), self.rows)
        parts = [slice(at, at + self.rows) for at in starts]
        found = [self._evaluate(observations[p], legal[p]) for p in parts]
        return np.concatenate([p for p, _ in found]), np.concatenate([v for _, v in found])

    @torch.inference_mode()
    def _evaluate(
        self, observations: npt.NDArray[np.uint8], legal: npt.NDArray[np.uint8]
    ) -> tuple[Floats, Floats]:
        n = len(observations)
        missing = self.rows - n
        packed = torch.from_numpy(np.pad(observations, ((0, missing), (0, 0)), mode="edge"))
        allowed = torch.from_numpy(np.pad(legal, ((0, missing), (0, 0)), mode="edge"))
        inputs = self.network.prepare(packed)
        embedding = self.network.embed(inputs)
        logits = self.network.logits(embedding, inputs, allowed)
        values = self.network.value(embedding, inputs) if self.tells_values else packed.new_zeros(n)
        return legal_policy(logits, allowed)[0][:n].numpy(), values[:n].float().numpy()


def network_player(
    net: str, weights: Mapping[str, npt.NDArray[np.float32]], game: Game, seed: int, rows: int
) -> NetworkPlayer:
    """The player of `game` by a network of the preset `net` with these weights.

    `InputError`: there is no such preset, or its weights are others.
    """
    player = NetworkPlayer(net, build(net, game.shape, 0, game.actions), seed, rows)
    player.load(weights)
    return player
