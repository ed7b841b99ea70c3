"""A network as a player: samples from its policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from stratkit.engine import Game, distinct_views, sample, uniform
from stratkit.errors import InputError
from stratkit.nets import Network, build, check_device, draw, legal_policy, place, process
from stratkit.players.player import Decision, Player, Views

Floats = npt.NDArray[np.float32]

MOST_ON_CPU = 256  # views at a time: more of them leave its caches


class NetworkPlayer(Player):
    """Plays by `network`, evaluating `rows` views at a time, on a CPU at most `MOST_ON_CPU`.

    The last rows of a batch are padded: the shape of the computation, and with it the rounding,
    does not depend on how many games happen to wait for a decision. Where there are more than these
    rows, views that are the same, as most of a small game are, are evaluated once. It may `act` in
    one thread while another loads new weights.
    """

    def __init__(self, net: str, network: Network, seed: int, rows: int) -> None:
        self.net, self.network, self.seed = net, network.eval(), seed
        self.rows = min(rows, MOST_ON_CPU)
        self._most = rows
        self.processing = (0.0, 0)  # threshold and quanta of each action, as published with weights
        self.half = False  # draws from the policy rounded to float16
        self.tells_values = False  # with its decisions; they take time
        self.device, self.precision = torch.device("cpu"), torch.float32
        self._weights = Lock()  # held by whoever reads or writes them

    def place(self, device: str, precision: torch.dtype) -> None:
        """Computes there from now on, with layers of this precision. `InputError`: there is no
        such device."""
        check_device(device)
        self.device, self.precision = torch.device(device), precision
        if device != "cpu":
            self.rows = self._most
            place(self.network, self.device)

    def load(self, weights: Mapping[str, npt.NDArray[np.float32]]) -> None:
        """Plays by these weights from now on. `InputError`: they are another network's, or not
        finite."""
        if not all(np.isfinite(w).all() for w in weights.values()):
            raise InputError("its weights are not all finite")
        try:
            tensors = {name: torch.from_numpy(w) for name, w in weights.items()}
            with self._weights:
                self.network.load_state_dict(tensors)
        except (RuntimeError, TypeError):  # torch's: missing, unknown or misshapen tensors
            raise InputError("its tensors are not this network's", text=self.net) from None

    def policy(self, views: Views) -> Floats:
        """float32 [n, actions]: the probability of each action, 0 where illegal."""
        return self.look(views)[0]

    def look(self, views: Views) -> tuple[Floats, Floats]:
        """The policy, and float32 [n]: what the network expects, if it `tells_values`, or 0."""
        if len(views.observations) > self.rows:
            first, each = distinct_views(views.observations, views.legal)
            policy, values = self.evaluate(views.observations[first], views.legal[first])
            policy, values = policy[each], values[each]
        else:
            policy, values = self.evaluate(views.observations, views.legal)
        return self._played(torch.from_numpy(policy)).numpy(), values

    def act(self, views: Views) -> Decision:
        return self._act_here(views) if self.device.type == "cpu" else self._act_there(views)

    def _act_here(self, views: Views) -> Decision:
        """The engine draws."""
        policy, values = self.look(views)
        chosen = sample(policy, views.legal, self.seed, views.games, views.numbers)
        return Decision(*chosen, values if self.tells_values else None)

    def _act_there(self, views: Views) -> Decision:
        """The same, drawn where the network is: no policy leaves the device."""
        u = uniform(self.seed, views.games, views.numbers)

        def head(inputs: Any, embedding: Tensor, part: slice) -> tuple[Tensor, ...]:
            policy, values = self._heads(inputs, embedding, views.legal[part])
            return *draw(self._played(policy), self._padded(u[part])), values

        actions, mu, values = self._in_parts(views.observations, None, head)
        return Decision(actions, mu, values if self.tells_values else None)

    def _played(self, policy: Tensor) -> Tensor:
        """What actions are drawn from, float32 [n, A]: the network's policy, processed, rounded."""
        if any(self.processing):
            policy = process(policy, *self.processing)
        if self.half:
            policy = policy.half().float()
            policy /= policy.sum(1, keepdim=True)
        return policy

    def evaluate(
        self,
        observations: npt.NDArray[np.uint8],
        legal: npt.NDArray[np.uint8],
        pub: Floats | None = None,
    ) -> tuple[Floats, Floats]:
        """The network's own policy, and its values as in `look`, for packed observations; `pub`,
        float32 [n, 24, H, W], as in `expand`."""

        def heads(inputs: Any, embedding: Tensor, part: slice) -> tuple[Tensor, ...]:
            return self._heads(inputs, embedding, legal[part])

        policy, values = self._in_parts(observations, pub, heads)
        return policy, values

    def _heads(
        self, inputs: Any, embedding: Tensor, legal: npt.NDArray[np.uint8]
    ) -> tuple[Tensor, Tensor]:
        """The policy, and the values if it tells any, or 0."""
        allowed = self._padded(legal)
        policy = legal_policy(self.network.logits(embedding, inputs, allowed).float(), allowed)[0]
        if self.tells_values:
            return policy, self.network.value(embedding, inputs).float()
        return policy, policy.new_zeros(len(policy))

    def values(self, observations: npt.NDArray[np.uint8], pub: Floats | None = None) -> Floats:
        """float32 [n]: what the network expects for the acting sides."""

        def head(inputs: Any, embedding: Tensor, part: slice) -> tuple[Tensor]:
            return (self.network.value(embedding, inputs).float(),)

        return self._in_parts(observations, pub, head)[0]

    @torch.inference_mode()
    def _in_parts(
        self,
        observations: npt.NDArray[np.uint8],
        pub: Floats | None,
        heads: Callable[[Any, Tensor, slice], tuple[Tensor, ...]],
    ) -> list[npt.NDArray[Any]]:
        """What `heads` make of inputs and embedding, `rows` observations at a time."""
        found = []
        for at in range(0, len(observations), self.rows):
            part = slice(at, at + self.rows)
            packed = self._padded(observations[part])
            inputs = self.network.prepare(packed, None if pub is None else self._padded(pub[part]))
            n = len(observations[part])
            layers = torch.autocast(
                self.device.type, torch.bfloat16, enabled=self.precision == torch.bfloat16
            )
            with self._weights, layers:
                told = heads(inputs, self.network.embed(inputs), part)
            found.append([tensor[:n].cpu().numpy() for tensor in told])
        return [np.concatenate(parts) for parts in zip(*found, strict=True)]

    def _padded(self, x: npt.NDArray[Any]) -> Tensor:
        missing = self.rows - len(x)
        rows = np.pad(x, ((0, missing), *[(0, 0)] * (x.ndim - 1)), mode="edge")
        return torch.from_numpy(rows).to(self.device)


def network_player(
    net: str, weights: Mapping[str, npt.NDArray[np.float32]], game: Game, seed: int, rows: int
) -> NetworkPlayer:
    """The player of `game` by a network of the preset `net` with these weights.

    `InputError`: there is no such preset, or its weights are others.
    """
    player = NetworkPlayer(net, build(net, game.shape, 0, game.actions), seed, rows)
    player.load(weights)
    return player
