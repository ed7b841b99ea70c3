"""Makes the file of a player: one network of a checkpoint, and how it learned.

    python examples/players/export.py CHECKPOINT|RUN FILE [NET]

NET is online, average, ...; without it the network that `match` would let play. FILE is a policy
(formats/checkpoint.md): `match` plays it, as it plays the players that come with stratkit.
"""

import pathlib
import sys
import tempfile

from stratkit.errors import StratkitError, counted
from stratkit.storage.checkpoints import POLICY_FILE, load_network, publish_policy, resolve

KEPT = ("algorithm", "batch", "config", "episodes", "game", "net", "post", "rules", "seed", "step")


def main(checkpoint: str, file: str, net: str | None = None) -> None:
    weights, learned, part = load_network(resolve(checkpoint), net)
    metadata = {key: learned[key] for key in KEPT} | {"parents": [learned["sha256"]], "part": part}
    with tempfile.TemporaryDirectory(dir=pathlib.Path(file).parent) as folder:
        publish_policy(folder, weights, metadata)
        pathlib.Path(folder, POLICY_FILE).rename(file)
    print(f"{file}: {part} of step {learned['step']}, {counted(learned['episodes'], 'episode')}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: export.py CHECKPOINT|RUN FILE [NET]")
    try:
        main(*sys.argv[1:])
    except (StratkitError, OSError) as error:
        sys.exit(f"export.py: {error}")
