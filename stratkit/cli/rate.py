"""`rate`: the strength of players from their games."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, NoReturn

import click

from stratkit.cli.common import STDOUT, Tool, input_name, open_input, open_output, run, warn
from stratkit.errors import UsageError, named, nearest

if TYPE_CHECKING:
    from stratkit.rating.pool import Pool
    from stratkit.rating.report import Report


@click.command(cls=Tool)
@click.argument("games", metavar="GAMES.jsonl...", nargs=-1, required=True)
@click.option(
    "--anchor", metavar="NAME[=ELO]", help="Give this player the rating ELO (default: 0)."
)
@click.option(
    "--prior",
    metavar="GAMES",
    type=click.IntRange(0, 10**6),
    help="Add so many draws to each two players who met (default: 0, but 1 where ratings would be"
    " infinite).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option("--plot", metavar="FILE.png", help="Draw the ratings into FILE.png.")
@click.option("--curve", metavar="FILE.png", help="Draw checkpoints' ratings over their steps.")
@click.option("-f", "--force", is_flag=True, help="Overwrite an existing FILE.png.")
def command(
    games: tuple[str, ...],
    anchor: str | None,
    prior: int | None,
    as_json: bool,
    plot: str | None,
    curve: str | None,
    force: bool,
) -> None:
    """Rates players by their GAMES: maximum-likelihood Elo of the whole pool, with 95 % intervals.

    `-` is standard input.
    """
    if "-" in (plot, curve):
        raise UsageError("a picture cannot go where the table goes: name a file")
    _check_pictures(games, [path for path in (plot, curve) if path is not None])
    report = _report(games, anchor, prior)
    _draw(report, plot, curve, force)
    with named(STDOUT):
        click.echo(json.dumps(report.json(), indent=1) if as_json else report.text())


def _check_pictures(games: tuple[str, ...], pictures: list[str]) -> None:
    """-f overwrites files, but not those that this very command reads or writes."""
    met = {os.path.realpath(path) for path in games if path != "-"}
    for path in pictures:
        real = os.path.realpath(path)
        if real in met:
            raise UsageError("a picture cannot go where another file is", text=path)
        met.add(real)


def _report(games: tuple[str, ...], anchor: str | None, prior: int | None) -> Report:
    from stratkit.rating.elo import rate, unbeaten
    from stratkit.rating.pool import PoolReader
    from stratkit.rating.report import report

    reader = PoolReader()
    for path in games:
        with open_input(path) as stream:
            reader.read(stream, input_name(path))
    pool = reader.finish()
    if reader.repeated:
        warn(f"{reader.repeated} games were met again and counted once")
    name, elo = _anchor(anchor, pool)
    if prior is None:
        why = unbeaten(pool)
        prior = 1 if why else 0
        if why:
            warn(f"{why}: --prior 1, one draw more, keeps the ratings finite")
    index = None if name is None else pool.names.index(name)
    return report(pool, rate(pool, index, elo, prior), reader.game, name, prior)


def _draw(report: Report, plot: str | None, curve: str | None, force: bool) -> None:
    """The pictures that are asked for."""
    from stratkit.rating import plot as plots

    for path, draw in ((plot, plots.plot), (curve, plots.plot_curve)):
        if path is not None:
            with open_output(path, force, binary=True) as stream:
                draw(report, stream)


def _anchor(text: str | None, pool: Pool) -> tuple[str | None, float]:
    """NAME[=ELO] as a name of the pool and a rating."""
    if text is None or text in pool.names:
        return text, 0.0
    name, _, number = text.rpartition("=")
    if name not in pool.names:
        wrong = name or text
        raise UsageError(f"--anchor: no player is called {wrong!r}{nearest(wrong, pool.names)}")
    try:
        elo = float(number)
    except ValueError:
        elo = math.nan
    if not math.isfinite(elo):
        raise UsageError("--anchor: not a rating", text=number)
    return name, elo


def main() -> NoReturn:
    """The command `rate`."""
    run(command, "rate")
