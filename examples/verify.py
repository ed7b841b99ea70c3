"""Shows that the learner is right, in games where the truth is known: one seed of everything.

    python examples/verify.py FOLDER [SCALE [EXPERIMENT...]]

runs the real commands, found on the PATH, two experiments at a time, and prints what each came to
beside what it must come to; exit status 1 if one failed. Runs stay in FOLDER. SCALE shortens all
training and solving, and then nothing is required of it. An EXPERIMENT is a method of that name
below. `make verify` runs them all, in up to 45 minutes.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from stratkit.declared import number
from stratkit.script import Parser, argument

NANO = ("--lr", "5e-3", "--eta", "0.2", "--target-rate", "0.01", "--sizes", "200", "--repeats", "1")
NANO += ("--policy-c", "1", "--grad-norm", "0")
LAST = 5  # checkpoints whose mean counts: never the best one


@dataclass
class Claim:
    """Something measured, and what it may be at most; None: it is reported, and that is all."""

    what: str
    measured: float
    most: float | None = None

    def __str__(self) -> str:
        verdict = "" if self.most is None else f"at most {self.most:g}"
        if self.most is not None and not self.measured <= self.most:
            verdict += "   FAILED"
        return f"{self.what:<58} {self.measured:>9.5f}   {verdict}"


Claims = Iterator[Claim]


ALL = (  # the longest first
    "leduc",
    "nano",
    "kuhn_beta_3",
    "kuhn",
    "kuhn_off_policy",
    "kuhn_mmd",
    "liars_dice",
    "moves_nano",
    "exact_rnad",
    "solvers",
)


class Experiments:
    """All of them; each method is one, and yields its claims."""

    def __init__(self, folder: pathlib.Path, scale: float) -> None:
        self.folder, self.scale = folder, scale

    def solvers(self) -> Claims:
        bars = {"1x4": 0.001, "1x5": 0.0015, "1x6": 0.0025, "2x3": 0.0025}
        for size, most in bars.items():
            (solved,) = exploit(f"liars_dice:{size}", f"linear-cfr:{self.steps(1024)}")
            what = f"linear CFR, liars_dice:{size}: exploitability"
            yield self.claim(what, solved["exploitability"], most)
        for game, value in (("kuhn", -1 / 18), ("leduc", -0.0856)):
            (solved,) = exploit(game, f"cfr+:{self.steps(2000)}")
            what = f"CFR+, {game}: value's distance from the known one"
            yield self.claim(what, abs(solved["value"] - value), 1e-4)

    def exact_rnad(self) -> Claims:
        for game, steps, most in (("kuhn", 8000, 0.001), ("leduc", 12000, 0.10)):
            policy = f"rnad:{self.steps(steps)}"
            (solved,) = exploit(game, policy)
            what = f"{policy}, {game}, exact expectations: NashConv"
            yield self.claim(what, solved["nash_conv"], most)

    def leduc(self) -> Claims:
        options = ("--lr", "5e-3", "--eta", "0.5", "--sizes", "1000", "--repeats", "1")
        run = self.learn("leduc", "leduc", 13_000, 2048, 1, "--net", "mlp:64x64", *options)
        yield from self.nash_conv("leduc", run, target=0.35, average=0.30)

    def kuhn(self) -> Claims:
        run = self.learn("kuhn", "kuhn", 6_000, 1024, 1, "--net", "mlp:64x64")
        yield from self.nash_conv("kuhn", run, target=0.03, average=None)

    def kuhn_beta_3(self) -> Claims:
        run = self.learn(
            "kuhn-beta-3", "kuhn", 10_000, 1024, 1, "--net", "mlp:64x64", "--beta", "3"
        )
        yield from self.nash_conv("kuhn", run, target=0.01)

    def kuhn_off_policy(self) -> Claims:
        """Eight batches ahead of the learner."""
        run = self.learn("kuhn-off-policy", "kuhn", 6_000, 1024, 8, "--net", "mlp:64x64")
        lines = (run / "metrics.jsonl").read_text().splitlines()
        ages = [json.loads(line)["age_mean"] for line in lines]
        yield Claim("kuhn-off-policy: steps by which policies were old", sum(ages) / len(ages))
        yield from self.nash_conv("kuhn", run, target=0.03)

    def kuhn_mmd(self) -> Claims:
        """By MMD, in a third of the steps."""
        options = ("--algorithm", "mmd")
        run = self.learn("kuhn-mmd", "kuhn", 2_000, 1024, 1, *options)
        yield from self.nash_conv("kuhn", run, average=0.013)

    def liars_dice(self) -> Claims:
        game = "liars_dice:1x4"
        run = self.learn("liars-dice", game, 4_000, 1024, 1, "--net", "mlp:64x64")
        yield from self.nash_conv(game, run, target=None, average=None)

    def nano(self) -> Claims:
        """By the U-Net, with two actions a move."""
        run = self.learn("nano", "nano", 1_000, 128, 1, "--net", "tiny", *NANO)
        yield from self.nash_conv("nano", run, target=None)

    def moves_nano(self) -> Claims:
        """The same game by an MLP, with one action a move."""
        run = self.learn("moves-nano", "moves:nano", 1_000, 1024, 1, "--net", "mlp:64x64", *NANO)
        yield from self.nash_conv("moves:nano", run, target=None)

    # ---- how ----

    def steps(self, whole: int) -> int:
        return max(2, round(whole * self.scale))

    def claim(self, what: str, measured: float, most: float | None) -> Claim:
        """Nothing is required of what was shortened."""
        return Claim(what, measured, most if self.scale == 1 else None)

    def learn(
        self, name: str, game: str, steps: int, batch: int, ahead: int, *options: str
    ) -> pathlib.Path:
        """The closed loop, at most `ahead` batches ahead; returns the RUN."""
        run, steps = self.folder / name, self.steps(steps)
        play = ["selfplay", "--game", game, "--policy", run, "--follow", "--seed", "1", "-q"]
        play += ["--max-ahead", str(batch * ahead), "--slots", str(batch)]
        train = ["train", "-", "--out", run, "--seed", "1", "--steps", str(steps), "-q"]
        train += ["--batch", str(batch), "--save-every", str(max(1, steps // 24)), *options]
        with subprocess.Popen(play, stdout=subprocess.PIPE) as actor:
            subprocess.run(train, stdin=actor.stdout, check=True)
            assert actor.stdout is not None
            actor.stdout.close()
        return run

    def nash_conv(self, game: str, run: pathlib.Path, **most: float | None) -> Claims:
        """Of the networks that are named, with the most it may be."""
        checkpoints = sorted((run / "checkpoints").iterdir())[-LAST:]
        entries = exploit(game, *(f"net={net},{path}" for net in most for path in checkpoints))
        for place, net in enumerate(most):
            of_net = entries[place * len(checkpoints) :][: len(checkpoints)]
            mean = sum(entry["nash_conv"] for entry in of_net) / len(of_net)
            what = f"{run.name}, {net} network at step {of_net[-1]['step']:,}: NashConv"
            yield self.claim(what, mean, most[net])


def exploit(game: str, *policies: str) -> list[dict[str, float]]:
    """What the command says of each policy."""
    done = subprocess.run(
        ["exploit", game, "--json", "-q", *policies], capture_output=True, text=True, check=True
    )
    found: list[dict[str, float]] = json.loads(done.stdout)["policies"]
    return found


def timed(experiment: Callable[[], Claims]) -> list[Claim]:
    begun = time.monotonic()
    claims = list(experiment())
    for claim in claims:
        print(claim, flush=True)
    print(f"{experiment.__name__}: {(time.monotonic() - begun) / 60:.1f} minutes", file=sys.stderr)
    return claims


def main() -> int:
    parser = Parser(__doc__)
    parser.add_argument("folder", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument(
        "scale", metavar="SCALE", nargs="?", default=1, type=argument(number(above=0, most=1000))
    )
    parser.add_argument("experiments", metavar="EXPERIMENT", nargs="*", help=", ".join(ALL))
    asked = parser.parse_args()
    if unknown := set(asked.experiments).difference(ALL):
        parser.error(f"no such EXPERIMENT: {', '.join(sorted(unknown))}")
    asked.folder.mkdir(parents=True)
    them = Experiments(asked.folder, asked.scale)
    chosen = [getattr(them, name) for name in asked.experiments or ALL]
    with ThreadPoolExecutor(2) as pool:
        claims = [claim for found in pool.map(timed, chosen) for claim in found]
    failed = [claim for claim in claims if str(claim).endswith("FAILED")]
    print(f"{len(claims)} claims, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
