"""Files are whole or absent; one holder a lock."""

from __future__ import annotations

import fcntl
import os
import pathlib
import subprocess
import sys
import time

import pytest

from stratkit.errors import InputError
from stratkit.storage.atomic import atomic_file, holder, lock, remove_abandoned


def names(folder: pathlib.Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_the_file_appears_when_it_is_whole(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x"
    with atomic_file(path) as stream:
        stream.write(b"half")
        stream.flush()
        assert not path.exists()
        assert all(name.startswith(".tmp.") for name in names(tmp_path))
        stream.write(b" whole")
    assert path.read_bytes() == b"half whole"
    assert names(tmp_path) == ["x"]
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_nothing_is_left(tmp_path: pathlib.Path, error: type[BaseException]) -> None:
    with pytest.raises(error), atomic_file(tmp_path / "x") as stream:
        stream.write(b"half")
        raise error
    assert names(tmp_path) == []


def test_nothing_is_overwritten_unasked(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with pytest.raises(InputError, match="x: exists already"), atomic_file(path):
        pass
    with atomic_file(path, overwrite=True) as stream:
        stream.write(b"new")
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["x"]


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x"
    with pytest.raises(InputError, match="exists already"), atomic_file(path) as stream:
        stream.write(b"mine")
        path.write_bytes(b"theirs")
    assert path.read_bytes() == b"theirs"
    assert names(tmp_path) == ["x"]


def test_without_hard_links(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", no_links)
    with atomic_file(tmp_path / "x") as stream:
        stream.write(b"mine")
    assert names(tmp_path) == ["x"]
    with pytest.raises(InputError, match="exists already"), atomic_file(tmp_path / "y"):
        (tmp_path / "y").write_bytes(b"theirs")
    assert (tmp_path / "y").read_bytes() == b"theirs"


def test_a_link_is_followed(tmp_path: pathlib.Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real/x")
    with atomic_file(tmp_path / "link") as stream:
        stream.write(b"1")
    assert (tmp_path / "real/x").read_bytes() == b"1"
    assert (tmp_path / "link").is_symlink()


def test_devices_and_folders_are_not_replaced(tmp_path: pathlib.Path) -> None:
    for path in (pathlib.Path("/dev/null"), tmp_path):
        with pytest.raises(InputError, match="not a regular file"), atomic_file(path, True):
            pass
    assert pathlib.Path("/dev/null").is_char_device()


def test_errors_name_the_file_that_was_meant(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "absent" / "x"
    with pytest.raises(FileNotFoundError) as caught, atomic_file(path):
        pass
    assert caught.value.filename == str(path)
    assert ".tmp." not in str(caught.value)


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_durable_file_is_on_the_disk_with_its_name(
    tmp_path: pathlib.Path, synced: list[tuple[pathlib.Path, set[str]]], overwrite: bool
) -> None:
    """Its content before it appears, and then the folder: a name is the folder's content."""
    with atomic_file(tmp_path / "x", overwrite) as stream:
        stream.write(b"1")
    (file, before), (folder, after) = synced
    assert (file.parent, folder) == (tmp_path, tmp_path)
    assert before == {file.name} and after == {"x"}
    synced.clear()
    with atomic_file(tmp_path / "y", overwrite, durable=False) as stream:
        stream.write(b"1")
    assert not synced


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    start = "import resource, sys\nfrom stratkit.storage.atomic import *\npath = sys.argv[1]\n"
    command = [sys.executable, "-c", start + code, *map(str, arguments)]
    root = str(pathlib.Path(__file__).parents[2])
    env = {**os.environ, "PYTHONPATH": root}
    return subprocess.run(command, env=env, capture_output=True, text=True)


KILLED = (
    "import os, signal\n"
    "with atomic_file(path) as stream:\n"
    "    stream.write(b'half')\n"
    "    stream.flush()\n"
    "    os.kill(os.getpid(), signal.SIGKILL)\n"
)


def test_what_a_killed_process_left_is_deleted_by_the_next(tmp_path: pathlib.Path) -> None:
    run(KILLED, tmp_path / "x")
    [left] = names(tmp_path)
    assert left.startswith(".tmp.")
    with atomic_file(tmp_path / "y") as stream:  # a living writer's file stays, however old
        [living] = set(names(tmp_path)) - {left}
        os.utime(tmp_path / living, (0, 0))
        assert run("with atomic_file(path) as stream: pass", tmp_path / "x").returncode == 0
        assert names(tmp_path) == sorted([living, "x"])
        stream.write(b"whole")
    assert names(tmp_path) == ["x", "y"]
    assert (tmp_path / "y").read_bytes() == b"whole"


def test_what_may_be_another_machines_is_deleted_after_a_day(tmp_path: pathlib.Path) -> None:
    now = time.time()
    for name, age in ((".tmp.00000000.new", 3600), (".tmp.old", 90_000), ("x.tmp.", 90_000)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (now - age, now - age))
    (tmp_path / ".tmp.folder").mkdir()
    os.utime(tmp_path / ".tmp.folder", (0, 0))
    remove_abandoned(tmp_path)
    assert names(tmp_path) == [".tmp.00000000.new", ".tmp.folder", "x.tmp."]


def test_a_file_taken_for_abandoned_before_it_was_locked_is_made_again(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, taken = fcntl.flock, []

    def other_was_faster(descriptor: int, how: int) -> None:
        if not taken:
            taken.extend(names(tmp_path))
            (tmp_path / taken[0]).unlink()
        real(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", other_was_faster)
    with atomic_file(tmp_path / "x") as stream:
        assert names(tmp_path) not in ([], taken)
        stream.write(b"whole")
    assert names(tmp_path) == ["x"] and (tmp_path / "x").read_bytes() == b"whole"


@pytest.mark.parametrize("size", [100, 100_000])
def test_a_full_disk_leaves_nothing(tmp_path: pathlib.Path, size: int) -> None:
    # The small file fails in the last flush, the large one in a write.
    code = (
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))\n"
        "with atomic_file(path) as stream:\n"
        f"    stream.write(bytes({size}))\n"
    )
    full = run(code, tmp_path / "x")
    assert f"OSError: [Errno 27] File too large: '{tmp_path / 'x'}'" in full.stderr
    assert names(tmp_path) == []


def test_one_process_at_a_time_holds_a_lock(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "lock"
    code = "with lock(path): print('held')"
    with lock(path):
        second = run(code, path)
    assert f"InputError: {path}: in use by process {os.getpid()}\n" in second.stderr
    assert run(code, path).stdout == "held\n"


def test_a_killed_process_lets_its_lock_go(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "lock"
    run("import os, signal\nwith lock(path): os.kill(os.getpid(), signal.SIGKILL)", path)
    with lock(path):
        pass


def test_a_look_at_the_holder_refuses_nobody(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(looking, fcntl.LOCK_SH)
    monkeypatch.setattr("time.sleep", lambda _: os.close(looking))  # meanwhile it has looked
    with lock(tmp_path / "lock"):
        assert holder(tmp_path / "lock") == f"process {os.getpid()}"
