"""Hand-broken files, full disks, closed pipes and signals: one clear line and the right status.

What other tests break thoroughly is left to them: the formats (tests/storage), Gravon's logs
(test_fenfs.py) and all that `train` reads (test_train.py).
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import pathlib
import pickle
import signal
import subprocess
import termios
import time
from collections.abc import Callable

import pytest

from running import PATIENCE, ROOT, Done, command_line, forked_line, here, run
from storage.stored import altered, save_network
from stratkit.engine import Game

SAMPLES = ROOT / "formats" / "samples"
GAMES = (SAMPLES / "games.jsonl").read_bytes()
SETUPS = b"AKBAADACLMDE\nMEDBCKLAAADA\n"


def told(done: Done, name: str, status: int, *parts: str) -> None:
    """Checks that the command wrote one printable line that holds the `parts`."""
    assert done.status == status, done.err
    assert done.error_line.startswith(f"{name}: ") and done.error_line.isprintable()
    for part in parts:
        assert part in done.error_line


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]


# --- files ----------------------------------------------------------------------------------------


def broken_checkpoints() -> dict[str, tuple[bytes, str]]:
    good = (SAMPLES / "checkpoint.safetensors").read_bytes()
    return {
        "empty": (b"", "not a checkpoint, or truncated"),
        "zeros": (bytes(5000), "not a checkpoint, or truncated"),
        "a pickle": (pickle.dumps({"weights": [1.0]}), "not a checkpoint, or truncated"),
        "cut in the header": (good[:200], "not a checkpoint, or truncated"),
        "cut": (good[:-1], "not a checkpoint, or truncated"),
        "flipped": (flipped(good, len(good) - 3), "damaged"),
        "version": (altered(good, version=2), "a version that is not 1: '2'"),
        "game": (altered(good, game="na\x1bno"), r"a policy for na\x1bno, not for mini"),
        "no such network": (altered(good, net="tiyn"), "network 'tiyn' (did you mean 'tiny'?)"),
        "another network": (altered(good, net="small"), "tensors are not this network's: 'small'"),
    }


def test_ten_broken_checkpoints(tmp_path: pathlib.Path) -> None:
    """The commands that take one have the same loader: they take turns."""
    path = tmp_path / "x.safetensors"
    calls: list[tuple[object, ...]] = [
        ("match", "random", path, "--game", "mini", "-n", 2, "-o", tmp_path / "g.jsonl"),
        ("deploy-gen", "--game", "mini", "-n", 1, "--from", f"net=target,{path}"),
        ("selfplay", "--game", "mini", "-n", 1, "--policy", path),
    ]
    for i, (data, said) in enumerate(broken_checkpoints().values()):
        path.write_bytes(data)
        name, *arguments = calls[i % 3]
        told(run(str(name), *arguments), str(name), 1, f"{path}: ", said)
        assert os.listdir(tmp_path) == [path.name]


def test_a_network_that_learned_by_other_rules(tmp_path: pathlib.Path) -> None:
    """It may play, but the user is told."""
    path = tmp_path / "x.safetensors"
    game = Game("nano")
    save_network(path, "plain", game, rules={**game.rules, "two_squares": 5})
    for name, *arguments in (
        ("match", "random", path, "-n", 2, "-o", tmp_path / "g.jsonl", "-q"),
        ("deploy-gen", "-n", 1, "--from", path),
        ("selfplay", "-n", 1, "--policy", path),
    ):
        done = run(str(name), *arguments, "--game", "nano")
        said = "learned by other rules: two_squares 5, and 3 in this game"
        assert (done.status, done.error_line) == (0, f"{name}: {path.name}: {path}: {said}")


def test_a_network_of_other_lakes_and_other_rules(tmp_path: pathlib.Path) -> None:
    """Both stand in one line."""
    path = tmp_path / "x.safetensors"
    save_network(path, "plain", Game("barrage"))
    played = ("--game", "barrage-blocked", "-n", 2, "-o", tmp_path / "g.jsonl", "-q")
    done = run("match", "random", path, *played, "--two-squares", 5, "--max-plies", 4)
    assert (done.status, done.error_line) == (
        0,
        f"match: {path.name}: {path}: learned barrage, with other lakes, and by other rules: "
        "max_plies 2000, and 4 in this game; two_squares 3, and 5 in this game",
    )


BROKEN_SETUPS = {
    "empty": (b"", ""),
    "blank": (b"\n\n", ""),
    "zeros": (bytes(500), "line 1: "),
    "text": (b"hello\n", "line 1: "),
    "counts": (
        SETUPS[:13] + b"CEDBCKLAAADA\n",
        "line 2: a setup of mini has 1 of type flag, not 0",
    ),
    "letter": (SETUPS[:-2] + b"?\n", "line 2: letter 12 of a setup is none of A to M: '?'"),
    "short": (SETUPS[:-2] + b"\n", "line 2: a setup of mini has 12 letters, not 11: 'MEDBCKLAAAD'"),
    "escape": (b"\x1b[31m" + SETUPS, r"line 1: a setup of mini has 12 letters, not 17: '\x1b[31m"),
    "latin 1": (b"\xff\xe4\n", "line 1: not UTF-8"),
    "endless": (b"A" * 5000, "line 1: a line of over 1000 bytes"),
}


def test_ten_broken_files_of_setups(tmp_path: pathlib.Path) -> None:
    """The commands that take one have the same reader: they take turns."""
    path = tmp_path / "x.setups"
    calls: list[tuple[object, ...]] = [
        ("selfplay", "--game", "mini", "-n", 1, "--setups", path),
        ("deploy-gen", "--game", "mini", "-n", 1, "--from", path),
        ("match", "random", "heuristic", "--game", "mini", "-n", 2, "-o", "-", "--setups", path),
    ]
    for i, (data, said) in enumerate(BROKEN_SETUPS.values()):
        path.write_bytes(data)
        name, *arguments = calls[i % 3]
        told(run(str(name), *arguments), str(name), 1, f"{path}: {said}")
        assert run("fenfs", "check", path).status == 3


@pytest.mark.parametrize("data", [SETUPS.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + SETUPS])
def test_line_ends_and_byte_order_marks_are_no_fault(data: bytes) -> None:
    call = ("selfplay", "--game", "mini", "-n", 2, "--seed", 1, "--setups", "-")
    assert run(*call, stdin=data).data == run(*call, stdin=SETUPS).data


HEAD, *LINES = GAMES.splitlines(keepends=True)
BROKEN_GAMES = {
    "zeros": (bytes(5000), "empty, or its first line is torn"),
    "a torn header": (HEAD[:50], "empty, or its first line is torn"),
    "text": (b"1. A4-A5\x1b\n", r"line 1: not a game record: '1. A4-A5\x1b'"),
    "no header": (b"".join(LINES), "line 1: not a game record"),
    "rubbish": (HEAD + b"}{\x1b\n" + LINES[0], r"line 2: not a game record: '}{\x1b'"),
    "version": (GAMES.replace(b'"version":1', b'"version":2'), "line 1: a version that is not 1"),
    "player": (
        GAMES.replace(b'"players":[0,1]', b'"players":[0,7]'),
        "that the header does not name",
    ),
    "depth": (b"[" * 10_000 + b"\n", "line 1: not a game record"),
    "number": (HEAD + b'{"number":' + b"9" * 5000 + b"}\n", "line 2: not a game record"),
    "blank line": (HEAD + b"\n" + LINES[0], "line 2: not a game record"),
}


def test_ten_broken_files_of_games(tmp_path: pathlib.Path) -> None:
    """Neither rated nor continued; and left as they are."""
    path = tmp_path / "g.jsonl"
    for data, said in BROKEN_GAMES.values():
        path.write_bytes(data)
        told(run("rate", path), "rate", 1, f"{path}: ", said)
    data, said = BROKEN_GAMES["text"]
    path.write_bytes(data)
    done = run("match", "random", "heuristic", "-n", 2, "--game", "mini", "-o", path, "--resume")
    told(done, "match", 1, f"{path}: {said}")
    assert path.read_bytes() == data


def test_a_file_of_another_kind(tmp_path: pathlib.Path) -> None:
    """Every reader is given what another one reads."""
    path = tmp_path / "x"
    for data in (
        (SAMPLES / "episodes.eps").read_bytes(),
        GAMES,
        (SAMPLES / "checkpoint.safetensors").read_bytes(),
    ):
        path.write_bytes(data)
        if data != GAMES:
            told(run("rate", path), "rate", 1, f"{path}: ")
        told(
            run("deploy-gen", "--game", "mini", "-n", 1, "--from", path), "deploy-gen", 1, f"{path}"
        )
        if data != GAMES:
            told(run("fenfs", "legal", path), "fenfs", 3, f"{path}: not a text file")
    for sub in (["convert", "--to", "games"], ["show"], ["check"]):  # it is a checkpoint now
        told(run("fenfs", *sub, path), "fenfs", 3, f"{path}: not a text file")


# --- streams --------------------------------------------------------------------------------------

FENFS = SAMPLES / "barrage.fenfs"
WRITERS: list[tuple[object, ...]] = [
    ("selfplay", "--game", "mini", "-n", 1),
    ("deploy-gen", "--game", "mini", "-n", 1),
    ("match", "random", "heuristic", "--game", "mini", "-n", 2, "-o", "-"),
    ("rate", "-q", SAMPLES / "games.jsonl", "--prior", 1),
    ("fenfs", "legal", FENFS),
    ("fenfs", "show", FENFS),
    ("fenfs", "convert", "--to", "games", SAMPLES / "gravon"),
]
READERS: list[tuple[object, ...]] = [
    ("selfplay", "--game", "mini", "-n", 1, "--setups", "-"),
    ("match", "random", "heuristic", "--game", "mini", "-n", 2, "-o", "-", "--setups", "-"),
    ("rate", "-"),
    ("fenfs", "legal"),
    ("fenfs", "check", "-"),
    ("train", "--out", "/nowhere/run"),
]


def in_shell(
    redirection: str, name: str, *arguments: object, line: Callable[..., list[str]] = command_line
) -> Done:
    words = line(name, *arguments)
    done = subprocess.run(
        ["bash", "-c", f'"$@" {redirection}', "bash", *words],
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr.decode())


@pytest.mark.parametrize("call", WRITERS, ids=lambda call: call[0])
def test_data_that_cannot_be_written(call: tuple[str, ...]) -> None:
    full = in_shell(">/dev/full", *call, line=forked_line).err.splitlines()
    assert f"{call[0]}: standard output: No space left on device" in full
    told(in_shell(">&-", *call), call[0], 1, "standard output: Bad file descriptor")
    gone = in_shell("| true; exit ${PIPESTATUS[0]}", *call, line=forked_line)
    assert gone.status in (0, 141) and gone.err == ""  # 0: it was faster


@pytest.mark.parametrize("call", READERS, ids=lambda call: call[0])
def test_a_closed_stdin(call: tuple[str, ...]) -> None:
    told(in_shell("<&-", *call), call[0], 1, "standard input: ", "Bad file descriptor")


EMPTY_NAMES: list[tuple[str, tuple[object, ...], str]] = [
    *(("fenfs", (word, ""), "'': cannot read: No such") for word in ("show", "list", "check")),
    ("fenfs", ("convert", "--to", "games", ""), "'': cannot read: No such"),
    ("fenfs", ("convert", "--to", "games", SAMPLES / "games.jsonl", "-o", ""), "'': No such"),
    ("fenfs", ("show", SAMPLES / "barrage.fenfs", "--explain", ""), "a player needs a SPEC"),
    ("rate", ("",), "'': No such"),
    ("match", ("random", "heuristic", "--game", "mini", "-n", 2, "-o", ""), "'': No such"),
    ("finetune", ("", "--out", "run"), "'': no such file or folder"),
    ("stratkit", ("status", ""), "'': no such folder"),
    ("train", ("", "--out", "run"), "'': No such"),
    ("train", ("--out", ""), "the run needs a name that is not empty"),
    ("train", ("--out", "run", "--config", ""), "'': No such"),
    ("train", ("--out", "run", "--weights", ""), "''"),
    ("train", ("--out", "run", "--tensorboard", ""), "'': no such folder"),
]


@pytest.mark.parametrize(("name", "arguments", "said"), EMPTY_NAMES)
def test_an_empty_name_is_shown(
    name: str, arguments: tuple[object, ...], said: str, tmp_path: pathlib.Path
) -> None:
    """Nor does an empty name stand for an option that is not given."""
    done = run(name, *arguments, cwd=tmp_path)
    assert done.status in (1, 2) and said in done.error_line and done.out == ""
    assert not os.listdir(tmp_path)


ABSENT = "nowhere/a"
OF_PLAYERS: list[tuple[str, tuple[object, ...]]] = [
    ("match", (ABSENT, "random", "--game", "mini", "-n", 2, "-o", "-")),
    ("match", ("random", f"name=x,{ABSENT}", "--game", "mini", "-n", 2, "-o", "-")),
    ("selfplay", ("--game", "mini", "--policy", ABSENT, "-n", 2)),
    ("selfplay", ("--game", "mini", "--opponent", ABSENT, "-n", 2)),
    ("exploit", ("kuhn", ABSENT)),
    ("analyse", (SAMPLES / "games.jsonl", "--by", ABSENT)),
    ("fenfs", ("show", SAMPLES / "barrage.fenfs", "--explain", ABSENT)),
    ("finetune", (ABSENT, "--out", "run")),
    ("stratkit", ("export", ABSENT, "-o", "a.onnx")),
]


@pytest.mark.parametrize(("name", "arguments"), OF_PLAYERS)
def test_a_path_that_is_not_there_is_no_misspelt_name(
    name: str, arguments: tuple[object, ...], tmp_path: pathlib.Path
) -> None:
    done = run(name, *arguments, cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert done.error_line == f"{name}: {ABSENT}: no such file or folder"
    assert not os.listdir(tmp_path)


def test_a_full_disk_leaves_whole_lines_or_nothing(tmp_path: pathlib.Path) -> None:
    """RLIMIT_FSIZE: the file is absent, or what is there of it is whole."""
    setups = tmp_path / "x.setups"
    done = run("deploy-gen", "--game", "mini", "-n", 900, "-o", setups, largest_file=5000)
    told(done, "deploy-gen", 1, f"{setups}: File too large")
    assert not setups.exists()
    games = tmp_path / "g.jsonl"
    call = ("match", "random", "heuristic", "-n", 60, "--game", "mini", "--seed", 1, "-o", games)
    done = run(*call, largest_file=5000)
    assert done.status == 1 and done.err.endswith(f"match: {games}: File too large\n")
    assert games.read_bytes().endswith(b"}\n")
    assert run(*call, "--resume").status == 0
    assert games.read_bytes().count(b"\n") == 61
    assert sorted(os.listdir(tmp_path)) == ["g.jsonl"]


# --- signals --------------------------------------------------------------------------------------


def unread(pipe: int) -> int:
    """Bytes that nobody has read yet."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


@pytest.mark.parametrize(
    ("number", "status", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
@pytest.mark.parametrize("call", [("rate", "-"), ("fenfs", "check", "-")], ids=lambda call: call[0])
def test_commands_that_wait_for_stdin(
    number: int, status: int, word: str, call: tuple[str, str]
) -> None:
    """The signal comes when the command has read the beginning of a line and waits for the rest."""
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command_line(*call), stdout=subprocess.DEVNULL, **pipes) as process:
        assert process.stdin and process.stderr
        process.stdin.write(b"{")
        process.stdin.flush()
        while unread(process.stdin.fileno()):
            assert process.poll() is None
            time.sleep(0.01)
        for _ in range(PATIENCE // 20):
            # One that comes after Python's last look at signals, and before read(2) waits, is not
            # heard until another one comes.
            process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
                break
        told = process.stderr.read().decode()
        assert (process.wait(PATIENCE), told) == (status, f"{call[0]}: {word}\n")


# --- results that could not be written ------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "option"),
    [
        *(("analyse --by barrage-easy", option) for option in ("-o", "--page")),
        *((f"fenfs {word}", "-o") for word in ("replay", "replay --explain barrage-easy", "show")),
        *(("fenfs stats", option) for option in ("--html", "--plot")),
        *(("rate", option) for option in ("--html", "--plot", "--curve")),
    ],
)
def test_where_results_go_is_known_before_the_work(
    command: str, option: str, tmp_path: pathlib.Path
) -> None:
    """Nothing is read, judged or printed for a result that has no place; nor does -f let it replace
    what it is made of, or another result."""
    name, *words = command.split()
    games = tmp_path / "games.svg"  # pictures have such names
    games.write_bytes((SAMPLES / "gravon" / "barrage.2003.9.2.7.gsn").read_bytes())
    there = tmp_path / "there.svg"
    there.write_text("dear")
    (tmp_path / "folder.svg").mkdir()
    for where, status, what, force in (
        (there, 1, "there.svg: exists already; -f overwrites it", []),
        (tmp_path / "none" / "x.svg", 1, "none/x.svg: No such file or directory", ["-f"]),
        (tmp_path / "folder.svg", 1, "folder.svg: Is a directory", ["-f"]),
        (games, 2, "cannot go where another file of this command is", ["-f"]),
        (tmp_path / "folder.svg" / ".." / "games.svg", 2, "another file of this command", ["-f"]),
    ):
        before = games.read_bytes()
        done = here(name, *words, *force, option, where, games)
        told(done, name, status, what)
        assert (done.data, games.read_bytes(), there.read_text()) == (b"", before, "dear")
    other = {"--page": "-o", "--plot": "--html", "--html": "--plot", "--curve": "--plot"}
    if option in other:
        done = here(name, *words, "-f", option, there, other[option], there, games)
        told(done, name, 2, "another file of this command")
        assert there.read_text() == "dear"
