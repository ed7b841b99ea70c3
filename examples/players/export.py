"""Makes the file of a player, as `stratkit export` does, with some of its weights set by hand.

    python examples/players/export.py [--bits BITS] CHECKPOINT|RUN|PLAYER FILE [NET [LOST [SETUPS]]]

PLAYER comes with stratkit. NET is online, average, ...; without it the network that `match` would
let play. FILE is a policy (formats/checkpoint.md): `match` plays it, as it plays the players that
come with stratkit, whose files are NAME.shuffled. LOST, such as -16, becomes the weight that
`fromto` gives to an attack which loses for certain. SETUPS is for a network with one of its own for
the deployment: a temperature, at which it places its pieces (below 1 it is surer), or a player of
the same net, as which it does. Of the 23 bits of a weight's fraction so many BITS are kept: with 12
a wheel packs a player in three quarters of the room. Weights of a network for the deployment for
pieces that the game lacks, which nothing reads, become 0.
"""

import contextlib
from collections.abc import Mapping

import numpy as np

from stratkit.arrays import Float32s
from stratkit.engine.stratego import TYPES, variant
from stratkit.errors import InputError, counted
from stratkit.models.export import exported_metadata
from stratkit.models.shipped import weights_file
from stratkit.netnames import has_deployment
from stratkit.script import Parser
from stratkit.storage.checkpoints import load_network, save_policy

FRACTION = 23  # bits of a float32


def main(
    checkpoint: str,
    file: str,
    net: str | None,
    lost: str | None,
    setups: str | None,
    bits: int,
) -> None:
    weights, learned, part = load_network(weights_file(checkpoint), net)
    if lost is not None:
        weights = with_lost(weights, lost, learned["net"])
    parents = [learned["sha256"]]
    if setups is not None and finite(setups) is None:
        weights, other = placing_like(weights, setups, learned["net"], learned["game"])
        parents.append(other)
    elif setups is not None:
        weights = at_temperature(weights, setups, learned["net"])
    weights = read_alone(weights, learned["game"])
    weights = {name: rounded(weight, bits) for name, weight in weights.items()}
    metadata = {**exported_metadata(part, learned), "parents": parents}
    save_policy(file, weights, metadata, overwrite=True)
    print(f"{file}: {part} of step {learned['step']}, {counted(learned['episodes'], 'episode')}")


def with_lost(weights: Mapping[str, Float32s], lost: str, net: str) -> dict[str, Float32s]:
    """The weights with `lost` as that of certain losses."""
    name = next((name for name in weights if name.split(".")[-1] == "met"), None)
    if name is None:
        raise InputError("a net that has no weight of certain losses", text=net)
    weight = finite(lost)
    if weight is None:
        raise InputError("LOST is no finite number", text=lost)
    return {**weights, name: np.append(weights[name][:-1], weight)}


def at_temperature(
    weights: Mapping[str, Float32s], temperature: str, net: str
) -> dict[str, Float32s]:
    """The weights, whose logits of placements are divided by `temperature`."""
    last = [name for name in weights if name.startswith("deployment.policy.")]
    if not (has_deployment(net) and last):
        raise InputError("a net that has none of its own for the deployment", text=net)
    number = finite(temperature)
    if number is None or number <= 0:
        raise InputError("a temperature of SETUPS is above 0", text=temperature)
    return {**weights, **{name: weights[name] / number for name in last}}


def placing_like(
    weights: Mapping[str, Float32s], player: str, net: str, game: str
) -> tuple[dict[str, Float32s], str]:
    """The weights, with those of `player` for the deployment, and its SHA-256. `InputError`: its
    net or game is another."""
    others, learned, _ = load_network(weights_file(player), None)
    if not has_deployment(net) or (learned["net"], learned["game"]) != (net, game):
        what = f"SETUPS of a player of {learned['game']} with the net {learned['net']}, not {net}"
        raise InputError(f"{what} of {game}", text=player)
    placing = {name: others[name] for name in weights if name.startswith("deployment.")}
    return {**weights, **placing}, learned["sha256"]


def read_alone(weights: Mapping[str, Float32s], game: str) -> dict[str, Float32s]:
    """The weights; those of a network for the deployment are 0 where its inputs are types of which
    the game has no piece."""
    name = "deployment.entry.weight"
    if name not in weights:
        return dict(weights)
    read = np.array(variant(game).counts) > 0
    hidden = len(weights[name])
    entry = np.where(read, weights[name].reshape(hidden, -1, len(TYPES)), np.float32(0))
    return {**weights, name: entry.reshape(hidden, -1)}


def rounded(weights: Float32s, bits: int) -> Float32s:
    """The weights, to the nearest with so many bits of the fraction."""
    unit = np.uint32(1 << (FRACTION - bits))
    return ((weights.view(np.uint32) + unit // 2) // unit * unit).view(np.float32)


def finite(text: str) -> np.float32 | None:
    """The number, if it is one."""
    with contextlib.suppress(ValueError):
        if np.isfinite(number := np.float32(text)):
            return number
    return None


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("checkpoint", metavar="CHECKPOINT|RUN|PLAYER")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("net", metavar="NET", nargs="?")
    parser.add_argument("lost", metavar="LOST", nargs="?")
    parser.add_argument("setups", metavar="SETUPS", nargs="?")
    parser.add_argument(
        "--bits", type=int, choices=range(1, FRACTION + 1), default=FRACTION, metavar="BITS"
    )
    asked = parser.parse_args()
    with parser.telling():
        main(**vars(asked))
