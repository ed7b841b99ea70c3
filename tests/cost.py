"""Measures what each test costs, and lists the dear ones, which `make quick` leaves out, and the
slow ones, which `make test` leaves to `make test-slow`.

python tests/cost.py       runs all tests one after the other, and writes dear.txt and slow.txt
"""

from __future__ import annotations

import collections
import contextlib
import os
import pathlib
import resource
import sys
from collections.abc import Iterator

import pytest

FOLDER = pathlib.Path(__file__).parent
DEAR = 0.08  # seconds of CPU, with those of children: the mean of a test's cases
SLOW = 3.0  # of all its cases together
HEADS = {
    "dear": "# Tests of .08 s of CPU or more a case; `python tests/cost.py` writes this.",
    "slow": "# Tests of 3 s of CPU or more in all; `python tests/cost.py` writes this.",
}


def listed(kind: str) -> set[str]:
    """The tests of a list, as `tests/room/test_file.py::test_name`, whatever their cases."""
    lines = (FOLDER / f"{kind}.txt").read_text().splitlines()
    return {line for line in lines if not line.startswith("#")}


def function_of(test: str) -> str:
    """The test's name without its case."""
    return test.partition("[")[0]


def used() -> float:
    """CPU seconds of this process, of its children, and of theirs that have ended: those of
    tests/forked.py are the commands."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ended = sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, both))
    ticks = 0
    for child in pathlib.Path("/proc/self/task").glob("*/children"):
        for pid in child.read_text().split():
            with contextlib.suppress(OSError):  # it has ended
                stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
                ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
    return ended + ticks / os.sysconf("SC_CLK_TCK")


class Costs:
    """A plugin that adds up what each test uses."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = collections.defaultdict(list)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = used()
        result = yield
        self.seconds[function_of(item.nodeid)].append(used() - before)
        return result

    def lists(self) -> dict[str, list[str]]:
        """The tests of each list, sorted."""
        seconds = sorted(self.seconds.items())
        return {
            "dear": [name for name, used in seconds if sum(used) / len(used) >= DEAR],
            "slow": [name for name, used in seconds if sum(used) >= SLOW],
        }


if __name__ == "__main__":
    os.chdir(FOLDER.parent)
    costs = Costs()
    status = pytest.main(["-q", *sys.argv[1:]], plugins=[costs])
    for kind, names in costs.lists().items():
        text = "\n".join([HEADS[kind], *names, ""])
        if status == 0 and not sys.argv[1:]:
            (FOLDER / f"{kind}.txt").write_text(text)
        else:
            print(text)
    sys.exit(status)
