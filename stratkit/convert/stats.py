"""Figures about games and setups, as tables, JSON and heat maps."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from stratkit.convert.games import Chunk, games, in_order
from stratkit.convert.options import StatsOptions
from stratkit.convert.raw import Raw, RawPosition, RawSetup, chunks
from stratkit.convert.stats_table import table
from stratkit.convert.tally import FaultTally
from stratkit.errors import InputError, Say, printable
from stratkit.pictures import form_of
from stratkit.storage.streams import open_output

if TYPE_CHECKING:
    from stratkit.engine.stratego import Variant
    from stratkit.notation.select import Selection
    from stratkit.notation.setups import Setup
    from stratkit.notation.statistics import Figures

VERSION = 1  # of --json


def run_stats(options: StatsOptions, warn: Say, put: Say) -> int:
    """Puts out the figures of the inputs as text, unless none was readable, and then the picture:
    what cannot be drawn can be read. The exit status."""
    if options.plot is not None:
        form_of(options.plot)
    tally = FaultTally(warn)
    task = functools.partial(
        stats_chunk,
        selection=options.selection,
        attacks=options.attacks,
        scores=options.scores,
        explore=options.html is not None,
    )
    columns = [
        (_title(paths), _figures(paths, task, options, tally))
        for paths in (options.inputs, options.versus)
        if paths
    ]
    if tally.faults and not tally.opened:
        return tally.status
    put(_json(columns) if options.as_json else table(columns, options))
    if options.plot is not None:
        _draw(columns, options.plot, options.force)
    if options.html is not None:
        _write_page(*columns[0], options)
    return tally.status


def _title(paths: Sequence[str]) -> str:
    return printable(paths[0]) + (f" + {len(paths) - 1}" if len(paths) > 1 else "")


def _figures(
    paths: Sequence[str],
    task: Callable[[Chunk], tuple[Figures, list[InputError], bool]],
    options: StatsOptions,
    tally: FaultTally,
) -> Figures:
    total = _empty(options.attacks, options.scores, options.html is not None)
    items = chunks(paths, numbers=options.selection.game)
    with in_order(task, items, options.jobs) as answers:
        for figures, faults, opened in answers:
            for fault in faults:
                tally.fault(fault)
            total.merge(figures)
            tally.opened = tally.opened or opened
    return total


def _empty(attacks: bool, scores: bool, explore: bool) -> Figures:
    """Figures of nothing, which will count these, too."""
    from stratkit.notation.explored import Explored
    from stratkit.notation.statistics import Figures

    both = (Explored(), Explored()) if explore else None
    return Figures(attacks={} if attacks else None, scores={} if scores else None, explored=both)


def stats_chunk(
    chunk: list[Raw | InputError],
    selection: Selection,
    attacks: bool = False,
    scores: bool = False,
    explore: bool = False,
) -> tuple[Figures, list[InputError], bool]:
    """The figures of the sound items of a chunk, the faults of the others, and whether there is
    more in it than what could not be read. `attacks`: count them, too, which takes longer;
    `scores`: also those of setups; `explore`: what the page of --html has.

    Games that only have survivable faults count.
    """
    from stratkit.notation.attacks import count_attacks
    from stratkit.notation.fenfs import start_setups

    figures = _empty(attacks, scores, explore)
    faults: list[InputError] = []
    raws: list[Raw] = []
    setups: list[tuple[Setup, Variant | None]] = []  # and the board of its game
    for item in chunk:
        if isinstance(item, InputError):
            faults.append(item)
        elif isinstance(item, RawSetup):
            setups.append((item.setup, None))
        elif isinstance(item, RawPosition):
            try:
                started = start_setups(item.fenfs) if item.fenfs.ply == 0 else []
                setups += [(setup, item.fenfs.variant) for setup in started]
            except InputError as error:
                error.file = item.name
                faults.append(error)
        else:
            raws.append(item)
    logs = []
    for game in games(raws, selection, boards=attacks or explore):
        if isinstance(game, InputError):
            faults.append(game)
        elif game is not None:
            faults += game.played.faults
            if not game.played.fault:
                logs.append(game.log)
                if attacks:
                    figures.add_attacks(game.log.players, count_attacks(game.played))
                if figures.explored:
                    asked = selection.sides(game.log)
                    others = [side for side in (0, 1) if side not in asked]
                    for explored, sides in zip(figures.explored, (asked, others), strict=True):
                        explored.add(game.played, sides)
    figures.add_logs(logs, selection)
    wanted = [one for one in setups if selection.takes_setup(*one)]
    figures.add_setups([(setup, selection.variant_of(setup, on)) for setup, on in wanted])
    return figures, faults, any(isinstance(item, Raw) for item in chunk)


def _json(columns: list[tuple[str, Figures]]) -> str:
    named = ("inputs", "versus")
    values = {key: figures.json() for key, (_, figures) in zip(named, columns, strict=False)}
    return json.dumps({"stratkit": "stats", "version": VERSION, **values}, indent=1)


def _write_page(title: str, figures: Figures, options: StatsOptions) -> None:
    from stratkit.convert.stats_page import stats_page

    assert options.html is not None and figures.explored is not None
    asked, others = figures.explored
    if not asked.games:
        raise InputError("no games to show on a page")
    players = " and ".join(map(printable, options.selection.players))
    columns = [(players or "all players", asked)]
    if players:
        columns.append((f"opponents of {players}", others))
    with open_output(options.html, options.force) as out:
        what = options.title or f"Setups and habits: {players or title}"
        out.write(stats_page(printable(what), columns))


def _draw(columns: list[tuple[str, Figures]], path: str, force: bool) -> None:
    from stratkit.notation.heat_maps import plot

    common = [name for name in columns[0][1].setups if all(name in f.setups for _, f in columns)]
    if not common:
        raise InputError("no setups to draw: the inputs have none, or none of one variant")
    if len(common) > 1:
        what = f"setups of {', '.join(common)}: choose one with --variant for a picture"
        raise InputError(what)
    drawn = [(title, figures.setups[common[0]]) for title, figures in columns]
    with open_output(path, force, binary=True) as out:
        plot(drawn, out, form_of(path))
