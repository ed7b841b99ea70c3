"""Positions drawn: in the terminal and as pictures."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Protocol

from stratkit.convert.games import PlayedGame
from stratkit.convert.lines import each_position, sound_games, texts
from stratkit.convert.options import NO_GAME, VIEWS, ShowOptions
from stratkit.convert.raw import (
    SUFFIXES,
    Raw,
    RawEpisode,
    RawJson,
    RawLog,
    RawRecord,
    RawSetup,
    form_of,
    is_of_orders,
    numbered,
    within,
)
from stratkit.convert.tally import FaultTally, NothingSound, sound
from stratkit.errors import (
    InputError,
    Say,
    StratkitError,
    UsageError,
    error_context,
    printable,
    shown,
)
from stratkit.storage.streams import STDOUT, open_output

GAMES = (RawLog, RawRecord, RawEpisode, RawJson)

if TYPE_CHECKING:
    from stratkit.engine.diplomacy import DiplomacyMap
    from stratkit.engine.stratego import Variant
    from stratkit.notation.fenfs import Fenfs
    from stratkit.notation.log import Log
    from stratkit.notation.picture import Picture
    from stratkit.notation.select import Selection
    from stratkit.notation.setups import Setup
    from stratkit.notation.sources import NamedStream


class PositionExplainer(Protocol):
    """Who explains a position, or that after so many plies of a game, in words."""

    def position(self, fenfs: Fenfs) -> str:
        """What the player thinks at a position, as text."""

    def turn(self, log: Log, ply: int) -> str:
        """What the player thinks before a ply of the game, as text."""


def run_show(options: ShowOptions, explain: PositionExplainer | None, warn: Say, say: Say) -> int:
    """Draws the input's positions, or has `explain` explain them; the exit status.

    Faults go to `warn`, the key of the characters goes to `say`.
    """
    from stratkit.notation.setups import file_and_name

    tally = FaultTally(warn)
    text_style = options.style or "ascii"
    with (
        contextlib.suppress(NothingSound),
        open_output(options.output, options.force, binary=options.suffix == ".png") as out,
    ):
        board: PositionOutput = (
            Drawn(out, options.suffix)
            if options.is_picture
            else Printed(out, text_style, options.in_colour)
        )
        numbers = itertools.count(1)
        file, name = file_and_name(options.input)
        for source in texts([file], SUFFIXES, tally):
            if name is not None or _form(source) is RawSetup:
                _show_setups(source, name, options, board, tally)
            elif _form(source) in GAMES:
                _show_games(source, numbers, options, explain, board, tally)
            elif options.ply is not None or options.selection:
                what = "--ply" if options.ply is not None else "a choice of games"
                raise UsageError(f"{what} goes with a game: a FENfS is one position")
            elif explain:
                each_position(source, tally, lambda fenfs: board.print(explain.position(fenfs)))
            else:
                each_position(source, tally, _drawing(options, board))
        if not tally.sound and not tally.faults and options.selection:
            raise InputError(NO_GAME)
        if not tally.sound and options.output != "-":
            raise NothingSound
    if tally.sound and isinstance(board, Printed) and board.keyed:
        from stratkit.notation.drawing import STYLES

        say(STYLES[text_style].key)
    return tally.status


class PositionOutput(Protocol):
    """Where positions are drawn."""

    def show(self, fenfs: Fenfs, view: int | None, last: Any, title: str) -> None:
        """Draws a position; `last` is the move that led to it, as squares (from, to), or None."""

    def show_setup(self, variant: Variant, setup: Setup, title: str) -> None:
        """Draws a setup."""

    def print(self, text: str) -> None:
        """Prints a text instead of a position."""

    def tell(self, text: str) -> None:
        """Prints a phase of Diplomacy, which needs no key."""


@dataclass
class Printed:
    """Characters."""

    out: IO[str]
    style: str
    colour: bool
    keyed: bool = True  # whether its characters need a key

    def show(self, fenfs: Fenfs, view: int | None, last: Any, title: str) -> None:
        """Prints the board as `view` sees it, with the squares of the last move marked."""
        from stratkit.notation.drawing import STYLES, draw

        board = draw(fenfs, view, self.colour, STYLES[self.style], last)
        self.print(f"{title}\n{board}" if title else board)

    def show_setup(self, variant: Variant, setup: Setup, title: str) -> None:
        """Prints the own ranks of a setup."""
        from stratkit.notation.drawing import STYLES, draw_setup

        self.print(draw_setup(variant, setup, title, self.colour, STYLES[self.style]))

    def print(self, text: str) -> None:
        """Prints text."""
        with error_context(STDOUT, only=OSError):
            print(text, file=self.out)

    def tell(self, text: str) -> None:
        """Prints text after which no key of the characters is needed."""
        self.keyed = False
        self.print(text)


@dataclass
class Drawn:
    """A picture, of which a file holds one."""

    out: IO[Any]
    suffix: str
    full: bool = False

    def show(self, fenfs: Fenfs, view: int | None, last: Any, title: str) -> None:
        """Writes the board as `view` sees it, with the squares of the last move marked, as a
        picture."""
        from stratkit.notation.picture import picture

        self._write(picture(fenfs, view, last, title))

    def show_setup(self, variant: Variant, setup: Setup, title: str) -> None:
        """Writes the own ranks of a setup as a picture."""
        from stratkit.notation.picture import setup_picture

        self._write(setup_picture(variant, setup, title))

    def _write(self, drawn: Picture) -> None:
        from stratkit.notation.picture import save_png, svg

        self._fill()
        if self.suffix == ".png":
            save_png(drawn, self.out)
        else:
            self.out.write(svg(drawn))

    def show_map(self, board: DiplomacyMap, position: Any, orders: Any) -> None:
        """Draws a phase of Diplomacy."""
        from stratkit.games.diplomacy.svg import picture

        if self.suffix == ".png":
            raise UsageError("a picture of Diplomacy is a .svg")
        self._fill()
        self.out.write(picture(board, position, orders))

    def _fill(self) -> None:
        if self.full:
            what = "a picture shows one position, and there are more: choose a game with --game N"
            raise StratkitError(f"{what}, a setup with FILE#NAME")
        self.full = True

    def print(self, text: str) -> None:
        """A picture has no place for words."""

    tell = print


def _form(source: NamedStream) -> type[Raw] | None:
    """What is in the source, if that can be told."""
    with contextlib.suppress(InputError):
        return form_of(source)
    return None


def _show_setups(
    source: NamedStream,
    name: str | None,
    options: ShowOptions,
    board: PositionOutput,
    tally: FaultTally,
) -> None:
    """Draws the setups of a source, or those of this name."""
    from stratkit.notation.setups import read_setups, variant_of

    asked = (options.view, options.ply, options.last, options.explain)
    if options.selection or any(one is not None for one in asked):
        what = "a setup is one side's alone: no choice of games, --view, --ply, --last or --explain"
        raise UsageError(what)
    for number, line in sound(read_setups(source.stream, source.name, None, name), tally):
        variant = variant_of(line.setup)
        assert variant is not None
        title = printable(line.name) if line.name else f"line {number}"
        board.show_setup(variant, line.setup, f"{variant.name}: {title}")
        tally.passed()


def _games(
    source: NamedStream, numbers: Iterator[int], selection: Selection, tally: FaultTally
) -> Iterator[PlayedGame | Raw]:
    """The sound games of a source that are wanted; those of Diplomacy as they came."""
    try:
        for item in numbered(within(source), numbers, selection.game):
            if not is_of_orders(item):
                yield from sound_games([item], selection, tally)
            elif isinstance(item, Raw) and not selection.by_log:
                yield item
    except InputError as error:
        tally.fault(error)


def _show_games(
    source: NamedStream,
    numbers: Iterator[int],
    options: ShowOptions,
    explain: PositionExplainer | None,
    board: PositionOutput,
    tally: FaultTally,
) -> None:
    if options.last is not None:
        raise UsageError("--last goes with a FENfS: a game's last move is known")
    if explain and options.ply is None:
        raise UsageError("--explain needs the --ply N of a game")
    for game in _games(source, numbers, options.selection, tally):
        if isinstance(game, Raw):
            _show_diplomacy(game, options, board, tally)
        elif explain:
            _explain_game(game, options.ply or 0, explain, board, tally)
        else:
            _show_game(game, VIEWS[options.view or "observer"], options.ply, board, tally)


def _show_diplomacy(
    raw: Raw, options: ShowOptions, board: PositionOutput, tally: FaultTally
) -> None:
    """Draws phase number `options.ply` of a game of Diplomacy with its orders, or its end."""
    from stratkit.convert.diplomacy import phase_lines, play, title

    if options.explain or options.view:
        raise UsageError("--explain and --view are for Stratego")
    try:
        with error_context(raw.name):
            played = play(raw)
            if played.fault:
                raise played.fault
            for note in played.notes:
                tally.warn(str(note))
            shown_phases = list(played.phases())
            at = len(shown_phases) - 1 if options.ply is None else options.ply
            if at >= len(shown_phases):
                raise InputError(f"the game has {len(shown_phases) - 1} phases, not {at}")
            if isinstance(board, Drawn):
                board.show_map(played.map, *shown_phases[at])
            else:
                board.tell(f"{title(played)}\n{phase_lines(played, shown_phases[at])}")
    except InputError as error:
        tally.fault(error)
    else:
        tally.passed()


def _explain_game(
    game: PlayedGame, ply: int, explain: PositionExplainer, board: PositionOutput, tally: FaultTally
) -> None:
    """Prints what a player would do after `ply` plies."""
    try:
        board.print(f"{title(game)}\n{explain.turn(game.log, ply)}")
        tally.passed()
    except InputError as error:
        error.file = error.file or game.raw.name
        tally.fault(error)


def _show_game(
    game: PlayedGame, view: int | None, ply: int | None, board: PositionOutput, tally: FaultTally
) -> None:
    """Draws the board after `ply` plies, or at the end."""
    from stratkit.notation.fenfs import fenfs_of

    end = len(game.played.boards) - 1
    if end < 0:
        board.print(f"{title(game)}\nended before the setups were complete\n")
    elif ply is not None and ply > end:
        tally.fault(InputError(f"the game has {end} plies, not {ply}", file=game.raw.name))
        return
    else:
        at = end if ply is None else ply
        moves = game.log.moves
        last = (moves[2 * at - 2], moves[2 * at - 1]) if at else None
        board.show(fenfs_of(game.played.position(at), view), view, last, title(game))
    tally.passed()


def title(game: PlayedGame) -> str:
    """Who played, and how it ended."""
    log = game.log
    red, blue = (shown(nick) for nick in log.players)
    what = log.kind or log.variant.name
    return f"{what}: red {red}, blue {blue}; {log.ending}"


def _drawing(options: ShowOptions, board: PositionOutput) -> Callable[[Fenfs], None]:
    """Draws a position on `board`."""
    view, last = options.view, options.last

    def show(fenfs: Fenfs) -> None:
        move = None if last is None else _last_move(last, fenfs)
        board.show(fenfs, VIEWS[view] if view else fenfs.view, move, "")

    return show


def _last_move(text: str, fenfs: Fenfs) -> tuple[int, int]:
    """The move of --last, which must be one that can have led to the position."""
    from stratkit.notation.fenfs import check_last
    from stratkit.notation.squares import parse_move

    try:
        move = parse_move(text, fenfs.variant.width, fenfs.variant.height)
        check_last(fenfs, *move)
    except InputError as error:
        raise UsageError(f"--last: {error.what}", text=text) from None
    return move
