"""A network of its own for the deployment, beside any network of a board.

Where a piece should stand depends on its square and on the pieces that stand already, and on
nothing else that the 82 planes show. A torso that learns play from five times as many states is
drowned by play's gradients; and what little a setup says of the outcome it can learn no faster
than games come. So NAME+deployment deploys by a small perceptron, and plays by the network NAME,
which then sees no state of the deployment.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot, pad, relu

from stratkit.engine.observation import CELLS, PHASE, TO_PLACE
from stratkit.engine.stratego import PIECE, TYPE, TYPES
from stratkit.nets.fromto_weights import DEPLOYMENT_HIDDEN as HIDDEN
from stratkit.nets.network import MoveNetwork, Network, last_layer, on_cpu, value_layer
from stratkit.nets.threads import ROWS
from stratkit.nets.whole_moves import Moves


class DeploymentNet(nn.Module):
    """The own pieces that stand already, and the type to place -> logits [n, S] of a board of S
    squares, and values [n].

    A deployment zone lies in the first half of the squares. The value is read off the policy's
    hidden layer and does not change it.
    """

    def __init__(self, squares: int) -> None:
        super().__init__()
        self.squares, self.zone = squares, squares // 2
        self.entry = nn.Linear(len(TYPES) * (self.zone + 1), HIDDEN)
        self.hidden = nn.Linear(HIDDEN, HIDDEN)
        self.policy = nn.Linear(HIDDEN, self.zone)
        self.critic = value_layer(HIDDEN)
        nn.init.zeros_(self.policy.weight)
        nn.init.zeros_(self.policy.bias)

    def read(self, packed: Tensor) -> Tensor:
        """float32 [n, 12 (S / 2 + 1)]: what stands on each square, and the type to place."""
        cells = packed[:, CELLS : CELLS + self.zone]
        known = torch.where((cells & PIECE) != 0, cells & TYPE, len(TYPES))
        kinds = torch.cat([known, packed[:, TO_PLACE : TO_PLACE + 1]], 1).clamp_max(len(TYPES))
        return one_hot(kinds.long(), len(TYPES) + 1)[..., :-1].flatten(1).float()

    def embed(self, inputs: Tensor) -> Tensor:
        """float32 [n, HIDDEN]; in float32 also where autocast has larger layers in bfloat16."""
        return relu(last_layer(self.hidden, relu(last_layer(self.entry, inputs))))

    def logits(self, embedding: Tensor) -> Tensor:
        """float32 [n, S] of embeddings [n, HIDDEN]; 0 outside of the zone."""
        logits = last_layer(self.policy, embedding)
        return pad(logits, (0, self.squares - self.zone))

    def value(self, embedding: Tensor) -> Tensor:
        """float32 [n], of detached embeddings [n, HIDDEN]."""
        return last_layer(self.critic, embedding.detach())[:, 0]


class DeploymentInputs(NamedTuple):
    """What both networks read of n views. Off the CPU both read every row.

    deployment   `DeploymentNet.read` of the rows that deploy
    play         what the other network makes of the others; padded, so that it meets few
                 numbers of rows: the convolution library prepares itself for each
    rows         int64, those of either
    place        int64 [n], where among `rows`, one after the other, each row is
    """

    deployment: Tensor
    play: Any
    rows: tuple[Tensor, Tensor]
    place: Tensor


class DeploymentEmbedding(NamedTuple):
    """Of both networks.

    deployment   float32 [k, HIDDEN], of the k rows that deploy
    play         the other network's, of the others
    """

    deployment: Tensor
    play: Any


class WithDeployment(MoveNetwork):
    """`play`, a network of a board, but for the deployment, which `DeploymentNet` decides.

    `deploys_only`: it is known that all views are of the deployment, and `play` is spared them.
    """

    deploys_only = False
    play: Network

    def __init__(self, play: Network) -> None:
        super().__init__()
        self.shape, self.shares_positions = play.shape, play.shares_positions
        self.same_for_all, self.tells_moves = play.same_for_all, play.tells_moves
        self.play = play
        self.deployment = DeploymentNet(play.shape[1] * play.shape[2])

    def prepare(self, packed: Tensor, pub: Tensor | None = None) -> DeploymentInputs:
        rows, place = _by_phase(packed) if on_cpu(packed) else self._every(packed)
        others = self.play.prepare(packed[rows[1]], None if pub is None else pub[rows[1]])
        return DeploymentInputs(self.deployment.read(packed[rows[0]]), others, rows, place)

    def prepare_shared(self, packed: Tensor, unit: int = ROWS) -> DeploymentInputs:
        if not on_cpu(packed):
            return self.prepare(packed)
        rows, place = _by_phase(packed)
        others = self.play.prepare_shared(packed[rows[1]], unit)
        return DeploymentInputs(self.deployment.read(packed[rows[0]]), others, rows, place)

    def _every(self, packed: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """`DeploymentInputs.rows` and `.place` without a look at how many rows deploy: the device
        need not be waited for. A twentieth does, of whole games."""
        n = len(packed)
        every = torch.arange(n, device=packed.device)
        if self.deploys_only:
            return (every, every[:1]), every
        return (every, every), torch.where(packed[:, PHASE] == 1, every, n + every)

    def embed(self, inputs: DeploymentInputs) -> DeploymentEmbedding:
        return DeploymentEmbedding(
            self.deployment.embed(inputs.deployment), self.play.embed(inputs.play)
        )

    def embed_without_graph(self, inputs: DeploymentInputs) -> DeploymentEmbedding:
        return DeploymentEmbedding(
            self.deployment.embed(inputs.deployment), self.play.embed_without_graph(inputs.play)
        )

    def embed_after(self, inputs: DeploymentInputs, before: Any) -> tuple[DeploymentEmbedding, Any]:
        play, known = self.play.embed_after(inputs.play, before)
        return DeploymentEmbedding(self.deployment.embed(inputs.deployment), play), known

    def logits(
        self, embedding: DeploymentEmbedding, inputs: DeploymentInputs, legal: Tensor
    ) -> Tensor:
        """Logits float32 [n, A], -inf where illegal."""
        play = self.play.logits(embedding.play, inputs.play, legal[inputs.rows[1]])
        return self._logits(embedding, inputs, legal, play)

    def logits_and_value(
        self, embedding: DeploymentEmbedding, inputs: DeploymentInputs, legal: Tensor
    ) -> tuple[Tensor, Tensor]:
        logits, values = self.play.logits_and_value(
            embedding.play, inputs.play, legal[inputs.rows[1]]
        )
        return (
            self._logits(embedding, inputs, legal, logits),
            self._values(embedding, inputs, values),
        )

    def _logits(
        self,
        embedding: DeploymentEmbedding,
        inputs: DeploymentInputs,
        legal: Tensor,
        play: Tensor,
    ) -> Tensor:
        """The logits of all rows: `play`, and those of the deployment."""
        illegal = ~legal[inputs.rows[0]].bool()
        deploy = self.deployment.logits(embedding.deployment).masked_fill(illegal, -torch.inf)
        return torch.cat([deploy, play]).index_select(0, inputs.place)

    def move_logits(
        self, embedding: DeploymentEmbedding, inputs: DeploymentInputs, moves: Moves
    ) -> Tensor:
        """As of `MoveNetwork`."""
        row = inputs.place.cpu().numpy()[moves.row] - len(inputs.rows[0])
        assert isinstance(self.play, MoveNetwork)
        return self.play.move_logits(embedding.play, inputs.play, moves._replace(row=row))

    def value(self, embedding: DeploymentEmbedding, inputs: DeploymentInputs) -> Tensor:
        """Values float32 [n] for the acting side."""
        return self._values(embedding, inputs, self.play.value(embedding.play, inputs.play))

    def _values(
        self, embedding: DeploymentEmbedding, inputs: DeploymentInputs, play: Tensor
    ) -> Tensor:
        """The values of all rows: `play`, and those of the deployment."""
        deploy = self.deployment.value(embedding.deployment)
        return torch.cat([deploy, play.to(deploy)]).index_select(0, inputs.place)


def _by_phase(packed: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
    """`DeploymentInputs.rows` and `.place`. Those that play are padded, with the first of them, to
    a multiple of an eighth of all rows. Where none plays, row 0 does."""
    n = len(packed)
    deploys = packed[:, PHASE] == 1
    deploy, play = deploys.nonzero()[:, 0], (~deploys).nonzero()[:, 0]
    place = torch.empty(n, dtype=torch.int64, device=packed.device)
    place[torch.cat([deploy, play])] = torch.arange(n, device=packed.device)
    some = play if len(play) else play.new_zeros(1)
    return (deploy, torch.cat([some, some[:1].expand(-len(play) % max(1, n // 8))])), place
