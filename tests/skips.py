"""Skips that nobody has listed fail the suite, where STRATKIT_SKIPS names the list (.ci/run).

A line of the list is a regular expression for the reason of a skip; one that begins with # says why
it is there. Without the variable every skip is allowed, as `make test` promises.
"""

from __future__ import annotations

import os
import re

import pytest


def _unlisted(config: pytest.Config) -> list[str]:
    """Reasons of skips that the list does not have."""
    path, reporter = (
        os.environ.get("STRATKIT_SKIPS"),
        config.pluginmanager.get_plugin("terminalreporter"),
    )
    if not path or not reporter or hasattr(config, "workerinput"):
        return []
    with open(path) as file:
        allowed = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    reasons = {
        str(report.longrepr[2]).removeprefix("Skipped: ")
        for report in reporter.stats.get("skipped", [])
    }
    return sorted(r for r in reasons if not any(re.match(pattern, r) for pattern in allowed))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.exitstatus == pytest.ExitCode.OK and _unlisted(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The closing line of pytest stays the last one."""
    for reason in _unlisted(terminalreporter.config):
        path = os.environ["STRATKIT_SKIPS"]
        terminalreporter.line(f"ERROR: skipped, and not on the list {path}: {reason}", red=True)
