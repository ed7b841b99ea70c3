"""`rate`: the strength of players from their games."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from stratkit.cli.messages import say, warn
from stratkit.cli.options import Number, OneOf
from stratkit.cli.tool import Tool, run
from stratkit.errors import InputError, UsageError, named, nearest, printable
from stratkit.storage.streams import STDOUT, input_name, open_input, open_output

if TYPE_CHECKING:
    from stratkit.rating.html import Games
    from stratkit.rating.pool import Pool
    from stratkit.rating.report import Given, How, Report
    from stratkit.rating.tables import Table

TABLES = ("ratings", "meetings", "superiority")
ONLY_ML = ("prior", "first_move", "draws", "intervals", "confidence")
MOST_WARNINGS = 5
MOST_ELO, LEAST_SIGMA = 4000.0, 0.01  # farther apart than games could place anybody


class FitOr(click.ParamType[float | None]):
    """`fit`, which is None, or a number within limits."""

    name = "number"

    def __init__(self, low: float, below: float) -> None:
        self.low, self.below = low, below

    def convert(self, value: Any, param: object, ctx: click.Context | None) -> float | None:
        try:
            number = None if value == "fit" else float(value)
        except ValueError:
            number = math.nan
        if number is not None and not self.low <= number < self.below:
            self.fail(f"{value!r} is neither fit nor a number from {self.low:g} to {self.below:g}")
        return number


@dataclass(frozen=True)
class Choice:
    """Which games are rated."""

    include: tuple[str, ...]
    exclude: tuple[str, ...]
    rename: tuple[str, ...]
    least_games: int


@click.command(cls=Tool)
@click.argument("games", metavar="GAMES.jsonl...", nargs=-1, required=True)
@click.option(
    "--anchor",
    "anchors",
    multiple=True,
    metavar="NAME[=ELO][~SIGMA]",
    help="Give this player the rating ELO (default: 0), exactly or give or take SIGMA.",
)
@click.option(
    "--intervals",
    type=OneOf(["anchors", "mean"]),
    help="Of differences from the anchors (default, if there are any) or from the mean.",
)
@click.option(
    "--confidence",
    type=Number(0, 1, min_open=True, max_open=True),
    default=0.95,
    metavar="P",
    help="Of the intervals (default: .95).",
)
@click.option(
    "--prior",
    metavar="GAMES",
    type=click.IntRange(0, 10**6),
    default=0,
    help="Let everyone have so many draws with one player made up, so that ratings are finite.",
)
@click.option(
    "--first-move",
    metavar="ELO|fit",
    type=FitOr(-1000, 1000),
    default="0",
    help="What the first move is worth (default: 0).",
)
@click.option(
    "--draws",
    metavar="SHARE|fit",
    type=FitOr(0, 1),
    default="0",
    help="How often equals draw (default: 0, a draw is half a win).",
)
@click.option("--method", type=OneOf(["ml", "elo"]), default="ml", help="Default: ml.")
@click.option(
    "--k",
    type=Number(0, 1000, min_open=True),
    default=1.0,
    metavar="K",
    help="The K of --method elo (default: 1).",
)
@click.option("--include", multiple=True, metavar="NAME", help="Rate these only, e.g. 'run@*'.")
@click.option("--exclude", multiple=True, metavar="NAME", help="Leave these players out.")
@click.option("--rename", multiple=True, metavar="OLD=NEW", help="Call, or count, OLD as NEW.")
@click.option(
    "--least-games",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Leave out who has fewer games.",
)
@click.option(
    "--table",
    "kinds",
    multiple=True,
    type=OneOf(TABLES),
    help=f"Print this table: {', '.join(TABLES)} (default: the first two).",
)
@click.option("--versus", metavar="NAME", help="Print this player's results against all others.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option("--csv", "as_csv", is_flag=True, help="Print one table as CSV.")
@click.option("--html", metavar="FILE.html", help="Write tables and pictures into a page.")
@click.option(
    "--games",
    "shown",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Let N games of one player be stepped through in the page, its losses first.",
)
@click.option("--plot", metavar="FILE.png", help="Draw the ratings into FILE.png.")
@click.option("--curve", metavar="FILE.png", help="Draw checkpoints' ratings over their steps.")
@click.option("-f", "--force", is_flag=True, help="Overwrite existing files.")
@click.pass_context
def command(
    ctx: click.Context,
    games: tuple[str, ...],
    anchors: tuple[str, ...],
    intervals: str | None,
    confidence: float,
    prior: int,
    first_move: float | None,
    draws: float | None,
    method: str,
    k: float,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    rename: tuple[str, ...],
    least_games: int,
    kinds: tuple[str, ...],
    versus: str | None,
    as_json: bool,
    as_csv: bool,
    html: str | None,
    shown: int | None,
    plot: str | None,
    curve: str | None,
    force: bool,
) -> None:
    """Rates players by their GAMES: maximum-likelihood Elo of the whole pool, with intervals.

    `-` is standard input.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices are too small to share
    _check_options(ctx, method, kinds, versus, as_json, as_csv)
    _check_files(games, [path for path in (html, plot, curve) if path is not None])
    if shown is not None:
        _check_shown(games, html)
    pool, game, new_names = _read(games, Choice(include, exclude, rename, least_games))
    from stratkit.rating.report import How

    how = How(
        game,
        _anchors(anchors, pool),
        intervals == "mean" or not anchors,
        prior,
        k if method == "elo" else None,
        confidence,
    )
    if versus is not None and versus not in pool.names:
        raise UsageError(f"--versus: no player is called {versus!r}{nearest(versus, pool.names)}")
    report = _report(pool, how, first_move, draws)
    for warning in report.warnings()[:MOST_WARNINGS]:
        warn(warning)
    viewer = shown and _viewer(report, games, versus, shown, new_names)
    _write_files(report, viewer or None, html, plot, curve, force)
    with named(STDOUT):
        if as_json:
            click.echo(json.dumps(report.json(), indent=1))
        elif as_csv:
            click.echo(_tables(report, kinds or TABLES[:1], versus)[0].csv(), nl=False)
        else:
            chosen = _tables(report, kinds or TABLES[:2], versus)
            head = "; ".join(report.notes())
            click.echo("\n\n".join([head, *(table.text() for table in chosen)]))


def _check_options(
    ctx: click.Context,
    method: str,
    kinds: Sequence[str],
    versus: str | None,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Options that do not go together."""
    for name in ONLY_ML if method == "elo" else ("k",):
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = "--" + name.replace("_", "-")
            other = "ml" if method == "elo" else "elo"
            raise UsageError(f"{option} belongs to --method {other}")
    if ctx.params["intervals"] == "anchors" and not ctx.params["anchors"]:
        raise UsageError("--intervals anchors needs an --anchor")
    if as_json and (as_csv or kinds or versus):
        raise UsageError("--json prints everything: --csv, --table and --versus do not go with it")
    if versus and kinds:
        raise UsageError("--versus prints a table of its own: leave --table out")
    if as_csv and len(kinds) > 1:
        raise UsageError("--csv prints one table: give --table once")
    if method == "elo" and "superiority" in kinds:
        raise UsageError("--method elo does not know who is likely stronger: --method ml does")


def _check_files(games: tuple[str, ...], files: list[str]) -> None:
    """Every input and output must be another file; -f overwrites files, but not these."""
    if games.count("-") > 1:
        raise UsageError("standard input can be read only once: give - once")
    if "-" in files:
        raise UsageError("a picture or page cannot go where the tables go: name a file")
    met = {os.path.realpath(path) for path in games if path != "-"}
    for path in files:
        real = os.path.realpath(path)
        if real in met:
            raise UsageError("a picture or page cannot go where another file is", text=path)
        met.add(real)


def _check_shown(games: tuple[str, ...], html: str | None) -> None:
    from stratkit.convert.shown_games import check_read_twice

    if html is None:
        raise UsageError("--games belongs to --html")
    check_read_twice(games)


def _viewer(
    report: Report, paths: Sequence[str], versus: str | None, most: int, new_names: dict[str, str]
) -> Games | None:
    """Games of the player that is asked for, or of the best that is no anchor."""
    from stratkit.convert.shown_games import GameChooser, games_to_show

    anchors = {anchor.name for anchor in report.how.anchors}
    names = [standing.name for standing in report.standings]
    player = versus or next((name for name in names if name not in anchors), names[0])
    found = games_to_show(GameChooser(player, most, new_names, report.standings), paths)
    if found is None:
        warn(f"no game of {printable(player)} can be replayed: the page has none")
    return found


def _read(games: Sequence[str], choice: Choice) -> tuple[Pool, str, dict[str, str]]:
    """The chosen games, what game they are of, and who is called otherwise now."""
    from stratkit.rating.reading import PoolReader
    from stratkit.rating.selection import new_names, renamed, selected

    reader = PoolReader()
    for path in games:
        with open_input(path) as stream:
            reader.read(stream, input_name(path))
    pool = reader.finish()
    if reader.repeated:
        warn(f"{reader.repeated} games were met again and counted once")
    if reader.adjudicated:
        warn(f"{reader.adjudicated} games were not played out but adjudicated")
    names = new_names(pool, choice.rename)
    if choice.rename:
        pool, itself = renamed(pool, choice.rename)
        if itself:
            warn(f"{itself} games between players who are one now were left out")
    pool, too_few = selected(pool, choice.include, choice.exclude, choice.least_games)
    if too_few:
        say(f"left out, with fewer than {choice.least_games} games: {', '.join(too_few)}")
    if not len(pool):
        raise InputError("no games are left to rate")
    return pool, reader.game, names


def _report(pool: Pool, how: How, first_move: float | None, draws: float | None) -> Report:
    from stratkit.rating.bootstrap import Ratings, rate
    from stratkit.rating.elo import sequential
    from stratkit.rating.fit import Anchor, Model
    from stratkit.rating.groups import check_linked
    from stratkit.rating.report import report

    anchors = [Anchor(pool.names.index(a.name), a.elo, a.sigma or 0) for a in how.anchors]
    if how.k is None:
        model = Model(first_move, draws, anchors, how.prior)
        return report(pool, rate(pool, model, how.confidence, how.to_mean), how)
    if len(anchors) > 1 or any(anchor.sigma for anchor in anchors):
        raise UsageError("--method elo takes one --anchor, without SIGMA")
    check_linked(pool)
    elo = sequential(pool, how.k)
    for anchor in anchors:
        elo += anchor.elo - elo[anchor.player]
    return report(pool, Ratings(elo), how)


def _tables(report: Report, kinds: Sequence[str], versus: str | None) -> list[Table]:
    from stratkit.rating import tables

    make: dict[str, Callable[[Report], Table | None]] = {
        "ratings": tables.ratings,
        "meetings": tables.meetings,
        "superiority": tables.superiority,
    }
    if versus:
        return [tables.versus(report, versus)]
    made = [make[kind](report) for kind in kinds]
    return [table for table in made if table is not None]


def _write_files(
    report: Report,
    games: Games | None,
    html: str | None,
    plot: str | None,
    curve: str | None,
    force: bool,
) -> None:
    """The page and the pictures that are asked for."""

    def draw_page(stream: IO[bytes]) -> None:
        from stratkit.rating.html import page

        stream.write(page(report, games).encode())

    def draw(name: str) -> Callable[[IO[bytes]], None]:
        from stratkit.rating import plot as plots

        return lambda stream: getattr(plots, name)(report, stream)

    for path, write in ((html, draw_page), (plot, draw("plot")), (curve, draw("plot_curve"))):
        if path is not None:
            with open_output(path, force, binary=True) as stream:
                write(stream)


def _anchors(texts: Sequence[str], pool: Pool) -> list[Given]:
    anchors = [_anchor(text, pool) for text in texts]
    for i, anchor in enumerate(anchors):
        if any(anchor.name == other.name for other in anchors[:i]):
            raise UsageError(f"--anchor: {anchor.name!r} is given twice")
    return anchors


def _anchor(text: str, pool: Pool) -> Given:
    """NAME[=ELO][~SIGMA]; a name may have these characters, too."""
    from stratkit.rating.report import Given

    rest, tilde, sigma = text.rpartition("~")
    for whole, spread in ((text, None), (rest, sigma))[: 1 + bool(tilde)]:
        name, _, elo = whole.rpartition("=")
        for known, value in ((whole, "0"), (name, elo)):
            if known in pool.names and not (spread is None and "~" in value):
                rating = _number(value, "rating")
                return Given(known, rating, None if spread is None else _number(spread, "SIGMA"))
    wrong = (rest or text).partition("=")[0]
    raise UsageError(f"--anchor: no player is called {wrong!r}{nearest(wrong, pool.names)}")


def _number(text: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    low = LEAST_SIGMA if what == "SIGMA" else -MOST_ELO
    if not low <= number <= MOST_ELO:
        raise UsageError(f"--anchor: not a {what} from {low:g} to {MOST_ELO:g}", text=text)
    return number


def main() -> NoReturn:
    """The command `rate`."""
    run(command, "rate")


if __name__ == "__main__":
    main()
