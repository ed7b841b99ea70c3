"""What `make quick` leaves out: tests that exist, and few enough that each room keeps some."""

from __future__ import annotations

import re

from cost import Costs, dear_tests, function_of, used
from running import ROOT, run, server


def test_the_list_names_tests_that_are_there() -> None:
    for file in {name.partition("::")[0] for name in dear_tests()}:
        text = (ROOT / file).read_text()
        defined = {f"{file}::{name}" for name in re.findall(r"(?m)^ *def (test_\w+)\(", text)}
        assert {n for n in dear_tests() if n.startswith(f"{file}::")} <= defined, file


def test_a_test_is_as_dear_as_its_cases_in_the_mean() -> None:
    costs = Costs()
    for name, seconds in (("a::b[1]", 0.3), ("a::b[2]", 0.0), ("a::c", 0.05)):
        costs.seconds[function_of(name)].append(seconds)
    assert costs.dear() == ["a::b"]


def test_what_commands_use_is_counted() -> None:
    server()
    before = used()
    for _ in range(5):  # the system counts in hundredths of a second
        assert run("exploit", "kuhn", "cfr:20").status == 0
    assert used() - before > 0.04  # of which this process needs a tenth
