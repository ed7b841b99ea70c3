"""A game as a page to step through."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from stratkit.convert.diplomacy import PlayedDiplomacy, maps, play
from stratkit.convert.games import PlayedGame
from stratkit.convert.lines import games_only, sound_games
from stratkit.convert.options import NO_GAME, ReplayOptions
from stratkit.convert.raw import Raw, RawRecord, chunks, is_of_orders
from stratkit.convert.tally import FaultTally
from stratkit.errors import InputError, Say, UsageError, error_context
from stratkit.storage.streams import open_output

if TYPE_CHECKING:
    from stratkit.notation.replay_page import Shown

NONE_OVER = "no game to step through: a record holds the games that are over"


class Analysis(Protocol):
    """Who analyses games, and calls `tell` with 1 after each ply."""

    def shown(self, game: PlayedGame, tell: Callable[[int], object]) -> Shown:
        """The game with its analysis."""


def run_replay(
    options: ReplayOptions,
    analysis: Analysis | None,
    warn: Say,
    tell: Callable[[int], object] = lambda plies: None,
    go_on: Callable[[str, int, str], str] = lambda file, number, game: "",
) -> int:
    """Writes the page of the game that is asked for, or of the only one, with its `analysis`;
    the exit status. Faults go to `warn`. `go_on`: the command by which a person goes on from a game
    of a record: its file, its number there, and the board."""
    from stratkit.notation.replay_page import Shown, replay_page

    tally = FaultTally(warn)
    game = _chosen(options, tally)
    if isinstance(game, PlayedDiplomacy):
        if analysis:
            raise UsageError("--explain is for Stratego")
        with open_output(options.output, options.force) as out:
            out.write(maps(game))
        return tally.status
    if game is None:
        if not tally.faults:
            raise InputError(NO_GAME if options.selection else NONE_OVER)
        return tally.status
    log = game.log
    result = f"{log.kind or log.variant.name}: {log.ending}"
    shown = Shown(game.played, result, result)
    if analysis:
        with error_context(game.raw.name):
            shown = analysis.shown(game, tell)
    raw = game.raw
    if isinstance(raw, RawRecord) and len(options.inputs) == 1 and raw.file != "-":
        command = go_on(raw.file, raw.number or 1, log.variant.name)
        shown = dataclasses.replace(shown, go_on=command)
    with open_output(options.output, options.force) as out:
        out.write(replay_page([shown]))
    return tally.status


def _chosen(options: ReplayOptions, tally: FaultTally) -> PlayedGame | PlayedDiplomacy | None:
    """The only game that can be played to its end, with boards or orders."""
    read = chunks(options.inputs, numbers=options.selection.game)
    items = itertools.chain.from_iterable(map(games_only, read))
    chosen: PlayedGame | PlayedDiplomacy | None = None
    for game in _games(items, options, tally):
        if isinstance(game, PlayedDiplomacy) or game.played.boards:
            if chosen:
                what = "there are more games than one: choose one with --game N (see `fenfs list`)"
                raise InputError(what)
            tally.passed()
            chosen = game
    return chosen


def _games(
    items: Iterator[Raw | InputError], options: ReplayOptions, tally: FaultTally
) -> Iterator[PlayedGame | PlayedDiplomacy]:
    """The sound games that are wanted."""
    for item in items:
        if not is_of_orders(item) or isinstance(item, InputError):
            yield from sound_games([item], options.selection, tally)
        elif not options.selection.by_log:
            try:
                with error_context(item.name):
                    played = play(item)
                    if played.fault:
                        raise played.fault
            except InputError as error:
                tally.fault(error)
                continue
            for note in played.notes:
                tally.warn(str(note))
            yield played
