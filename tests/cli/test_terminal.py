"""What a person sees at a terminal: one display, whole numbers, nothing torn; and what happens when
the terminal goes away."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess

import pytest

from learn.games import episodes, write
from running import PATIENCE, command_line, forked_commands, forked_line, run
from stratkit.cli.progress import ProgressLine
from stratkit.storage.checkpoints import list_checkpoints
from terminal import Terminal

QUICK = ("--net", "plain", "--batch", 4, "--rows", 32, "--seed", 1)
FIELDS = (
    r"[\d,]+ of \d+ steps(, \d+ %(, \d+:\d\d:\d\d left(, [\d.,]+ (steps/s|s/step)(, entropy [\d.]+"
    r"(, value loss [\d.]+(, length [\d.]+(, age [\d.]+(, [\d,]+ states/s(, [\d,]+ episodes"
    r")?)?)?)?)?)?)?)?)?"
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where all commands are, for a shell."""
    return forked_commands(tmp_path_factory.mktemp("commands") / "bin") + ":" + os.environ["PATH"]


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_pipe_has_one_display(tmp_path: pathlib.Path, path: str, columns: int) -> None:
    quick = " ".join(map(str, QUICK))
    pipe = f"train - --out run --steps 12 {quick}"
    pipe = f"selfplay --game nano --policy run --follow --max-ahead 4 | {pipe}"
    terminal = Terminal(columns)
    process = terminal.start(["sh", "-c", pipe], cwd=tmp_path, env={**os.environ, "PATH": path})
    text = terminal.read()
    assert process.wait(PATIENCE) == 0
    assert "selfplay" not in text and "train: loading torch" in text
    *frames, last = terminal.screen.frames
    assert last.startswith("step 12, 48 episodes: run/checkpoints/")
    shown = [frame for frame in frames if " of 12 steps" in frame]
    assert len(shown) > 2 and max(map(len, shown)) < columns
    for frame in shown:
        assert re.fullmatch(f"(train: )?{FIELDS}", frame), frame
    assert shown[-1].startswith("train: 12 of 12 steps, 100 %")
    assert (" episodes" in shown[-1], " left" in shown[-1]) == (columns == 200, columns >= 80)
    assert [row for row in terminal.screen.rows if row][-2:] == [shown[-1], last]


def test_the_rate_of_a_resumed_run_is_that_of_its_own_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr("tqdm.std.time", lambda: now)
    progress = ProgressLine(800, "step", "train", live=False)
    now += 50
    progress.begin(545)
    for _ in range(5):
        now += 2
        progress.update(1)
    expected = "train: 550 of 800 steps, 68 %, 0:08:20 left, 2.0 s/step"
    assert progress.line(200) == expected
    assert progress.line(len(expected)) == expected
    assert progress.line(len(expected) - 1) == expected[: expected.rindex(",")]
    assert progress.line(10) == ""
    for _ in range(1000):  # what was long ago does not count
        now += 0.5
        progress.update(2)
    assert ", 4.0 steps/s" in progress.line(200)


def test_a_resumed_run_begins_where_it_was(tmp_path: pathlib.Path) -> None:
    games = write(tmp_path / "a.eps", *episodes("nano", 40))
    wanted = (games, "--out", tmp_path / "run")
    assert run("train", *wanted, "--steps", 5, *QUICK).status == 0
    terminal = Terminal()
    process = terminal.start(forked_line("train", *wanted, "--resume", "--steps", 10))
    terminal.read()
    assert process.wait(PATIENCE) == 0
    (first, *_) = [frame for frame in terminal.screen.frames if " of 10 steps" in frame]
    assert first == "train: 5 of 10 steps, 50 %"
    again = run("train", *wanted, "--resume", "--steps", 10)
    assert (again.status, again.err) == (
        0,
        f"nothing to do: {tmp_path}/run has 10 steps\n",
    )


def test_without_a_terminal_there_are_dated_lines(tmp_path: pathlib.Path) -> None:
    games = write(tmp_path / "a.eps", *episodes("nano", 40))
    wanted = (games, "--out", tmp_path / "run", "--steps", 5, *QUICK)
    done = run("train", *wanted, "--log-every", 0.000001)
    *lines, _ = done.err.splitlines()
    assert done.status == 0 and len(lines) == 5
    for step, line in enumerate(lines, 1):
        date = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
        assert re.fullmatch(rf"{date} train: {step} of 5 steps, .* episodes", line), line
    for other in ("0", "-1", "soon"):
        done = run("train", *wanted, "--resume", "--log-every", other)
        assert (done.status, len(done.err.splitlines())) == (0 if other == "0" else 2, 1)


def test_a_message_stands_above_the_line(tmp_path: pathlib.Path) -> None:
    """Also that of another command of the pipe."""
    games = write(tmp_path / "a.eps", *episodes("nano", 40))
    broken = tmp_path / "b.eps"
    broken.write_bytes(pathlib.Path(games).read_bytes()[:-60])
    terminal = Terminal()
    process = terminal.start(forked_line("train", broken, "--out", tmp_path / "run", "-v", *QUICK))
    terminal.read()
    assert process.wait(PATIENCE) == 3
    rows = terminal.screen.rows
    steps = [row for row in rows if row.startswith("step ")]
    assert [row.split(":")[0] for row in steps[:3]] == ["step 1", "step 2", "step 3"]
    assert not any("train: " in row for row in steps)


# ---- the terminal goes away ----


def test_a_hangup_saves_as_sigterm_does(tmp_path: pathlib.Path) -> None:
    games, out = tmp_path / "games", tmp_path / "run"
    games.mkdir()
    write(games / "a.eps", *episodes("nano", 16))
    terminal = Terminal()
    process = terminal.start(command_line("train", games, "--out", out, *QUICK))
    terminal.read(lambda text: "entropy" in text)
    terminal.hang_up()  # the kernel sends SIGHUP, and every write is an error from now on
    assert process.wait(PATIENCE) == 129
    lines = [json.loads(line) for line in (out / "metrics.jsonl").open()]
    assert [step for step, _ in list_checkpoints(out)] == [0, len(lines)]


def test_nohup_is_obeyed(tmp_path: pathlib.Path) -> None:
    games, out = tmp_path / "games", tmp_path / "run"
    games.mkdir()
    write(games / "a.eps", *episodes("nano", 16))
    command = command_line("train", games, "--out", out, "-v", *QUICK)
    process = subprocess.Popen(["nohup", *command], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while not process.stderr.readline().startswith("step 4"):
        assert process.poll() is None
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.terminate()
    assert process.wait(PATIENCE) == 143
    process.stderr.close()


def test_a_match_that_hangs_up_can_be_resumed(tmp_path: pathlib.Path) -> None:
    record = tmp_path / "g.jsonl"
    match = ("random", "heuristic", "--game", "mini", "--seed", 1, "-n", 4000, "-o", record)
    terminal = Terminal()
    process = terminal.start(command_line("match", *match))
    terminal.read(lambda text: " a minute" in text)
    terminal.hang_up()
    assert process.wait(PATIENCE) == 129
    lines = record.read_text().splitlines()
    assert [json.loads(line)["number"] for line in lines[1:]] == list(range(len(lines) - 1))
    assert 1 < len(lines) < 4001


def test_an_interrupted_match_tells_how_it_stands(tmp_path: pathlib.Path) -> None:
    """The terminal shows ^C where its line stands, and nothing of the table stays behind."""
    record = tmp_path / "g.jsonl"
    match = ("random", "heuristic", "--game", "mini", "--seed", 1, "-n", 4000, "-o", record)
    terminal = Terminal(60)
    process = terminal.start(command_line("match", *match))
    terminal.read(lambda text: " a minute" in text)
    terminal.press("\x03")
    terminal.read()
    assert process.wait(PATIENCE) == 130
    *_, score, how, end = [row for row in terminal.screen.rows if row]
    assert re.fullmatch(
        r"random - heuristic: \+\d+ =\d+ -\d+, .*, \d+ pairs?(: too few to say much)?", score
    )
    assert how.startswith("match: to go on: match random heuristic --game mini --seed 1 -n 4000")
    assert end == "match: interrupted"
    table = [frame for frame in terminal.screen.frames if frame.startswith("random - ")][:-1]
    assert table, terminal.screen.frames
    assert max(map(len, table)) < 60
    for frame in table:
        counts = r"random - heuristic: \+\d+ =\d+ -\d+"
        assert re.fullmatch(rf"{counts}(, [\d.]+ %(, Elo \S+ \(\S+ to \S+\))?)?", frame), frame
