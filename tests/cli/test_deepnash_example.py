"""examples/deepnash: its settings are what the table says, and a small run learns by them."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

from running import PATIENCE, ROOT, forked_commands, forked_line, run
from stratkit.learn.config import AS_WRITTEN, RNaDConfig
from stratkit.learn.request import read_file, resolve
from stratkit.learn.rnad import EntropySchedule
from stratkit.notation.explored import HABITS
from stratkit.storage.checkpoints import list_checkpoints

PAPER, SMALL = (str(ROOT / "examples/deepnash" / name) for name in ("paper.toml", "small.toml"))
TABLE_3 = {
    "eta": 0.2, "lr": 5e-5, "grad_value": 10_000, "beta": 2.0, "clip": 10_000, "b1": 0.0,
    "b2": 0.999, "eps": 1e-8, "target_rate": 0.001, "rho": 1.0, "c": 1.0, "policy_c": 1.0,
    "ramp": 0.5, "mu_floor": 0.0, "threshold": 0.0, "weight_by": "trajectory",
    "as_written": AS_WRITTEN, "lr_power": 0.0, "warm_up": 0, "grad_norm": 0.0,
}  # fmt: skip

PLAN = ROOT / "examples/deepnash/plan.py"
LAUNCH = str(ROOT / "examples/deepnash/launch.sh")
DIES = {
    "selfplay": 'case "$*" in *--part\\ 2/2*) mkdir dead 2>/dev/null && kill -9 $$; esac',
    # The disk is full for the second learner: its system takes no file of more than so many blocks.
    "train": '[ "$RANK" = 0 ] && [ -e killed ] && mkdir full 2>/dev/null && ulimit -f 300; '
    '[ "$RANK" = 0 ] || [ -e run/checkpoints/step-00000004.safetensors ] || '
    "(until [ -e run/checkpoints/step-00000004.safetensors ]; do sleep .05; done; "
    "touch killed; kill -9 $$) &",
}


def test_table_3() -> None:
    given = read_file(PAPER)
    assert given.pop("algorithm") == "rnad" and given.pop("net") == "paper+eq6"
    settings = resolve("paper+eq6", {}, given, {})
    config = settings.hyper
    assert isinstance(config, RNaDConfig) and settings.run.batch == 768
    assert {name: getattr(config, name) for name in TABLE_3} == TABLE_3
    schedule = EntropySchedule(config.sizes, config.repeats, config.ramp)
    for m, size in ((0, 10_000), (100, 10_000), (101, 100_000), (165, 100_000), (166, 35_000)):
        first = 10_000 * min(m, 101) + 100_000 * max(0, m - 101)
        assert schedule.iteration(first) == (m, first, size)
    assert schedule.iteration(7_210_000)[2] == 100_000  # the run ends before those of 35k


def test_a_small_run_by_the_texts_equations(tmp_path: pathlib.Path) -> None:
    games, out = tmp_path / "games", tmp_path / "run"
    games.mkdir()
    assert run("selfplay", "--game", "kuhn", "-n", "60", "-o", games / "a.eps").status == 0
    words = ["--out", out, "--config", SMALL, "--batch", "20", "--net", "mlp:8", "--no-wait"]
    done = run("train", games, *words)
    assert done.status == 0, done.err
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3]


def test_a_game_that_the_papers_network_does_not_fit(tmp_path: pathlib.Path) -> None:
    """In one line. A network of the command line counts more than the file's."""
    refused = run("train", tmp_path, "--game", "kuhn", "--out", tmp_path / "x", "--config", PAPER)
    assert refused.status == 1 and refused.err.count("\n") == 1, refused.err
    assert "this network is for boards, and the observation of kuhn is none" in refused.err


@pytest.mark.parametrize(("paper", "setting"), [("alphaze", "actors"), ("deepnash", "sizes")])
def test_another_algorithm_than_the_papers(
    paper: str, setting: str, tmp_path: pathlib.Path
) -> None:
    config = ROOT / "examples" / paper / "paper.toml"
    words = ("--game", "barrage", "--out", tmp_path / "x", "--config", config)
    refused = run("train", tmp_path, *words, "--algorithm", "mmd")
    what = f"train: {config}: --{setting} is no setting of the algorithm mmd"
    assert (refused.status, refused.error_line) == (1, what) and not (tmp_path / "x").exists()


def test_the_launcher_starts_again_what_dies(tmp_path: pathlib.Path) -> None:
    """Two ranks of torchrun and two writers, of which one each is killed; then the disk is full.
    Every end has a line."""
    path = f"{forked_commands(tmp_path / 'bin')}:{pathlib.Path(sys.executable).parent}"
    for name, dies in DIES.items():
        line = f'#!/bin/sh\n{dies}\nexec {shlex.join(forked_line(name))} "$@"\n'
        (tmp_path / "bin" / name).write_text(line)
    done = subprocess.run(
        [LAUNCH, tmp_path / "all", "--steps", "16", "--save-every", "4"],
        env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}"},
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    writer, *learners = sorted(done.stderr.splitlines(), key=lambda line: "writer 2" not in line)
    assert writer == "launch.sh: writer 2 ended and begins again in 1 s: signal KILL"
    step = r"run/checkpoints/step-000000\d\d.safetensors"
    for line, why in zip(
        learners,
        (r"Signal 9 \(SIGKILL\) received by PID \d+", f"train: {step}: File too large"),
        strict=True,
    ):
        told = f"launch.sh: the learner ended and goes on from {step}: {why}"
        assert re.fullmatch(told, line), line
    assert list_checkpoints(tmp_path / "all/run")[-1][0] == 16
    assert not list((tmp_path / "all/run/checkpoints").glob(".tmp.*"))


FAILED = "E0101 00:00:00 1 api.py:1] failed (exitcode: 1) local_rank: 0\n"
KILLED = "Signal 15 (SIGTERM) received by PID 7\nSignal 9 (SIGKILL) received by PID 8\n"


@pytest.mark.parametrize(
    ("lines", "tries", "told"),
    [
        (KILLED, 3, "Signal 9 (SIGKILL) received by PID 8"),
        (f"train: no such file\ntrain: terminated\n{FAILED}", 1, "train: no such file"),
        (f"Traceback\nKeyError: 1\ntrain: terminated\n{FAILED}", 3, "status 1; see learner-0.log"),
        (f"train: a caution\nTraceback\nKeyError: 1\n{FAILED}", 3, "train: a caution"),
        (
            f"train: no such file\nW0101 closing signal\n{FAILED}Traceback\n",
            1,
            "train: no such file",
        ),
    ],
)
def test_a_launcher_tells_what_ended_a_rank_and_not_what_ended_the_others(
    lines: str, tries: int, told: str, tmp_path: pathlib.Path
) -> None:
    """In whatever order torchrun says it. This one fails at once, and three times is enough. What
    train refuses it is not asked again; a fault of its own, after words of caution, it is."""
    for name, does in (
        ("torchrun", f"printf '{lines}' >&2; exit 1"),
        ("selfplay", "exec sleep 60"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        [LAUNCH, tmp_path / "all"],
        env={**os.environ, "PATH": path, "RANKS": "1", "WRITERS": "1"},
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    *others, last = done.stderr.splitlines()
    assert (done.returncode, len(others)) == (1, tries - 1) and last.endswith(f": {told}")


def learned(
    folder: pathlib.Path, *words: object, games: str = "3"
) -> subprocess.CompletedProcess[str]:
    """examples/deepnash/learned.sh in this folder, three games at most."""
    commands = folder / "bin"
    path = f"{commands if commands.exists() else forked_commands(commands)}:{os.environ['PATH']}"
    return subprocess.run(
        [ROOT / "examples/deepnash/learned.sh", *map(str, words)],
        env={**os.environ, "PATH": path, "GAMES": games, "PLAY": "--max-actions 60"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_a_page_of_what_a_checkpoint_has_learned(tmp_path: pathlib.Path) -> None:
    """The counts are printed; what is wrong has one line, before the policy plays."""
    done = learned(tmp_path, "heuristic", "nano", "page.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert "strong chases met" in done.stdout and re.search("^games +3$", done.stdout, re.M)
    page = (tmp_path / "page.html").read_text()
    assert "<title>What has heuristic learned?</title>" in page and "all players: 3 games" in page
    for habit in HABITS:
        assert habit.title in page
    assert "Where the flag stands" in page and "share by the flag's square" in page
    for words, status, what in (
        (("heuristic", "nano", "page.html"), 1, "learned.sh: page.html: exists already"),
        (("heuristic", "nano", "no/page.html"), 1, "learned.sh: no/page.html: cannot be written"),
        (("nobody", "nano", "a.html"), 1, "selfplay: no built-in player"),
        (("heuristic", "nano"), 2, "usage: learned.sh POLICY GAME PAGE.html"),
        (("heuristic", "nano", "-"), 2, "learned.sh: PAGE is a file, not -"),
        (("nobody", "kuhn", "a.html"), 3, "fenfs: standard input: no games of Stratego: 'kuhn'"),
        (("temperature=.5,heuristic", "nano", "a.html"), 2, "selfplay: keys of a PLAYER go to"),
    ):
        refused = learned(tmp_path, *words)
        assert refused.returncode == status and refused.stderr.startswith(what), refused.stderr
        assert refused.stderr.count("\n") == 1 and not (tmp_path / "a.html").exists()
    refused = learned(tmp_path, "heuristic", "nano", "a.html", games="0")
    what = "learned.sh: GAMES is a whole number above 0: 0\n"
    assert (refused.returncode, refused.stderr, refused.stdout) == (2, what, "")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("SIZE=huge", "SIZE is small or paper: huge"),
        ("SIZE=paper GPUS=0", "no GPU was found: RANKS says how many ranks are to compute on CPUs"),
        ("GPUS=x", "GPUS is a whole number of at least 0: x"),
        ("GPUS=-1", "GPUS is a whole number of at least 0: -1"),
        ("RANKS=abc", "RANKS is a whole number of at least 1: abc"),
        ("RANKS=0", "RANKS is a whole number of at least 1: 0"),
        ("WRITERS=0", "WRITERS is a whole number of at least 1: 0"),
        ("WRITERS=08", "WRITERS is a whole number of at least 1: 08"),
        ("NODES=1.5", "NODES is a whole number of at least 1: 1.5"),
        ("NODE=99999999999999999999", "NODE is a whole number of at least 0: 99999999999999999999"),
        ("NODES=2 NODE=2 HOST=a:1", "NODE is below NODES, which is 2: 2"),
        ("NODES=2", "HOST is missing: name and free port of the first machine"),
        ("AHEAD=x", "AHEAD is a whole number of at least 1: x"),
    ],
)
def test_words_that_the_launcher_does_not_know(
    words: str, what: str, tmp_path: pathlib.Path
) -> None:
    """They are told before anything begins."""
    more = dict(word.split("=") for word in words.split())
    refused = subprocess.run(
        [LAUNCH, tmp_path / "x"],
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (refused.returncode, refused.stderr) == (2, f"launch.sh: {what}\n")
    assert not (tmp_path / "x").exists()


def test_words_that_selfplay_does_not_know_end_the_launcher(tmp_path: pathlib.Path) -> None:
    """They would be as wrong the next time. Each of both writers has them, and one says so."""
    path = f"{forked_commands(tmp_path / 'bin')}:{os.environ['PATH']}"
    (tmp_path / "bin/torchrun").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "bin/torchrun").chmod(0o755)
    done = subprocess.run(
        [LAUNCH, tmp_path / "all"],
        env={**os.environ, "PATH": path, "SELFPLAY": "--slots none"},
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("launch.sh: selfplay: --slots") and "none" in done.stderr


@pytest.mark.parametrize(
    ("words", "status", "what"),
    [
        ("--foo", 2, "no such option: --foo"),
        ("--net mlp:8x8", 1, "this network is for vectors, and the observation of nano is none"),
    ],
)
def test_words_that_train_refuses_end_the_launcher(
    words: str, status: int, what: str, tmp_path: pathlib.Path
) -> None:
    """In one line, with train's status, and not after three times."""
    path = f"{forked_commands(tmp_path / 'bin')}:{pathlib.Path(sys.executable).parent}"
    done = subprocess.run(
        [LAUNCH, tmp_path / "all", *words.split()],
        env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "WRITERS": "1"},
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == status and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"launch.sh: train: {what}")


def differences(folder: pathlib.Path, *words: str) -> subprocess.CompletedProcess[str]:
    """examples/deepnash/differences.sh in this folder, by the Python of the tests."""
    (folder / "bin").mkdir()
    (folder / "bin/python3").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    (folder / "bin/python3").chmod(0o755)
    return subprocess.run(
        [ROOT / "examples/deepnash/differences.sh", *words],
        env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "status", "what"),
    [
        ("kuhn .1", 2, "usage: differences.sh GAME MINUTES SEEDS [SETTING...]"),
        ("chess .1 1", 2, "learning.py: unknown game 'chess'"),
        ("kuhn x 1", 2, "learning.py: argument --minutes: not ascending numbers: 'x'"),
        ("kuhn .1 x rho", 2, "learning.py: argument --seeds: not ascending whole numbers: 'x'"),
        ("kuhn .1 1 default no", 2, "differences.sh: SETTING is default, rho, trajectory, policy,"),
    ],
)
def test_words_that_differences_does_not_know(
    words: str, status: int, what: str, tmp_path: pathlib.Path
) -> None:
    """One line, not one for each setting, and nothing is learned before it."""
    done = differences(tmp_path, *words.split())
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith(what) and done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


def test_differences_of_which_none_is_whole(tmp_path: pathlib.Path) -> None:
    """A file is where its RUN would be. It is named, and there is no table."""
    (tmp_path / "differences-kuhn/default-1").mkdir(parents=True)
    (tmp_path / "differences-kuhn/default-1/run").touch()
    done = differences(tmp_path, "kuhn", ".01", "1", "default")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == "differences.sh: default ended before its time"


def plan(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", PLAN, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_plan_is_what_the_command_computes() -> None:
    said = plan().stdout
    assert said == PLAN.with_suffix(".md").read_text()
    assert "| cost in dollars at 2.5 a GPU hour, assumed | " in said
    held = "| states of a step on a GPU | 20,507, memory not measured | 20,205 |"
    assert held in plan("--gpus", "67,68").stdout
    assert plan("--gpus", "1,0").stderr.endswith("as in 100,200 is needed, not '1,0'\n")


TABLE = """a card
| what | net | parameters | MFLOP each | each a second | share | peak GB | |
|---|---|---|---|---|---|---|---|
| learner, chunk 1024 | paper | 19,263,849 | 7,037 | 1,000 | 1% | 5.0 | |
| learner, chunk 4096 | paper | 19,263,849 | 7,037 | 1,373,952 | 1% | 5.0 | |
| learner, chunk 4096 | small | 1,109,241 | 388 | 9,999,999 | 1% | 5.0 | |
| self-play, 2048 games | paper | 19,263,849 | 1,311 | 686,976 | 1% | 5.0 | |
"""


def test_a_plan_by_a_table_of_rates(tmp_path: pathlib.Path) -> None:
    """768 games of 1,789 actions: a second to learn, two to play. Two GPUs halve it."""
    table = tmp_path / "gpu.md"
    table.write_text(TABLE)
    said = plan("--table", table, "--gpus", "1,2", "--price", 2).stdout.splitlines()
    rows = {row[0]: row[1:] for line in said if len(row := line.strip("| ").split(" | ")) > 1}
    assert rows["of these the learner"] == ["1", "0.5"]
    assert rows["self-play, on the same GPUs"] == ["2", "1"]
    assert rows["seconds a step"] == ["3.02", "1.52"]
    days = 7_210_000 * (3 + 1.8 / 100) / 86_400
    assert rows["**days**"][0] == f"**{days:,.0f}**"
    assert rows["cost in dollars at 2 a GPU hour"][0] == f"{48 * days:,.0f}"
    measured = "measured: bench/gpu.sh, learner, chunk 4096"
    assert rows["states a second and GPU, by the learner"] == ["1,373,952", measured]
    assert rows["games"] == ["5.54 thousand million"]
    refused = plan("--table", table, "--net", "tiny")
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1
    assert "no learner and self-play of tiny" in refused.stderr


RATE = "a number above 0, at most 1000000000000 is needed"
PRICE = "a number from 0 to 1000000000000 is needed"


@pytest.mark.parametrize(
    ("words", "status", "what"),
    [
        (("--price", "nan"), 2, f"argument --price: {PRICE}, not 'nan'"),
        (("--price", "-1"), 2, f"argument --price: {PRICE}, not '-1'"),
        (("--learn", "0"), 2, f"argument --learn: {RATE}, not '0'"),
        (("--play", "inf"), 2, f"argument --play: {RATE}, not 'inf'"),
        (("--rates", "old.toml"), 1, "old.toml: it lacks price"),
        (("--rates", "none.toml"), 1, "none.toml: not such as rates.toml"),
        (("--rates", "nowhere"), 1, "nowhere: No such file or directory"),
        (("--table", "nowhere"), 1, "nowhere: No such file or directory"),
        (("--table",), 2, "argument --table: expected one argument"),
        (("--card", "9"), 2, "unrecognized arguments: --card 9"),
    ],
)
def test_numbers_that_no_plan_has(
    words: tuple[str, str], status: int, what: str, tmp_path: pathlib.Path
) -> None:
    rates = PLAN.with_name("rates.toml").read_text()
    (tmp_path / "old.toml").write_text(re.sub(r"\[price\][^[]*", "", rates))
    (tmp_path / "none.toml").write_text(re.sub("value = 22_585", "value = 0", rates))
    command = [sys.executable, "-I", PLAN, *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (status, f"plan.py: {what}\n", "")


def test_a_price_of_0_is_one() -> None:
    said = plan("--price", 0).stdout
    assert "| cost in dollars at 0 a GPU hour | 0 | 0 | 0 |" in said
