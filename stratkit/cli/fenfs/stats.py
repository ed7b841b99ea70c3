"""`fenfs stats`: figures about games and setups."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from stratkit.cli.fenfs.options import jobs_option, selecting
from stratkit.cli.fenfs.tally import Tally
from stratkit.cli.options import option
from stratkit.cli.tool import Tool
from stratkit.convert.games import Chunk, games, in_order
from stratkit.convert.raw import POSITION, SETUP, Raw, chunks
from stratkit.errors import InputError, UsageError, error_context, printable
from stratkit.storage.streams import STDOUT, open_output

if TYPE_CHECKING:
    from stratkit.notation.select import Selection
    from stratkit.notation.setups import Setup
    from stratkit.notation.statistics import Figures

VERSION = 1  # of --json


@click.command(cls=Tool)
@selecting
@option("--versus INPUT", "Compare with INPUT, in a second column.", multiple=True)
@option("--maps", "Print how often each piece stands on each square.")
@option("--json", "Print JSON instead of tables.", name="as_json")
@option("--plot FILE", "Draw the heat map of each piece into FILE.png or FILE.svg.")
@option("-f, --force", "Overwrite an existing FILE.")
@jobs_option
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
def stats(
    versus: tuple[str, ...],
    maps: bool,
    as_json: bool,
    plot: str | None,
    force: bool,
    jobs: int,
    inputs: tuple[str, ...],
    **chosen: Any,
) -> int:
    """Count games and setups.

    INPUT is a .gsn or .xml log, a file of game records, episodes, setups or FENfS, a zip or folder
    of such files, or - (stdin). Of FENfS only starts of games count, for their setups.
    """
    from stratkit.notation.select import Selection

    if plot == "-":
        raise UsageError("a picture cannot go where the table goes: name a file")
    if "-" in inputs and "-" in versus:
        raise UsageError("standard input cannot be both sides of a comparison")
    tally = Tally()
    task = functools.partial(stats_chunk, selection=Selection(**chosen))
    columns = [
        (_title(paths), _figures(paths, task, jobs, tally)) for paths in (inputs, versus) if paths
    ]
    if tally.faults and not tally.opened:
        return tally.status  # there is nothing to tell of
    with error_context(STDOUT, only=OSError):
        click.echo(_json(columns) if as_json else _text(columns, maps))
    if plot is not None:  # afterwards: what cannot be drawn can be read
        _draw(columns, plot, force)
    return tally.status


def _title(paths: Sequence[str]) -> str:
    return printable(paths[0]) + (f" + {len(paths) - 1}" if len(paths) > 1 else "")


def _figures(
    paths: Sequence[str],
    task: Callable[[Chunk], tuple[Figures, list[InputError], bool]],
    jobs: int,
    tally: Tally,
) -> Figures:
    from stratkit.notation.statistics import Figures

    total = Figures()
    with in_order(task, chunks(paths), jobs) as answers:
        for figures, faults, opened in answers:
            for fault in faults:
                tally.fault(fault)
            total.merge(figures)
            tally.opened = tally.opened or opened
    return total


def stats_chunk(
    chunk: list[Raw | InputError], selection: Selection
) -> tuple[Figures, list[InputError], bool]:
    """The figures of the sound items of a chunk, the faults of the others, and whether there is
    more in it than what could not be read.

    Games that only have survivable faults count.
    """
    from stratkit.notation.fenfs import start_setups
    from stratkit.notation.statistics import Figures

    figures = Figures()
    faults: list[InputError] = []
    raws: list[Raw] = []
    setups: list[Setup] = []
    for item in chunk:
        if isinstance(item, InputError):
            faults.append(item)
        elif item.form == SETUP:
            setups.append(item.data)
        elif item.form == POSITION:
            try:
                setups += start_setups(item.data) if item.data.ply == 0 else []
            except InputError as error:
                error.file = item.name
                faults.append(error)
        else:
            raws.append(item)
    logs = []
    for game in games(raws, selection):
        if isinstance(game, InputError):
            faults.append(game)
        elif game is not None:
            faults += game.played.faults
            if not game.played.fault:
                logs.append(game.log)
    figures.add_logs(logs)
    figures.add_setups([setup for setup in setups if selection.takes_setup(setup)])
    return figures, faults, any(isinstance(item, Raw) for item in chunk)


def _json(columns: list[tuple[str, Figures]]) -> str:
    named = ("inputs", "versus")
    values = {key: figures.json() for key, (_, figures) in zip(named, columns, strict=False)}
    import json

    return json.dumps({"stratkit": "stats", "version": VERSION, **values}, indent=1)


def _draw(columns: list[tuple[str, Figures]], path: str, force: bool) -> None:
    from stratkit.notation.heat_maps import plot
    from stratkit.pictures import form_of

    common = [name for name in columns[0][1].setups if all(name in f.setups for _, f in columns)]
    if not common:
        raise InputError("no setups to draw: the inputs have none, or none of one variant")
    if len(common) > 1:
        what = f"setups of {', '.join(common)}: choose one with --variant for a picture"
        raise InputError(what)
    with open_output(path, force, binary=True) as out:
        drawn = [(title, figures.setups[common[0]]) for title, figures in columns]
        plot(drawn, out, form_of(path))


# ---- as text ----

Row = tuple[str, list[str]]


def _text(columns: list[tuple[str, Figures]], maps: bool) -> str:
    """A table; heat maps after it."""
    every = [figures for _, figures in columns]
    rows: list[Row] = [("", [title for title, _ in columns])]
    if any(figures.games for figures in every):
        rows += _game_rows(every)
    for variant in sorted({name for figures in every for name in figures.setups}):
        rows += _setup_rows(every, variant)
    if any(figures.free for figures in every):
        rows.append(("free setups", [str(figures.free) for figures in every]))
    wide = [max(len(row[1][i]) for row in rows) for i in range(len(every))]
    first = max(len(name) for name, _ in rows)
    lines = [
        "  ".join([name.ljust(first), *(c.rjust(w) for c, w in zip(cells, wide, strict=True))])
        for name, cells in rows
    ]
    if maps:
        lines += [line for title, figures in columns for line in _map_lines(title, figures)]
    return "\n".join(line.rstrip() for line in lines)


def _game_rows(every: list[Figures]) -> list[Row]:
    rows: list[Row] = [("games", [str(figures.games) for figures in every])]
    for what in ("kinds", "results", "endings"):
        counters = [getattr(figures, what) for figures in every]
        for word in sorted(set().union(*counters)):
            label = f"{'won by ' * (what == 'results' and word != 'draw')}{word}".replace("_", " ")
            shares = [
                f"{counter[word]} {_percent(counter[word] / max(1, figures.games))}"
                for counter, figures in zip(counters, every, strict=True)
            ]
            rows.append((f"  {label}", shares))
    for name, share in (("least", 0.0), ("median", 0.5), ("most", 1.0)):
        rows.append((f"  moves, {name}", [str(figures.length(share)) for figures in every]))
    return rows


def _setup_rows(every: list[Figures], variant: str) -> list[Row]:
    found = [figures.setups.get(variant) for figures in every]
    rows: list[Row] = [(f"setups, {variant}", [str(f.count) if f else "0" for f in found])]
    rows.append(("  distinct", [str(len(f.distinct)) if f else "" for f in found]))
    figures = [f.figures() if f else {} for f in found]
    for name in dict.fromkeys(name for some in figures for name in some):
        shown = _number if name.endswith("mean") else _percent
        rows.append((f"  {name}", [shown(some[name]) if name in some else "" for some in figures]))
    return rows


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %".rjust(7)


def _number(value: float) -> str:
    return f"{value:.2f}  "


def _map_lines(title: str, figures: Figures) -> list[str]:
    """The heat maps as numbers, front rank on top."""
    from stratkit.engine.stratego import TYPES
    from stratkit.notation.statistics import pieces_of

    lines = []
    for name, setups in sorted(figures.setups.items()):
        variant = setups.variant
        for type_ in pieces_of(variant):
            rows = setups.maps[type_].reshape(variant.ranks, variant.width)[::-1].tolist()
            wide = max(len(str(n)) for row in rows for n in row)
            lines += ["", f"{TYPES[type_]}, {name}, {title}"]
            lines += [" ".join(str(n).rjust(wide) for n in row) for row in rows]
    return lines
