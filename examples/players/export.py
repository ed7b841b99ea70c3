"""Makes the file of a player: one network of a checkpoint, and how it learned.

    python examples/players/export.py CHECKPOINT|RUN FILE [NET [LOST]]

NET is online, average, ...; without it the network that `match` would let play. FILE is a policy
(formats/checkpoint.md): `match` plays it, as it plays the players that come with stratkit. LOST,
such as -16, becomes the weight that `fromto` gives to an attack which loses for certain.
"""

import contextlib
import pathlib
import sys
import tempfile
from collections.abc import Mapping

import numpy as np

from stratkit.arrays import Float32s
from stratkit.errors import InputError, StratkitError, counted
from stratkit.storage.checkpoints import POLICY_FILE, load_network, publish_policy, resolve

KEPT = ("algorithm", "batch", "config", "episodes", "game", "net", "post", "rules", "seed", "step")


def main(checkpoint: str, file: str, net: str | None = None, lost: str | None = None) -> None:
    weights, learned, part = load_network(resolve(checkpoint), net)
    if lost is not None:
        weights = with_lost(weights, lost, learned["net"])
    metadata = {key: learned[key] for key in KEPT} | {"parents": [learned["sha256"]], "part": part}
    with tempfile.TemporaryDirectory(dir=pathlib.Path(file).parent) as folder:
        publish_policy(folder, weights, metadata)
        pathlib.Path(folder, POLICY_FILE).rename(file)
    print(f"{file}: {part} of step {learned['step']}, {counted(learned['episodes'], 'episode')}")


def with_lost(weights: Mapping[str, Float32s], lost: str, net: str) -> dict[str, Float32s]:
    """The weights with `lost` as that of certain losses."""
    name = next((name for name in weights if name.split(".")[-1] == "met"), None)
    if name is None:
        raise InputError("a net that has no weight of certain losses", text=net)
    with contextlib.suppress(ValueError):
        if np.isfinite(weight := np.float32(lost)):
            return {**weights, name: np.append(weights[name][:-1], weight)}
    raise InputError("LOST is no finite number", text=lost)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4, 5):
        sys.exit("usage: export.py CHECKPOINT|RUN FILE [NET [LOST]]")
    try:
        main(*sys.argv[1:])
    except (StratkitError, OSError) as error:
        sys.exit(f"export.py: {error}")
