"""The command `fenfs` in the tests' own process, which is much faster than one of its own."""

from __future__ import annotations

from running import ROOT, here

SAMPLES = ROOT / "formats" / "samples"
LOGS = SAMPLES / "gravon"


def fenfs(*arguments: object) -> tuple[int, str, list[str]]:
    """Status, stdout, lines of stderr."""
    done = here("fenfs", *arguments)
    return done.status, done.out, done.err.splitlines()
