"""The engine's fingerprint is what it was, and it notices what it should."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fingerprint import fingerprint
from running import ROOT

# Whoever changes the rules, the observation or the random numbers writes the new number here.
EXPECTED = "a339f8d672df48d7"


def test_fingerprint() -> None:
    done = subprocess.run(
        [sys.executable, "cengine/bench/fingerprint.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == EXPECTED + "\n"


@pytest.mark.parametrize("rules", [{"two_squares": 4}, {"more_squares": 0}])
def test_both_repetition_rules_are_part_of_it(rules: dict[str, int]) -> None:
    """The games come upon them; the draw limits are in every observation anyway."""
    assert fingerprint(rules) != EXPECTED
