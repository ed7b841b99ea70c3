"""Measures the engine and prints a table: `make bench`.

C and Python rows are CPU time of one thread, the best of several rounds, so that what else the
machine does matters little; the row on threads is wall time and wants a quiet machine. Where
valgrind is at hand, instructions are counted too: they do not depend on the machine's mood.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent), str(FOLDER.parents[1])]

from build_cffi import COMPILE_FLAGS, LINK_FLAGS, SOURCES, flags_of  # noqa: E402

from fingerprint import fingerprint  # noqa: E402
from stratkit.declared import whole  # noqa: E402
from stratkit.engine import Batch, Game, sample  # noqa: E402
from stratkit.script import Parser, argument  # noqa: E402

ROUNDS = 7


def build(folder: str) -> str:
    """The C program, with the flags of the extension."""
    program = os.path.join(folder, "bench")
    flags = ["-D_POSIX_C_SOURCE=200809L", '-DSK_SOURCE_HASH=""', *COMPILE_FLAGS]
    compiler = os.environ.get("CC", "cc")
    objects = []
    for source in (FOLDER / "bench.c", *SOURCES):
        objects.append(os.path.join(folder, f"{source.stem}.o"))
        command = [compiler, *flags, *flags_of(str(source)), "-c", str(source), "-o", objects[-1]]
        subprocess.run(command, check=True)
    subprocess.run([compiler, *objects, "-o", program, *LINK_FLAGS, "-lm"], check=True)
    return program


def nanoseconds(program: str, what: str, game: str, n: int) -> float:
    command = [program, what, game, str(n)]
    return min(float(subprocess.check_output(command)) for _ in range(ROUNDS))


def instructions(program: str, what: str, game: str, n: int) -> float | None:
    """Counted for n, less what comes before the loop; None without valgrind."""
    if not shutil.which("valgrind"):
        return None
    # A sanitizer that Python was started with and valgrind exclude each other.
    env = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}

    def count(times: int) -> int:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        done = subprocess.run(
            [*command, program, what, game, str(times)],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        return int(done.stderr.split("Collected : ")[1].split()[0])

    return (count(n) - count(0)) / n


class Steps:
    """A batch of uniformly random games, as a Python program steps it."""

    def __init__(self, game: str, size: int, threads: int) -> None:
        self.batch = Batch(Game(game), size, threads)
        self.actors = np.empty(size, np.int8)
        self.legal = np.empty((size, self.batch.game.actions), np.uint8)
        self.packed = np.empty((size, self.batch.game.observation_bytes), np.uint8)
        self.games = np.arange(size, dtype=np.int64)
        self.numbers = np.zeros(size, np.int32)

    def step(self, clock: Callable[[], float]) -> tuple[float, float, int]:
        """Seconds of (mask, observation, step), seconds of choosing, and the number of actions."""
        begun = clock()
        self.batch.view(self.actors, self.legal, self.packed)
        viewed = clock()
        actions, _ = sample(None, self.legal, 1, self.games, self.numbers)
        chosen = clock()
        self.batch.apply(actions)
        done = clock()
        over = np.flatnonzero(self.actors < 0)
        self.batch.reset(over)
        self.numbers += 1
        return viewed - begun + done - chosen, chosen - viewed, len(actions) - len(over)

    def measure(self, clock: Callable[[], float], steps: int) -> tuple[float, float]:
        """Million actions a second: without and with the choice of the action."""
        stepping, choosing, actions = np.sum([self.step(clock) for _ in range(steps)], axis=0)
        return actions / stepping / 1e6, actions / (stepping + choosing) / 1e6


def machine() -> str:
    model = "unknown processor"
    if os.path.exists("/proc/cpuinfo"):
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
        model = names[0] if names else model
    compiler = subprocess.check_output([os.environ.get("CC", "cc"), "--version"], text=True)
    return f"{model}, {os.cpu_count()} cores; {compiler.splitlines()[0]}"


def c_rows(program: str, n: int) -> None:
    def row(name: str, what: str, game: str, scale: int, rate: bool) -> None:
        ns = nanoseconds(program, what, game, n // scale)
        count = instructions(program, what, game, n // scale // 10)
        counted = f"{count:.0f}" if count is not None else "-"
        first = f"{1e3 / ns:.2f} M/s ({ns:.0f} ns)" if rate else f"{ns:.0f} ns"
        print(f"| {name}, {game} | {first} | {counted} |", flush=True)

    for game in ("classic", "barrage", "mini"):
        row("random plies", "plies", game, 1, True)
    for game in ("classic", "barrage"):
        row("82 planes", "planes", game, 10, False)
    row("writing as many zeros", "write", "classic", 10, False)
    row("copying a state", "copy", "classic", 1, False)
    for game in ("classic", "barrage"):
        row("worlds", "worlds", game, 1, True)


def batch_rows(steps: int) -> None:
    for game in ("classic", "barrage", "mini"):
        mixed = Steps(game, 1024, 1)
        mixed.measure(time.process_time, 2 * steps)  # until the games are of all ages
        best = max(mixed.measure(time.process_time, steps) for _ in range(ROUNDS))
        print(
            f"| actions, batch of 1024, {game} | {best[0]:.2f} M/s "
            f"(choosing them included: {best[1]:.2f}) | - |",
            flush=True,
        )


def thread_row(program: str, n: int) -> None:
    """The best pair of rounds of neighbours: whatever else runs takes from two threads first."""

    def round_of(threads: int) -> float:
        command = [program, "batch", "classic", str(n), str(threads)]
        return float(subprocess.check_output(command))

    ratios = [round_of(1) / round_of(2) for _ in range(ROUNDS)]
    told = f"{max(ratios):.2f} x (median {statistics.median(ratios):.2f})"
    print(f"| two threads in C, batch of 1024, classic | {told} | - |", flush=True)


def main() -> None:
    parser = Parser(__doc__)
    parser.add_argument(
        "--plies", type=argument(whole(1)), default=2_000_000, help="plies of each C row"
    )
    parser.add_argument(
        "--steps", type=argument(whole(1)), default=1000, help="steps of each batch"
    )
    arguments = parser.parse_args()
    game = Game("classic")
    print(machine())
    print(f"fingerprint {fingerprint()}")
    print(
        f"state {game.state_bytes} bytes, packed observation {game.observation_bytes} bytes\n\n"
        "| what | measured | instructions |\n|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        c_rows(program, arguments.plies)
        thread_row(program, arguments.plies)
    batch_rows(arguments.steps)


if __name__ == "__main__":
    main()
