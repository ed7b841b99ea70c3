"""The bench of two revisions by turns."""

from __future__ import annotations

import pathlib
import re

import pytest

import by_turns
from running import ROOT


def test_a_command_is_timed_in_both(tmp_path: pathlib.Path) -> None:
    revisions = [by_turns.Revision(name, ROOT, tmp_path / name) for name in ("a", "b")]
    heading, _, row = by_turns.table(revisions, 2, "match --help")
    assert heading == "| | a | b | ratio | rounds |"
    assert re.fullmatch(
        r"\| `match --help` \| [\d.]+ m?s \| [\d.]+ m?s \| \*\*[\d.]+\*\* \| .+, .+ \|", row
    )


def test_a_command_that_fails_is_told(tmp_path: pathlib.Path) -> None:
    revision = by_turns.Revision("a", ROOT, tmp_path / "a")
    with pytest.raises(SystemExit, match="status 2"):
        revision.seconds("match", "nobody")


def test_units() -> None:
    assert [by_turns.shown(x) for x in (2.345, 0.0123, 4.2e-5)] == ["2.35 s", "12.3 ms", "42 us"]
