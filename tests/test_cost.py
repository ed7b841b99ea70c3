"""What `make quick` and `make test` leave out: tests that exist."""

from __future__ import annotations

import re

import pytest

from cost import Costs, function_of, listed, used
from running import ROOT, run, server


@pytest.mark.parametrize("kind", ["dear", "slow"])
def test_a_list_names_tests_that_are_there(kind: str) -> None:
    names = listed(kind)
    for file in {name.partition("::")[0] for name in names}:
        text = (ROOT / file).read_text()
        defined = {f"{file}::{name}" for name in re.findall(r"(?m)^ *def (test_\w+)\(", text)}
        assert {n for n in names if n.startswith(f"{file}::")} <= defined, file


def test_a_test_is_as_dear_as_its_cases_in_the_mean_and_as_slow_as_all_of_them() -> None:
    costs = Costs()
    cases = [("a::b[1]", 0.3), ("a::b[2]", 0.0), ("a::c", 0.05)]
    for name, seconds in [*cases, *((f"a::d[{i}]", 0.07) for i in range(60))]:
        costs.seconds[function_of(name)].append(seconds)
    assert costs.lists() == {"dear": ["a::b"], "slow": ["a::d"]}


def test_what_commands_use_is_counted() -> None:
    server()
    before = used()
    for _ in range(5):  # the system counts in hundredths of a second
        assert run("exploit", "kuhn", "cfr:20").status == 0
    assert used() - before > 0.04  # of which this process needs a tenth
