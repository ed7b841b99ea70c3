"""One number for the behaviour of the whole engine: `python cengine/bench/fingerprint.py`.

A hash over seeded games of every variant: who acts, what is legal, what is observed, what is
played, how the games end and what they return. Any change of the rules, of the observation or of
the random numbers changes it; a change that only makes the engine faster does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from stratkit.engine.batch import Batch
from stratkit.engine.game import Game
from stratkit.engine.observation import NO_SQUARE, observation_dtype
from stratkit.engine.sampling import sample
from stratkit.engine.stratego import VARIANTS

GAMES = 36  # of each variant
FAVOUR = 40.0  # the weight of a preferred action; the others have 1


class Preferences:
    """What players of three kinds prefer, row by row in turns: nothing; to go to and fro with one
    piece; to chase the piece that moved last (red) and to run away from it (blue).

    They bring the repetition rules about, which plain random games hardly know.
    """

    def __init__(self, game: Game, rows: int) -> None:
        width = game.shape[2]
        x, y = np.arange(game.actions) % width, np.arange(game.actions) // width
        distance = abs(x[:, None] - x) + abs(y[:, None] - y)
        self.beside = np.vstack([distance == 1, np.zeros((256, game.actions), bool)])[:256]
        self.dtype, self.width = observation_dtype(game.actions), game.actions
        self.to_and_fro = np.arange(rows) % 3 == 1
        self.chasing = np.arange(rows) % 3 == 2

    def weights(
        self, actors: npt.NDArray[np.int8], packed: npt.NDArray[np.uint8]
    ) -> npt.NDArray[np.float32]:
        """float32 [rows, actions]."""
        seen = packed.view(self.dtype)[:, 0]
        target = seen["stage"] == 1
        last, turn_before = seen["moves"][:, 0]["to"], seen["moves"][:, 1]
        back = np.where(target, turn_before["from"], turn_before["to"])[:, None]
        near = self.beside[last]
        same_piece = np.arange(self.width) == turn_before["to"][:, None]
        chase = np.where(target[:, None], near, same_piece)
        run = np.where(target[:, None], ~near, near)
        preferred = self.chasing[:, None] & np.where(actors[:, None] == 0, chase, run)
        preferred |= self.to_and_fro[:, None] & (np.arange(self.width) == back)
        preferred &= turn_before["to"][:, None] != NO_SQUARE
        return np.where(preferred, np.float32(FAVOUR), np.float32(1))


def fingerprint(rules: Mapping[str, int] | None = None, seed: int = 1) -> str:
    """Sixteen hexadecimal digits; `rules` are changed in every variant."""
    digest = hashlib.sha256()
    for name in VARIANTS:
        _play(Game(name, rules), seed, digest)
    return digest.hexdigest()[:16]


def _play(game: Game, seed: int, digest: hashlib._Hash) -> None:
    """Plays `GAMES` games and adds all that can be seen of them."""
    batch, games, preferences = Batch(game, GAMES), np.arange(GAMES), Preferences(game, GAMES)
    numbers = np.zeros(GAMES, np.int32)
    actors = np.empty(GAMES, np.int8)
    legal = np.empty((GAMES, game.actions), np.uint8)
    packed = np.empty((GAMES, game.observation_bytes), np.uint8)
    while True:
        batch.view(actors, legal, packed)
        actions, _ = sample(preferences.weights(actors, packed), legal, seed, games, numbers)
        for array in (actors, legal, packed, actions.astype("<i4")):
            digest.update(array.tobytes())
        if actors.max() < 0:
            break
        batch.apply(actions)
        numbers += 1
    returns, endings, plies = batch.result()
    for result in (returns.astype("<f4"), endings, plies.astype("<i4")):
        digest.update(result.tobytes())


if __name__ == "__main__":
    print(fingerprint())
