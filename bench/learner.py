#!/usr/bin/env python3
"""How many states a learner learns from in a CPU second, beside that of another checkout, by turns.

    bench/learner.py [--other CHECKOUT] [--threads T] [--rounds R] [--steps N] [SETTING...]

The games of each SETTING are played once, by a shipped player or at random. Both checkouts read
them, in a process each, and begin with the same weights. They take turns of N steps. A step is
replay and update. The table has of each checkout the least CPU milliseconds of a step, and the
states a CPU second that follow. The ratio is the median over the turns, with the quartiles.
"""

from __future__ import annotations

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = "--work"  # begins the command line of one checkout's learner
GAMES = 400


@dataclass(frozen=True)
class Setting:
    """What is learned: the game, who plays it (`selfplay --policy`), the network, the algorithm,
    and settings other than the defaults."""

    game: str
    policy: str
    net: str
    algorithm: str
    options: dict[str, Any]
    slices: bool = True


SHIPPED = {"batch": 32, "advantage_filter": 0.75, "warm_up": 50}  # examples/players/Makefile
SETTINGS = {
    "barrage": Setting("barrage", "barrage-easy", "fromto+deployment", "mmd", SHIPPED),
    "barrage-large": Setting("barrage", "barrage-easy", "fromto:32x3+mirrored", "mmd", SHIPPED),
    "barrage-bf16": Setting(
        "barrage", "barrage-easy", "fromto:32x3+mirrored", "mmd", {**SHIPPED, "precision": "bf16"}
    ),
    "barrage-default": Setting("barrage", "barrage-easy", "fromto", "mmd", {}, slices=False),
    "classic": Setting("classic", "classic-easy", "fromto:64x4+mirrored", "mmd", SHIPPED),
    "mini": Setting("mini", "random", "fromto", "mmd", {}, slices=False),
    "mini-bf16": Setting("mini", "random", "fromto", "mmd", {"precision": "bf16"}, slices=False),
    "mini-slices": Setting("mini", "random", "fromto+deployment", "mmd", SHIPPED),
    "mini-rnad": Setting("mini", "random", "tiny", "rnad", {}, slices=False),
    "mini-fromto-rnad": Setting("mini", "random", "fromto", "rnad", {}, slices=False),
    "barrage-rnad": Setting("barrage", "barrage-easy", "tiny", "rnad", {}, slices=False),
}


# ---- one checkout's learner ----


class Learner:
    """Learns from the games of a file."""

    def __init__(self, name: str, file: str, threads: int) -> None:
        import torch

        from stratkit.engine import Game
        from stratkit.learn.algorithm_kinds import algorithm_kind, open_algorithm
        from stratkit.learn.optimizer import Optimizer
        from stratkit.learn.request import resolve
        from stratkit.netnames import has_deployment

        its = SETTINGS[name]
        options = {"seed": 1, "threads": threads, **its.options}
        settings = resolve(its.net, {}, {}, options, its.algorithm)
        self.game, self.size = Game(its.game), settings.run.batch
        own = has_deployment(its.net)
        batches = algorithm_kind(its.algorithm).batches
        self.spec = replace(batches, rows=settings.run.rows, own_deployment=own)
        device = torch.device("cpu")
        algorithm = open_algorithm(its.algorithm, its.net, self.game, settings.hyper, 1, device)
        self.learner = Optimizer(algorithm, settings.run)
        self.batches = self.read(file)

    def read(self, file: str) -> Any:
        """Lists of chunks, of a batch each."""
        from stratkit.learn.replayed import EpisodeChunk
        from stratkit.storage.episodes import EpisodeReader

        while True:
            waiting: list[EpisodeChunk] = []
            with open(file, "rb") as stream:
                reader = EpisodeReader(stream, file, whole=False)
                for frame in reader.frames():
                    chunk = EpisodeChunk(frame, reader.header.endings, file)
                    while len(chunk):
                        missing = self.size - sum(map(len, waiting))
                        waiting.append(chunk[:missing])
                        chunk = chunk[missing:]
                        if sum(map(len, waiting)) == self.size:
                            yield waiting
                            waiting = []

    def turn(self, steps: int) -> tuple[float, int]:
        """CPU seconds of so many steps, and their states."""
        from stratkit.learn.data import make_batch

        states, start = 0, time.process_time()
        for _ in range(steps):
            batch = make_batch(self.game, next(self.batches), self.spec)
            self.learner.update(batch)
            states += batch.states
        return time.process_time() - start, states


def work(name: str, file: str, threads: int, steps: int) -> None:
    """A turn for each line of standard input."""
    learner = Learner(name, file, threads)
    learner.turn(2)
    for _ in sys.stdin:
        print(json.dumps(learner.turn(steps)), flush=True)


# ---- both ----


def play(name: str, folder: str) -> str:
    """The games of a setting, a file."""
    its, file = SETTINGS[name], pathlib.Path(folder, f"{name}.eps")
    words = ["--game", its.game, "--policy", its.policy, "-n", GAMES, "--seed", 5, "-q", "-o", file]
    words += ["--slice", 32] if its.slices else []
    subprocess.run([ROOT / "bin/selfplay", *map(str, words)], check=True)
    return str(file)


def start(checkout: pathlib.Path, *words: object) -> subprocess.Popen[str]:
    """The learner of a checkout, which waits for its turns."""
    path = os.pathsep.join([str(checkout), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, __file__, WORK, *map(str, words)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip


def take_turn(learner: subprocess.Popen[str]) -> tuple[float, int]:
    assert learner.stdin and learner.stdout
    learner.stdin.write("\n")
    learner.stdin.flush()
    seconds, states = json.loads(learner.stdout.readline())
    return seconds, states


def measure(name: str, checkouts: list[pathlib.Path], threads: int, rounds: int, steps: int) -> str:
    """A row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        file = play(name, folder)
        learners = [start(one, name, file, threads, steps) for one in checkouts]
        turns = [[take_turn(one) for one in learners] for _ in range(rounds)]
        for one in learners:
            one.communicate()
    cells = [name]
    for by_round in zip(*turns, strict=True):
        seconds, states = min(by_round, key=lambda turn: turn[0] / turn[1])
        cells += [f"{1e3 * seconds / steps:.1f}", f"{states / seconds:,.0f}"]
    if len(checkouts) > 1:
        ratios = [other[0] / mine[0] for mine, other in turns]
        low, middle, high = statistics.quantiles(ratios, n=4)
        cells.append(f"{middle:.2f} ({low:.2f} to {high:.2f})")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    if sys.argv[1:2] == [WORK]:
        name, file, threads, steps = sys.argv[2:]
        work(name, file, int(threads), int(steps))
        return
    # Not above: the package of another checkout, where this works, may lack them.
    from stratkit.declared import whole
    from stratkit.script import Parser, argument

    parser = Parser(__doc__)
    parser.add_argument("settings", metavar="SETTING", nargs="*", help=", ".join(SETTINGS))
    parser.add_argument("--other", metavar="CHECKOUT", type=pathlib.Path)
    parser.add_argument("--threads", type=argument(whole(1)), default=1)
    parser.add_argument("--rounds", type=argument(whole(2)), default=12)
    parser.add_argument("--steps", type=argument(whole(1)), default=4)
    given = parser.parse_args()
    if unknown := set(given.settings) - set(SETTINGS):
        parser.error(f"no such setting: {min(unknown)}; there are {', '.join(SETTINGS)}")
    checkouts = [ROOT, *([given.other.resolve()] if given.other else [])]
    titles = ["setting", "ms a step", "states a CPU second"]
    titles += ["other: ms a step", "states a CPU second", "other / this"] if given.other else []
    print("| " + " | ".join(titles) + " |\n" + "|---" * len(titles) + "|")
    for name in given.settings or SETTINGS:
        print(measure(name, checkouts, given.threads, given.rounds, given.steps), flush=True)
    print(f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)


if __name__ == "__main__":
    main()
