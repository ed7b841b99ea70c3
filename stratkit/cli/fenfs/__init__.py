"""`fenfs`: positions and game logs of Stratego as text: convert, show, check, count."""

from __future__ import annotations

from typing import NoReturn

import click

from stratkit.cli.fenfs.check import check
from stratkit.cli.fenfs.convert import convert
from stratkit.cli.fenfs.legal import legal
from stratkit.cli.fenfs.list import list_games
from stratkit.cli.fenfs.replay import replay
from stratkit.cli.fenfs.show import show
from stratkit.cli.fenfs.stats import stats
from stratkit.cli.tool import ToolGroup, run


@click.group("fenfs", cls=ToolGroup)
def command() -> None:
    """List, show, check and convert Stratego games, positions (FENfS) and setups."""


for _sub in (list_games, show, replay, convert, check, stats, legal):
    command.add_command(_sub)


def main() -> NoReturn:
    """The command `fenfs`."""
    run(command, "fenfs")
