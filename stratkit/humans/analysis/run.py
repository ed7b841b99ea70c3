"""The games of `analyse`: read, analysed, and written line by line and as a page."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import IO, Any

from stratkit.convert.games import PlayedGame
from stratkit.convert.lines import games_only, sound_games
from stratkit.convert.raw import chunks
from stratkit.convert.tally import FaultTally
from stratkit.errors import InputError, Say, error_context
from stratkit.humans.analysis.options import AnalyseOptions
from stratkit.humans.analysis.records import GameAnalyst, Record
from stratkit.models.shipped import SHIPPED
from stratkit.notation.replay_page import Shown, replay_page
from stratkit.players.spec import PlayerSpec
from stratkit.storage.streams import STDOUT, open_output
from stratkit.threads import use_threads

Read = Callable[[str], PlayerSpec]
NO_GAME = "no such game in the input"


class Analysts:
    """Who judges games: the PLAYER that is named, or of each variant the network that comes with
    stratkit."""

    def __init__(self, player: str | None, read: Read) -> None:
        self.player, self.read = player, read
        self._known: dict[str, GameAnalyst] = {}
        if player is not None:
            self._known[""] = GameAnalyst(read(player))

    def of(self, variant: str) -> GameAnalyst:
        """Whoever judges games of a variant. `InputError`: nobody."""
        key = "" if self.player is not None else variant
        if key not in self._known:
            if variant not in SHIPPED:
                what = f"no network for {variant} comes with stratkit: name one with --by"
                raise InputError(what)
            self._known[key] = GameAnalyst(self.read(variant))
        return self._known[key]

    def shown(self, game: PlayedGame, tell: Callable[[int], object]) -> Shown:
        """`convert.replay.Analysis.shown`."""
        analyst, found = self.of(game.log.variant.name), list[Record]()
        for record in analyst.records(game.log, 1):
            found.append(record)
            tell(record["kind"] == "ply")
        return shown(game, found, analyst.analyst.name)


def shown(game: PlayedGame, records: list[Record], analyst: str) -> Shown:
    """A game for a page, as far as it was looked at."""
    log = game.log
    result = f"{log.kind or log.variant.name}: {log.ending}"
    return Shown(game.played, " – ".join(log.players), result, records, analyst)


def run_analysis(
    options: AnalyseOptions, read: Read, warn: Say, tell: Callable[[int], object]
) -> int:
    """Writes what is found as it is found; the exit status. What stands when the command is
    interrupted is written, the page included. `tell` gets the number of plies that are done."""
    use_threads(options.threads)
    tally, pages = FaultTally(warn), list[Shown]()
    analysts = Analysts(options.by, read)
    ended: BaseException | None = None
    with open_output(options.output, options.force) as out:
        try:
            for game in _games(options, tally):
                try:
                    _analyse(options, analysts, game, out, pages, warn, tell)
                    tally.passed()
                except InputError as error:
                    tally.fault(replace_file(error, game.raw.name))
        except BaseException as error:  # a signal, perhaps: what there is stays
            if not pages:
                raise
            ended = error
    if options.page is not None and pages:
        with open_output(options.page, options.force) as page:
            page.write(replay_page(pages))
    if ended:
        raise ended
    if not tally.sound and not tally.faults:
        raise InputError(NO_GAME)
    return tally.status


def replace_file(error: InputError, name: str) -> InputError:
    """The error, told of the game of that name."""
    error.file = error.file or name
    return error


def _games(options: AnalyseOptions, tally: FaultTally) -> Iterator[PlayedGame]:
    read = chunks(options.inputs, numbers=options.selection.game)
    items = itertools.chain.from_iterable(map(games_only, read))
    for game in sound_games(items, options.selection, tally):
        if game.played.boards:
            yield game


def _analyse(
    options: AnalyseOptions,
    analysts: Analysts,
    game: PlayedGame,
    out: IO[Any],
    pages: list[Shown],
    warn: Say,
    tell: Callable[[int], object],
) -> None:
    """Writes the lines of a game, and puts it onto the page as soon as there is one."""
    analyst = analysts.of(game.log.variant.name)
    if unlike := analyst.turns.unlike(game.log):
        warn(f"{game.raw.name}: other rules than {analyst.analyst.name} learned by: {unlike}")
    found: list[Record] = []
    for record in analyst.records(game.log, game.raw.number or 1, options.plies):
        line = _line(record)
        with error_context(STDOUT if options.output == "-" else options.output, only=OSError):
            if not found:
                out.write(_line(analyst.header() | {"file": game.raw.file}))
                pages.append(shown(game, found, analyst.analyst.name))
            try:
                out.write(line)
            finally:  # with a signal, perhaps: the page has the lines that are written
                found.append(record)
            out.flush()
        tell(record["kind"] == "ply")
    if not any(record["kind"] == "ply" for record in found):
        warn(f"{game.raw.name}: no ply is judged: the game has {game.log.plies}")


def _line(record: Record) -> str:
    return json.dumps(record, separators=(",", ":")) + "\n"
