"""Measures self-play and the learner where networks compute, and prints a table: `bench/gpu.sh`.

Model FLOP are those that the algorithm needs, whatever the program does: of a decision, the policy;
of a state learned by R-NaD, policy and value forward and backward (three times forward), the target
network's value and the regularisation policy; of one learned by MMD, policy and value forward, and
twice that for the gradient of the views that have one. The second look of two-pass learning is not
in them. A row that fails says so, and the next one begins.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any
from unittest.mock import patch

import torch
from torch.utils.flop_counter import FlopCounterMode

from captured_updates import CapturedOptimizer
from stratkit.declared import seconds
from stratkit.engine import Game
from stratkit.learn.algorithm_kinds import open_algorithm
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.data import StepBatch, make_batch
from stratkit.learn.optimizer import Optimizer
from stratkit.learn.ranks import ALONE, Ranks, _Group
from stratkit.learn.replayed import EpisodeChunk
from stratkit.learn.request import resolve
from stratkit.nets import build, expansion, features, unet
from stratkit.nets.evaluator import Evaluator
from stratkit.nets.fromto import FromTo
from stratkit.play.finished import Finished
from stratkit.play.seating import Seating, Seatings
from stratkit.play.selfplay import ending_names
from stratkit.play.table import Table
from stratkit.players.baselines import RandomPlayer
from stratkit.players.network import NetworkPlayer
from stratkit.players.player import Player
from stratkit.script import Parser, argument
from stratkit.storage.episodes import EpisodeWriter, Header

SLICE = 32  # actions
SLICED = BatchSpec(128, own_deployment=True, slices=True)
FILTER = 0.75  # MMD's advantage filter: examples/players/Makefile
RANKED = "--ranked"  # the process of one rank


@dataclass(frozen=True)
class Slices:
    """MMD from slices: the game, and by network how many slices a step has, the slots of self-play,
    and the chunk of recorded updates. `profiled`, `compiled`, `ranked`: of which networks kernels
    are listed, layers compiled, and a step is done by a rank of torchrun."""

    game: str
    slices: dict[str, list[int]]
    slots: dict[str, list[int]]
    chunk: int
    profiled: Sequence[str] = ()
    compiled: Sequence[str] = ()
    ranked: Sequence[str] = ()


@dataclass(frozen=True)
class Plan:
    """What is measured: the game, the side of the matrices, and by preset the slots of self-play,
    the states of a step and the chunks to try; seconds for each row. `compiled`: of which presets a
    step is done with a compiled torso, too. MMD from `slices`. Of the net
    `whole` a step of so many games, and of the net `pipe` both commands at once, with steps of so
    many slices, for so many seconds."""

    game: str
    matrix: int
    slots: dict[str, list[int]]
    states: dict[str, int]
    chunks: dict[str, list[int]]
    seconds: float
    slices: Slices
    compiled: Sequence[str] = ()
    whole: tuple[str, int] | None = None
    pipe: tuple[str, int, float] | None = None


PLANS = {
    "full": Plan(
        game="barrage",
        matrix=8192,
        slots={"tiny": [4096], "small": [4096], "paper": [2048]},
        states={"small": 100_000, "paper": 20_000, "tiny": 100_000},
        chunks={"small": [8192], "paper": [4096], "tiny": [32768]},
        seconds=2,
        slices=Slices(
            game="classic",
            slices={"fromto:64x4+mirrored": [512, 1024], "fromto:256x4+mirrored": [512]},
            slots={"fromto:64x4+mirrored": [2048, 8192], "fromto:256x4+mirrored": [2048]},
            chunk=16384,
            profiled=["fromto:64x4+mirrored", "fromto:256x4+mirrored"],
            compiled=["fromto:64x4+mirrored", "fromto:256x4+mirrored"],
            ranked=["fromto:64x4+mirrored"],
        ),
        compiled=["small", "paper"],
        pipe=("fromto:64x4+mirrored", 512, 20),
    ),
    "tiny": Plan(
        game="mini",
        matrix=256,
        slots={"plain": [16]},
        states={"plain": 200},
        chunks={"plain": [100]},
        seconds=0.1,
        slices=Slices("mini", {"fromto+mirrored": [8]}, {}, 100),
        whole=("plain", 8),
        pipe=("fromto+mirrored", 4, 3),
    ),
    "cpu": Plan(
        game="barrage",
        matrix=1024,
        slots={"plain": [256], "tiny": [256]},
        states={"plain": 5_000, "tiny": 2_000},
        chunks={"plain": [4096], "tiny": [4096]},
        seconds=5,
        slices=Slices(
            "classic", {"fromto:32x2+mirrored": [32]}, {"fromto:32x2+mirrored": [64]}, 512,
            ["fromto:32x2+mirrored"], [], ["fromto:32x2+mirrored"],
        ),
        compiled=["tiny"],
    ),
}  # fmt: skip


class TooLate(BaseException):
    """A row takes longer than it may. No library takes it for an error of its own."""


class Bench:
    def __init__(self, size: str, device: str, limit: float) -> None:
        plan = PLANS[size]
        self.size, self.plan = size, plan
        self.device = torch.device("cuda:0" if device == "cuda" else device)
        self.start, self.limit = time.perf_counter(), limit
        self.game, self.sliced = Game(plan.game), Game(plan.slices.game)
        # A CPU without matrix units for it is many times slower in bfloat16.
        self.precision = "bf16" if device == "cuda" else "f32"
        self.dtype = torch.bfloat16 if device == "cuda" else torch.float32
        # One core, and its time, where nothing else can be meant; else all there is, by the clock.
        self.clock = time.perf_counter if device == "cuda" else time.process_time
        # A core is left for the thread that waits for the GPU.
        self.threads = max(1, (os.cpu_count() or 1) - 1) if device == "cuda" else 1
        torch.set_num_threads(self.threads)
        self.counted: dict[tuple[str, str], tuple[float, float, float]] = {}

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

        return self.rate(multiply, min(1, self.plan.seconds))

    # ---- self-play ----

    def play(self, game: Game, net: str, slots: int, flop: float) -> None:
        network = build(net, game, 1)
        player = NetworkPlayer(Evaluator(net, network, rows=slots), game, seed=1)
        player.evaluator.place(self.device.type, self.dtype)
        timed = Timed(player, self.clock)
        rounds = games(game, player, slots, self.threads)
        writer = EpisodeWriter(open(os.devnull, "wb"), header(game))  # noqa: SIM115

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
        self.add(f"self-play, {slots} games", net, network, flop, rate, note)

    # ---- the learner ----

    def learn(self, net: str, states: int, wanted: int, chunk: int, compiled: bool = False) -> None:
        """R-NaD from whole games."""
        batch = random_batch(self.game, states, wanted)
        policy, value, both = self.flops_of(self.game, net, batch)
        learner = self.learner(self.game, net, "rnad", {"chunk": chunk})
        if compiled:
            for one in learner.algorithm.networks.values():
                compile_torso(one)
        different = (int(batch.view.max()) + 1) / batch.states
        flop = (3 * both + value + policy) * different
        note = f"{batch.states} states a step, {different:.0%} different"
        what = f"learner, chunk {chunk}" + ", compiled" * compiled
        self.steps(what, net, learner, batch, flop, note)

    def learn_slices(
        self,
        net: str,
        number: int,
        chunk: int = 0,
        share: float = FILTER,
        compiled: bool = False,
        ranks: Ranks = ALONE,
    ) -> float:
        """MMD from slices. `chunk`: of recorded updates; 0: as the product does it."""
        batch = random_slices(self.sliced, number)
        kind = CapturedOptimizer if chunk else Optimizer
        options = {"advantage_filter": share, "chunk": chunk}
        learner = self.learner(self.sliced, net, "mmd", options, kind, ranks)
        if compiled:
            compile_layers(learner.algorithm.trained, self.device)
        _, _, both = self.flops_of(self.sliced, net, batch)
        different = (int(batch.view.max()) + 1) / batch.states
        flop = both * different * (1 + 2 * (1 - share))
        how = ", recorded" * bool(chunk) + ", compiled" * compiled
        what = f"mmd, {number} slices{how}" + ", no filter" * (share == 0)
        note = f"{batch.states} states a step" + f", chunk {chunk}" * bool(chunk)
        return self.steps(what, net, learner, batch, flop, note)

    def learner(
        self,
        game: Game,
        net: str,
        algorithm: str,
        options: dict[str, Any],
        kind: type[Optimizer] = Optimizer,
        ranks: Ranks = ALONE,
    ) -> Optimizer:
        given = {"seed": 1, "precision": self.precision, **options}
        settings = resolve(net, {}, {}, given, algorithm)
        its = open_algorithm(algorithm, net, game, settings.hyper, 1, self.device)
        stir(its.trained)
        return kind(its, settings.run, ranks, self.device)

    def steps(
        self, what: str, net: str, learner: Optimizer, batch: StepBatch, flop: float, note: str
    ) -> float:
        """A row of a learner's steps by one batch. Returns the states a second."""
        batch = batch.pinned() if self.device.type == "cuda" else batch

        def step() -> int:
            learner.update(batch)
            return batch.states

        step()
        rate = self.rate(step, self.plan.seconds)
        note += f", {1e3 * batch.states / rate:.1f} ms each"
        self.add(what, net, learner.algorithm.trained, flop, rate, note)
        return rate

    def replay(self, number: int) -> None:
        """How long a step's slices take to become a batch, in one thread."""
        start = time.perf_counter()
        batch = make_batch(self.sliced, slices_of(self.sliced, number), SLICED)
        took = time.perf_counter() - start
        self.note(f"replay of {number} slices, {batch.states} states: {1e3 * took:.1f} ms")

    def profile(self, net: str, number: int, chunk: int) -> None:
        """Which kernels an update has, and how long they take together."""
        from torch.profiler import ProfilerActivity, profile

        batch = random_slices(self.sliced, number)
        kind = CapturedOptimizer if chunk else Optimizer
        options = {"advantage_filter": FILTER, "chunk": chunk}
        learner = self.learner(self.sliced, net, "mmd", options, kind)
        learner.update(batch)
        self.wait()
        self.stages(learner, batch)
        cuda = self.device.type == "cuda"
        with profile(activities=[ProfilerActivity.CUDA if cuda else ProfilerActivity.CPU]) as seen:
            learner.update(batch)
            self.wait()
        column = "self_device_time_total" if cuda else "self_cpu_time_total"
        kernels = [one for one in seen.key_averages() if getattr(one, column) > 0]
        kernels.sort(key=lambda one: -getattr(one, column))
        total = sum(getattr(x, column) for x in kernels) / 1e3
        count = sum(x.count for x in kernels)
        self.note(f"{net}, {number} slices, chunk {chunk}: {count} kernels, {total:.2f} ms")
        for one in kernels[:25]:
            self.note(f"  {getattr(one, column) / 1e3:8.3f} ms {one.count:5} {one.key[:100]}")

    def stages(self, learner: Optimizer, batch: StepBatch) -> None:
        """How long the parts of an update take, each waited for."""
        spent: dict[str, float] = {}

        def timed(name: str, work: Callable[..., Any], *given: Any) -> Any:
            self.wait()
            start = time.perf_counter()
            found = work(*given)
            self.wait()
            spent[name] = spent.get(name, 0) + time.perf_counter() - start
            return found

        parts = [(learner, n) for n in ("_forward", "_loss", "_backward", "_optimizer_step")]
        parts += [(learner.algorithm, "targets"), (learner.algorithm, "after_step")]
        with contextlib.ExitStack() as stack:
            for its, name in parts:
                work = partial(timed, name, getattr(its, name))
                stack.enter_context(patch.object(its, name, work))
            timed("whole", learner.update, batch)
        self.note(", ".join(f"{name} {1e3 * took:.1f} ms" for name, took in spent.items()))

    def compare(self, net: str, number: int, chunk: int) -> None:
        """How far the gradient of a recorded update is from the other's."""
        batch = random_slices(self.sliced, number)
        options = {"advantage_filter": FILTER, "chunk": chunk}
        kinds = (Optimizer, CapturedOptimizer)
        pair = [self.learner(self.sliced, net, "mmd", options, kind) for kind in kinds]
        apart = []
        for _ in range(2):  # the second time by what was recorded, with other weights
            for learner in pair:
                learner.update(batch)
            one, other = (learner._sums.flat for learner in pair)
            apart.append(float((one - other).norm() / one.norm()))
        self.note(f"{net}: recorded gradients differ by {apart[0]:.1e}, {apart[1]:.1e} of the norm")

    # ---- both at once ----

    def both(self, net: str, batch: int, seconds: float) -> None:
        """`selfplay | train`, from the second half of the steps that they come to."""
        policy, _, forward = self.flops_of(self.sliced, net, random_slices(self.sliced, batch))
        there = ["--device", self.device.type, "--precision", self.precision]
        ahead = 16 * batch  # and a quarter of it the slots
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder, "run")
            play = ["selfplay", "--game", self.sliced.name, "--policy", run, "--follow", *there]
            play += ["--threads", str(self.threads), "--max-ahead", str(ahead)]
            play += ["--slice", str(SLICE)]
            learn = ["train", "-", "--out", run, "--net", net, "--batch", str(batch), *there]
            learn += ["--algorithm", "mmd", "--advantage-filter", str(FILTER)]
            learn += ["--lr", "3e-4", "--rho", "1.5"]  # the default rate is a small network's
            with (
                subprocess.Popen([*command(play[0]), *play[1:], "-q"], stdout=subprocess.PIPE) as a,
                subprocess.Popen([*command(learn[0]), *learn[1:], "-q"], stdin=a.stdout) as b,
            ):
                assert a.stdout is not None
                a.stdout.close()
                try:
                    time.sleep(seconds)
                    while not enough(run) and b.poll() is None:  # torch may load slowly
                        time.sleep(0.2)
                finally:
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
        what = f"{batch} slices a step, at most {ahead} ahead; "
        what += f"{len(lines)} steps, {waited:.0%} waiting"
        flop = forward * (1 + 2 * (1 - FILTER)) + policy
        network = build(net, self.sliced, 1)
        self.add("both, through a pipe", net, network, flop, rate, what, elsewhere=True)

    # ---- ranks ----

    def one_rank(self, net: str, number: int) -> None:
        """The same step by a rank of torchrun, by itself: sums go through NCCL, on a CPU gloo."""
        words = ["--nnodes", "1", "--nproc-per-node", "1", "--master-addr", "127.0.0.1"]
        words += ["--master-port", "29531", __file__, RANKED, net, str(number)]
        words += ["--device", self.device.type, "--size", self.size]
        here = {"GLOO_SOCKET_IFNAME": "lo", "NCCL_SOCKET_IFNAME": "lo"}
        with subprocess.Popen(
            [sys.executable, "-m", "torch.distributed.run", *words],
            env={**os.environ, **here}, stdout=subprocess.PIPE, text=True, start_new_session=True,
        ) as started:  # fmt: skip
            try:
                out, _ = started.communicate()
            except BaseException:
                os.killpg(started.pid, signal.SIGKILL)  # the rank, too
                raise
        rows = [line for line in out.splitlines() if line.startswith("|")]
        if started.returncode or not rows:
            raise RuntimeError(f"torchrun ended with {started.returncode}")
        print(rows[-1].replace("mmd,", "mmd, one rank of torchrun,"), flush=True)

    # ---- the table ----

    def flops_of(self, game: Game, net: str, batch: StepBatch) -> tuple[float, float, float]:
        """`flops`, counted once."""
        if (game.name, net) not in self.counted:
            self.counted[game.name, net] = flops(game, net, batch)
        return self.counted[game.name, net]

    def reset_memory(self) -> None:
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()

    def add(
        self,
        what: str,
        net: str,
        network: torch.nn.Module,
        flop: float,
        rate: float,
        note: str,
        elsewhere: bool = False,
    ) -> None:
        """A row of the table; `elsewhere`: it was other processes that used the memory."""
        peak = "-"
        if self.device.type == "cuda" and not elsewhere:
            peak = f"{torch.cuda.max_memory_allocated() / 1e9:.1f}"
        size = sum(p.numel() for p in network.parameters())
        speed = flop * rate
        cells = [what, net, f"{size:,}", f"{flop / 1e6:,.0f}", f"{rate:,.0f}"]
        cells += [f"{speed / 1e12:.2f}", f"{speed / self.peak:.1%}", peak, note]
        print(f"| {' | '.join(cells)} |", flush=True)

    def heading(self) -> None:
        where = torch.cuda.get_device_name() if self.device.type == "cuda" else "CPU"
        self.peak = self.matrix_rate()
        print(f"{where}, {os.cpu_count()} cores, torch {torch.__version__}, {self.plan.game};")
        print(f"{self.precision} matrices of {self.plan.matrix}: {self.peak / 1e12:.2f} TFLOP/s\n")
        print(
            "| what | net | parameters | MFLOP each | each a second | TFLOP/s | share | peak GB | |"
        )
        print("|---|---|---|---|---|---|---|---|---|", flush=True)

    def rows(self) -> Iterator[tuple[str, Callable[[], object]]]:
        """What is measured, in its order: first what was never measured."""
        plan, its = self.plan, self.plan.slices
        compiled = [
            partial(self.learn_slices, net, its.slices[net][-1], its.chunk, share, compiled=True)
            for share in (FILTER, 0)
            for net in its.compiled
        ]
        yield from self.rows_of_slices()
        yield from (("compiled", work) for work in compiled[:1])
        for net, chunks in plan.chunks.items():
            for chunk in chunks:
                yield f"learner, {net}", partial(self.learn, net, plan.states[net], 0, chunk)
            for slots in plan.slots[net]:
                yield f"self-play, {net}", partial(self.play_whole, net, slots)
            if plan.whole and plan.whole[0] == net:
                yield f"whole, {net}", partial(self.learn, net, 0, plan.whole[1], max(chunks))
        for net in plan.compiled:
            work = partial(self.learn, net, plan.states[net], 0, max(plan.chunks[net]), True)
            yield f"compiled, {net}", work
        for net in its.ranked:
            yield f"one rank, {net}", partial(self.one_rank, net, its.slices[net][-1])
        if plan.pipe:
            yield f"pipe, {plan.pipe[0]}", partial(self.both, *plan.pipe)
        yield from (("compiled", work) for work in compiled[1:])

    def rows_of_slices(self) -> Iterator[tuple[str, Callable[[], object]]]:
        its = self.plan.slices
        for net, numbers in its.slices.items():
            steps = [(n, chunk, FILTER) for n in numbers for chunk in (0, its.chunk)]
            steps += [(numbers[-1], chunk, 0) for chunk in (0, its.chunk)]
            for number, chunk, share in steps:
                work = partial(self.learn_slices, net, number, chunk, share)
                yield f"mmd, {net}", work
            for chunk in (0, its.chunk) if net in its.profiled else ():
                yield f"profile, {net}", partial(self.profile, net, numbers[-1], chunk)
            yield f"compare, {net}", partial(self.compare, net, numbers[0], its.chunk)
            for slots in its.slots.get(net, ()):
                yield f"self-play, {net}", partial(self.play_sliced, net, slots)
        for number in sorted({n for numbers in its.slices.values() for n in numbers}):
            yield "replay", partial(self.replay, number)

    def play_whole(self, net: str, slots: int) -> None:
        policy, _, _ = self.flops_of(
            self.game, net, random_batch(self.game, self.plan.states[net], 0)
        )
        self.play(self.game, net, slots, policy)

    def play_sliced(self, net: str, slots: int) -> None:
        number = self.plan.slices.slices[net][0]
        policy, _, _ = self.flops_of(self.sliced, net, random_slices(self.sliced, number))
        self.play(self.sliced, net, slots, policy)

    def run(self) -> None:
        self.heading()
        for name, work in self.rows():
            left = self.limit - (time.perf_counter() - self.start)
            if left < 1:
                self.note(f"{name}: left out, the time is over")
                continue
            self.reset_memory()
            signal.setitimer(signal.ITIMER_REAL, min(left, self.limit / 4))
            try:
                work()
            except (Exception, TooLate) as error:
                reason = " ".join(str(error).split())
                self.note(f"{name}: failed: {type(error).__name__}: {reason[:300]}")
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)


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


def games(
    game: Game, player: Player, slots: int, threads: int = 1, slice_length: int | None = None
) -> Iterator[Finished | None]:
    """Rounds of games without end."""
    seatings = (Seating(number, (0,) * game.players) for number in itertools.count())
    table = Table(game, [player], Seatings(seatings), slots, threads, slice_length=slice_length)
    return table.rounds()


def command(name: str) -> list[str]:
    return [sys.executable, "-m", f"stratkit.cli.{name}"]


def enough(run: pathlib.Path) -> bool:
    """Whether the learner of RUN has done four steps."""
    metrics = run / "metrics.jsonl"
    return metrics.exists() and metrics.read_text().count("\n") >= 4


@cache
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


@cache
def slices_of(game: Game, number: int) -> list[EpisodeChunk]:
    """So many slices of random games, the seventh of each."""
    parts, count = [], 0
    for at, finished in enumerate(games(game, RandomPlayer(1), number, slice_length=SLICE)):
        if finished is not None and at >= 6 * SLICE:
            some = finished.episodes[: number - count]
            parts.append(EpisodeChunk(some, ending_names(game), "random games"))
            count += len(some)
            if count == number:
                break
    return parts


@cache
def random_slices(game: Game, number: int) -> StepBatch:
    return make_batch(game, slices_of(game, number), SLICED)


@torch.no_grad()
def stir(network: torch.nn.Module) -> None:
    """Other weights than the first, by which all values are 0 and no advantage is above another."""
    generator = torch.Generator().manual_seed(1)
    for parameter in network.parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        parameter.add_(0.02 * noise.to(parameter.device))


def compile_layers(network: torch.nn.Module, device: torch.device) -> None:
    """Has torch compile what each `FromTo` does, for the one shape that recorded updates have. Its
    tables are made before: the compiler would make them anew each time."""
    for name, module in (
        ("_cell_tables", expansion),
        ("_leaving", expansion),
        ("_tables", features),
        ("_events", features),
    ):
        setattr(module, name, always(getattr(module, name)(device)))
    torch._dynamo.reset()  # it compiles a function a few times, and no more
    for part in network.modules():
        if isinstance(part, FromTo):
            for name in ("_inputs", "_embed", "logits", "value"):
                setattr(part, name, torch.compile(getattr(part, name), dynamic=False))


def compile_torso(network: torch.nn.Module) -> None:
    """Has torch compile the blocks of a U-Net's torso, for any number of rows. The heads have few
    blocks, and would take as long to compile."""
    if isinstance(network, unet.UNet):
        torso = network.torso
        torso.forward = torch.compile(torso.forward, dynamic=True)  # type: ignore[method-assign]


def always(table: Any) -> Callable[[torch.device], Any]:
    return lambda device: table


@torch.no_grad()
def flops(game: Game, net: str, batch: StepBatch) -> tuple[float, float, float]:
    """FLOP of the policy, of the value, and of both, of a mean state of the batch; without the rows
    that fill the heads up."""
    network = build(net, game, 1)
    rows = torch.linspace(0, int(batch.view.max()), 64).long()
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


def too_late(*_: object) -> None:
    raise TooLate("it took longer than a row may")


def main() -> None:
    parser = Parser(description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--size", choices=sorted(PLANS), default="full")
    parser.add_argument(
        "--limit",
        type=argument(seconds(1e6)),
        default=225,
        help="seconds after which no row begins",
    )
    parser.add_argument(RANKED, nargs=2, metavar=("NET", "SLICES"), help="one rank's row")
    given = parser.parse_args()
    signal.signal(signal.SIGALRM, too_late)
    bench = Bench(given.size, given.device, given.limit)
    if given.ranked:
        net, number = given.ranked
        bench.peak = bench.matrix_rate()
        ranks = _Group(60, bench.device)
        bench.learn_slices(net, int(number), ranks=ranks)
        ranks.close()
    else:
        bench.run()


if __name__ == "__main__":
    main()
