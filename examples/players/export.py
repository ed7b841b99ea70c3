"""Makes the file of a player: one network of a checkpoint, and how it learned.

    python examples/players/export.py CHECKPOINT|RUN FILE [NET [LOST]]

NET is online, average, ...; without it the network that `match` would let play. FILE is a policy
(formats/checkpoint.md): `match` plays it, as it plays the players that come with stratkit. LOST,
such as -16, becomes the weight that `fromto` gives to an attack which loses for certain.
"""

import pathlib
import sys
import tempfile

import numpy as np

from stratkit.errors import InputError, StratkitError, counted
from stratkit.storage.checkpoints import POLICY_FILE, load_network, publish_policy, resolve

KEPT = ("algorithm", "batch", "config", "episodes", "game", "net", "post", "rules", "seed", "step")


def main(checkpoint: str, file: str, net: str | None = None, lost: str | None = None) -> None:
    weights, learned, part = load_network(resolve(checkpoint), net)
    if lost is not None:
        try:
            (name,) = (name for name in weights if name.split(".")[-1] == "met")
            if not np.isfinite(weight := np.float32(lost)):
                raise ValueError
            weights = {**weights, name: np.append(weights[name][:-1], weight)}
        except ValueError:
            raise InputError(
                f"LOST is a number for a net fromto, not for {learned['net']}", text=lost
            ) from None
    metadata = {key: learned[key] for key in KEPT} | {"parents": [learned["sha256"]], "part": part}
    with tempfile.TemporaryDirectory(dir=pathlib.Path(file).parent) as folder:
        publish_policy(folder, weights, metadata)
        pathlib.Path(folder, POLICY_FILE).rename(file)
    print(f"{file}: {part} of step {learned['step']}, {counted(learned['episodes'], 'episode')}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4, 5):
        sys.exit("usage: export.py CHECKPOINT|RUN FILE [NET [LOST]]")
    try:
        main(*sys.argv[1:])
    except (StratkitError, OSError) as error:
        sys.exit(f"export.py: {error}")
