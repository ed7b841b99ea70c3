#!/usr/bin/env python3
"""Compares settings of learning at equal CPU time: one table, and one picture.

    bench/learning.py FOLDER --game mini --minutes .5,1,2 --seeds 1,2,3 --pool heuristic \
        --setting rnad="--net plain" --setting mmd="--algorithm mmd --net plain | --slots 32"

Each setting is trained once a seed, as `selfplay --follow | train -`. A setting is the options of
`train`, and after a bar those of `selfplay`. Time is that of the CPU, of both commands with all
their threads, so that a busy machine changes nothing. At each of the minutes the newest checkpoint
is kept; it then meets every player of a pool (`match --gauntlet`), and `rate` gives all of them one
Elo scale, where `random` is 0. The pool meets before anything learns: who cannot play is refused at
once. Of a small game, `--measure nashconv` asks `exploit` instead.

All of it stops by Ctrl-C, and goes on where it was if it is started again. FOLDER holds a folder
for each run, the games of the ratings, table.md and curve.png.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import itertools
import json
import math
import os
import pathlib
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stratkit.declared import whole
from stratkit.script import Parser, argument
from stratkit.storage.atomic import lock

ROOT = pathlib.Path(__file__).resolve().parents[1]
TICK = os.sysconf("SC_CLK_TCK")
SETTINGS = "settings.json"
POLL = 0.2  # seconds between two looks at the clock of a run
# Of Student's t, the 97.5 % quantiles with 1, 2, ... degrees of freedom.
QUANTILES = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)


@dataclass(frozen=True)
class Setting:
    """How to learn: a name, the options of both commands, and the checkout whose commands learn."""

    name: str
    train: Sequence[str]
    selfplay: Sequence[str]
    checkout: pathlib.Path


@dataclass
class Training:
    """One setting and seed: its folder, and the CPU seconds that it has had in earlier starts."""

    setting: Setting
    seed: int
    folder: pathlib.Path
    cpu: float = 0.0
    starts: int = 0
    marks: list[float] = field(default_factory=list)  # minutes of which there is a checkpoint

    def __post_init__(self) -> None:
        if self.clock.exists():
            for name, value in json.loads(self.clock.read_text()).items():
                setattr(self, name, value)

    @property
    def clock(self) -> pathlib.Path:
        return self.folder / "clock.json"

    def checkpoint(self, minutes: float) -> pathlib.Path:
        return self.folder / f"{minutes:g}.safetensors"

    def write(self, cpu: float) -> None:
        text = json.dumps({"cpu": cpu, "starts": self.starts, "marks": self.marks})
        new = self.clock.with_suffix(".new")
        new.write_text(text)
        new.replace(self.clock)


def cpu_seconds(pids: Sequence[int]) -> float:
    """Of processes that run or have not been waited for, with all their threads."""
    ticks = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / TICK


# ---- learning ----


def learn(run: Training, game: str, minutes: Sequence[float], stop: threading.Event) -> None:
    """Trains until the last of the minutes, or until `stop`."""
    wanted = [one for one in minutes if one not in run.marks]
    if not wanted or stop.is_set():
        return
    run.folder.mkdir(parents=True, exist_ok=True)
    run.starts += 1
    with open(run.folder / "log", "ab") as log:
        play, train = start(run, game, log)
        try:
            cpu, failed = follow(run, play, train, wanted, stop)
        finally:  # whatever happens, none of them goes on alone
            for one in (train, play):
                one.kill()
                one.wait()
    if failed:
        said = (run.folder / "log").read_text(errors="replace").splitlines()[-3:]
        raise RuntimeError("\n".join([f"{run.folder}: training ended", *said]))
    if cpu >= 60 * wanted[-1]:
        keep(run, wanted[-1])  # and the run's own, from which larger minutes go on
    run.cpu = cpu
    run.write(cpu)


def follow(
    run: Training,
    play: subprocess.Popen[bytes],
    train: subprocess.Popen[bytes],
    wanted: list[float],
    stop: threading.Event,
) -> tuple[float, bool]:
    """Keeps the checkpoints of the `wanted` minutes until the last one, or until `stop`; and ends
    the run. Its CPU seconds, and whether it had ended by itself."""
    pids = [play.pid, train.pid]
    written = cpu = 0.0
    while train.poll() is None and not stop.is_set() and wanted:
        time.sleep(POLL)
        cpu = run.cpu + cpu_seconds(pids)
        while len(wanted) > 1 and cpu >= 60 * wanted[0] and keep(run, wanted[0]):
            del wanted[0]
        if wanted and cpu >= 60 * wanted[-1] and checkpoints(run):  # the first may come later
            break
        if cpu - written > 5:
            run.write(written := cpu)
    if failed := train.poll() is not None:
        return cpu, failed
    train.terminate()  # it finishes its step and saves; SIGINT may be ignored here, and so there
    while train.poll() is None:
        cpu = run.cpu + cpu_seconds(pids)
        time.sleep(POLL / 10)
    play.wait()
    return cpu, failed


def start(
    run: Training, game: str, log: Any
) -> tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]]:
    """Both commands, in groups of their own: only we send them signals."""
    folder, bin_ = run.folder / "run", run.setting.checkout / "bin"
    resume = (folder / "checkpoints").exists()
    if not resume:
        shutil.rmtree(folder, ignore_errors=True)
        run.cpu = 0.0  # what was used before is in no weights
    play = subprocess.Popen(
        [bin_ / "selfplay", "--game", game, "--policy", folder, "--follow", "--seed", str(run.seed),
         "--first-game", str((run.starts - 1) * 10**9), *run.setting.selfplay],
        stdout=subprocess.PIPE, stderr=log, process_group=0,
    )  # fmt: skip
    train = subprocess.Popen(
        [bin_ / "train", "-", "--out", folder, "--seed", str(run.seed), "--save-every", "10",
         "--keep", "2", "--milestone", "1000000000", *run.setting.train,
         *(["--resume"] if resume else [])],
        stdin=play.stdout, stderr=log, process_group=0,
    )  # fmt: skip
    assert play.stdout
    play.stdout.close()
    return play, train


def checkpoints(run: Training) -> list[pathlib.Path]:
    """The oldest first."""
    return sorted((run.folder / "run" / "checkpoints").glob("*.safetensors"))


def keep(run: Training, minutes: float) -> bool:
    """Keeps the newest checkpoint as that of this time; whether there is one."""
    found = checkpoints(run)
    if not found:
        return False
    to = run.checkpoint(minutes)
    to.unlink(missing_ok=True)
    os.link(found[-1], to)
    run.marks.append(minutes)
    return True


# ---- measuring ----


def call(command: str, *words: object) -> str:
    """The output of a command of this checkout."""
    done = subprocess.run(
        [ROOT / "bin" / command, *map(str, words)], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command} {shlex.join(map(str, words))}: status {done.returncode}")
    return done.stdout


def player(run: Training, minutes: float, keys: str) -> tuple[str, str]:
    """The name and the PLAYER of a checkpoint."""
    name = f"{run.setting.name}-{run.seed}@{minutes:g}"
    return name, f"name={name},{keys}{run.checkpoint(minutes)}"


def play(folder: pathlib.Path, name: str, words: Sequence[object]) -> pathlib.Path:
    """A match whose record is `name`; one that is there already goes on, and may be complete."""
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / f"{name}.jsonl"
    call("match", *words, "-q", "-o", record, *(["--resume"] if record.exists() else []))
    return record


def games_of(plan: argparse.Namespace) -> tuple[pathlib.Path, Sequence[object]]:
    """The folder of the ratings' games, and what all of their matches have in common."""
    folder = plan.folder / ("games" + plan.keys.replace("=", "-").replace(",", "_"))
    return folder, ("-n", plan.games, "--game", plan.game, "--seed", 1)


def meet(plan: argparse.Namespace) -> dict[str, str]:
    """Lets the pool play. Its PLAYERs by their names in records; one that is a RUN is from now on
    the checkpoint that has played."""
    from stratkit.players.spec import split_options

    pool = list(dict.fromkeys(["random", *plan.pool]))
    if len(pool) == 1:
        return {"random": "random"}
    folder, common = games_of(plan)
    with open(play(folder, "pool", [*pool, *common])) as record:
        header = json.loads(record.readline())
    known = {}
    for one, spec in zip(header["players"], pool, strict=True):
        named = f"name={one['name']}," if "name" in split_options(spec)[0] else ""
        known[one["name"]] = f"{named}{one['spec']}" if one["sha256"] else spec
    return known


def rate(
    plan: argparse.Namespace, runs: Sequence[Training], pool: Mapping[str, str]
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Elo by name, of the pool, too; and the score of each checkpoint against each of the pool."""
    folder, common = games_of(plan)
    records = [folder / "pool.jsonl"] if len(pool) > 1 else []
    for run, minutes in itertools.product(runs, plan.minutes):
        name, spec = player(run, minutes, plan.keys)
        records.append(play(folder, name, [spec, *pool.values(), "--gauntlet", *common]))
    found = json.loads(call("rate", "--json", "--anchor", "random", "--prior", 1, *records))
    elo = {one["name"]: one["elo"] for one in found["players"]}
    scores: dict[str, dict[str, float]] = {name: {} for name in elo}
    for one in found["meetings"]:
        games = one["won"] + one["drawn"] + one["lost"]
        share = (one["won"] + one["drawn"] / 2) / games
        scores[one["first"]][one["second"]] = share
        scores[one["second"]][one["first"]] = 1 - share
    return elo, scores


def exploited(plan: argparse.Namespace, runs: Sequence[Training]) -> dict[str, float]:
    """NashConv by name."""
    named = [player(run, one, plan.keys) for run in runs for one in plan.minutes]
    found = json.loads(call("exploit", "--json", plan.game, *(spec for _, spec in named)))
    return {name: one["nash_conv"] for (name, _), one in zip(named, found["policies"], strict=True)}


def progress(run: Training, minutes: float, metrics: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Steps, states, and explained variance when this much CPU was used."""
    share = step_of(run.checkpoint(minutes))
    done = [one for one in metrics if one["step"] <= share]
    late = [one["explained"] for one in done[-len(done) // 10 :] if "explained" in one]
    return {
        "step": share,
        "states": sum(one["states"] for one in done),
        "explained": statistics.fmean(late) if late else math.nan,
    }


def step_of(checkpoint: pathlib.Path) -> int:
    """The step that a safetensors file's metadata names."""
    with open(checkpoint, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        metadata = json.loads(file.read(size))["__metadata__"]
    return int(json.loads(metadata["stratkit"])["step"])


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and half of its 95 % interval over seeds; NaN with one seed."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, math.nan
    quantile = QUANTILES[min(len(values) - 1, len(QUANTILES)) - 1]
    return mean, quantile * statistics.stdev(values) / math.sqrt(len(values))


# ---- telling ----


def report(plan: argparse.Namespace, runs: Sequence[Training], players: Mapping[str, str]) -> None:
    """Writes and prints the table, and draws the picture. `players`: the pool."""
    scores: dict[str, dict[str, float]] = {}
    if plan.measure == "elo":
        found, scores = rate(plan, runs, players)
        pool = {name: found[name] for name in players}
    else:
        found, pool = exploited(plan, runs), {}
    against = [name for name in pool if scores]
    unit = "Elo" if plan.measure == "elo" else "NashConv"
    titles = ["setting", "CPU minutes", "steps", "states", "explained", unit, "95 %", "by seed"]
    titles += [f"against {name}" for name in against]
    lines = [titles, ["---"] * len(titles)]
    curves: dict[str, list[tuple[float, float, float]]] = {}
    logs = {run.folder: list(read_metrics(run)) for run in runs}
    digits = 0 if plan.measure == "elo" else 4
    for setting, minutes in itertools.product(plan.settings, plan.minutes):
        its = [run for run in runs if run.setting.name == setting.name]
        names = [player(run, minutes, plan.keys)[0] for run in its]
        values = [found[name] for name in names]
        mean, half = interval(values)
        curves.setdefault(setting.name, []).append((minutes, mean, half))
        done = [progress(run, minutes, logs[run.folder]) for run in its]
        cells = [setting.name, f"{minutes:g}"]
        cells += [
            f"{statistics.fmean(one[what] for one in done):,.0f}" for what in ("step", "states")
        ]
        explained = statistics.fmean(one["explained"] for one in done)
        cells.append("" if math.isnan(explained) else f"{explained:.2f}")
        cells += [f"{mean:.{digits}f}", "" if math.isnan(half) else f"± {half:.{digits}f}"]
        cells.append(", ".join(f"{value:.{digits}f}" for value in values))
        for other in against:
            cells.append(f"{statistics.fmean(scores[name][other] for name in names):.1%}")
        lines.append(cells)
    for name in against:
        lines.append([name, "", "", "", "", f"{pool[name]:.{digits}f}", *[""] * (len(titles) - 6)])
    text = "".join("| " + " | ".join(line) + " |\n" for line in lines)
    (plan.folder / "table.md").write_text(text)
    print(text, end="")
    draw(plan, curves, pool, unit)


def read_metrics(run: Training) -> Iterator[dict[str, Any]]:
    for line in (run.folder / "run" / "metrics.jsonl").read_text().splitlines():
        yield json.loads(line)


def draw(
    plan: argparse.Namespace,
    curves: Mapping[str, Sequence[tuple[float, float, float]]],
    pool: Mapping[str, float],
    unit: str,
) -> None:
    from stratkit.pictures import new_figure, save

    figure = new_figure(8, 4.5)
    axes = figure.subplots()
    for name, points in curves.items():
        minutes, means, halves = (list(x) for x in zip(*points, strict=True))
        (line,) = axes.plot(minutes, means, "o-", markersize=4, label=name)
        if not any(map(math.isnan, halves)):
            low, high = (
                [m + sign * h for m, h in zip(means, halves, strict=True)] for sign in (-1, 1)
            )
            axes.fill_between(minutes, low, high, color=line.get_color(), alpha=0.2)
    for name, height in pool.items():
        axes.axhline(height, color="grey", linestyle="--", linewidth=1)
        axes.text(max(plan.minutes), height, name, ha="right", va="bottom")
    axes.set_xlabel("CPU minutes, self-play and learner")
    axes.set_ylabel(f"{unit} in {plan.game}")
    if plan.measure != "elo":
        axes.set_yscale("log")
    axes.legend()
    axes.grid(alpha=0.3)
    with open(plan.folder / "curve.png", "wb") as stream:
        save(figure, stream)


# ---- the command line ----


def setting_of(text: str) -> Setting:
    name, sep, words = text.partition("=")
    if not sep or not name or not set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-"):
        raise argparse.ArgumentTypeError(f"not NAME=OPTIONS, NAME of a-z, 0-9, . _ -: {text!r}")
    train, _, selfplay = words.partition("|")
    try:
        return Setting(name, shlex.split(train), shlex.split(selfplay), ROOT)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{str(error).lower()}: {text!r}") from None


def before_of(text: str) -> tuple[str, pathlib.Path]:
    name, sep, checkout = text.partition("=")
    if not sep:
        raise argparse.ArgumentTypeError(f"not NAME=CHECKOUT: {text!r}")
    if not (pathlib.Path(checkout) / "bin/train").is_file():
        raise argparse.ArgumentTypeError(f"no checkout with bin/train: {checkout!r}")
    return name, pathlib.Path(checkout).resolve()


def numbers_of(kind: type[float]) -> Any:
    def parse(text: str) -> list[float]:
        try:
            values = [kind(word) for word in text.split(",")]
        except ValueError:
            values = []
        finite = all(0 <= value < math.inf for value in values)  # NaN is not
        if not values or not finite or sorted(set(values)) != values:
            whole = "whole " * (kind is int)
            raise argparse.ArgumentTypeError(f"not ascending {whole}numbers: {text!r}")
        return values

    return parse


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("folder", type=pathlib.Path)
    add("--game", required=True)
    add("--minutes", type=numbers_of(float), required=True, help="CPU minutes: .5,1,2")
    add("--seeds", type=numbers_of(int), default=[1], help="1,2,3")
    add("--setting", type=setting_of, action="append", required=True, dest="settings",
        metavar="NAME=TRAIN [| SELFPLAY]", help="options of train, and of selfplay")  # fmt: skip
    add("--before", type=before_of, action="append", default=[], metavar="NAME=CHECKOUT",
        help="the setting of this name learns by the commands of another version")  # fmt: skip
    add("--measure", choices=("elo", "nashconv"), default="elo")
    add("--pool", action="append", default=[], metavar="PLAYER", help="beside random")
    add("--games", type=argument(whole(1)), default=200, help="of each two players (default: 200)")
    add("--keys", default="", help="of a checkpoint as a PLAYER, such as net=online")
    add("--jobs", type=argument(whole(1)), default=1, help="runs that learn at a time (default: 1)")
    plan = parser.parse_args(arguments)
    from stratkit.engine import Game
    from stratkit.errors import StratkitError

    try:
        Game(plan.game)
    except StratkitError as error:
        parser.error(str(error))
    plan.keys = plan.keys and plan.keys.rstrip(",") + ","
    others = dict(plan.before)
    plan.settings = [
        Setting(s.name, s.train, s.selfplay, others.pop(s.name, s.checkout)) for s in plan.settings
    ]
    if others or len({s.name for s in plan.settings}) < len(plan.settings):
        parser.error("--before names no setting, or two settings have one name")
    return plan


def check_same(plan: argparse.Namespace) -> dict[str, Any]:
    """A run goes on with the settings that it began with: those that are known now."""
    said = plan.folder / SETTINGS
    known = json.loads(said.read_text()) if said.exists() else {"game": plan.game, "settings": {}}
    now = {s.name: [*s.train, "|", *s.selfplay, str(s.checkout)] for s in plan.settings}
    wrong = [name for name in now if known["settings"].get(name, now[name]) != now[name]]
    if wrong or known["game"] != plan.game:
        raise SystemExit(f"learning.py: {plan.folder}: began with another game or {wrong or ''}")
    known["settings"].update(now)
    return known


def main(arguments: Sequence[str]) -> None:
    plan = parse(arguments)
    check_same(plan)  # before there is a folder
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(number, signal.default_int_handler)
    plan.folder.mkdir(parents=True, exist_ok=True)
    with lock(plan.folder / "lock"):  # two would learn in one run, and start it anew
        compare(plan, check_same(plan))


def compare(plan: argparse.Namespace, known: dict[str, Any]) -> None:
    """Learns what is not learned yet, measures, and reports."""
    pool = meet(plan) if plan.measure == "elo" else {}
    (plan.folder / SETTINGS).write_text(json.dumps(known, indent=1))  # now that the pool can play
    runs = [
        Training(setting, seed, plan.folder / f"{setting.name}-{seed}")
        for seed, setting in itertools.product(plan.seeds, plan.settings)
    ]
    stop = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(plan.jobs) as jobs:
        try:
            waiting = [jobs.submit(learn, run, plan.game, plan.minutes, stop) for run in runs]
            for one in concurrent.futures.as_completed(waiting):
                one.result()
        finally:
            stop.set()
    report(plan, runs, pool)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    from stratkit.errors import StratkitError

    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        raise SystemExit("learning.py: stopped; the same command goes on") from None
    except (OSError, RuntimeError, StratkitError) as error:
        raise SystemExit(f"learning.py: {error}") from None
