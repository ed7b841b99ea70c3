"""`fenfs convert`: games, positions and setups from one form to another."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from stratkit.cli.fenfs.options import (
    VIEWS,
    Range,
    jobs_option,
    selecting,
    strict_option,
)
from stratkit.cli.fenfs.tally import Tally
from stratkit.cli.messages import say
from stratkit.cli.options import OneOf, option, output_options
from stratkit.cli.tool import Tool
from stratkit.convert.games import Game, games, in_order
from stratkit.convert.raw import LOG, POSITION, POSITIONS, SETUP, Raw, chunks
from stratkit.convert.sink import open_sink
from stratkit.errors import InputError, UsageError

if TYPE_CHECKING:
    from stratkit.notation.select import Selection

FILES = ("gsn", "xml")  # forms of which a file is one game
GAMES = ("games", *FILES)


@click.command(cls=Tool)
@option(
    "--to",
    "fenfs: a line for each position; setups: a line for each side; games: game records;"
    " gsn, xml: Gravon's logs.",
    OneOf(["fenfs", "setups", "games", *FILES]),
    required=True,
)
@option("--view", "Who sees the positions (default: observer).", OneOf(list(VIEWS)))
@option("--moved", "Say in a fourth word which pieces have moved.")
@option("--ply RANGE", "Only these positions of each game.", Range())
@option("--salvage", "Of faulty games keep the moves before the fault.")
@strict_option
@selecting
@jobs_option
@output_options
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
def convert(
    to: str,
    view: str | None,
    moved: bool,
    ply: tuple[int, int] | None,
    salvage: bool,
    strict: bool,
    jobs: int,
    output: str,
    force: bool,
    inputs: tuple[str, ...],
    **chosen: Any,
) -> int:
    """Convert games, positions and setups.

    INPUT is a .gsn or .xml log, a file of game records, episodes, FENfS or setups, a zip or folder
    of such files, or - (stdin).
    """
    from stratkit.notation.select import Selection

    for name, given in (("--view", view), ("--moved", moved), ("--ply", ply)):
        if given and to != "fenfs":
            raise UsageError(f"{name} goes with --to fenfs, not with --to {to}")
    wanted = Form(to, Selection(**chosen), view, moved, ply, salvage)
    tally = Tally(strict)
    with open_sink(output, force, to in FILES) as sink:
        task = functools.partial(convert_chunk, form=wanted)
        with in_order(task, chunks(inputs, to in GAMES), jobs) as answers:
            for piece in itertools.chain.from_iterable(answers):
                piece.report(tally)
                if piece.text:
                    sink.write(piece.text, piece.header, piece.name)
        say(f"{tally.sound} converted, {tally.faults} faults", level=1)
        if tally.faults and not tally.sound:
            click.get_current_context().exit(tally.status)  # and leave no file behind
    return tally.status


@dataclass(frozen=True)
class Form:
    """What is wanted: a form, of which games, and what `convert` says of positions."""

    to: str
    selection: Selection
    view: str | None = None
    moved: bool = False
    ply: tuple[int, int] | None = None
    salvage: bool = False


@dataclass
class Piece:
    """What became of one item: its text, if it was sound and wanted, and what is to be said."""

    faults: list[InputError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sound: bool = False
    text: str = ""
    header: str = ""
    name: str = ""

    def report(self, tally: Tally) -> None:
        for fault in self.faults:
            tally.fault(fault)
        for note in self.notes:
            say(note, level=1)
        if self.sound:
            tally.passed()


def convert_chunk(chunk: list[Raw | InputError], form: Form) -> list[Piece]:
    """What becomes of each item."""
    pieces = [Piece() for _ in chunk]
    played: list[tuple[Piece, Raw]] = []
    for piece, item in zip(pieces, chunk, strict=True):
        if isinstance(item, InputError):
            piece.faults.append(item)
        elif item.form in (POSITION, SETUP):
            _guarded(piece, _position if item.form == POSITION else _setup, item, form)
        else:
            played.append((piece, item))
    found = games([raw for _, raw in played], form.selection, boards=form.to == "fenfs")
    for (piece, _), game in zip(played, found, strict=True):
        if isinstance(game, InputError):
            piece.faults.append(game)
        elif game is not None:
            _guarded(piece, _game, game, form)
    return pieces


def _guarded(piece: Piece, write: Callable[..., None], item: Raw | Game, form: Form) -> None:
    """`write`, whose `InputError` is the piece's fault."""
    raw = item.raw if isinstance(item, Game) else item
    try:
        write(piece, item, form)
    except InputError as error:
        error.file = raw.name
        piece.faults.append(error)
        piece.text, piece.sound = "", False


def _game(piece: Piece, game: Game, form: Form) -> None:
    """Enters a game that was played out into the piece."""
    played, raw = game.played, game.raw
    piece.faults += played.faults
    if played.fault and not form.salvage:
        return
    piece.sound = True
    if played.log.setups is None and form.to not in FILES:
        piece.notes.append(f"{raw.name}: ended before the setups were complete: left out")
        return
    piece.name = _file_name(game, form.to)
    _WRITERS[form.to](piece, game, form)


def _write_fenfs(piece: Piece, game: Game, form: Form) -> None:
    from stratkit.notation.fenfs import fenfs_lines

    first, last = form.ply or (0, len(game.played.boards))
    boards, view = game.played.boards[first : last + 1], VIEWS[form.view or "observer"]
    piece.text = fenfs_lines(boards, game.log.variant.width, first, view, form.moved)


def _write_setups(piece: Piece, game: Game, form: Form) -> None:
    from stratkit.notation.setups import setup_text

    setups = game.log.setups or ()
    if any(len(setup) > game.log.variant.zone for setup in setups):
        piece.notes.append(f"{game.raw.name}: free setups beyond their own ranks: left out")
    else:
        piece.text = "".join(f"{setup_text(setup)}\n" for setup in setups)


def _write_log(piece: Piece, game: Game, form: Form) -> None:
    from stratkit.notation.gravon_text import gsn_text, losses, xml_text

    piece.text = (gsn_text if form.to == "gsn" else xml_text)(game.log)
    piece.notes += [f"{game.raw.name}: {lost}" for lost in losses(game.log, form.to)]


def _write_record(piece: Piece, game: Game, form: Form) -> None:
    from stratkit.convert.records import record_of
    from stratkit.storage.records import header_line, record_line

    header, record = record_of(game)
    piece.header, piece.text = header_line(header).decode(), record_line(record).decode()


_WRITERS: dict[str, Callable[[Piece, Game, Form], None]] = {
    "fenfs": _write_fenfs,
    "setups": _write_setups,
    "games": _write_record,
    "gsn": _write_log,
    "xml": _write_log,
}


def _file_name(game: Game, suffix: str) -> str:
    """What a file of this game alone would be called."""
    if game.raw.form == POSITIONS:
        stem = f"{os.path.splitext(os.path.basename(game.raw.file))[0]}-{game.raw.data[0][0]}"
    elif game.raw.form == LOG:
        stem = os.path.splitext(os.path.basename(game.raw.file))[0]
    else:
        stem = f"{game.log.kind or game.log.variant.name}-{game.raw.data[1].number}"
    return f"{stem}.{suffix}"


def _position(piece: Piece, raw: Raw, form: Form) -> None:
    """Enters a FENfS into the piece: again as one, or the setups of a start."""
    from dataclasses import replace

    from stratkit.notation.fenfs import seen_by, start_setups
    from stratkit.notation.setups import setup_text

    fenfs = raw.data
    if form.to == "fenfs":
        if form.moved and fenfs.moved is None:
            raise InputError("this FENfS does not say which pieces have moved")
        seen = seen_by(fenfs, VIEWS[form.view] if form.view else fenfs.view)
        if not form.ply or form.ply[0] <= fenfs.ply <= form.ply[1]:
            piece.text = f"{seen if form.moved else replace(seen, moved=None)}\n"
    elif form.to == "setups":
        if fenfs.ply == 0:
            wanted = filter(form.selection.takes_setup, start_setups(fenfs))
            piece.text = "".join(f"{setup_text(setup)}\n" for setup in wanted)
    else:
        raise InputError(f"a position is no game: --to {form.to} needs games")
    piece.sound = True


def _setup(piece: Piece, raw: Raw, form: Form) -> None:
    """Enters a setup, which stays one."""
    from stratkit.notation.setups import setup_text

    if form.to != "setups":
        raise InputError(f"a setup is no game: --to {form.to} needs games")
    piece.sound = True
    if form.selection.takes_setup(raw.data):
        piece.text = f"{setup_text(raw.data)}\n"
