"""What the commands of `fenfs` are asked for, and whether it makes sense."""

from __future__ import annotations

import os
import sys

from stratkit.declared import REQUIRED, one_of, usage, whole
from stratkit.errors import UsageError
from stratkit.frozen import frozen
from stratkit.notation.select import Selection
from stratkit.storage.streams import check_outputs

VIEWS = {"observer": None, "red": 0, "blue": 1}
FILES = ("gsn", "xml", "json")  # forms of which a file is one game
EPISODES = "episodes"
GAMES = ("games", EPISODES, *FILES)
PICTURES = (".svg", ".png")
NO_GAME = "no such game in the input"  # of a selection


@frozen(kw_only=True)
class ConvertOptions:
    """The options of `fenfs convert`."""

    inputs: tuple[str, ...] = ()
    to: str = usage(
        "--to",
        "fenfs: a line for each position; setups: a line for each side; games: game records;"
        " csv: a line for each action; episodes: for `train`; gsn, xml: Gravon's logs;"
        " json: games of Diplomacy.",
        one_of("fenfs", "setups", "games", "csv", EPISODES, *FILES),
        REQUIRED,
    )
    view: str | None = usage(
        "--view", "Who sees the positions (default: observer).", one_of(*VIEWS)
    )
    moved: bool = usage("--moved", "Say in a fourth word which pieces have moved.")
    ply: tuple[int, int] | None = usage("--ply RANGE", "Only these positions of each game.")
    salvage: bool = usage("--salvage", "Of faulty games keep the moves before the fault.")
    strict: bool = False
    selection: Selection
    jobs: int = 1
    output: str = "-"
    force: bool = False

    def check(self) -> None:
        """Raises `UsageError` for options that do not go together."""
        for name, given in (("--view", self.view), ("--moved", self.moved), ("--ply", self.ply)):
            if given and self.to != "fenfs":
                raise UsageError(f"{name} goes with --to fenfs, not with --to {self.to}")


@frozen(kw_only=True)
class ListOptions:
    """The options of `fenfs list`."""

    inputs: tuple[str, ...]
    selection: Selection
    as_json: bool = usage("--json", "Print JSON instead of a table.")
    jobs: int


@frozen(kw_only=True)
class ReplayOptions:
    """The options of `fenfs replay`."""

    inputs: tuple[str, ...]
    selection: Selection
    explain: str | None = usage(
        "--explain PLAYER", "Add what a network would have played; PLAYER as in match(1)."
    )
    output: str
    force: bool

    def check(self) -> None:
        """Raises what `check_outputs` does for a page that cannot be written."""
        check_outputs((self.output,), self.inputs, self.force)


@frozen(kw_only=True)
class CheckOptions:
    """The options of `fenfs check`."""

    inputs: tuple[str, ...]
    selection: Selection
    two_squares: int = usage(
        "--two-squares N",
        "How often a piece of a log may cross one border in a row; 0: any number (default: 5).",
        whole(0, 100),
        5,
    )
    salvage: str | None = usage(
        "--salvage FOLDER", "Write the sound part of every file into FOLDER."
    )
    force: bool = usage("-f, --force", "Overwrite files in FOLDER.")
    strict: bool
    jobs: int


@frozen(kw_only=True)
class StatsOptions:
    """The options of `fenfs stats`."""

    inputs: tuple[str, ...]
    selection: Selection
    versus: tuple[str, ...] = usage(
        "--versus INPUT", "Compare with INPUT, in a second column.", default=()
    )
    all_players: bool = usage("--players", "Print a table of the players.")
    attacks: bool = usage("--attacks", "Print how each player attacks what it knows.")
    scores: bool = usage("--scores", "Print how setups scored, and flags on each square.")
    maps: bool = usage("--maps", "Print how often each piece stands on each square.")
    as_json: bool = usage("--json", "Print JSON instead of tables.")
    plot: str | None = usage(
        "--plot FILE", "Draw the heat map of each piece into FILE.png or FILE.svg."
    )
    html: str | None = usage(
        "--html FILE.html", "Write how setups scored and what players do into one page."
    )
    title: str | None = usage("--title TEXT", "The title of this page.")
    force: bool = usage("-f, --force", "Overwrite an existing FILE.")
    jobs: int

    def check(self) -> None:
        """Raises `UsageError` for options that do not go together."""
        if "-" in (self.plot, self.html):
            raise UsageError("a picture or page cannot go where the table goes: name a file")
        if self.title is not None and self.html is None:
            raise UsageError("--title is a page's: it goes with --html")
        if self.html is not None and self.versus:
            raise UsageError("--html is a page of INPUT alone: no --versus")
        if "-" in self.inputs and "-" in self.versus:
            raise UsageError("standard input cannot be both sides of a comparison")
        check_outputs((self.plot, self.html), (*self.inputs, *self.versus), self.force)


@frozen(kw_only=True)
class ShowOptions:
    """The options of `fenfs show`."""

    input: str
    view: str | None = usage("--view", "Who looks (default: the FENfS's own view).", one_of(*VIEWS))
    ply: int | None = usage("--ply N", "Show a game after N plies (default: at its end).", whole(0))
    last: str | None = usage("--last MOVE", "Mark this move, like A4A5 (a game's own is known).")
    explain: str | None = usage(
        "--explain PLAYER", "Print what a network would play, and why; PLAYER as in match(1)."
    )
    style: str | None = usage(
        "--style", "The characters (default: ascii).", one_of("ascii", "unicode")
    )
    colour: str = usage(
        "--colour",
        "Colours of the sides (default: auto, at a terminal).",
        one_of("auto", "always", "never"),
        "auto",
    )
    selection: Selection
    output: str
    force: bool

    @property
    def suffix(self) -> str:
        """The end of the output's name, which tells a picture."""
        return os.path.splitext(self.output)[1].lower()

    @property
    def is_picture(self) -> bool:
        """Whether the output is a picture, by its suffix."""
        return self.suffix in PICTURES

    @property
    def in_colour(self) -> bool:
        """Whether the sides have colours: `auto`, at a terminal that wants them."""
        from stratkit.notation.drawing import in_colour

        return in_colour(self.colour, self.output == "-" and sys.stdout.isatty())

    def check(self) -> None:
        """Raises `UsageError` for options that do not go together."""
        if self.is_picture and (self.style or self.colour != "auto"):
            raise UsageError("--style and --colour are the terminal's, not a picture's")
        if self.explain is not None and (self.view or self.last is not None or self.is_picture):
            what = "--explain shows a position as the side to move sees it"
            raise UsageError(f"{what}: no --view, --last or picture goes with it")
        check_outputs((self.output,), (self.input,), self.force)
