"""A game as a page to step through."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from stratkit.convert.games import PlayedGame
from stratkit.convert.lines import games_only, sound_games
from stratkit.convert.options import NO_GAME, ReplayOptions
from stratkit.convert.raw import RawRecord, chunks
from stratkit.convert.tally import FaultTally
from stratkit.errors import InputError, Say, error_context
from stratkit.storage.streams import open_output

if TYPE_CHECKING:
    from stratkit.notation.replay_page import Shown


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
    if game is None:
        if not tally.faults:
            raise InputError(NO_GAME)
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


def _chosen(options: ReplayOptions, tally: FaultTally) -> PlayedGame | None:
    """The only game with boards that can be played to its end."""
    read = chunks(options.inputs, numbers=options.selection.game)
    items = itertools.chain.from_iterable(map(games_only, read))
    chosen: PlayedGame | None = None
    for game in sound_games(items, options.selection, tally):
        if game.played.boards:
            if chosen:
                what = "there are more games than one: choose one with --game N (see `fenfs list`)"
                raise InputError(what)
            tally.passed()
            chosen = game
    return chosen
