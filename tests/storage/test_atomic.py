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
from stratkit.storage.atomic import atomic_file, holder, lock, remove_abandoned, unshare


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


HEX = "0123456789abcdef"


@pytest.mark.parametrize(
    "name",
    [
        ".tmp.notes",
        f".tmp.00000000.{HEX}",
        f".tmp.stratkit-00000000-12-{HEX}.old",
        f".tmp.stratkit-00000000-12-{HEX[:-1]}",
        f".tmp.stratkit-00000000--{HEX}",
        f"x.tmp.stratkit-00000000-12-{HEX}",
    ],
)
def test_a_file_of_the_users_stays_however_old_it_is(tmp_path: pathlib.Path, name: str) -> None:
    (tmp_path / name).write_text("x\n")
    os.utime(tmp_path / name, (0, 0))
    with atomic_file(tmp_path / "page.html") as stream:
        stream.write(b"whole")
    assert names(tmp_path) == sorted([name, "page.html"])


def test_what_may_be_another_machines_is_deleted_after_a_day(tmp_path: pathlib.Path) -> None:
    now = time.time()
    new, old, folder, link, pipe = (f".tmp.stratkit-00000000-{n}-{HEX}" for n in range(5))
    for name, age in ((new, 3600), (old, 90_000)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (now - age, now - age))
    (tmp_path / folder).mkdir()
    os.mkfifo(tmp_path / pipe)  # nobody writes to it: opening it must not wait
    for name in (folder, pipe):
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / link).symlink_to(folder)
    remove_abandoned(tmp_path)
    assert names(tmp_path) == [new, folder, link, pipe]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_temporary_file_of_another_user_stays(tmp_path: pathlib.Path) -> None:
    theirs = tmp_path / f".tmp.stratkit-00000000-1-{HEX}"
    theirs.touch()
    os.utime(theirs, (0, 0))
    os.chown(theirs, 12345, 12345)
    remove_abandoned(tmp_path)
    assert names(tmp_path) == [theirs.name]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_a_file_that_is_overwritten_keeps_its_mode(tmp_path: pathlib.Path, mode: int) -> None:
    path, other = tmp_path / "x", tmp_path / "other"
    path.write_bytes(b"old")
    path.chmod(mode)
    os.link(path, other)
    with atomic_file(path, overwrite=True) as stream:
        [half] = set(names(tmp_path)) - {"x", "other"}
        assert (tmp_path / half).stat().st_mode & 0o777 == mode  # before there is anything in it
        stream.write(b"new")
    assert path.stat().st_mode & 0o777 == mode and path.read_bytes() == b"new"
    assert other.stat().st_mode & 0o777 == mode and other.read_bytes() == b"old"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_file_that_root_overwrites_keeps_its_owner(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    os.chown(path, 12345, 12346)
    path.chmod(0o640)
    with atomic_file(path, overwrite=True) as stream:
        stream.write(b"new")
    found = path.stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (12345, 12346, 0o640)


def test_a_group_that_may_not_be_kept_gets_no_more_than_everybody(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(descriptor: int, owner: int, group: int) -> None:
        raise PermissionError

    path = tmp_path / "x"
    path.write_bytes(b"old")
    path.chmod(0o664)
    monkeypatch.setattr(os, "fchown", refused)
    with atomic_file(path, overwrite=True) as stream:
        stream.write(b"new")
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("target", ["there", "absent"])
def test_a_link_that_is_not_followed_is_replaced(tmp_path: pathlib.Path, target: str) -> None:
    (tmp_path / "there").write_bytes(b"theirs")
    (tmp_path / "link").symlink_to(target)
    with (
        pytest.raises(InputError, match="link: exists already"),
        atomic_file(tmp_path / "link", follow=False),
    ):
        pass
    with atomic_file(tmp_path / "link", overwrite=True, follow=False) as stream:
        stream.write(b"mine")
    assert names(tmp_path) == ["link", "there"]
    assert not (tmp_path / "link").is_symlink() and (tmp_path / "link").read_bytes() == b"mine"
    assert (tmp_path / "there").read_bytes() == b"theirs"


def test_what_is_written_in_place_is_no_others(tmp_path: pathlib.Path) -> None:
    theirs, hard, soft = (tmp_path / name for name in ("theirs", "hard", "soft"))
    theirs.write_bytes(b"1")
    os.link(theirs, hard)
    soft.symlink_to("theirs")
    for path in (hard, soft, tmp_path / "absent"):
        unshare(path)
    assert names(tmp_path) == ["hard", "theirs"]
    assert hard.read_bytes() == b"1" and theirs.stat().st_nlink == hard.stat().st_nlink == 1


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
