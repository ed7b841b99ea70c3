from __future__ import annotations

import collections
import os
import pathlib
import signal
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from cost import function_of, listed
from skips import pytest_sessionfinish, pytest_terminal_summary
from stratkit.threads import use_threads

__all__ = ["pytest_sessionfinish", "pytest_terminal_summary"]

# A machine may have other things to do: how long an example takes, or is drawn, is not its fault.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# Without compiled files each of some hundred processes would compile all of stratkit, and each
# worker all tests.
os.environ["PYTHONDONTWRITEBYTECODE"], sys.dont_write_bytecode = "", False

# The suite shares its cores among its processes; threads of each would only disturb the others.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Whoever starts the suite in the background may have it ignore SIGINT, or SIGHUP by `nohup`, and
# what ignores a signal passes that on: the commands that the tests interrupt would never notice.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = pathlib.Path(__file__).parents[2] / "shared"


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """A command that ran in this process has set how many threads search; no test inherits that."""
    yield
    use_threads(1)


@pytest.fixture
def shared() -> pathlib.Path:
    """The folder of reference data beside the repository; without it the test is skipped."""
    if not SHARED.is_dir():
        pytest.skip(f"the reference data is not at {SHARED}")
    return SHARED


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[pathlib.Path, set[str]]]:
    """Every fsync of this process: what was synced, and the names then in its folder."""
    found: list[tuple[pathlib.Path, set[str]]] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        path = pathlib.Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)
        found.append((path, set(os.listdir(path if path.is_dir() else path.parent))))

    monkeypatch.setattr(os, "fsync", noted)
    return found


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are cores: some tests wait for processes and clocks."""
    return len(os.sched_getaffinity(0)) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of both lists. Files with much to do come first: one that began last would
    leave a core with nothing to do. (xdist needs --no-loadscope-reorder for that.)"""
    weight: collections.Counter[pathlib.Path] = collections.Counter()
    lists = {"dear": (listed("dear"), 1), "slow": (listed("slow"), 100)}
    for item in items:
        for kind, (names, more) in lists.items():
            if function_of(item.nodeid) in names:
                item.add_marker(kind)
                weight[item.path] += more
    items.sort(key=lambda item: -weight[item.path])
