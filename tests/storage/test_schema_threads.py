"""Objects are made of JSON by several threads at once, as by the readers of pipes."""

from __future__ import annotations

import subprocess
import sys

from running import ROOT

# Each thread is stopped all the time; each round has a class that nobody has met.
PROGRAM = """
import dataclasses, sys, threading
sys.setswitchinterval(1e-6)
from stratkit.storage.schema import Count, Text, convert

fields = [(f"field{i}", "Count | None" if i % 2 else "Text | None", None) for i in range(20)]
for round in range(100):
    namespace = {"__module__": "__main__"}
    kind = dataclasses.make_dataclass(f"Kind{round}", fields, namespace=namespace)
    value = {name: 1 if i % 2 else "a" for i, (name, *_) in enumerate(fields)}
    wrong = []
    start = threading.Barrier(6)

    def read():
        start.wait()
        if dataclasses.asdict(convert(value, kind)) != value:
            wrong.append(round)

    threads = [threading.Thread(target=read) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
"""


def test_a_class_is_met_by_several_threads_at_once() -> None:
    """msgspec 0.22 looks at its fields then, and several at once end the interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
