"""Makes the file of a player: one network of a checkpoint, and how it learned.

    python examples/players/export.py CHECKPOINT|RUN FILE [NET]

NET is online, average, ...; without it the network that `match` would let play. FILE is a policy
(formats/checkpoint.md): `match` plays it, as it plays the players that come with stratkit.
"""

import pathlib
import sys
import tempfile

from stratkit.errors import InputError
from stratkit.storage.checkpoints import POLICY_FILE, load_network, publish_policy, resolve

checkpoint, file, *net = sys.argv[1:]
try:
    weights, learned, part = load_network(resolve(checkpoint), net[0] if net else None)
except (InputError, OSError) as error:
    sys.exit(f"export.py: {error}")
kept = ("algorithm", "batch", "config", "episodes", "game", "net", "post", "rules", "seed", "step")
metadata = {key: learned[key] for key in kept} | {"parents": [learned["sha256"]], "part": part}
with tempfile.TemporaryDirectory(dir=pathlib.Path(file).parent) as folder:
    publish_policy(folder, weights, metadata)
    pathlib.Path(folder, POLICY_FILE).rename(file)
print(f"{file}: {part} of step {learned['step']}, {learned['episodes']} games")
