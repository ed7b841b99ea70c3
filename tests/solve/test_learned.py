"""exploit --learn: approximate best responses, by real learners and matches."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time
from typing import Any

import numpy as np
import pytest

from running import PATIENCE, ROOT, Done, command_line, forked_line, here, run
from solve.test_exploit import save_run
from stratkit.cli.options import read_player
from stratkit.cli.progress import ProgressLine
from stratkit.engine import Game
from stratkit.solve.curve import FORMAT, VERSION, LearnedReport, Mark, Measurement
from stratkit.solve.exploiters import ABOUT, ExploiterSetup, open_exploiters
from stratkit.solve.learned import _exact
from stratkit.solve.options import ExploitOptions, LearnOptions
from stratkit.storage.checkpoints import (
    checkpoint_path,
    list_checkpoints,
    load_checkpoint,
    read_metadata,
)
from stratkit.ucc.child import Child

EXACT = 0.45833333  # of uniform in Kuhn poker
STEPS, GAMES = 100, 4000
LEARN = ("kuhn", "uniform", "--learn", STEPS, "--seeds", 2, "--jobs", 2, "-n", GAMES)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, dict[str, Any]]:
    """A folder of two exploiters, and what was said of them."""
    folder = tmp_path_factory.mktemp("learned") / "exploiters"
    done = run("exploit", *LEARN, "--out", folder, "--json")
    assert done.status == 0, done.err
    return folder, json.loads(done.out)


Learned = tuple[pathlib.Path, dict[str, Any]]


@pytest.mark.parametrize(
    ("game", "exact"), [("kuhn", EXACT), ("liars_dice:2x5", 0.890598), ("dark_hex:4", None)]
)
def test_games_that_are_judged_exactly_have_the_exact_number(
    game: str, exact: float | None
) -> None:
    options = ExploitOptions(game=game, policies=("uniform",), open=None)
    found = _exact("random", Game(game), options, ProgressLine)
    assert found == (exact and pytest.approx(exact, abs=1e-6))


# --- what is learned ------------------------------------------------------------------------------


def test_it_comes_near_the_exact_best_response_and_not_above(learned: Learned) -> None:
    report = learned[1]
    assert report["exact_exploitability"] == EXACT
    (mark,) = report["marks"]
    assert mark["step"] == STEPS and [one["seed"] for one in mark["exploiters"]] == [1, 2]
    for one in (*mark["exploiters"], mark["best"]):
        assert one["games"] == GAMES
        assert one["value"] == pytest.approx(sum(one["by_seat"]) / 2, abs=1e-7)
        assert one["value"] - 2 * (one["value"] - one["low"]) < EXACT  # four standard errors
        assert one["low"] < one["value"] < one["high"]
        assert one["value"] > 0.75 * EXACT
    assert report["nash_conv_at_least"] == pytest.approx(2 * mark["best"]["low"], abs=1e-7)


def test_the_golden_sample_and_its_page(learned: Learned) -> None:
    golden = json.loads((ROOT / "formats/samples/exploiters.json").read_text())
    (mark,) = golden["marks"]
    kinds = []
    for told in (learned[1], golden):
        (its,) = told["marks"]
        objects = (told, its, *its["exploiters"], its["best"])
        kinds.append([{key: type(value) for key, value in one.items()} for one in objects])
    assert kinds[0] == kinds[1]
    page = (ROOT / "formats/exploiters.md").read_text().split("The folder has")[0]
    described = re.findall(r"^\| ([\w, ]+) \|", page.replace("| field |", ""), re.M)
    assert ", ".join(described).split(", ") == [*golden, *mark["exploiters"][0]]


def test_fresh_games_measure_the_best(learned: Learned) -> None:
    folder, report = learned
    (mark,) = report["marks"]
    best = max(mark["exploiters"], key=lambda one: one["value"])
    assert (mark["best"]["seed"], mark["best"]["step"]) == (best["seed"], STEPS)
    assert mark["best"]["fresh"] and not best["fresh"]
    records = sorted(folder.glob("*.jsonl"))
    seeds = [json.loads(path.read_text().splitlines()[0]).get("seed") for path in records]
    matches = [seed for seed in seeds if seed is not None and seed >= 2**40]
    assert len(set(matches)) == len(matches) == 3


def test_nothing_is_learned_or_played_twice(learned: Learned) -> None:
    folder, report = learned
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    again = run("exploit", *LEARN, "--out", folder, "-q", "--plot", folder.parent / "curve.png")
    assert again.status == 0, again.err
    assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    head, _, names, *rows, _, bound, exact, minutes = again.out.splitlines()
    assert head == "kuhn: learned best responses to uniform; 95 % intervals"
    assert names.split()[:7] == ["steps", "exploiter", "games", "score", "value", "low", "high"]
    assert [row.split()[1] for row in rows] == ["seed", "seed", "best:"]
    found = re.fullmatch(r"exploitability is at least (.*), NashConv (.*) \(97.5 %\)", bound)
    low, conv = map(float, found.groups()) if found else (0, 0)
    assert (2 * low, conv) == pytest.approx([report["nash_conv_at_least"]] * 2, abs=1.1e-4)
    assert exact.startswith("exactly it is 0.458333; the best exploiter won ")
    assert minutes == f"{report['cpu_seconds'] / 60:.1f} CPU minutes in all"
    assert (folder.parent / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_exploiters_are_players_and_runs(learned: Learned) -> None:
    folder, report = learned
    record, picture = folder.parent / "m.jsonl", folder.parent / "metrics.png"
    words = (folder / "seed-1", report["marks"][0]["best"]["player"])
    done = run("match", *words, "-n", 2, "--game", "kuhn", "-o", record, "-q", "--seed", 1)
    assert done.status == 0, done.err
    done = run("curves", folder / "seed-1", folder / "seed-2", "-o", picture)
    assert (done.status, picture.read_bytes()[:4]) == (0, b"\x89PNG"), done.err


def test_cpu_seconds_are_those_of_all_commands(learned: Learned) -> None:
    folder, report = learned
    lines = [json.loads(line) for line in (folder / "cpu.jsonl").read_text().splitlines()]
    assert sorted(line["what"] for line in lines) == ["learn"] * 2 + ["match"] * 3
    total = sum(line["seconds"] for line in lines)
    assert report["cpu_seconds"] == pytest.approx(total, abs=0.01)
    learning = [one["cpu_seconds"] for one in report["marks"][0]["exploiters"]]
    (waits,) = [json.loads((folder / "seed-1/metrics.jsonl").read_text().splitlines()[-1])]
    assert min(learning) > 0 and sum(learning) < total and waits["step"] == STEPS


def test_a_commands_seconds_are_its_own() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = Child("curves", "--version")
    assert child.poll(block=True) == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert child.seconds == pytest.approx(used, abs=1e-4) and used > 0.01  # Python's start
    child.close()


# --- a stop in the middle -------------------------------------------------------------------------


def with_word(word: str) -> list[int]:
    """Processes of which an argument has this word in it."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def until(holds: Any, what: str) -> None:
    begin = time.monotonic()
    while not holds():
        assert time.monotonic() < begin + PATIENCE, what
        time.sleep(0.1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_stop_leaves_no_process_and_the_same_command_goes_on(
    number: int, tmp_path: pathlib.Path
) -> None:
    folder, seeds = tmp_path / "exploiters", [1, 2] if number == signal.SIGTERM else [1]
    words = ("kuhn", "uniform", "--out", folder, "-n", 2, "--seeds", len(seeds))
    metrics = [folder / f"seed-{seed}/metrics.jsonl" for seed in seeds]
    line = command_line if number == signal.SIGKILL else forked_line
    asked = line("exploit", *words, "--learn", 100_000, "--jobs", 2)
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until(lambda: all(path.exists() and path.stat().st_size for path in metrics), "no step")
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE)
    said = {signal.SIGTERM: b"terminated", signal.SIGINT: b"interrupted"}.get(number)  # type: ignore[call-overload]
    assert err == (b"exploit: %s\n" % said if said else b"")
    assert process.returncode == {signal.SIGTERM: 143, signal.SIGINT: 130}.get(number, -9)  # type: ignore[call-overload]
    if number != signal.SIGKILL:
        assert with_word(str(folder)) == []
    until(lambda: not with_word(str(folder)), "a process is left")
    steps = {path: len(path.read_text().splitlines()) for path in metrics}
    for path, step in steps.items():  # all of it was saved
        assert list_checkpoints(path.parent)[-1][0] == step > 0
    more = max(steps.values()) + 1
    done = run("exploit", *words, "--learn", more, "--json")
    assert done.status == 0, done.err
    mark = json.loads(done.out)["marks"][-1]
    assert [one["step"] for one in mark["exploiters"]] == [more] * len(seeds)
    for path in metrics:
        lines = [json.loads(line)["step"] for line in path.read_text().splitlines()]
        assert lines == list(range(1, more + 1))


# --- who is met, and with what one begins ---------------------------------------------------------


def test_the_player_stays_as_it_was_and_its_weights_begin(tmp_path: pathlib.Path) -> None:
    save_run(tmp_path / "run", 5, game="nano")
    (tmp_path / "fast.toml").write_text('batch = 2\nwarm-up = 0\nlr = 0.1\n"save-every" = 1\n')
    words = ("nano", "threshold=.01,run", "--learn", 2, "--out", "out", "-n", 2)
    more = ("--only", "deployment", "--config", "fast.toml")
    assert run("exploit", *words, *more, cwd=tmp_path).status == 0
    frozen, _ = load_checkpoint(tmp_path / "out/frozen.safetensors")
    original, _ = load_checkpoint(list_checkpoints(tmp_path / "run")[-1][1])
    assert all(np.array_equal(frozen[name], original[name]) for name in original)
    after, metadata = load_checkpoint(tmp_path / "out/seed-1-step-2.safetensors")
    assert (metadata["net"], metadata["config"]["learn"]) == ("plain+deployment", "deployment")
    assert (metadata["config"]["batch"], metadata["config"]["eta"]) == (2, 0.001)
    for name, tensor in original.items():
        if name.startswith("target/"):  # which plays
            inner = name.removeprefix("target/")
            assert np.array_equal(after[f"online/play.{inner}"], tensor)
    before, _ = load_checkpoint(list_checkpoints(tmp_path / "out/seed-1")[-2][1])
    moved = {
        name.split("/")[1].split(".")[0]
        for name, tensor in after.items()
        if name.startswith("online/") and not np.array_equal(tensor, before[name])
    }
    assert moved == {"deployment"}
    # The run learns on, or goes: what was frozen is met, and another PLAYER is refused.
    (tmp_path / "run").rename(tmp_path / "gone")
    assert run("exploit", *words, *more, cwd=tmp_path).status == 0
    done = run("exploit", "nano", "heuristic", *words[2:], *more, "--weights", "gone", cwd=tmp_path)
    wanted = 'exploit: out: other exploiters: player is "threshold=.01,run" there, and "heuristic"'
    assert (done.status, done.error_line) == (1, f"{wanted} now")


def test_settings_of_train_choose_the_learner_and_rules_hold(tmp_path: pathlib.Path) -> None:
    (tmp_path / "ppo.toml").write_text('algorithm = "ppo"\nbatch = 4\nnet = "plain:8x1"\n')
    words = ("nano", "random", "--learn", 1, "--out", "out", "-n", 2, "--weights", "none")
    done = run("exploit", *words, "--config", "ppo.toml", "--open", "flag", "-q", cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    metadata = read_metadata(tmp_path / "out/seed-1-step-1.safetensors")
    assert (metadata["algorithm"], metadata["net"], metadata["batch"]) == ("ppo", "plain:8x1", 4)
    header = json.loads((tmp_path / "out/seed-1-step-1.jsonl").read_text().splitlines()[0])
    assert metadata["rules"]["open"] == header["rules"]["open"] == 1


def test_exploiters_have_their_own_schedule_where_the_game_has_another(
    tmp_path: pathlib.Path,
) -> None:
    """Dark Hex counts decisions. Folders keep nothing of it, so that older ones go on."""
    words = ("dark_hex:2", "random", "--learn", 1, "--out", "out", "-n", 2, "--seeds", "3,")
    done = run("exploit", *words, "-q", cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert not (tmp_path / "out/seed-1").exists()
    config = read_metadata(tmp_path / "out/seed-3-step-1.safetensors")["config"]
    assert (config["anneal_by"], config["anneal_after"], config["batch"]) == ("steps", 100, 256)
    assert "anneal_by" not in json.loads((tmp_path / "out" / ABOUT).read_text())["settings"]


# --- what is refused ------------------------------------------------------------------------------

REFUSED = {
    "kuhn uniform --learn 0 --out y": "--learn must be a whole number from 1 to 2147483647: '0'",
    "kuhn uniform --learn 5": "--learn needs --out FOLDER, where exploiters are kept",
    "kuhn uniform random --learn 5 --out y": "--learn takes one PLAYER: 'random'",
    "kuhn uniform --seeds 3": "--seeds goes with --learn STEPS",
    "kuhn uniform -n 4": "--games goes with --learn STEPS",
    "kuhn human --learn 5 --out y": "--learn takes a frozen player of self-play, and people are "
    "none: 'human'",
    "kuhn ucc:bot --learn 5 --out y": "--learn takes a frozen player of self-play, and programs "
    "are none: 'ucc:bot'",
    "leduc heuristic --learn 5 --out y": "heuristic does not play leduc: 'heuristic'",
    "kuhn cfr:10 --learn 5 --out y": "--learn takes a PLAYER, and a solver is none: 'cfr:10'",
    "kuhn uniform --learn 5 --out y --weights own": "--weights own: the player has no network "
    "that plays: 'uniform'",
    "nano heuristic --learn 5 --out y --only deployment": "--only deployment needs weights that "
    "play: --weights FILE",
    "nano heuristic --learn 5 --out y --only deployment --weights none": "--only deployment needs "
    "weights that play, not --weights none",
    "kuhn uniform --learn 5 --out y --weights nofile": "nofile: no such file or folder",
    "kuhn nofile --learn 5 --out y": "nofile: no such file or folder",
    "kuhn run --learn 5 --out y": "run: plays nano, not kuhn",
    "kuhn uniform --learn 5 --out run": "run: holds files already, and no exploiters: another "
    "--out begins some",
    "kuhn uniform --learn 5 --out y --config belief.toml": "belief.toml: no algorithm that learns "
    "to play: 'belief'",
    "kuhn uniform --learn 5 --out y --config seed.toml": "seed.toml: exploiters have those of "
    "--seeds, not seed",
}
# What learners make something of, given or not; and a value of every other option, its default
# where it has one.
OF_BOTH = {"game", "policies", "threads", "memory", "open", "as_json", "plot", "force"}
OF_EXACT = {
    "repeats": "8",
    "estimator": "average",
    "table": "y.table",
    "local": "",
    "pairs": "",
    "write_response": "y.response",
}
SEEDS = "a number from 1 to 1000, or different seeds, as in 3,5 or 3,"


@pytest.mark.parametrize("seeds", ["0", "1001", "3,3", ",", ",3", "3,,", "3,5,", "-1", "x"])
def test_seeds_are_a_number_or_differ(seeds: str) -> None:
    done = here("exploit", "kuhn", "uniform", "--learn", 5, "--out", "y", "--seeds", seeds)
    assert (done.status, done.error_line) == (2, f"exploit: --seeds must be {SEEDS}: '{seeds}'")


def test_what_makes_no_sense_is_one_line_and_leaves_nothing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_run(tmp_path / "run", 1)
    (tmp_path / "belief.toml").write_text('algorithm = "belief"\n')
    (tmp_path / "seed.toml").write_text("seed = 3\n")
    before = sorted(os.listdir())
    for words, said in REFUSED.items():
        done: Done = here("exploit", *words.split())
        assert (done.error_line, done.out) == (f"exploit: {said}", ""), words
        assert sorted(os.listdir()) == before and done.status in (1, 2)


def test_options_of_exact_values_do_not_go_with_learners(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {field.name for field in dataclasses.fields(ExploitOptions)}
    assert names == OF_BOTH | OF_EXACT.keys()
    for field, value in OF_EXACT.items():
        option = f"--{field.replace('_', '-')}"
        words = ("kuhn", "uniform", "--learn", 5, "--out", "y", option, *value.split())
        done = here("exploit", *words)
        what = f"exploit: {option} is for exact values, not for --learn"
        assert (done.status, done.error_line, os.listdir()) == (2, what, [])


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({}, "not the description of exploiters"),
        ({"stratkit": FORMAT, "version": VERSION, "player": "uniform"}, "other exploiters"),
    ],
)
def test_a_refused_folder_stays_as_it_is(
    tmp_path: pathlib.Path, about: dict[str, object], said: str
) -> None:
    for file in ("seed-notes/mine.txt", "seed-1/policy.safetensors"):
        (tmp_path / file).parent.mkdir()
        (tmp_path / file).write_text("not of these")
    (tmp_path / ABOUT).write_text(json.dumps(about))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    done = here("exploit", "kuhn", "random", "--learn", 5, "--out", tmp_path)
    assert done.status == 1 and said in done.error_line
    assert {path: path.read_bytes() for path in before} == before


def test_of_exploiters_that_learned_nothing_only_their_own_files_go(tmp_path: pathlib.Path) -> None:
    setup = ExploiterSetup("kuhn", {}, "heuristic", "none", None, 10, {})
    spec = read_player("heuristic")
    for foreign in ("seed-notes/metrics.jsonl", "seed-2/mine.txt", ""):
        with open_exploiters(os.fspath(tmp_path / "y"), Game("kuhn"), spec, setup, None):
            first = checkpoint_path(tmp_path / "y/seed-2", 0)
            for file in (first, tmp_path / "y/seed-2/metrics.jsonl", tmp_path / "y" / foreign):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch()
        assert [os.fspath(p.relative_to(tmp_path / "y")) for p in tmp_path.rglob("*.*")] == (
            [foreign] if foreign else []
        )
        shutil.rmtree(tmp_path / "y", ignore_errors=not foreign)


def test_a_command_that_fails_says_why_and_leaves_nothing(tmp_path: pathlib.Path) -> None:
    (tmp_path / "board.toml").write_text('net = "fromto"\n')
    words = ("kuhn", "uniform", "--learn", 5, "--out", "y", "--seeds", 2, "--config", "board.toml")
    done = run("exploit", *words, cwd=tmp_path)
    wanted = "exploit: seed 1 cannot learn: train: this network is for boards"
    assert done.status == 1 and done.error_line.startswith(wanted)
    assert os.listdir(tmp_path) == ["board.toml"]


def test_a_match_goes_on_where_it_was_stopped(learned: Learned) -> None:
    folder, report = learned
    record = folder / "seed-2-step-100.jsonl"
    whole = record.read_bytes()
    lines = whole.splitlines(keepends=True)
    record.write_bytes(b"".join(lines[:3001]) + lines[3001][:20])
    other = folder / "seed-1-step-100.jsonl"
    games = sorted(other.read_bytes().splitlines())
    other.write_bytes(other.read_bytes()[:20])  # of the first line
    done = run("exploit", *LEARN, "--out", folder, "--json")
    assert done.status == 0, done.err
    assert record.read_bytes().splitlines(keepends=True)[:3001] == lines[:3001]
    assert sorted(record.read_bytes().splitlines()) == sorted(whole.splitlines())
    assert sorted(other.read_bytes().splitlines()) == games
    assert json.loads(done.out)["marks"] == report["marks"]


def test_a_picture_that_is_there_is_told_of_before_anything_is_learned(
    tmp_path: pathlib.Path,
) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "x.png").write_bytes(b"there")
    words = ("kuhn", "uniform", "--learn", 1, "--out", "y", "--plot", "x.png")
    done = run("exploit", *words, cwd=tmp_path)
    assert done.status == 1 and "x.png: exists already" in done.error_line
    assert os.listdir(tmp_path) == ["x.png"]


def test_less_is_not_learned_again(learned: Learned) -> None:
    folder = learned[0]
    done = run("exploit", *LEARN[:3], STEPS - 1, *LEARN[4:], "--out", folder)
    what = f"has {STEPS} steps already: --learn takes as many, or more: '{STEPS - 1}'"
    said = [f"exploit: {folder}: seed {seed} {what}" for seed in (1, 2)]  # whoever is first
    assert done.status == 1 and done.error_line in said


# --- parts ----------------------------------------------------------------------------------------


def test_marks_end_with_the_steps() -> None:
    nothing = dict.fromkeys(field.name for field in dataclasses.fields(LearnOptions))
    marks = {n: LearnOptions(**{**nothing, "learn": n}).marks for n in (5, 300, 1001, 18_000)}  # type: ignore[arg-type]
    assert marks == {
        5: (5,),
        300: (300,),
        1001: (300, 1000, 1001),
        18_000: (300, 1000, 3000, 7000, 18_000),
    }


def test_a_bound_below_nothing_is_nothing() -> None:
    one = Measurement(3, 10, False, 4, 0.25, -0.5, -0.9, 0.1, (-1.0, 0.0), "x")
    report = LearnedReport("nano", "heuristic", [Mark(10, [one], one, [60.0])], 90.0, None)
    assert report.json()["nash_conv_at_least"] == 0
    *_, row, _, bound, minutes = report.text().splitlines()
    cells = ["10", "seed", "3", "4", "25.0", "%", "-0.5000", "-0.9000", "0.1000"]
    assert row.split() == [*cells, "-1.0000", "0.0000", "1.0"]
    assert bound == "exploitability is at least 0.0000, NashConv 0.0000 (97.5 %)"
    assert minutes == "1.5 CPU minutes in all"


def test_the_pages_example_is_run(tmp_path: pathlib.Path) -> None:
    """The example of exploit(1), with fewer steps and seeds."""
    page = (ROOT / "man/exploit.1").read_text().replace("\\-", "-")
    (line,) = re.findall(r"^exploit (.* --learn .*)$", page.split(".SH EXAMPLES")[1], re.M)
    fewer = re.sub(r"--learn \d+", "--learn 2", line)
    words = re.sub(r"--seeds \d+", "--seeds 1", fewer).split()
    words = [re.sub(r"^preset=fast,run/$", "random", word) for word in words]
    done = run("exploit", *words, "-n", 2, cwd=tmp_path)
    assert done.status == 0 and "NashConv" in done.out, done.err
