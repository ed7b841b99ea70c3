"""Asks `analyse --serve` about games: `analysis_client.py GAMES.jsonl`.

Sends all games of a file of game records at once, and prints each side's worst ply as soon as a
game is done. A site or a graphical program talks to stratkit in the same way, in any language:
nothing of the package is imported.
"""

import argparse
import contextlib
import json
import subprocess
from typing import Any

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("games", metavar="GAMES.jsonl")
parser.add_argument("--command", default="analyse", help="how to start it (default: analyse)")
asked = parser.parse_args()
if not (command := asked.command.split()):
    parser.exit(2, "analysis_client.py: --command: it is empty\n")
try:
    with open(asked.games, encoding="utf-8") as lines:
        header, *records = (json.loads(line) for line in lines)
    requests = [
        {"id": number, "game": header["game"], "setups": list(setups), "moves": one["moves"]}
        for number, one in enumerate(records, 1)
        for setups in [one["setups"]]  # null, where the game has none
    ]
except OSError as error:
    raise SystemExit(f"analysis_client.py: {error}") from None
except (ValueError, KeyError, TypeError):
    what = "no game records of Stratego, from setups"
    raise SystemExit(f"analysis_client.py: {asked.games}: {what}") from None
try:
    server = subprocess.Popen(
        [*command, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
except OSError as error:
    raise SystemExit(f"analysis_client.py: --command: {error}") from None
assert server.stdin and server.stdout
# It ends when it has answered all; if it reads no more, it has said why.
with contextlib.suppress(BrokenPipeError), server.stdin:
    for request in requests:
        server.stdin.write(json.dumps(request) + "\n")
worst: dict[tuple[int, str], dict[str, Any]] = {}
for line in server.stdout:
    answer = json.loads(line)
    if answer["kind"] == "error":
        print(f"game {answer['id']}: {answer['error']}")
    elif answer["kind"] == "ply":
        key = answer["id"], answer["side"]
        worst[key] = max(worst.get(key, answer), answer, key=lambda ply: float(ply["loss"]))
    elif answer["kind"] == "game":
        for side in ("red", "blue"):
            if ply := worst.get((answer["id"], side)):
                best = ply["moves"][0]["move"]
                print(
                    f"game {answer['id']}, ply {ply['ply']}: {side} played {ply['move']}, "
                    f"rather {best}: {ply['loss']:.2f} +- {ply['loss_error'] or 0:.2f}"
                )
raise SystemExit(server.wait())
