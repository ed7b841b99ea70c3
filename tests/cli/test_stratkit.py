"""The command `stratkit`: the tools by one name, help, doctor and status."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pathlib
import re
import runpy
import signal
import subprocess
import time
import tomllib

import pytest

from running import PATIENCE, PROJECT, ROOT, command_line, run
from storage.stored import save_network
from stratkit.cli.doctor import EXTRAS, NEEDED, _is_ours
from stratkit.cli.stratkit import TOOLS
from stratkit.engine import Game
from stratkit.engine.residual import residual_lanes
from stratkit.errors import InputError
from stratkit.models.shipped import LEARNED
from stratkit.storage.atomic import holder, lock
from stratkit.storage.checkpoints import checkpoint_path
from stratkit.storage.progress import read_progress

# --- the tools ------------------------------------------------------------------------------------


def test_all_tools_are_there_in_the_words_of_their_pages() -> None:
    listed = run("stratkit", "--help").out
    for name, words in TOOLS.items():
        page = (ROOT / f"man/{name}.1").read_text()
        assert f"\n{name.replace('-', chr(92) + '-')} \\- {words}\n" in page
        assert f"\n  {name} " in listed


@pytest.mark.parametrize(
    "words",
    [
        "deploy-gen --game mini -n 3 --seed 5",
        "deploy-gen --gaem mini",
        "rate",
        "fenfs convert --to nothing x",
        "selfplay --version",
        "match random heuristic --game mini -n 2 --seed 1 -o -",
    ],
)
def test_a_tool_is_the_same_under_either_name(words: str) -> None:
    name, *rest = words.split()
    assert run("stratkit", name, *rest) == run(name, *rest)


def test_options_before_the_tool_are_its_own() -> None:
    words = ("deploy-gen", "--game", "mini", "-n", 9, "--logprob", "--seed", 1)
    assert run("stratkit", *words).err != "" == run("stratkit", "-q", *words).err
    done = run("stratkit", "trian", "x")
    assert (done.status, done.data) == (2, b"")
    assert done.error_line == "stratkit: no such command: trian (did you mean 'train'?)"


def test_the_tools_options_are_completed_under_either_name() -> None:
    offered = []
    for words in ("match --two", "stratkit match --two"):
        count = str(len(words.split()) - 1)
        variable = f"_{words.split()[0].upper()}_COMPLETE"
        asked = {variable: "bash_complete", "COMP_WORDS": words, "COMP_CWORD": count}
        offered.append(run(words.split()[0], **asked).out)
    assert offered[0] == offered[1] == "plain,--two-squares\n"


# --- the examples ---------------------------------------------------------------------------------


def test_examples_are_copied(tmp_path: pathlib.Path) -> None:
    """Whole, into a folder that is new; and one of them works there."""
    folder = tmp_path / "mine"
    done = run("stratkit", "examples", folder)
    assert (done.status, done.out, done.err) == (0, "", "")
    there = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    tracked = subprocess.run(
        ["git", "ls-files", "examples"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    assert {pathlib.Path(name).relative_to("examples") for name in tracked} <= there
    assert os.access(folder / "demo.sh", os.X_OK) and not list(folder.rglob("__pycache__"))
    done = run("stratkit", "examples", folder)
    said = f"stratkit: {folder}: exists already: name a folder that does not"
    assert (done.status, done.error_line) == (1, said)
    done = run("stratkit", "examples", "/dev/null/x")
    assert (done.status, done.error_line) == (1, "stratkit: /dev/null/x: Not a directory")
    match = ("py:mine.players.greedy:Greedy", "random", "--game", "mini", "-n", 2, "-o", "-")
    assert run("match", *match, cwd=tmp_path).status == 0
    path = f"{ROOT}/bin:{os.environ['PATH']}"
    demo = (folder / "demo.sh", tmp_path / "demo", "5", "2")
    subprocess.run(demo, env={**os.environ, "PATH": path}, check=True, capture_output=True)


def test_an_environment_has_examples_that_need_the_commands_alone() -> None:
    """All files that are installed are there, and those that the manual's pages name among them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["stratkit"]
    installed = set()
    for pattern in settings["examples"]:
        found = [path for path in (ROOT / "examples").glob(pattern) if path.is_file()]
        assert found, pattern
        installed |= {str(path.relative_to(ROOT)) for path in found}
    pages = "".join(path.read_text() for path in (ROOT / "man").glob("*.[17]"))
    named = set(re.findall(r"examples/[\w/]+(?:\.(?:py|sh|toml)|/Makefile)", pages))
    assert len(named) > 10 and named <= installed


# --- help -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("train", "train.1"),
        ("games", "stratkit-games.5"),
        ("stratkit-games", "stratkit-games.5"),
        ("python", "stratkit-python.7"),
        ("stratkit", "stratkit.1"),
    ],
)
def test_help_shows_a_page(name: str, page: str, tmp_path: pathlib.Path) -> None:
    runpy.run_path(str(ROOT / "man/make.py"), run_name="__main__")
    (tmp_path / "man").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "man").chmod(0o755)
    done = run("stratkit", "help", name, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert (done.status, done.out, done.err) == (0, f"{ROOT}/man/{page}\n", "")


def test_help_without_a_page_or_a_program_to_show_it(tmp_path: pathlib.Path) -> None:
    none = {"PATH": str(tmp_path)}
    assert run("stratkit", "help").out == run("stratkit", "--help").out
    assert run("stratkit", "help", "rate", **none).out == run("rate", "--help").out
    done = run("stratkit", "help", "games", **none)
    assert done.status == 1 and done.error_line.endswith(
        "there is no program `man` to show this page"
    )
    done = run("stratkit", "help", "trian")
    said = "stratkit: no page is called 'trian' (did you mean 'train'?)"
    assert (done.status, done.error_line) == (2, said)


# --- doctor ---------------------------------------------------------------------------------------

ENGINE = "the engine, for fromto, graph and mlp"
FAST = residual_lanes(16) > 1
ONNX_USE = "fromto with memory" if FAST else "fromto, which the engine computes slowly here"
ONNX = f"onnxruntime {importlib.metadata.version('onnxruntime')}, for {ONNX_USE}"
HIDING = """import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {name!r}:
            raise ModuleNotFoundError("No module named " + repr({name!r}), name={name!r})
sys.meta_path.insert(0, Hide())
"""


def examined(*more: pathlib.Path, path: str = "") -> tuple[int, dict[str, str]]:
    """The status of doctor, and what it says of each subject; `more` is put before PYTHONPATH."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, more))}
    done = subprocess.run(
        command_line("stratkit", "doctor"),
        env={**environment, **({"PATH": path} if path else {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    found: dict[str, str] = {}
    subject = ""
    for line in done.stdout.splitlines():
        subject = line[:12].strip() or subject
        found[subject] = f"{found.get(subject, '')}{line[12:]}\n"
    return done.returncode, found


def test_doctor_knows_what_is_needed() -> None:
    stated = [re.split(r"\W", text)[0] for text in PROJECT["dependencies"]]
    assert list(NEEDED) == stated
    assert {*EXTRAS} <= {
        re.split(r"\W", x)[0] for e in PROJECT["optional-dependencies"].values() for x in e
    }


def test_doctor_finds_all_well(tmp_path: pathlib.Path) -> None:
    (tmp_path / "match").write_text("#!/bin/sh\necho another program\n")
    (tmp_path / "match").chmod(0o755)
    status, found = examined(path=f"{tmp_path}:{ROOT}/bin:{os.environ['PATH']}")
    assert status == 0
    assert found["engine"] == "works: Kuhn poker is solved as it should be\n"
    assert found["players"].count("sound") == len(LEARNED)
    for name, game in LEARNED.items():
        assert f"{name}: {game}, step " in found["players"]
    assert re.match(r"[\d.]+\S*, \d+ MB, \d+ threads\n", found["torch"])
    assert found["backends"] == f"{ENGINE}; {ONNX}; torch, for all others\n"
    assert found["commands"] == (
        f"match is another program: {tmp_path}/match\n-> stratkit match starts ours\n"
        f"{len(TOOLS) - 1} on the PATH\n"
    )


def test_doctor_without_what_plays_without_torch(tmp_path: pathlib.Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HIDING.format(name="onnxruntime"))
    status, found = examined(tmp_path)
    assert status == 0 and found["backends"].startswith(
        f"{ENGINE}; torch, for all others\n-> pip install onnxruntime: reads and writes files .onnx"
    )
    assert ("without AVX2" in found["backends"]) == (not FAST)


def test_a_command_that_cannot_be_read_is_not_ours(tmp_path: pathlib.Path) -> None:
    assert _is_ours(str(ROOT / "bin/match")) and not _is_ours(str(tmp_path))


def test_doctor_without_torch_and_without_the_commands(tmp_path: pathlib.Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HIDING.format(name="torch"))
    status, found = examined(tmp_path, path=str(tmp_path))
    assert status == 0 and "GPU" not in found
    assert found["torch"].startswith("missing: nothing learns\n-> pip ")
    assert found["backends"] == f"{ENGINE}; {ONNX}\n"
    assert found["commands"].startswith(f"not on the PATH: {' '.join(TOOLS)}\n-> ")
    assert "sound" in found["players"]


def test_doctor_finds_what_is_broken(tmp_path: pathlib.Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text("raise OSError('libcudart.so: cannot open')\n")
    status, found = examined(tmp_path)
    assert status == 3
    assert found["backends"] == f"{ENGINE}; {ONNX}\n"
    assert found["torch"].startswith("OSError: libcudart.so: cannot open\n-> ")
    (tmp_path / "sitecustomize.py").write_text(HIDING.format(name="_cffi_backend"))
    status, found = examined(tmp_path)
    assert status == 3 and found["engine"].startswith("ModuleNotFoundError: No module named '_cffi")


# --- status ---------------------------------------------------------------------------------------


def metrics(run_: pathlib.Path, times: list[float], **last: object) -> None:
    """Lines of metrics of these times."""
    lines = [{"step": n, "episodes": 8 * n, "time": time} for n, time in enumerate(times, 1)]
    lines[-1].update(last)  # type: ignore[arg-type]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (run_ / "metrics.jsonl").write_text(text)


def test_the_status_of_a_run(tmp_path: pathlib.Path) -> None:
    now = time.time()
    folder = tmp_path / "run"
    (folder / "checkpoints").mkdir(parents=True)
    # It was resumed after an hour, which says nothing of its rate. The last line is being written.
    metrics(folder, [now - 3700 + n / 2 for n in range(50)] + [now - 60 + n / 2 for n in range(49)])
    with open(folder / "metrics.jsonl", "a") as stream:
        stream.write('{"step":100,"epi')
    save_network(checkpoint_path(folder, 80), "plain", Game("nano"))
    found = read_progress(str(folder))
    assert (found.step, found.episodes, found.game, found.net) == (99, 792, "nano", "plain")
    assert found.rate == pytest.approx(2, rel=0.01) and found.age == pytest.approx(36, abs=10)
    assert found.checkpoint and (found.checkpoint.step, found.checkpoint.fault) == (80, None)
    assert found.holder is found.elo is None
    with lock(folder / "lock"):
        text = run("stratkit", "status", folder).out
        assert f"in use by process {os.getpid()}\n" in text
    assert [line.split()[0] for line in text.splitlines()[1:]] == [
        "state", "step", "episodes", "rate", "checkpoint"
    ]  # fmt: skip
    assert text.startswith(f"{folder}: nano by rnad, network plain\n  state ")
    # A damaged checkpoint is named, and what the one before it says still holds.
    checkpoint_path(folder, 90).write_bytes(b"\x10\0\0\0\0\0\0\0{rubbish")
    metrics(folder, [now - 5, now], eval={"elo": 120.5, "low": 80, "high": 160, "step": 80})
    lines = run("stratkit", "status", "--json", folder, folder).out.splitlines()
    assert len(lines) == 2
    value = json.loads(lines[0])
    assert (value["stratkit"], value["version"], value["game"]) == ("status", 1, "nano")
    assert value["checkpoint"]["step"] == 90 and "not a checkpoint" in value["checkpoint"]["fault"]
    assert value["elo"] == {"elo": 120.5, "low": 80, "high": 160, "step": 80}
    assert "elo 120.5, low 80" in run("stratkit", "status", folder).out
    metrics(folder, [now - 5, now], eval={"score": 0, "elo": None, "low": None, "high": -50.5})
    assert "elo -∞, low -∞, high -50.5" in run("stratkit", "status", folder).out


def test_the_last_elo_may_be_far_above(tmp_path: pathlib.Path) -> None:
    metrics(tmp_path, [1.0, 2.0], eval={"elo": 7})
    first = (tmp_path / "metrics.jsonl").read_text()
    metrics(tmp_path, [float(n) for n in range(3, 400)])
    (tmp_path / "metrics.jsonl").write_text(first + (tmp_path / "metrics.jsonl").read_text())
    found = read_progress(str(tmp_path))
    assert found.elo == {"elo": 7} and found.step == 397 and found.rate == 1


def test_what_is_no_run(tmp_path: pathlib.Path) -> None:
    for path, said in ((tmp_path / "x", "no such folder"), (tmp_path, "no RUN: it has neither")):
        done = run("stratkit", "status", path)
        assert done.status == 1 and done.error_line.startswith(f"stratkit: {path}: {said}")
    (tmp_path / "metrics.jsonl").touch()
    done = run("stratkit", "status", tmp_path / "metrics.jsonl")
    assert done.status == 1 and done.error_line.endswith("metrics.jsonl: not a folder")
    with pytest.raises(InputError, match="no RUN"):
        read_progress(str(tmp_path))
    (tmp_path / "metrics.jsonl").write_text('{"step":')  # being written
    (tmp_path / "lock").touch()
    with lock(tmp_path / "lock"):
        assert (read_progress(str(tmp_path)).step, holder(tmp_path / "lock") is None) == (0, False)
    assert holder(tmp_path / "lock") is holder(tmp_path / "nothing") is None


def test_a_run_that_goes_on_and_is_killed(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "run"
    selfplay = command_line("selfplay", "--game", "nano", "--policy", folder, "--follow", "-q")
    train = command_line("train", "-", "--out", folder, "--steps", 10**6, "--batch", 8,
                         "--net", "plain", "-q")  # fmt: skip
    with (
        subprocess.Popen(selfplay, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as games,
        subprocess.Popen(train, stdin=games.stdout, stderr=subprocess.DEVNULL) as learner,
    ):
        assert games.stdout
        games.stdout.close()
        try:
            deadline = time.monotonic() + PATIENCE
            while not (folder / "metrics.jsonl").exists() or read_progress(str(folder)).step < 3:
                assert time.monotonic() < deadline and learner.poll() is None
                time.sleep(0.2)
            found = read_progress(str(folder))
            assert found.holder == f"process {learner.pid}" and found.rate and found.age is not None
            assert (found.game, found.net, found.algorithm) == ("nano", "plain", "rnad")
        finally:
            learner.send_signal(signal.SIGKILL)
            learner.wait()
            games.terminate()
    text = run("stratkit", "status", folder).out
    assert "state       no learner is at work\n" in text and "checkpoint  step 0, " in text


@pytest.mark.parametrize(
    "line",
    [
        '{"step": 9, "time": "noon"}',
        '{"step": "nine", "time": 1}',
        '{"step": 9, "time": 1, "episodes": []}',
        '{"step": 9, "time": null}',
    ],
)
def test_lines_that_are_no_metrics_are_left_out(line: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "metrics.jsonl").write_text(f'{{"step": 3, "time": 1, "episodes": 8}}\n{line}\n')
    found = read_progress(str(tmp_path))
    assert (found.step, found.episodes) == (3, 8)
