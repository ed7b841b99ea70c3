"""What the commands of `fenfs` are asked for, and whether it makes sense."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stratkit.errors import UsageError

if TYPE_CHECKING:
    from stratkit.notation.select import Selection

VIEWS = {"observer": None, "red": 0, "blue": 1}
FILES = ("gsn", "xml", "json")  # forms of which a file is one game
EPISODES = "episodes"
GAMES = ("games", EPISODES, *FILES)
PICTURES = (".svg", ".png")
NO_GAME = "no such game in the input"  # of a selection


def _selects(selection: Selection) -> bool:
    from stratkit.notation.select import Selection

    return selection != Selection()


@dataclass(frozen=True, kw_only=True)
class ConvertOptions:
    """The options of `fenfs convert`; the fields are called as they are."""

    to: str
    selection: Selection
    view: str | None = None
    moved: bool = False
    ply: tuple[int, int] | None = None
    salvage: bool = False
    strict: bool = False
    jobs: int = 1
    output: str = "-"
    force: bool = False
    inputs: tuple[str, ...] = ()

    @property
    def selects(self) -> bool:
        """Whether only some games are wanted."""
        return _selects(self.selection)

    def check(self) -> None:
        """Raises `UsageError` for options that do not go together."""
        for name, given in (("--view", self.view), ("--moved", self.moved), ("--ply", self.ply)):
            if given and self.to != "fenfs":
                raise UsageError(f"{name} goes with --to fenfs, not with --to {self.to}")


@dataclass(frozen=True, kw_only=True)
class ListOptions:
    """The options of `fenfs list`; the fields are called as they are."""

    selection: Selection
    as_json: bool
    jobs: int
    inputs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """The options of `fenfs replay`; the fields are called as they are."""

    selection: Selection
    explain: str | None
    output: str
    force: bool
    inputs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """The options of `fenfs check`; the fields are called as they are."""

    selection: Selection
    two_squares: int
    salvage: str | None
    force: bool
    strict: bool
    jobs: int
    inputs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class StatsOptions:
    """The options of `fenfs stats`; the fields are called as they are."""

    selection: Selection
    versus: tuple[str, ...]
    all_players: bool
    attacks: bool
    scores: bool
    maps: bool
    as_json: bool
    plot: str | None
    force: bool
    jobs: int
    inputs: tuple[str, ...]

    def check(self) -> None:
        """Raises `UsageError` for options that do not go together."""
        if self.plot == "-":
            raise UsageError("a picture cannot go where the table goes: name a file")
        if "-" in self.inputs and "-" in self.versus:
            raise UsageError("standard input cannot be both sides of a comparison")


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """The options of `fenfs show`; the fields are called as they are."""

    selection: Selection
    view: str | None
    ply: int | None
    last: str | None
    explain: str | None
    style: str | None
    colour: str
    output: str
    force: bool
    input: str

    @property
    def selects(self) -> bool:
        """Whether only some games are wanted."""
        return _selects(self.selection)

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
