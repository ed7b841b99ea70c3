#!/usr/bin/env python3
"""How a player deploys, and what its setups are worth.

    bench/deployments.py PLAYER [--game barrage] [--against SOURCE]... [--games 2000] [--seed 1]

Prints the entropy of its setups, where flag and bombs stand, and the share of points of its setups
against those of each SOURCE (of `deploy-gen --from`; by default uniform), when PLAYER plays both
sides. Each pair of setups is played twice; in every second pair the colours are exchanged.
"""

from __future__ import annotations

import json
import math
import pathlib
import subprocess
import tempfile
from typing import Any

from stratkit.declared import SEED, whole
from stratkit.script import Parser, argument

BIN = pathlib.Path(__file__).parents[1] / "bin"
SHOWN = ("flag on the back rank", "no bomb beside the flag", "bombs beside the flag, mean")


def run(*words: object) -> str:
    """What a command prints."""
    command = [str(BIN / str(words[0])), *map(str, words[1:])]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def setups(game: str, source: str, n: int, seed: int) -> list[str]:
    return run("deploy-gen", "--game", game, "--from", source, "-n", n, "--seed", seed).split()


def entropy(game: str, source: str, n: int, seed: int) -> tuple[float, float]:
    """The mean of -log p in nats, and its standard error."""
    made = ("deploy-gen", "--game", game, "--from", source, "-n", n, "--seed", seed)
    last: dict[str, Any] = json.loads(run(*made, "--logprob", "--json").splitlines()[-1])
    return last["entropy"], last["error"]


def score(game: str, player: str, ours: list[str], theirs: list[str], seed: int) -> float:
    """The share of points of our setups. A pair of `match` plays both games by the same setups, and
    one player sits on both sides."""
    lines = [
        pair[::-1] if number % 2 else pair
        for number, pair in enumerate(zip(ours, theirs, strict=True))
    ]
    with tempfile.TemporaryDirectory() as folder:
        file, games = pathlib.Path(folder, "x.setups"), pathlib.Path(folder, "games.jsonl")
        file.write_text("".join(f"{red}\n{blue}\n" for red, blue in lines))
        run("match", f"name=a,{player}", f"name=b,{player}", "--game", game, "-n", 2 * len(lines),
            "--setups", file, "--seed", seed, "-q", "-o", games)  # fmt: skip
        found = [json.loads(line) for line in games.read_text().splitlines()[1:]]
    points: list[float] = [(1 + one["returns"][one["pair"] % 2]) / 2 for one in found]
    return sum(points) / len(points)


def main() -> None:
    parser = Parser(description=__doc__.splitlines()[0])
    parser.add_argument("player")
    parser.add_argument("--game", default="barrage")
    parser.add_argument("--against", action="append", default=[])
    parser.add_argument("--games", type=argument(whole(2)), default=2000)
    parser.add_argument("--seed", type=argument(SEED), default=1)
    asked = parser.parse_args()
    game, player, pairs = asked.game, asked.player, asked.games // 2
    nats, error = entropy(game, player, 256, asked.seed)
    print(f"entropy {nats:.2f} ± {error:.2f} nats", flush=True)
    ours = setups(game, player, max(400, pairs), asked.seed)
    with tempfile.NamedTemporaryFile("w", suffix=".setups") as file:
        file.write("".join(f"{one}\n" for one in ours))
        file.flush()
        stats = json.loads(run("fenfs", "stats", file.name, "--variant", game, "--json"))
    figures = stats["inputs"]["setups"][game]["figures"]
    for name in SHOWN:
        print(f"{name} {figures[name]:.3f}")
    for source in asked.against or ["uniform"]:
        theirs = setups(game, source, pairs, asked.seed + 1)
        share = score(game, player, ours[:pairs], theirs, asked.seed)
        error = math.sqrt(share * (1 - share) / (2 * pairs))
        print(f"against {source}: {share:.1%} ± {error:.1%} of {2 * pairs} games", flush=True)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:  # the command has said what is wrong
        raise SystemExit(error.returncode) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
