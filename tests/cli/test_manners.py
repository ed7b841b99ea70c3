"""What all commands have in common: exit status, one-line errors, streams, files, start-up."""

from __future__ import annotations

import os
import pathlib
import pty
import resource
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator

import pytest

from running import COMMANDS, PATIENCE, ROOT, Done, click_command, module, run
from stratkit import __version__

EXAMPLE = pathlib.Path(__file__).with_name("example_tool.py")


def subcommands(name: str) -> list[list[str]]:
    """The words that lead to every command of the tool: [] for itself."""
    return [[], *([sub] for sub in getattr(click_command(name), "commands", {}))]


EVERY = [(name, words) for name in COMMANDS for words in subcommands(name)]
every = pytest.mark.parametrize(("name", "words"), EVERY, ids=[" ".join([n, *w]) for n, w in EVERY])


def example(*arguments: object, **settings: object) -> Done:
    """Runs the tool of example_tool.py."""
    done = subprocess.run(
        [sys.executable, EXAMPLE, *map(str, arguments)],
        capture_output="stdout" not in settings,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=PATIENCE,
        check=False,
        **settings,  # type: ignore[call-overload]
    )
    return Done(done.returncode, done.stdout or b"", (done.stderr or b"").decode())


# --- help, version, start-up ----------------------------------------------------------------------


HEAVY = (
    *("numpy", "torch", "matplotlib", "tqdm", "zstandard", "msgspec", "cffi", "onnx", "json"),
    *("difflib", "stratkit.engine", "stratkit.compressed", "stratkit.convert.raw"),
)
MOST_MODULES = 60  # beside Python's own and click's; the largest help has 54
MOST_COMPILED = 62  # texts of functions by Python 3.11, as of dataclasses; the largest help has 60


@every
def test_help_loads_nothing_heavy(name: str, words: list[str]) -> None:
    code = (
        "import atexit, sys; sys.path.insert(0, sys.argv.pop(1))\n"
        "import click; before = {*sys.modules}; compiled = [0]\n"
        "def hook(event, details):\n"
        "    compiled[0] += event == 'compile' and details[1] == '<string>'\n"
        "sys.addaudithook(hook)\n"
        f"from {module(name)} import main\n"
        f"heavy = {HEAVY}\n"
        "atexit.register(lambda: print(*(m for m in heavy if m in sys.modules), file=sys.stderr))\n"
        "atexit.register(lambda: print(len({*sys.modules} - before), *compiled, file=sys.stderr))\n"
        "main()"
    )
    for arguments in ([*words, "--help"], [*words, "--version"]):
        done = subprocess.run(
            [sys.executable, "-P", "-c", code, ROOT, *arguments],
            capture_output=True,
            text=True,
            check=True,
        )
        loaded, compiled, *heavy = done.stderr.split()
        assert heavy == [] and int(loaded) <= MOST_MODULES and int(compiled) <= MOST_COMPILED
        assert len(done.stdout) > 10


def test_the_package_alone_loads_next_to_nothing() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); before = {*sys.modules}\n"
        "import stratkit; print(*{*sys.modules} - before)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, ROOT], capture_output=True, text=True, check=True
    )
    loaded = {name for name in done.stdout.split() if not name.startswith(("typing", "_typing"))}
    assert {"stratkit", "stratkit.version"} <= loaded and len(loaded) <= 4


@every
def test_version(name: str, words: list[str]) -> None:
    assert run(name, *words, "--version").out == f"{name} (stratkit) {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_module_is_its_command(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module(name), "--version"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{name} (stratkit) {__version__}\n"


# --- the command line -----------------------------------------------------------------------------


@every
def test_misspelt_options_are_answered_with_the_nearest(name: str, words: list[str]) -> None:
    done = run(name, *words, "--versoin")
    assert (done.status, done.data) == (2, b"")
    assert done.error_line == f"{name}: no such option: --versoin (did you mean '--version'?)"


@pytest.mark.parametrize("name", COMMANDS)
def test_no_arguments_are_a_usage_error(name: str) -> None:
    done = run(name)
    assert (done.status, done.data) == (2, b"")
    assert done.error_line.startswith(f"{name}: missing ")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["copi"], "no such command: copi (did you mean 'copy'?)"),
        (["x'y'z"], "x'y'z: choose one of copy, fail, load, lose, speak, wait, work"),
        (["copy", "--game", "clasic"], "unknown game 'clasic' (did you mean 'classic'?)"),
        (["copy", "--kind", "rod"], "--kind must be one of red, blue (did you mean 'red'?): 'rod'"),
        (
            ["copy", "--seed", "-1"],
            "--seed must be a whole number from 0 to 18446744073709551615: '-1'",
        ),
        (["copy", "--game"], "option '--game' requires an argument"),
        (["copy", "--game", "--kind", "red"], "--game needs a value, and --kind is an option"),
        (["copy", "-o", "-f", "x"], "-o needs FILE, and -f is an option"),
        (["copy", "--seed", "--help"], "--seed needs S, and --help is an option"),
        (["copy", "-z"], "no such option: -z"),
        (["copy", "a", "b"], "got unexpected extra argument (b)"),
    ],
)
def test_wrong_command_lines(arguments: list[str], line: str) -> None:
    done = example(*arguments)
    assert (done.status, done.data) == (2, b"")
    assert done.error_line.startswith("example: ") and done.error_line.endswith(line)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "status", "line"),
    [
        ("input", 1, r"example: f: line 3: bad: 'te\x1bxt'"),
        ("usage", 2, "example: wrong"),
        ("check", 3, "example: no"),
        ("os", 1, r"example: dir\n/file: No space left on device"),
        ("memory", 1, "example: out of memory"),
        ("gpu", 1, "example: out of the GPU's memory (less would be a smaller --chunk or --slots)"),
        ("internal", 1, "example: internal error: KeyError: 'key' (-v -v shows the traceback)"),
    ],
)
def test_errors_are_one_line_each(kind: str, status: int, line: str) -> None:
    done = example("fail", kind)
    assert (done.status, done.error_line) == (status, line)


def test_an_integer_is_the_exit_status() -> None:
    assert example("fail", "four").status == 4


def test_the_traceback_of_an_internal_error() -> None:
    for done in (
        example("fail", "-v", "-v", "internal"),
        example("-v", "fail", "-v", "internal"),
    ):
        assert "Traceback" in done.err and done.err.splitlines()[-1].startswith("example: internal")


def test_quiet_and_verbose() -> None:
    assert example("speak").err == "level 0\nexample: warning\n"
    assert example("speak", "-q").err == "example: warning\n"
    assert example("speak", "-v").err == "level 0\nlevel 1\nexample: warning\n"
    assert example("speak", "-vv").err == "level 0\nlevel 1\nlevel 2\nexample: warning\n"


def test_progress_shows_only_on_a_terminal() -> None:
    assert example("work").err == ""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    subprocess.run(
        [sys.executable, EXAMPLE, "work"],
        stderr=theirs,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    os.close(theirs)
    assert b"example: 3 of 3 games, 100 %" in os.read(ours, 10_000)
    os.close(ours)


# --- streams --------------------------------------------------------------------------------------


@pytest.fixture
def full_device() -> Iterator[int]:
    descriptor = os.open("/dev/full", os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


@every
def test_help_on_a_full_disk(name: str, words: list[str], full_device: int) -> None:
    done = run(name, *words, "--help", stdout=full_device)
    assert (done.status, done.error_line) == (
        1,
        f"{name}: standard output: No space left on device",
    )


@every
def test_help_without_a_reader(name: str, words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run(name, *words, "--help", stdout=writer)
    os.close(writer)
    assert (done.status, done.err) == (-signal.SIGPIPE, "")


def test_data_on_a_full_disk(full_device: int) -> None:
    for unbuffered in ("", "1"):
        done = run_example_to(full_device, PYTHONUNBUFFERED=unbuffered)
        assert (done.status, done.error_line) == (
            1,
            "example: standard output: No space left on device",
        )


def run_example_to(stdout: int, **environment: str) -> Done:
    done = subprocess.run(
        [sys.executable, EXAMPLE, "copy", EXAMPLE],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        check=False,
    )
    return Done(done.returncode, b"", done.stderr.decode())


@pytest.mark.parametrize("closing", [">&-", "<&-", "2>&-", "2>/dev/full"])
def test_closed_streams(closing: str, tmp_path: pathlib.Path) -> None:
    """They are an error where they are used, and never become another file."""
    out = tmp_path / "out"
    shell = f'"$0" "$1" "$@" {closing}'
    for arguments, status in (
        (["copy", EXAMPLE], int(closing == ">&-")),
        (["copy", "-"], int(closing in (">&-", "<&-"))),
        (["copy", EXAMPLE, "-f", "-o", out], 0),
        (["fail", "usage"], 2),
    ):
        done = subprocess.run(
            ["sh", "-c", shell.replace('"$@"', '"${@:2}"'), sys.executable, EXAMPLE, *arguments],
            executable="/bin/bash",
            input=b"x",
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
        )
        assert done.returncode == status, (arguments, done.stderr)
        assert len(done.stderr.splitlines()) == (status > 0 and not closing.startswith("2"))
    assert out.read_bytes() == EXAMPLE.read_bytes()


def test_binary_goes_to_no_terminal() -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, EXAMPLE, "copy", "--binary", EXAMPLE],
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 1
    assert done.stderr.startswith(b"example: binary data goes to no terminal")


# --- files ----------------------------------------------------------------------------------------


def test_files_are_not_overwritten_without_force(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    assert example("copy", EXAMPLE, "-o", out).status == 0
    out.write_text("mine")
    done = example("copy", EXAMPLE, "-o", out)
    assert (done.status, done.error_line) == (
        1,
        f"example: {out}: exists already; -f overwrites it",
    )
    assert out.read_text() == "mine"
    assert example("copy", EXAMPLE, "-o", out, "-f").status == 0
    assert out.read_bytes() == EXAMPLE.read_bytes()


def test_devices_and_links_are_written_to(tmp_path: pathlib.Path) -> None:
    assert example("copy", EXAMPLE, "-o", "/dev/null").status == 0
    done = example("copy", EXAMPLE, "-o", "/dev/full")
    assert (done.status, done.error_line) == (1, "example: /dev/full: No space left on device")
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    assert example("copy", EXAMPLE, "-o", link).status == 0
    assert link.is_symlink() and target.read_bytes() == EXAMPLE.read_bytes()


@pytest.mark.parametrize("path", ["missing/out", ".", "file/out"])
def test_files_that_cannot_be_written(tmp_path: pathlib.Path, path: str) -> None:
    (tmp_path / "file").write_text("")
    done = example("copy", EXAMPLE, "-o", path, cwd=tmp_path)
    assert done.status == 1
    assert done.error_line.startswith(f"example: {path}: ")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("force", [[], ["-f"]])
def test_a_file_that_grows_too_large_is_absent(tmp_path: pathlib.Path, force: list[str]) -> None:
    out = tmp_path / "out"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = example("copy", EXAMPLE, "-o", out, *force, preexec_fn=limit)
    assert (done.status, done.error_line) == (1, f"example: {out}: File too large")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "status", "word"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "terminated"),
        (signal.SIGHUP, 129, "hung up"),
    ],
)
def test_signals_leave_no_torn_file(
    tmp_path: pathlib.Path, number: int, status: int, word: str
) -> None:
    out = tmp_path / "out"
    with subprocess.Popen(
        [sys.executable, EXAMPLE, "wait", "-o", out],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        deadline = time.monotonic() + PATIENCE
        while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (status, f"cleaned\nexample: {word}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "told"), [("lose", ["lost Terminated", "cleaned"]), ("load", ["loaded"])]
)
def test_a_signal_that_gets_lost_comes_again(command: str, told: list[str]) -> None:
    """As it may where Python is called from C; but not while the command cleans up, nor while torch
    is loaded, which would abort."""
    with subprocess.Popen(
        [sys.executable, EXAMPLE, command],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stderr and process.stderr.readline() == "begun\n"
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err.splitlines()) == (143, [*told, "example: terminated"])


def test_wrong_input_files(tmp_path: pathlib.Path) -> None:
    for path, what in (
        (tmp_path / "a\x1b[31m", "No such file or directory"),
        (tmp_path, "Is a directory"),
    ):
        done = example("copy", path)
        assert done.status == 1
        shown = str(path).replace("\x1b", r"\x1b")
        assert done.error_line == f"example: {shown}: {what}"


def test_every_command_is_a_tool() -> None:
    """So that it has -q, -v, --version and --help."""
    from stratkit.cli.tool import Tool, ToolGroup

    for name in COMMANDS:
        command = click_command(name)
        assert isinstance(command, Tool | ToolGroup)
        for sub in getattr(command, "commands", {}).values():
            assert isinstance(sub, Tool)
