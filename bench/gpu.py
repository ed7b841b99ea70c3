"""Measures self-play and the learner where networks compute, and prints a table: `bench/gpu.sh`.

Model FLOP are those that the algorithm needs, whatever the program does: of a decision, the policy;
of a learned state, policy and value forward and backward (three times forward), the target
network's value and the regularisation policy. The second look of two-pass learning is not in them.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from unittest.mock import patch

import torch
from torch.utils.flop_counter import FlopCounterMode

from stratkit.engine import Game
from stratkit.learn.algorithm_kinds import open_algorithm
from stratkit.learn.config import BatchSpec
from stratkit.learn.data import StepBatch, make_batch
from stratkit.learn.optimizer import Optimizer
from stratkit.learn.replayed import EpisodeChunk
from stratkit.learn.request import resolve
from stratkit.nets import build, unet
from stratkit.nets.evaluator import Evaluator
from stratkit.play.finished import Finished
from stratkit.play.seating import Seating, Seatings
from stratkit.play.selfplay import ending_names
from stratkit.play.table import Table
from stratkit.players.baselines import RandomPlayer
from stratkit.players.network import NetworkPlayer
from stratkit.players.player import Player
from stratkit.storage.episodes import EpisodeWriter, Header


@dataclass(frozen=True)
class Plan:
    """What is measured: the game, the side of the matrices, and by preset the slots of self-play,
    the states of a step and the chunks to try; seconds for each row. Of the
    net `whole` a step of so many games, and of the net `pipe` both commands at once, with steps of
    so many games, for so many seconds."""

    game: str
    matrix: int
    slots: dict[str, list[int]]
    states: dict[str, int]
    chunks: dict[str, list[int]]
    seconds: float
    whole: tuple[str, int] | None = None
    pipe: tuple[str, int, float] | None = None


PLANS = {
    "full": Plan(
        game="barrage",
        matrix=8192,
        slots={"small": [2048, 8192, 16384], "paper": [2048]},
        states={"small": 200_000, "paper": 60_000},
        chunks={"small": [2048, 8192, 32768], "paper": [1024, 4096]},
        seconds=10,
        whole=("paper", 768),
        pipe=("small", 256, 60),
    ),
    "tiny": Plan(
        game="mini",
        matrix=256,
        slots={"plain": [16]},
        states={"plain": 200},
        chunks={"plain": [100]},
        seconds=0.1,
        whole=("plain", 8),
        pipe=("plain", 4, 3),
    ),
    "cpu": Plan(
        game="barrage",
        matrix=1024,
        slots={"plain": [256], "tiny": [256]},
        states={"plain": 5_000, "tiny": 2_000},
        chunks={"plain": [4096], "tiny": [4096]},
        seconds=5,
    ),
}


class Bench:
    def __init__(self, plan: Plan, device: str) -> None:
        self.plan, self.device = plan, torch.device(device)
        self.game = Game(plan.game)
        # A CPU without matrix units for it is many times slower in bfloat16.
        self.precision = "bf16" if device == "cuda" else "f32"
        self.dtype = torch.bfloat16 if device == "cuda" else torch.float32
        # One core, and its time, where nothing else can be meant; else all there is, by the clock.
        self.clock = time.perf_counter if device == "cuda" else time.process_time
        # A core is left for the thread that waits for the GPU.
        self.threads = max(1, (os.cpu_count() or 1) - 1) if device == "cuda" else 1
        torch.set_num_threads(self.threads)
        self.start = time.perf_counter()
        self.rows: list[list[str]] = []
        self.peak = self.matrix_rate()

    def note(self, text: str) -> None:
        print(f"{time.perf_counter() - self.start:6.1f} s  {text}", file=sys.stderr, flush=True)

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def rate(self, work: Callable[[], int], seconds: float) -> float:
        """Units of work a second, after one round that does not count."""
        work()
        self.wait()
        start, done = self.clock(), 0
        while (took := self.clock() - start) < seconds:
            done += work()
            self.wait()
        return done / took

    def matrix_rate(self) -> float:
        """FLOP/s of matrices of random numbers."""
        n = self.plan.matrix
        a, b = (torch.randn(n, n, device=self.device, dtype=self.dtype) for _ in range(2))

        def multiply() -> int:
            for _ in range(10):
                a @ b
            return 10 * 2 * n**3

        return self.rate(multiply, min(3, self.plan.seconds))

    # ---- self-play ----

    def play(self, net: str, slots: int, flop: float) -> None:
        network = build(net, self.game, 1)
        size = sum(p.numel() for p in network.parameters())
        player = NetworkPlayer(Evaluator(net, network, rows=slots), self.game, seed=1)
        player.evaluator.place(self.device.type, self.dtype)
        timed = Timed(player, self.clock)
        self.reset_memory()
        rounds = games(self.game, player, slots, self.threads)
        writer = EpisodeWriter(open(os.devnull, "wb"), header(self.game))  # noqa: SIM115

        def some() -> int:
            for _ in range(4):
                finished = next(rounds)
                if finished is not None:
                    writer.write(finished.episodes)
            return 4 * slots

        some()
        timed.seconds = timed.rows = 0
        start = self.clock()
        rate = self.rate(some, self.plan.seconds)
        took = self.clock() - start
        spent = 1e6 * timed.seconds / timed.rows
        note = f"network {spent:.2f} us, beside it {1e6 * took / timed.rows - spent:.2f} us more"
        self.add(f"self-play, {slots} games", net, size, flop, rate, note)

    # ---- the learner ----

    def learn(self, net: str, batch: StepBatch, chunk: int, flop: float) -> None:
        options = {"seed": 1, "chunk": chunk, "precision": self.precision}
        settings = resolve(net, {}, {}, options)
        algorithm = open_algorithm(
            settings.algorithm, net, self.game, settings.hyper, settings.run.seed, self.device
        )
        learner = Optimizer(algorithm, settings.run, device=self.device)
        size = sum(p.numel() for p in algorithm.trained.parameters())
        batch = batch.pinned() if self.device.type == "cuda" else batch
        self.reset_memory()

        def step() -> int:
            learner.update(batch)
            return batch.states

        rate = self.rate(step, self.plan.seconds)
        different = (int(batch.view.max()) + 1) / batch.states
        what = f"{batch.states} states a step, {different:.0%} different"
        self.add(f"learner, chunk {chunk}", net, size, flop * different, rate, what)

    # ---- both at once ----

    def both(self, net: str, batch: int, seconds: float, flop: float) -> None:
        """`selfplay | train`, from the second half of the steps that they come to."""
        there = ["--device", self.device.type, "--precision", self.precision]
        ahead = 16 * batch  # and a quarter of it the slots
        self.reset_memory()
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder, "run")
            play = ["selfplay", "--game", self.game.name, "--policy", run, "--follow", *there]
            play += ["--threads", str(self.threads), "--max-ahead", str(ahead)]
            learn = ["train", "-", "--out", run, "--net", net, "--batch", str(batch), *there]
            with (
                subprocess.Popen([*command(play[0]), *play[1:], "-q"], stdout=subprocess.PIPE) as a,
                subprocess.Popen([*command(learn[0]), *learn[1:], "-q"], stdin=a.stdout) as b,
            ):
                assert a.stdout is not None
                a.stdout.close()
                time.sleep(seconds)
                deadline = time.monotonic() + max(2 * seconds, 300)  # torch may load slowly
                while not enough(run) and b.poll() is None and time.monotonic() < deadline:
                    time.sleep(1)
                b.terminate()
            if not enough(run):
                ended = f"selfplay ended with {a.returncode}, train with {b.returncode}"
                self.note(f"{net}: both through a pipe came to no four steps: {ended}")
                return
            lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        late = lines[len(lines) // 2 :]
        took = late[-1]["time"] - late[0]["time"]
        rate = sum(line["states"] for line in late[1:]) / took
        waited = sum(line["seconds"]["wait"] for line in late[1:]) / took
        size = sum(p.numel() for p in build(net, self.game, 1).parameters())
        what = (
            f"{batch} games a step, at most {ahead} ahead; {len(lines)} steps, {waited:.0%} waiting"
        )
        self.add("both, through a pipe", net, size, flop, rate, what, elsewhere=True)

    # ---- the table ----

    def reset_memory(self) -> None:
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()

    def add(
        self,
        what: str,
        net: str,
        size: int,
        flop: float,
        rate: float,
        note: str,
        elsewhere: bool = False,
    ) -> None:
        """A row of the table; `elsewhere`: it was other processes that used the memory."""
        peak = "-"
        if self.device.type == "cuda" and not elsewhere:
            peak = f"{torch.cuda.max_memory_allocated() / 1e9:.1f}"
        share = flop * rate / self.peak
        cells = [what, net, f"{size:,}", f"{flop / 1e6:,.0f}", f"{rate:,.0f}", f"{share:.1%}"]
        self.rows.append([*cells, peak, note])
        self.note(" | ".join(self.rows[-1]))

    def run(self) -> None:
        where = torch.cuda.get_device_name() if self.device.type == "cuda" else "CPU"
        self.note(
            f"{where}, {os.cpu_count()} cores: {self.peak / 1e12:.2f} TFLOP/s of {self.precision}"
        )
        for net, chunks in self.plan.chunks.items():
            batch = random_batch(self.game, self.plan.states[net])
            policy, value, both = flops(self.game, net, batch)
            self.note(f"{net}: {batch.states} states, {both / 1e6:.0f} MFLOP forward")
            for chunk in chunks:
                self.learn(net, batch, chunk, 3 * both + value + policy)
            for slots in self.plan.slots[net]:
                self.play(net, slots, policy)
            if self.plan.whole and self.plan.whole[0] == net:
                batch = random_batch(self.game, games_wanted=self.plan.whole[1])
                self.learn(net, batch, max(chunks), 3 * both + value + policy)
            if self.plan.pipe and self.plan.pipe[0] == net:
                self.both(*self.plan.pipe, 3 * both + value + 2 * policy)
        print(f"{where}, {os.cpu_count()} cores, torch {torch.__version__}, {self.plan.game};")
        print(f"{self.precision} matrices of {self.plan.matrix}: {self.peak / 1e12:.2f} TFLOP/s\n")
        print("| what | net | parameters | MFLOP each | each a second | share | peak GB | |")
        print("|---|---|---|---|---|---|---|---|")
        for row in self.rows:
            print(f"| {' | '.join(row)} |")


class Timed:
    """Notes how long a player's network takes, and for how many decisions."""

    def __init__(self, player: NetworkPlayer, clock: Callable[[], float]) -> None:
        self.seconds, self.rows = 0.0, 0
        evaluate = player.evaluator._in_parts

        def timed(heads, *arrays):  # type: ignore[no-untyped-def]
            start = clock()
            found = evaluate(heads, *arrays)
            self.seconds += clock() - start
            self.rows += len(arrays[0])
            return found

        player.evaluator._in_parts = timed  # type: ignore[method-assign]


def header(game: Game) -> Header:
    return Header(game=game.name, rules=game.rules, endings=ending_names(game), seed=1)


def games(game: Game, player: Player, slots: int, threads: int = 1) -> Iterator[Finished | None]:
    """Rounds of games without end."""
    seatings = (Seating(number, (0,) * game.players) for number in itertools.count())
    return Table(game, [player], Seatings(seatings), slots, threads).rounds()


def command(name: str) -> list[str]:
    return [sys.executable, "-m", f"stratkit.cli.{name}"]


def enough(run: pathlib.Path) -> bool:
    """Whether the learner of RUN has done four steps."""
    metrics = run / "metrics.jsonl"
    return metrics.exists() and metrics.read_text().count("\n") >= 4


def random_batch(game: Game, states: int = 0, games_wanted: int = 0) -> StepBatch:
    """At least so many states and so many random games."""
    parts, there, count = [], 0, 0
    for finished in games(game, RandomPlayer(1), 64):
        if finished is not None:
            episodes = finished.episodes
            parts.append(EpisodeChunk(episodes, ending_names(game), "random games"))
            there, count = there + int(episodes.length.sum()), count + len(episodes)
            if there >= states and count >= games_wanted:
                break
    return make_batch(game, parts, BatchSpec(128))


@torch.no_grad()
def flops(game: Game, net: str, batch: StepBatch) -> tuple[float, float, float]:
    """FLOP of the policy, of the value, and of both, of a mean state of the batch; without the rows
    that fill the heads up."""
    network = build(net, game, 1)
    rows = batch.view[torch.linspace(0, batch.states - 1, 64).long()]
    legal = batch.legal[rows]
    found = []
    for wanted in ("policy", "value", "both"):
        with patch.object(unet, "ROWS", 1), FlopCounterMode(display=False) as counter:
            inputs = network.prepare(batch.observations[rows])
            embedding = network.embed(inputs)
            if wanted != "value":
                network.logits(embedding, inputs, legal)
            if wanted != "policy":
                network.value(embedding, inputs)
        found.append(counter.get_total_flops() / len(rows))
    return found[0], found[1], found[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--size", choices=sorted(PLANS), default="full")
    given = parser.parse_args()
    Bench(PLANS[given.size], given.device).run()


if __name__ == "__main__":
    main()
