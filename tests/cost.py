"""Measures what each test costs, and lists the dear ones, which `make quick` leaves out.

python tests/cost.py       runs all tests one after the other, and writes tests/dear.txt
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

LIST = pathlib.Path(__file__).parent / "dear.txt"
DEAR = 0.08  # seconds of CPU, the mean of a test's cases
HEAD = "# Tests of .08 s of CPU or more, with their children; `python tests/cost.py` writes this."


def dear_tests() -> set[str]:
    """The dear tests, as `tests/room/test_file.py::test_name`, whatever their cases."""
    return {line for line in LIST.read_text().splitlines() if not line.startswith("#")}


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

    def dear(self) -> list[str]:
        return sorted(n for n, used in self.seconds.items() if sum(used) / len(used) >= DEAR)


if __name__ == "__main__":
    os.chdir(LIST.parents[1])
    costs = Costs()
    status = pytest.main(["-q", *sys.argv[1:]], plugins=[costs])
    if status == 0 and not sys.argv[1:]:
        LIST.write_text("\n".join([HEAD, *costs.dear(), ""]))
    else:
        print("\n".join(costs.dear()))
    sys.exit(status)
