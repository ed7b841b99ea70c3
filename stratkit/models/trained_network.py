"""Trained networks for researchers: `stratkit.load`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import numpy.typing as npt

from stratkit.arguments import Between, checked
from stratkit.engine import Game
from stratkit.errors import InputError, error_context, nearest
from stratkit.models.open_model import PolicyModel, open_model
from stratkit.models.shipped import SHIPPED
from stratkit.storage.checkpoints import StrPath

if TYPE_CHECKING:
    from stratkit.nets.evaluator import Evaluator

Rows = Annotated[int, Between(1, 1_000_000)]
Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class TrainedNetwork:
    """A network with the `game` that it learned, by the rules by which it learned it.

    file       where it comes from
    net        which of the checkpoint's networks it is (`target`, ...)
    step       of the learner
    game       that it learned
    metadata   all else that the checkpoint says (formats/checkpoint.md)
    evaluator  its `network` is the `torch.nn.Module`, where torch is installed
    """

    file: str
    net: str
    step: int
    game: Game
    metadata: Mapping[str, Any]
    evaluator: Evaluator

    def policy(self, observations: Bytes, legal: Bytes) -> Floats:
        """The probability of each action, float32 [n, A], 0 where it is illegal.

        `observations` uint8 [n, observation_bytes] and `legal` uint8 [n, A] are n views, as a
        `Batch` or a replay has them. A row without a legal action, as chance's is, gets zeros.
        Nothing is post-processed.
        """
        self._check_views(observations=observations, legal=legal)
        if not len(observations):
            return np.zeros(legal.shape, np.float32)
        with self._readable():
            return self.evaluator.policy(observations, legal)

    def values(self, observations: Bytes) -> Floats:
        """What the acting side of each view may expect to get, float32 [n], by the network; the
        units are those of the game's returns."""
        self._check_views(observations=observations)
        if not len(observations):
            return np.zeros(0, np.float32)
        with self._readable():
            return self.evaluator.values(observations)

    def __repr__(self) -> str:
        name = os.path.basename(self.file)
        return f"<TrainedNetwork {name}: {self.net} of step {self.step}, for {self.game.name}>"

    @contextlib.contextmanager
    def _readable(self) -> Iterator[None]:
        """`ValueError`: a network looks up what an observation cannot hold."""
        try:
            yield
        except (IndexError, RuntimeError) as error:  # torch has both for the same
            if "index" not in str(error):
                raise
            raise ValueError(f"{self.game.name}: observations are no views of it") from error

    def _check_views(self, **arrays: Bytes) -> None:
        """`ValueError`: these are no views of the game."""
        widths = {"observations": self.game.observation_bytes, "legal": self.game.actions}
        rows: int | None = None
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray):
                raise TypeError(f"{name} must be an array, not {type(array).__name__}")
            rows = len(array) if rows is None and array.ndim else rows or 0
            if array.dtype != np.uint8 or array.shape != (rows, widths[name]):
                found = f"{array.dtype} {list(array.shape)}"
                what = f"{name} must be uint8 [{rows}, {widths[name]}], not {found}"
                raise ValueError(f"{self.game.name}: {what}")


@checked
def load(player: StrPath, net: str | None = None, rows: Rows = 64) -> TrainedNetwork:
    """The network of a RUN's newest checkpoint, of a checkpoint file, or of the player of that name
    that comes with stratkit (`barrage`).

    `net`: which network, by a name that the checkpoint lists; without it the one that `match` would
    let play. `rows`: it computes so many views at a time on the CPU, and fills up the last ones, so
    that rounding does not depend on how many are asked for; 1 is fastest for single views. Raises
    `InputError`: there is no such file, network or player.
    """
    name = os.fspath(player)
    if name not in SHIPPED and not os.path.exists(name):
        hint = nearest(name, SHIPPED)
        raise InputError(f"no such file or folder, and no network of stratkit's{hint}", text=name)
    model = open_model(name, net).must_be(PolicyModel)
    with error_context(model.file):
        game = Game.stored(model.game, model.metadata["rules"])
    evaluator = model.evaluator(game, rows, a_module=True)
    return TrainedNetwork(model.file, model.part, model.step, game, model.metadata, evaluator)
