"""The lines that docs/logs.md offers for every night and beside a learner. They run as they stand
there, but with fewer games, on a smaller board, and less sleep; the crontab's with nothing but what
cron gives a command."""

from __future__ import annotations

import contextlib
import csv
import datetime
import hashlib
import json
import os
import pathlib
import re
import runpy
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from running import PATIENCE, ROOT, forked_commands
from storage.stored import save_network
from stratkit.engine import Game
from stratkit.players.registry import parse_player

GUIDE = (ROOT / "docs/logs.md").read_text()


def line(kind: str) -> str:
    """The only line of the block that is marked so."""
    (block,) = re.findall(rf"^```{kind}\n(.*?)^```$", GUIDE, re.M | re.S)
    (found,) = block.splitlines()
    return re.sub(r"\bbarrage\b", "mini", str(found))


def by_cron(script: str, home: pathlib.Path) -> subprocess.Popen[str]:
    """Starts it as cron does, see crontab(5)."""
    return subprocess.Popen(
        ["/bin/sh", "-c", script],
        cwd=home,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "SHELL": "/bin/sh", "LOGNAME": "somebody"},
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@contextlib.contextmanager
def running(script: str, home: pathlib.Path) -> Iterator[subprocess.Popen[str]]:
    """Runs the script until the block ends; then it and all that it started are ended."""
    process = subprocess.Popen(
        ["bash", "-c", script],
        cwd=home / "stratego",
        env={**os.environ, "PATH": f"{home / 'bin'}:{os.environ['PATH']}", "HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE)


def wait_for(what: str, ready: object, seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not ready():  # type: ignore[operator]
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A home in whose folder `stratego` a learner was at work, with an evaluator beside it."""
    home = tmp_path_factory.mktemp("home")
    folder = home / "stratego"
    folder.mkdir()
    forked_commands(home / "bin")
    checkout = home / "stratkit"  # as `make dev` leaves it
    shutil.copytree(ROOT / "bin", checkout / "bin")
    for name in ("stratkit", "examples"):
        (checkout / name).symlink_to(ROOT / name)
    (checkout / ".venv").symlink_to(sys.prefix)
    learner = (  # a slow one, which leaves the machine to the evaluator
        "nice selfplay --game mini --policy run --follow --max-ahead 16 --slots 16 --seed 1"
        " | while dd bs=64K count=1 status=none; do sleep 0.2; done"
        " | nice train - --out run --steps 100000 --batch 16 --seed 1 --net plain --save-every 1"
    )
    evaluator = line("sh evaluator").replace("sleep 600", "sleep 1").replace("-n 25", "-n 2")
    page = folder / "rating.html"

    def compared() -> bool:
        text = page.read_text() if page.exists() else ""
        return len(set(re.findall(r"run@\d+", text))) >= 2

    # In one session, so that being nice means something. Before there is a checkpoint the evaluator
    # fails, and tries again.
    with running(f"{learner} & {evaluator}", home):
        wait_for("two evaluations", compared)
    return home


def test_an_evaluator_beside_a_learner(home: pathlib.Path) -> None:
    text = (home / "stratego/rating.html").read_text()
    assert text.endswith("</html>\n") and "random" in text and "heuristic" in text
    assert "Ratings over steps" in text
    records = sorted((home / "stratego").glob("games-*.jsonl"))
    assert len(records) >= 2 and all(
        re.fullmatch(r"games-[\d-]{10}T\d{6}", r.stem) for r in records
    )
    heads = [json.loads(record.read_text().splitlines()[0])["players"] for record in records[:2]]
    first, second = ([player["name"] for player in head] for head in heads)
    assert first[1:] == ["random", "heuristic", "rusher", "miner-hunter"]
    assert set(second[1:]) - set(first)  # who has met nobody yet


def clear(folder: pathlib.Path) -> None:
    for path in [*folder.glob("games-*"), folder / "rating.html", folder / "nights.csv"]:
        path.unlink(missing_ok=True)


def test_the_line_of_the_crontab_twice_at_once(home: pathlib.Path) -> None:
    folder = home / "stratego"
    clear(folder)
    when, command = re.fullmatch(r"((?:\S+ ){5})(.*)", line("crontab")).groups()  # type: ignore[union-attr]
    assert when == "0 3 * * * "
    assert "%" not in command  # cron ends a command there
    script = command.replace("-n 200", "-n 6")
    both = [by_cron(script, home) for _ in range(2)]
    ends = [(*process.communicate(timeout=PATIENCE), process.returncode) for process in both]
    # The second may find the file in use, or wait, or come when the first is done. What is printed
    # is mailed: that the file is in use, and what rate has to warn of.
    for out, err, status in ends:
        assert out == "" and (status == 0 or (status == 1 and "in use by" in err)), err
        said = [line for line in err.splitlines() if not line.startswith("rate: ")]
        assert len(said) == status, err
    assert 0 in [status for _, _, status in ends]
    (path,) = folder.glob("games-*.jsonl")
    head, *games = map(json.loads, path.read_text().splitlines())
    names = [player["name"] for player in head["players"]]
    assert names[1:] == ["random", "heuristic", "rusher", "miner-hunter"]
    assert sorted(game["number"] for game in games) == list(range(24))
    page = (folder / "rating.html").read_text()
    assert page.endswith("</html>\n") and "24 games of mini" in page
    assert not list(folder.glob(".tmp.*")) and not list(folder.glob(".nights.*"))


def test_each_night_has_a_line_and_meets_the_night_before(home: pathlib.Path) -> None:
    folder, checkpoints = home / "stratego/nights", "run/checkpoints"
    old, new = sorted((home / "stratego" / checkpoints).glob("step-*.safetensors"))[-2:]
    (folder / checkpoints).mkdir(parents=True)
    one, two = (f"run@{int(path.stem.rpartition('-')[2])}" for path in (old, new))
    for night, checkpoint, expected in (
        (1, old, [one, "random", "heuristic"]),
        (2, new, [two, one, "rusher"]),
    ):
        shutil.copy(checkpoint, folder / checkpoints)
        words = [ROOT / "examples/nightly.py", "run", "mini", "-n", "4", "--opponents", "2"]
        path = f"{home / 'bin'}:{os.environ['PATH']}"
        subprocess.run(
            [sys.executable, *words], cwd=folder, env={**os.environ, "PATH": path}, check=True
        )
        [record] = folder.glob("games-20[2-9]*.jsonl")
        head = json.loads(record.read_text().splitlines()[0])
        assert [player["name"] for player in head["players"]] == expected
        record.rename(folder / f"games-2001-01-0{night}.jsonl")
    title, *nights = csv.reader((folder / "nights.csv").read_text().splitlines())
    assert title == ["date", "player", "elo", "low", "high", "scores"]
    assert [night[1] for night in nights] == [one, two] and nights[0][0] == "2001-01-01"
    assert all(int(low) <= int(elo) <= int(high) for _, _, elo, low, high, _ in nights)
    assert re.fullmatch(rf"{one} \d+\.\d%, rusher \d+\.\d%", nights[1][5])


def test_the_nearest_to_one_half_are_met() -> None:
    """Who is not known may be near; of whom as much is expected, the first."""
    chosen = runpy.run_path(str(ROOT / "examples/nightly.py"))["chosen"]
    pool = {name: name.upper() for name in ("far", "near", "below", "unknown", "as far")}
    elo = {"far": 900.0, "near": 520.0, "below": 410.0, "as far": 100.0}
    assert chosen(pool, elo, 500.0, 5) == ["UNKNOWN", "NEAR", "BELOW", "FAR", "AS FAR"]
    assert chosen(pool, elo, 500.0, 2) == ["UNKNOWN", "NEAR"]


def test_a_run_may_have_any_name(tmp_path: pathlib.Path) -> None:
    script = runpy.run_path(str(ROOT / "examples/nightly.py"))
    file = tmp_path / "lr=.1,b=2/checkpoints/step-00000007.safetensors"
    file.parent.mkdir(parents=True)
    file.touch()
    found = script["checkpoints"](tmp_path / "lr=.1,b=2")
    [(name, path)] = found.items()
    spec = parse_player(script["player"](name, path))
    assert (name, path) == ("lr=.1_b=2@7", file) and (spec.name, spec.spec) == (name, str(file))
    spec = parse_player(script["player"](name, path.relative_to(tmp_path)))
    assert spec.spec == f"./{file.relative_to(tmp_path)}"
    odd = file.parents[1].rename(tmp_path / "a\nb\x1b")
    [(name, path)] = script["checkpoints"](odd).items()
    assert name == "a_b_@7" and parse_player(script["player"](name, path)).name == name


def test_nothing_is_played_with_weights_that_earlier_nights_do_not_know(
    tmp_path: pathlib.Path,
) -> None:
    """Since games of both could not be rated together."""
    script = runpy.run_path(str(ROOT / "examples/nightly.py"))
    file, record = (
        tmp_path / "run/checkpoints/step-00000007.safetensors",
        tmp_path / "games-1.jsonl",
    )
    file.parent.mkdir(parents=True)
    file.write_bytes(b"weights")
    own = script["checkpoints"](tmp_path / "run")
    known = {"name": "run@7", "spec": str(file), "sha256": hashlib.sha256(b"weights").hexdigest()}
    other = {"name": "random", "spec": "random", "sha256": None}
    record.write_text(json.dumps({"players": [known, other]}) + "\n")
    script["check_same"](own, [str(record)])
    file.write_bytes(b"others")
    with pytest.raises(SystemExit) as caught:
        script["check_same"](own, [str(record)])
    said = f"nightly.py: {file}: other weights than run@7's in {record}: the RUN was learned anew: "
    assert str(caught.value) == f"{said}begin another folder, or move the old games away"


def test_what_a_learner_deletes_meanwhile_is_passed_over(tmp_path: pathlib.Path) -> None:
    """And what stays is read once, however many nights it was met in."""
    script = runpy.run_path(str(ROOT / "examples/nightly.py"))
    folder, asked = tmp_path / "run/checkpoints", list[str]()
    folder.mkdir(parents=True)
    for step in (6, 7):
        (folder / f"step-0000000{step}.safetensors").write_bytes(b"weights")
    (folder / "step-00000008.safetensors").symlink_to("nowhere")
    own = script["checkpoints"](tmp_path / "run")
    assert list(own) == ["run@7", "run@6"]
    own["run@6"].unlink()
    sha256 = hashlib.sha256(b"weights").hexdigest()
    head = json.dumps({"players": [{"name": name, "sha256": sha256} for name in own]})
    records = [tmp_path / f"games-{night}.jsonl" for night in (1, 2)]
    for record in records:
        record.write_text(head + "\n")
    true = script["checkpoint_hash"]

    def noted(path: pathlib.Path) -> str:
        asked.append(path.name)
        return str(true(path))

    script["check_same"].__globals__["checkpoint_hash"] = noted
    script["check_same"](own, list(map(str, records)))
    assert sorted(asked) == ["step-00000006.safetensors", "step-00000007.safetensors"]


def test_a_night_that_cannot_read_its_games(tmp_path: pathlib.Path) -> None:
    (tmp_path / "games-1.jsonl").mkdir()
    command = [sys.executable, ROOT / "examples/nightly.py", "run", "mini"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = "nightly.py: games-1.jsonl: Is a directory\n"
    assert (done.returncode, done.stderr) == (1, said)


@pytest.mark.parametrize(
    ("words", "status", "what"),
    [
        ((), 1, "run: no checkpoint yet"),
        (("--opponents", "-1"), 2, "argument --opponents: a whole number from 1 to 2147483647 is"),
        (("--late",), 2, "unrecognized arguments: --late"),
    ],
)
def test_a_night_that_cannot_be(
    words: tuple[str, ...], status: int, what: str, tmp_path: pathlib.Path
) -> None:
    """One line says why."""
    command = [sys.executable, ROOT / "examples/nightly.py", "run", "mini", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (status, 1)
    assert done.stderr.startswith(f"nightly.py: {what}")


def a_night(folder: pathlib.Path, game: str = "kuhn", script: str = "nightly.py") -> list[str]:
    """Plays it with an untrained network; the names in its record. `script` may be Slurm's job."""
    checkpoints = folder / "run/checkpoints"
    checkpoints.mkdir(parents=True)
    save_network(checkpoints / "step-00000007.safetensors", "mlp:8", Game(game))
    path = f"{forked_commands(folder / 'bin')}:{os.environ['PATH']}"
    (folder / "bin/sbatch").write_text('#!/bin/sh\necho "$@" >>submitted\n')
    (folder / "bin/sbatch").chmod(0o755)
    more = {"EXAMPLES": str(ROOT / "examples"), "PYTHON": sys.executable, "GAME": game}
    own = [sys.executable, ROOT / "examples/nightly.py", "run", game, "-n", "4"]
    done = subprocess.run(
        own if script == "nightly.py" else ["sh", ROOT / "examples" / script],
        cwd=folder,
        env={**os.environ, **more, "GAMES": "4", "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    [record] = folder.glob("games-20[2-9]*.jsonl")
    return [player["name"] for player in json.loads(record.read_text().splitlines()[0])["players"]]


def test_a_first_night_of_a_game_without_heuristic(tmp_path: pathlib.Path) -> None:
    assert a_night(tmp_path) == ["run@7", "random"]


def test_the_night_of_slurm(tmp_path: pathlib.Path) -> None:
    """With a command in place of sbatch, which writes down what is submitted: the next night."""
    job = "slurm/rating.sbatch"
    assert a_night(tmp_path, script=job) == ["run@7", "random"]
    script = ROOT / "examples" / job
    assert (tmp_path / "submitted").read_text() == f"--quiet --begin=03:00 {script}\n"
    assert "run@7" in (tmp_path / "rating.html").read_text()
    alone = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    refused = subprocess.run(["sh", script], cwd=tmp_path, env=alone, stderr=-1, text=True)
    assert refused.returncode and "EXAMPLES: the folder of nightly.py" in refused.stderr
    assert len((tmp_path / "submitted").read_text().splitlines()) == 1


def test_who_comes_with_stratkit_is_met(tmp_path: pathlib.Path) -> None:
    assert a_night(tmp_path, "liars_dice:2x5") == ["run@7", "random", "dice-v1"]


@pytest.mark.parametrize("left", ["", '{"stratkit":"ga'])
def test_a_record_without_a_header_is_none(left: str, tmp_path: pathlib.Path) -> None:
    """Such as nights leave that are killed as they begin."""
    for date in ("2001-01-01", datetime.date.today()):
        (tmp_path / f"games-{date}.jsonl").write_text(left)
    assert a_night(tmp_path) == ["run@7", "random"]
    assert len((tmp_path / "nights.csv").read_text().splitlines()) == 2
