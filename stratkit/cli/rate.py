"""The command `rate`: the strength of players from their games."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from stratkit.cli.messages import say, warn
from stratkit.cli.options import given_options, options_from
from stratkit.cli.tool import Tool, print_json, run
from stratkit.errors import InputError, error_context, printable
from stratkit.rating.options import TABLES, RateOptions
from stratkit.storage.streams import STDOUT, input_name, open_output, open_plain

if TYPE_CHECKING:
    from stratkit.rating.html import Games
    from stratkit.rating.luce import LuceReport
    from stratkit.rating.report import RatingReport
    from stratkit.rating.shares import SeatGames, Shares
    from stratkit.rating.tables import ReportTable

MAX_WARNINGS = 5


@click.command(cls=Tool)
@click.argument("games", metavar="GAMES...", nargs=-1, required=True)
@options_from(RateOptions)
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> None:
    """Rates players by their GAMES: maximum-likelihood Elo of the whole pool, with intervals.

    GAMES are game records, or results in PGN or CSV; `-` is standard input.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices are too small to share

    options = RateOptions(**values, given=given_options(ctx))
    options.check()
    if options.method == "luce":
        _print_luce(options)
        return
    if options.score is not None:
        _print_shares(options, options.score)
        return
    if options.shown is not None:
        from stratkit.convert.shown_games import check_read_twice

        check_read_twice(options.games)
    from stratkit.rating.runner import run_rating

    if options.check_games:
        from stratkit.convert.check import denied

        report, new_names = run_rating(options, warn, say, denied)
    else:
        report, new_names = run_rating(options, warn, say)
    for remark in report.remarks():
        say(f"rate: {remark}")
    for warning in report.warnings()[:MAX_WARNINGS]:
        warn(warning)
    _write_files(report, _viewer(report, options, new_names), options)
    with error_context(STDOUT, only=OSError):
        if options.as_json:
            print_json(report.json())
        elif options.as_csv:
            chosen = _tables(report, options.tables or TABLES[:1], options.versus)
            click.echo(chosen[0].csv(), nl=False)
        else:
            click.echo("\n\n".join(["; ".join(report.notes()), *_texts(report, options)]))


def _print_shares(options: RateOptions, how: str) -> None:
    """With --score: what one player among others scored."""
    from stratkit.rating.shares import Shares
    from stratkit.storage.identities import CommonRules

    shares = Shares(how, rules=CommonRules(options.mixed_rules, warn))
    _read(shares, options)
    _print(shares, options.as_json)


def _print_luce(options: RateOptions) -> None:
    """With --method luce: ratings for games of any number of players."""
    from stratkit.rating.luce import Choices, LuceReport, Tables, rate
    from stratkit.rating.shares import SQUARES
    from stratkit.storage.identities import CommonRules

    tables = Tables(options.score or SQUARES, rules=CommonRules(options.mixed_rules, warn))
    _read(tables, options)
    choices = Choices.of(list(tables.units.values()), len(tables.names))
    ratings = rate(choices, tables.names, options.prior, options.confidence)
    _print(LuceReport(tables, ratings), options.as_json)


def _read(games: SeatGames, options: RateOptions) -> None:
    """Reads all games. `InputError`: there are none."""
    from stratkit.rating.reading import warn_of_repeats

    for path in options.games:
        with open_plain(path) as stream:
            games.read(stream, input_name(path), lambda error: warn(str(error)))
    if not games.met:
        raise InputError("no games to rate", file=" ".join(options.games))
    warn_of_repeats(games.repeated, games.differing, warn)


def _print(report: Shares | LuceReport, as_json: bool) -> None:
    with error_context(STDOUT, only=OSError):
        if as_json:
            print_json(report.json())
        else:
            click.echo(report.text())


def _viewer(
    report: RatingReport, options: RateOptions, new_names: Mapping[str, str]
) -> Games | None:
    """With --games: games of the player that is asked for, or of the best that is no anchor."""
    if options.shown is None:
        return None
    from stratkit.convert.shown_games import GameChooser, games_to_show
    from stratkit.rating.html import Games

    anchors = {anchor.name for anchor in report.options.anchors}
    names = [standing.name for standing in report.standings]
    player = options.versus or next((name for name in names if name not in anchors), names[0])
    rated = {s.name: (s.lost, s.drawn, s.won) for s in report.standings}
    chooser = GameChooser(player, options.shown, new_names, rated, options.by_day)
    shown = games_to_show(chooser, options.games)
    if shown is None:
        warn(f"no game of {printable(player)} can be replayed: the page has none")
        return None
    return Games(*shown)


def _texts(report: RatingReport, options: RateOptions) -> Iterator[str]:
    """The tables as text, those of each group by themselves."""
    kinds, parts = options.tables or TABLES[:2], report.parts()
    if options.versus or len(parts) == 1:
        parts = [report]
    for group, part in enumerate(parts, start=1):
        if len(parts) > 1:
            yield f"group {group}"
        yield from (table.text() for table in _tables(part, kinds, options.versus))


def _tables(report: RatingReport, kinds: Sequence[str], versus: str | None) -> list[ReportTable]:
    from stratkit.rating import tables

    if versus:
        return [tables.versus(report, versus)]
    made = [getattr(tables, kind)(report) for kind in kinds]
    return [table for table in made if table is not None]


def _write_files(report: RatingReport, games: Games | None, options: RateOptions) -> None:
    """The page and the pictures that are asked for."""
    from stratkit.pictures import form_of
    from stratkit.rating import html, plot

    if options.html is not None:
        with open_output(options.html, options.force, binary=True) as stream:
            stream.write(html.page(report, games).encode())
    for path, draw in ((options.plot, plot.plot), (options.curve, plot.plot_curve)):
        if path is not None:
            with open_output(path, options.force, binary=True) as stream:
                draw(report, stream, form_of(path))


def main() -> NoReturn:
    """The command `rate`."""
    run(command, "rate")


if __name__ == "__main__":
    main()
