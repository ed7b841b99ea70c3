"""`fenfs show`: positions drawn, in the terminal and as pictures."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Protocol

import click

from stratkit.cli.fenfs.lines import each_position, is_log, sound_games, texts
from stratkit.cli.fenfs.options import VIEWS
from stratkit.cli.fenfs.tally import Tally
from stratkit.cli.messages import say
from stratkit.cli.options import OneOf, option, output_options
from stratkit.cli.tool import Tool
from stratkit.convert.games import Game
from stratkit.convert.raw import EPISODE, RECORD, SUFFIXES, form_of, within
from stratkit.errors import InputError, StratkitError, UsageError, error_context, shown
from stratkit.storage.streams import STDOUT, open_output

if TYPE_CHECKING:
    from stratkit.notation.fenfs import Fenfs
    from stratkit.notation.sources import Source

PICTURES = (".svg", ".png")


@click.command(cls=Tool)
@option("--view", "Who looks (default: the FENfS's own view).", OneOf(list(VIEWS)))
@option("--ply N", "Show a game after N plies (default: at its end).", click.IntRange(min=0))
@option("--last MOVE", "Mark this move, like A4A5 (a game's own is known).")
@option("--explain PLAYER", "Tell what a network would play, and why; PLAYER as in match(1).")
@option("--style", "The characters (default: ascii).", OneOf(["ascii", "unicode"]))
@option(
    "--colour",
    "Colours of the sides (default: auto, at a terminal).",
    OneOf(["auto", "always", "never"]),
    default="auto",
)
@output_options
@click.argument("input", metavar="[FENFS|INPUT]", default="-")
def show(
    view: str | None,
    ply: int | None,
    last: str | None,
    explain: str | None,
    style: str | None,
    colour: str,
    output: str,
    force: bool,
    input: str,
) -> int:
    """Draw positions: in the terminal, or as a picture with -o FILE.svg or FILE.png.

    The argument is a FENfS (quoted, as one word), or a file, folder, zip or - (stdin) of FENfS
    lines, Gravon's logs, game records or episodes.
    """
    tally = Tally()
    suffix = os.path.splitext(output)[1].lower()
    if suffix in PICTURES and (style or colour != "auto"):
        raise UsageError("--style and --colour are the terminal's, not a picture's")
    if explain and (view or last or ply is not None or suffix in PICTURES):
        raise UsageError("--explain tells of a position as the side to move sees it: no --view,"
                         " --last, --ply or picture goes with it")  # fmt: skip
    with open_output(output, force, binary=suffix == ".png") as out:
        board: Board = (
            Drawn(out, suffix)
            if suffix in PICTURES
            else Printed(out, style or "ascii", _in_colour(colour, output))
        )
        for source in texts([input], SUFFIXES, tally):
            if explain:
                each_position(source, tally, _explaining(explain, board))
            elif _holds_games(source):
                if last:
                    raise UsageError("--last goes with a FENfS: a game's last move is known")
                for game in _games(source, tally):
                    _show_game(game, VIEWS[view or "observer"], ply, board, tally)
            elif ply is not None:
                raise UsageError("--ply goes with a game: a FENfS is one position")
            else:
                each_position(source, tally, _drawing(view, last, board))
        if not tally.sound and output != "-":
            click.get_current_context().exit(tally.status)  # and leave no file behind
    if tally.sound and suffix not in PICTURES:
        from stratkit.notation.drawing import STYLES

        say(STYLES[style or "ascii"].key)
    return tally.status


class Board(Protocol):
    """Where positions are drawn."""

    def show(self, fenfs: Fenfs, view: int | None, last: Any, title: str) -> None:
        """Draws a position; `last` is the move that led to it, as squares (from, to), or None."""

    def tell(self, text: str) -> None:
        """Takes what is to be said instead of a position."""


@dataclass
class Printed:
    """Characters."""

    out: IO[str]
    style: str
    colour: bool

    def show(self, fenfs: Fenfs, view: int | None, last: Any, title: str) -> None:
        from stratkit.notation.drawing import STYLES, draw

        board = draw(fenfs, view, self.colour, STYLES[self.style], last)
        self.tell(f"{title}\n{board}" if title else board)

    def tell(self, text: str) -> None:
        with error_context(STDOUT, only=OSError):
            print(text, file=self.out)


@dataclass
class Drawn:
    """A picture, of which a file holds one."""

    out: IO[Any]
    suffix: str
    full: bool = False

    def show(self, fenfs: Fenfs, view: int | None, last: Any, title: str) -> None:
        from stratkit.notation.picture import picture, save_png, svg

        if self.full:
            raise StratkitError("a picture shows one position, and there are more")
        self.full = True
        drawn = picture(fenfs, view, last, title)
        if self.suffix == ".png":
            save_png(drawn, self.out)
        else:
            self.out.write(svg(drawn))

    def tell(self, text: str) -> None:
        """A picture has no place for words."""


def _holds_games(source: Source) -> bool:
    with contextlib.suppress(InputError):
        return is_log(source) or form_of(source) in (RECORD, EPISODE)
    return False


def _games(source: Source, tally: Tally) -> Iterator[Game]:
    """The sound games of a source."""
    from stratkit.notation.select import Selection

    try:
        yield from sound_games(within(source), Selection(), tally)
    except InputError as error:
        tally.fault(error)


def _show_game(game: Game, view: int | None, ply: int | None, board: Board, tally: Tally) -> None:
    """Draws the board after `ply` plies, or at the end."""
    from stratkit.notation.fenfs import fenfs_of

    end = len(game.played.boards) - 1
    if end < 0:
        board.tell(f"{title(game)}\nended before the setups were complete\n")
    elif ply is not None and ply > end:
        tally.fault(InputError(f"the game has {end} plies, not {ply}", file=game.raw.name))
        return
    else:
        at = end if ply is None else ply
        moves = game.log.moves
        last = (moves[2 * at - 2], moves[2 * at - 1]) if at else None
        board.show(fenfs_of(game.played.position(at), view), view, last, title(game))
    tally.passed()


def title(game: Game) -> str:
    """Who played, and how it ended."""
    log = game.log
    red, blue = (shown(nick) for nick in log.players)
    what = log.kind or log.variant.name
    return f"{what}: red {red}, blue {blue}; {log.ending}"


def _drawing(view: str | None, last: str | None, board: Board) -> Callable[[Fenfs], None]:
    """Draws a position on `board`."""
    from stratkit.notation.squares import parse_move

    def show(fenfs: Fenfs) -> None:
        move = parse_move(last, fenfs.variant.width, fenfs.variant.height) if last else None
        board.show(fenfs, VIEWS[view] if view else fenfs.view, move, "")

    return show


def _explaining(player: str, board: Board) -> Callable[[Fenfs], None]:
    """Tells on `board` what a player would do in a position."""
    from stratkit.match.people import position_explainer

    explain = position_explainer(player)
    return lambda fenfs: board.tell(explain(fenfs))


def _in_colour(colour: str, output: str) -> bool:
    if colour != "auto":
        return colour == "always"
    return output == "-" and sys.stdout.isatty() and "NO_COLOR" not in os.environ
