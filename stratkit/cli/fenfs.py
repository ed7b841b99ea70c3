"""`fenfs`: positions and game logs of Stratego as text: convert, show, check, legal moves."""

from __future__ import annotations

import io
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, NoReturn, TypeVar

import click

from stratkit.cli.common import (
    STDOUT,
    OneOf,
    ToolGroup,
    open_output,
    output_options,
    run,
    say,
    warn,
)
from stratkit.errors import InputError, UsageError, named, shown

if TYPE_CHECKING:
    from stratkit.engine.stratego import Position
    from stratkit.notation.fenfs import Fenfs
    from stratkit.notation.gravon import Log
    from stratkit.notation.sources import Source

LOGS = (".gsn", ".xml")
CHECKED = (*LOGS, ".setups", ".fenfs")

Item = TypeVar("Item")
VIEWS = {"observer": None, "red": 0, "blue": 1}


@click.group("fenfs", cls=ToolGroup)
def command() -> None:
    """Convert, show and check Stratego positions (FENfS), setups and game logs."""


def main() -> NoReturn:
    run(command, "fenfs")


class Tally:
    """Counts what was sound, reports what was not, and knows the exit status that follows."""

    def __init__(self) -> None:
        self.sound = self.faults = 0
        self.opened = False

    def fault(self, error: InputError) -> None:
        from stratkit.notation.sources import Unreadable

        self.faults += 1
        self.opened = self.opened or not isinstance(error, Unreadable)
        warn(str(error))

    def passed(self) -> None:
        self.sound += 1
        self.opened = True

    @property
    def status(self) -> int:
        """0: no fault; 3: faults, the rest was done; 1: no input could even be opened."""
        return 0 if not self.faults else 3 if self.opened else 1


# ---- convert ----


@command.command()
@click.option(
    "--to",
    type=OneOf(["fenfs", "setups", "games"]),
    required=True,
    help="fenfs: a line for each position; setups: a line for each side; games: game records.",
)
@click.option("--view", type=OneOf(list(VIEWS)), help="Who sees the positions (default: observer).")
@output_options
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
def convert(to: str, view: str | None, output: str, force: bool, inputs: tuple[str, ...]) -> int:
    """Convert Gravon's logs.

    INPUT is a .gsn or .xml log, a zip of them, a folder (searched to its depths), or - (stdin).
    """
    if view and to != "fenfs":
        raise UsageError(f"--view goes with --to fenfs, not with --to {to}")
    tally = Tally()
    with open_output(output, force) as out:
        write = _writers(out, VIEWS[view or "observer"])[to]
        for game in _games(inputs, tally):
            write(game)
        say(f"{tally.sound} games converted, {tally.faults} faults", level=1)
        if tally.faults and not tally.sound:
            click.get_current_context().exit(tally.status)  # and leave no file behind
    return tally.status


@dataclass(frozen=True)
class Game:
    """A sound log: `positions` before each move and at the end, none when it has no setups."""

    name: str
    log: Log
    positions: list[Position]


def _games(inputs: Sequence[str], tally: Tally) -> Iterator[Game]:
    """The sound logs among the inputs; what is wrong with them and with the others is reported."""
    from stratkit.notation.sources import sources

    for source in sources(inputs, LOGS):
        if isinstance(source, InputError):
            tally.fault(source)
        elif game := _game(source, tally):
            yield game


def _game(source: Source, tally: Tally) -> Game | None:
    from stratkit.notation.gravon import MOST, parse_log
    from stratkit.notation.play import play_out

    try:
        log = parse_log(source.stream.read(MOST + 1), source.name)
        positions, remarks = play_out(log, source.name)
    except InputError as error:
        tally.fault(error)
        return None
    for remark in remarks:
        tally.fault(remark)
    tally.passed()
    return Game(source.name, log, positions)


def _writers(out: IO[str], view: int | None) -> dict[str, Callable[[Game], object]]:
    """For each form of output what writes a game in it."""
    from stratkit.notation.fenfs import fenfs_of
    from stratkit.notation.setups import setup_text

    def fenfs(game: Game) -> None:
        out.write("".join(f"{fenfs_of(position, view)}\n" for position in game.positions))

    def setups(game: Game) -> None:
        out.write("".join(f"{setup_text(setup)}\n" for setup in game.log.setups or ()))

    def games(game: Game) -> None:
        if game.positions:
            out.write(_record(game, next(numbers)).decode())
        else:
            say(f"{game.name}: ended before the setups were complete: no game record", level=1)

    numbers = itertools.count()
    return {"fenfs": fenfs, "setups": setups, "games": games}


def _record(game: Game, number: int) -> bytes:
    """A game record with a header of its own: each log may have other players and another variant.

    Its rules are those under which it can be replayed: without repetition rules and draw limits.
    """
    from stratkit.engine import Game as Rules
    from stratkit.notation.setups import setup_text
    from stratkit.notation.squares import move_text
    from stratkit.storage.records import (
        GameRecord,
        RecordHeader,
        RecordPlayer,
        header_line,
        record_line,
    )

    log = game.log
    setups = tuple(setup_text(setup) for setup in log.setups or ())
    header = RecordHeader(
        game=log.variant.name,
        rules=dict.fromkeys(Rules(log.variant.name).rules, 0),
        seed=0,
        games=1,
        players=tuple(RecordPlayer(nick, "human") for nick in log.players),
        setups={"from": "gravon", "type": log.kind},
    )
    record = GameRecord(
        number=number,
        pair=number,
        players=(0, 1),
        setups=setups,
        moves=tuple(move_text(m.from_, m.to, log.variant.width) for m in log.moves),
        returns=log.returns,
        reason=log.reason,
        plies=len(log.moves),
        adjudicator=None if log.played_out else "gravon",
    )
    return header_line(header) + record_line(record)


# ---- show ----


@command.command()
@click.option("--view", type=OneOf(list(VIEWS)), help="Who looks (default: the FENfS's own view).")
@click.option(
    "--ply",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show a log after N plies (default: all).",
)
@click.argument("input", metavar="[FENFS|INPUT]", default="-")
def show(view: str | None, ply: int | None, input: str) -> int:
    """Draw positions in the terminal.

    The argument is a FENfS (quoted, as one word), or a file, folder, zip or - (stdin) of FENfS
    lines or Gravon's logs.
    """
    from stratkit.notation.drawing import KEY

    tally = Tally()
    for source in _texts([input], (*LOGS, ".fenfs"), tally):
        if _is_log(source):
            _show_log(source, VIEWS[view or "observer"], ply, tally)
        elif ply is not None:
            raise UsageError("--ply goes with a log: a FENfS is one position")
        else:
            _show_positions(source, view, tally)
    if tally.sound:
        say(KEY)
    return tally.status


def _show_positions(source: Source, view: str | None, tally: Tally) -> None:
    from stratkit.notation.drawing import draw

    for number, fenfs in _positions(source, tally):
        try:
            _print(draw(fenfs, VIEWS[view] if view else fenfs.view, _in_colour()))
            tally.passed()
        except InputError as error:
            error.file, error.where = source.name, f"line {number}"
            tally.fault(error)


def _show_log(source: Source, view: int | None, ply: int | None, tally: Tally) -> None:
    """Draws the board after `ply` plies, or at the end."""
    from stratkit.notation.drawing import draw
    from stratkit.notation.fenfs import fenfs_of

    game = _game(source, tally)
    if game is None:
        return
    last = len(game.positions) - 1
    if last < 0:
        _print(f"{_title(game)}\nended before the setups were complete\n")
    elif ply is not None and ply > last:
        tally.fault(InputError(f"the game has {last} plies, not {ply}", file=game.name))
    else:
        position = game.positions[last if ply is None else ply]
        _print(f"{_title(game)}\n{draw(fenfs_of(position, view), view, _in_colour())}")


def _print(text: str) -> None:
    """A line or more on stdout, whose errors are named."""
    with named(STDOUT):
        print(text)


def _in_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _title(game: Game) -> str:
    from stratkit.notation.gravon import ENDINGS

    log = game.log
    won = {0: "red won", 1: "blue won", None: "a draw"}[log.winner]
    red, blue = (shown(nick) for nick in log.players)
    return f"{log.kind}: red {red}, blue {blue}; {ENDINGS[log.ending]}, {won}"


# ---- legal ----


@command.command()
@click.argument("inputs", metavar="[FENFS|FILE]...", nargs=-1)
def legal(inputs: tuple[str, ...]) -> int:
    """List the legal moves of positions, one line each.

    Arguments are FENfS (quoted, as one word each) or files of FENfS lines; - is stdin, the default.
    The repetition rules are off: a FENfS has no history.
    """
    from stratkit.notation.fenfs import legal_moves

    tally = Tally()
    for source in _texts(inputs or ["-"], (".fenfs",), tally):
        for number, fenfs in _positions(source, tally):
            try:
                _print(" ".join(legal_moves(fenfs)))
                tally.passed()
            except InputError as error:
                error.file, error.where = source.name, f"line {number}"
                tally.fault(error)
    return tally.status


# ---- check ----


@command.command()
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
def check(inputs: tuple[str, ...]) -> int:
    """Check files: exit status 0 only if all are sound, 3 otherwise.

    INPUT is a .gsn or .xml log, a file of FENfS lines or of setups, a zip or folder of such files
    (.gsn, .xml, .fenfs, .setups), or - (stdin).
    """
    from stratkit.notation.sources import sources

    tally = Tally()
    for source in sources(inputs, CHECKED):
        if isinstance(source, InputError):
            tally.fault(source)
            continue
        before = tally.faults
        if _is_log(source) or source.name.lower().endswith(LOGS):
            _game(source, tally)
        else:
            _check_lines(source, tally)
        if tally.faults == before:
            say(f"{source.name}: sound", level=1)
    return tally.status


def _check_lines(source: Source, tally: Tally) -> None:
    """Checks a file of setups or of FENfS."""
    from stratkit.notation.setups import read_setups

    if not source.head.strip():
        tally.fault(InputError("nothing in it", file=source.name))
    elif _is_text(source) and (source.name.endswith(".setups") or _starts_like_setups(source)):
        for _ in _sound(read_setups(source.stream, source.name), tally):
            tally.passed()
    else:
        for _ in _positions(source, tally):
            tally.passed()


def _starts_like_setups(source: Source) -> bool:
    """Whether the first line has capitals only: a FENfS has blanks and small letters."""
    first = source.head.removeprefix(b"\xef\xbb\xbf").split(b"\n")[0].strip()
    return first.isalpha() and first.isupper()


# ---- positions as input ----


def _texts(inputs: Sequence[str], suffixes: Sequence[str], tally: Tally) -> Iterator[Source]:
    """The sources that the arguments name; an argument that is a FENfS is a source of one line."""
    from stratkit.notation.sources import Source, sources

    for text in inputs:
        if " " in text and not os.path.exists(text):
            yield Source("argument", io.BytesIO(text.encode("utf-8", "surrogateescape")))
            continue
        for source in sources([text], suffixes):
            if isinstance(source, InputError):
                tally.fault(source)
            else:
                yield source


def _is_log(source: Source) -> bool:
    from stratkit.notation.gravon import is_gsn, is_xml

    return is_gsn(source.head) or is_xml(source.head)


def _is_text(source: Source) -> bool:
    """Whether the beginning has no control characters: else each line would be reported."""
    return not any(byte < 32 and byte not in b"\t\n\r\f" for byte in source.head)


def _positions(source: Source, tally: Tally) -> Iterator[tuple[int, Fenfs]]:
    """The sound positions of a file of FENfS lines, and their line numbers."""
    from stratkit.notation.fenfs import read_fenfs

    if _is_log(source):
        what = "a game log, not FENfS: `fenfs convert --to fenfs` makes FENfS of it"
        tally.fault(InputError(what, file=source.name))
    elif not _is_text(source):
        tally.fault(InputError("not a text file", file=source.name))
    else:
        yield from _sound(read_fenfs(source.stream, source.name), tally)


def _sound(
    items: Iterator[tuple[int, Item | InputError]], tally: Tally
) -> Iterator[tuple[int, Item]]:
    """The items that are no errors; those, and a stream that breaks off, are reported."""
    try:
        for number, item in items:
            if isinstance(item, InputError):
                tally.fault(item)
            else:
                yield number, item
    except InputError as error:
        tally.fault(error)


if __name__ == "__main__":
    main()
