"""What a user's commands cost in two revisions, by turns: CPU seconds, and how often as fast.

    python bench/by_turns.py [--rounds N] [--only WORDS] [BEFORE [NOW]]

BEFORE is a revision of this repository, NOW another one (default: this checkout as it is). A
revision is checked out into a temporary folder and its engine is built there. Every command has the
same seeds and the same networks, those of this checkout. Each round runs each command once in both,
one after the other, so that both meet the same load; what counts is the least of the rounds, user
and system seconds of the command's own process. Commands that play count by the ply, learners by
the state, since revisions may play other games. --only takes rows whose name has WORDS.
"""

from __future__ import annotations

import compileall
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

from stratkit.declared import whole
from stratkit.script import Parser, argument
from stratkit.storage.checkpoints import plain_content

ROOT = pathlib.Path(__file__).resolve().parents[1]
BEFORE = "3d7045f4"  # the last one without ONNX Runtime
NETWORKS = ROOT / "stratkit/models/trained"
SEARCH = "threshold=.1,quanta=8,search=mmd,rollouts=1024,depth=3,eta=30,belief=setups,time=600"
STEPS = 40  # of the learner that is followed
LEARN = ("--algorithm", "mmd", "--net", "fromto+deployment", "--batch", "32", "--lr-power", ".25")
PLAY = ("--slots", "64", "--max-ahead", "256", "--slice", "32")


class Cost(NamedTuple):
    """CPU seconds, and of how many units."""

    seconds: float
    units: float = 1


class Revision:
    """A checkout whose commands are run, in a folder of its own."""

    def __init__(self, name: str, root: pathlib.Path, folder: pathlib.Path) -> None:
        self.name, self.root, self.folder = name, root, folder
        folder.mkdir(exist_ok=True)
        compileall.compile_dir(root / "stratkit", quiet=1)  # as pip does, or the first start
        for network in NETWORKS.iterdir():
            (folder / network.stem).with_suffix(".safetensors").write_bytes(plain_content(network))

    def start(self, tool: str, *words: str, **settings: object) -> subprocess.Popen[bytes]:
        """Starts a command of this checkout."""
        code = f"from stratkit.cli.{tool} import main; main()"
        code = f"import sys; sys.path.insert(0, {os.fspath(self.root)!r}); {code}"
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **settings}
        return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
            [sys.executable, "-P", "-c", code, *words],
            cwd=self.folder,
            stderr=subprocess.DEVNULL,
            **streams,
        )

    def seconds(self, tool: str, *words: str) -> float:
        """CPU seconds of a command."""
        return waited(self.start(tool, *words))

    def match(self, *words: str) -> Cost:
        """A match of Barrage, by the ply."""
        file = self.folder / "games.jsonl"
        file.unlink(missing_ok=True)
        seconds = self.seconds(
            "match", *words, "--game", "barrage", "--seed", "1", "-q", "-o", file.name
        )
        plies = [json.loads(line)["plies"] for line in file.read_text().splitlines()[1:]]
        return Cost(seconds, sum(plies))

    def loop(self) -> tuple[Cost, Cost]:
        """Self-play and the learner that it follows, by the state learned."""
        run = tempfile.mkdtemp(dir=self.folder)
        words = ("--game", "barrage", "--policy", run, "--follow", *PLAY, "--seed", "1", "-q")
        actor = self.start("selfplay", *words, stdout=subprocess.PIPE)
        words = ("-", "--out", run, *LEARN, "--steps", str(STEPS), "--seed", "1", "-q")
        learner = self.start("train", *words, stdin=actor.stdout)
        assert actor.stdout
        actor.stdout.close()
        learned, played = waited(learner), waited(actor)
        lines = pathlib.Path(run, "metrics.jsonl").read_text().splitlines()
        states = sum(json.loads(line)["states"] for line in lines)
        return Cost(played, states), Cost(learned, states)


def waited(process: subprocess.Popen[bytes]) -> float:
    """CPU seconds of a process until its end. `SystemExit`: it failed."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"by_turns.py: status {process.returncode}: {process.args}")
    return used.ru_utime + used.ru_stime


def loop_row(which: int) -> Callable[[Revision], Cost]:
    """One side of `Revision.loop`."""
    return lambda revision: revision.loop()[which]


def human(revision: Revision) -> Cost:
    """Up to the first question, where stdin ends."""
    (revision.folder / "person.jsonl").unlink(missing_ok=True)
    words = ("human", "barrage.safetensors", "--game", "barrage", "-n", "2", "-o", "person.jsonl")
    process = revision.start("match", *words)
    _, _, used = os.wait4(process.pid, 0)  # whose end is that of a person who leaves
    process.returncode = 0
    return Cost(used.ru_utime + used.ru_stime)


def analysis(revision: Revision) -> Cost:
    """A page of a game with a network's opinions."""
    games = revision.folder / "analysed.jsonl"
    if not games.exists():
        words = ("heuristic", "random", "--game", "barrage", "-n", "2", "--seed", "1")
        revision.seconds("match", *words, "-q", "-o", games.name)
    words = ("replay", "--game", "1", "--explain", "barrage.safetensors", games.name)
    return Cost(revision.seconds("fenfs", *words, "-f", "-o", "page.html"))


def selfplay(revision: Revision) -> Cost:
    """By a fixed policy."""
    words = ("--game", "barrage", "--policy", "barrage.safetensors", "-n", "60", "--seed", "1")
    return Cost(revision.seconds("selfplay", *words, "-q", "-f", "-o", "games.eps"))


RAW = ("name=A,barrage.safetensors", "name=B,barrage-easy.safetensors")
ROWS: dict[str, Callable[[Revision], Cost]] = {
    "`match --help`": lambda its: Cost(its.seconds("match", "--help")),
    "`train --help`": lambda its: Cost(its.seconds("train", "--help")),
    "`match human` up to the first question": human,
    "raw decisions, one game at a time, a ply": lambda its: its.match(
        *RAW, "-n", "10", "--slots", "1"
    ),
    "match of `preset=fast`, 60 games, a ply": lambda its: its.match(
        *(text.replace(",", ",preset=fast,") for text in RAW), "-n", "60"
    ),
    "decisions like `preset=strong`'s, 1,024 rollouts, a ply": lambda its: its.match(
        *(text.replace(",", f",{SEARCH},") for text in RAW),
        *("-n", "2", "--slots", "1", "--max-plies", "20"),
    ),
    "self-play by a fixed policy, 60 games": selfplay,
    "self-play that follows, a state": loop_row(0),
    "learner, a state": loop_row(1),
    "analysis of a game": analysis,
}


@contextlib.contextmanager
def checked_out(revision: str, folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """A worktree of the revision, with its engine."""
    root = folder / f"source-{revision}"
    git = ("git", "-C", os.fspath(ROOT), "worktree")
    subprocess.run([*git, "add", "-q", "--detach", root, revision], check=True)
    try:
        build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
        subprocess.run(build, cwd=root, check=True, stdout=subprocess.DEVNULL)
        yield root
    finally:
        subprocess.run([*git, "remove", "--force", root], check=True)


def table(revisions: list[Revision], rounds: int, only: str) -> Iterator[str]:
    """A row for each command, in Markdown."""
    yield f"| | {' | '.join(one.name for one in revisions)} | ratio | rounds |"
    yield "|---|---|---|---|---|"
    for name, row in ROWS.items():
        if only not in name:
            continue
        costs = [[row(one) for one in revisions] for _ in range(rounds)]
        each = [[cost.seconds / cost.units for cost in turn] for turn in costs]
        least = [min(turn[i] for turn in each) for i in range(len(revisions))]
        ratios = ", ".join(f"{before / now:.2f}" for before, now in each)
        figures = " | ".join(shown(seconds) for seconds in least)
        yield f"| {name} | {figures} | **{least[0] / least[1]:.2f}** | {ratios} |"


def shown(seconds: float) -> str:
    """A time in a unit that suits it."""
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def main(before: str, now: str | None, rounds: int, only: str) -> None:
    with tempfile.TemporaryDirectory() as text, contextlib.ExitStack() as stack:
        folder, revisions = pathlib.Path(text), []
        for name, revision in (("before", before), ("now", now)):
            root = stack.enter_context(checked_out(revision, folder)) if revision else ROOT
            revisions.append(Revision(revision or name, root, folder / name))
        print(f"load {os.getloadavg()[0]:.1f}")
        for line in table(revisions, rounds, only):
            print(line, flush=True)


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("before", metavar="BEFORE", nargs="?", default=BEFORE)
    parser.add_argument("now", metavar="NOW", nargs="?")
    parser.add_argument("--rounds", metavar="N", default=3, type=argument(whole(1)))
    parser.add_argument("--only", metavar="WORDS", default="")
    main(**vars(parser.parse_args()))
