"""Whether networks should play by whole numbers of eight bits: speed, agreement, strength.

    python bench/int8.py [PLAYER [GAMES [SEED]]]

A PLAYER with a network `fromto` plays itself without a search, by ONNX Runtime. Its torso is the
entry and the blocks. It is computed in parts, the blocks by the engine; by ONNX Runtime alone in
float32, and in int8: `static` has ranges
of the activations from a thousand positions, `dynamic` measures them at each call. Printed are CPU
microseconds of the torso a position, by turns, the agreement of policies in other positions, and
what `static` scores in GAMES against the player as it ships (0: none), in pairs with swapped
colours.
"""

from __future__ import annotations

import functools
import itertools
import logging
import os
import pathlib
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from onnxruntime import quantization

from stratkit.declared import SEED, whole
from stratkit.engine import Game, replay_many
from stratkit.engine.observation import PHASE, board_features
from stratkit.engine.residual import residual
from stratkit.models.open_model import PolicyModel, open_model
from stratkit.netnames import has_deployment
from stratkit.nets.evaluator import Evaluator
from stratkit.nets.fromto_backend import FromToBackend
from stratkit.nets.onnx_graph import fromto_torso, session_of, torso_model
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.network import NetworkPlayer
from stratkit.script import Parser, argument

BATCHES = (1, 8, 64)
TURNS = 9
CALIBRATED, JUDGED, SPED = 1000, 4000, 512  # positions
SLOTS = 64
PREFIX = "play."  # of the part of a network that plays, where another deploys
Arrays = dict[str, np.ndarray]
Views = tuple[np.ndarray, np.ndarray]  # observations, and what is legal
Way = Callable[[Arrays], object]


class Positions(quantization.CalibrationDataReader):  # type: ignore[misc]
    """Inputs of a torso, in batches."""

    def __init__(self, given: Arrays) -> None:
        n = len(given["counts"])
        parts = ({k: x[at : at + 50] for k, x in given.items()} for at in range(0, n, 50))
        self.parts = iter(parts)

    def get_next(self) -> Arrays | None:
        return next(self.parts, None)


def quantized(model: PolicyModel, prefix: str, given: Arrays) -> dict[str, Any]:
    """Sessions of the torso, by what computes them."""
    found: dict[str, Any] = {"float32": fromto_torso(model.weights, prefix)}
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("static", "dynamic"):
            out = pathlib.Path(folder, kind)
            torso = torso_model(model.weights, prefix)
            if kind == "static":
                quantization.quantize_static(
                    torso,
                    out,
                    Positions(given),
                    per_channel=True,
                    op_types_to_quantize=["Conv", "Add", "Relu"],
                    activation_type=quantization.QuantType.QUInt8,
                    weight_type=quantization.QuantType.QInt8,
                )
            else:
                quantization.quantize_dynamic(torso, out, op_types_to_quantize=["Conv"])
            found[kind] = session_of(quantization.quant_utils.load_model_with_shape_infer(out))
    return found


def inputs_of(torso: Any, observations: np.ndarray) -> Arrays:
    """What a torso reads of these views, after the deployment."""
    observations, _ = torso.images.see(observations)
    board, counts = board_features(observations, torso.shape)
    board = np.moveaxis(board, 1, -1).reshape(len(observations), torso.squares, -1)
    return {"board": np.ascontiguousarray(board), "counts": counts}


def by_parts(torso: Any, given: Arrays) -> object:
    """The entry by ONNX Runtime, blocks by the engine."""
    (squares,) = torso.torso.run(None, given)
    shape = (len(squares), *torso.shape[1:], torso.channels)
    return residual(squares.reshape(shape), *torso.blocks) if torso.blocks else squares


def views_of(player: NetworkPlayer, game: Game, positions: int, seed: int) -> Views:
    """Of its own games, after the deployment; as many, drawn from four times as many."""
    games: list[np.ndarray] = []
    seats = (Seating(number, (0, 0)) for number in itertools.count())
    for ended in Table(game, [player], Seatings(seats), SLOTS, seed=seed).rounds():
        if ended is not None:
            ends = np.cumsum(ended.episodes.length)
            games += np.split(ended.episodes.actions, ends)[:-1]
        if sum(map(len, games)) > 4 * positions:
            break
    views = replay_many(game, [(b"", actions) for actions in games])
    playing = np.flatnonzero(views.observations[:, PHASE] != 1)
    rows = np.random.default_rng(seed).choice(playing, positions, replace=False)
    return views.observations[rows], views.legal[rows]


def cpu_microseconds(way: Way, parts: list[Arrays]) -> float:
    """A position of these batches."""
    begin = time.process_time()
    for part in parts:
        way(part)
    return (time.process_time() - begin) / sum(len(part["counts"]) for part in parts) * 1e6


def speeds(ways: dict[str, Way], given: Arrays) -> Iterator[str]:
    """The least of several turns, by batch."""
    for batch in BATCHES:
        parts = [{k: x[at : at + batch] for k, x in given.items()} for at in range(0, SPED, batch)]
        least = dict.fromkeys(ways, np.inf)
        for _ in range(TURNS):
            for name, way in ways.items():
                least[name] = min(least[name], cpu_microseconds(way, parts))
        yield f"{batch} at a time: " + ", ".join(f"{n} {t:.0f} us" for n, t in least.items())


def score(players: list[NetworkPlayer], game: Game, games: int) -> np.ndarray:
    """The first one's points of each game, 1 for a win and .5 for a draw. Even games and the next
    ones have the same seed, with swapped colours."""
    seats = (Seating(number, (number % 2, 1 - number % 2)) for number in range(games))
    points = np.full(games, np.nan)
    for ended in Table(game, players, Seatings(seats), SLOTS).rounds():
        if ended is not None:
            numbers, returns = ended.episodes.number, ended.episodes.returns
            points[numbers] = (returns[np.arange(len(numbers)), numbers % 2] + 1) / 2
    return points


def agreement(true: np.ndarray, found: np.ndarray) -> str:
    """Of policies, [n, A] each."""
    same = (true.argmax(1) == found.argmax(1)).mean()
    apart = np.abs(true - found).sum(1) / 2
    return (
        f"the same most probable action in {same:.2%}; total variation {apart.mean():.5f} on "
        f"average, {np.quantile(apart, 0.99):.4f} in one of a hundred, {apart.max():.4f} at most"
    )


def main(name: str, games: int, seed: int) -> None:
    logging.disable(logging.WARNING)  # of the library, which would have the graph prepared
    model = open_model(name).must_be(PolicyModel)
    game = Game(model.game)

    def player() -> NetworkPlayer:
        network = FromToBackend(model.net, game, model.weights, "onnx")
        return NetworkPlayer(Evaluator(model.net, network, SLOTS), game, seed)

    shipped, other = player(), player()
    torso = other.evaluator.network.library
    observations, legal = views_of(player(), game, CALIBRATED + JUDGED, seed)
    given = inputs_of(torso, observations[:CALIBRATED])
    sessions = quantized(model, PREFIX if has_deployment(model.net) else "", given)
    print(f"{name}, {model.net}; load {os.getloadavg()[0]:.1f}")
    in_parts = shipped.evaluator.network.library
    ways: dict[str, Way] = {"in parts": functools.partial(by_parts, in_parts)}
    ways |= {n: lambda x, s=s: s.run(None, x) for n, s in sessions.items()}  # type: ignore[misc]
    for line in speeds(ways, given):
        print(line, flush=True)
    seen = observations[CALIBRATED:], legal[CALIBRATED:]
    true = shipped.evaluator.policy(*seen)
    torso.blocks = None
    for kind, session in sessions.items():
        torso.torso = session
        print(f"{kind}: {agreement(true, other.evaluator.policy(*seen))}", flush=True)
    if games:
        torso.torso = sessions["static"]
        points = score([other, shipped], game, games)
        pairs = points.reshape(-1, 2).mean(1)
        error = 1.96 * pairs.std(ddof=1) / len(pairs) ** 0.5
        print(f"static against shipped: {points.mean():.1%} of {games} games, +- {error:.1%}")


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("player", metavar="PLAYER", nargs="?", default="barrage")
    parser.add_argument("games", metavar="GAMES", nargs="?", default=400, type=argument(whole(0)))
    parser.add_argument("seed", metavar="SEED", nargs="?", default=1, type=argument(SEED))
    asked = parser.parse_args()
    main(asked.player, asked.games, asked.seed)
