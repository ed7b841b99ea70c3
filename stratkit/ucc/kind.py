"""Programs as a kind of player: `[key=value,]...ucc:COMMAND`. This module imports neither torch nor
numpy: `--help` needs it too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stratkit.declared import Kind, option, seconds, switch, text, whole
from stratkit.players.registry import KINDS, PlayerKind, Setting
from stratkit.ucc.clock import DAY, Clock

if TYPE_CHECKING:
    from stratkit.engine import Game
    from stratkit.players.open import Entrant
    from stratkit.players.spec import PlayerSpec
    from stratkit.ucc.process import Program

PREFIX = "ucc:"
CLOCK = Kind(
    "SECONDS[+INCREMENT]",
    "SECONDS above 0, or SECONDS+INCREMENT",
    Clock.read,
    lambda clock: clock,
)


@dataclass(frozen=True)
class ProgramOptions:
    """Of a program: its limits, and how it is run."""

    time: float = option(5.0, seconds(DAY), "how long a program may take for a line")
    startup: float = option(10.0, seconds(DAY), "how long it may take until its first line")
    nodes: int | None = option(
        None, whole(1, 10**18 - 1), "tell the program this budget for a move, as MATCH_NODES"
    )
    clock: Clock | None = option(  # noqa: RUF009
        None, CLOCK, "how long it may take for all moves of a game, and how much more for each"
    )
    reuse: bool = option(False, switch(), "let a process play one game after the other")
    rules: bool = option(
        True, switch(), "off: the repetition rules do not bind the program, only its opponents"
    )
    log: str | None = option(None, text("FILE"), "append its stderr to FILE")


def _open(spec: PlayerSpec, game: Game, setting: Setting) -> Entrant[Program]:
    from stratkit.ucc.open_program import open_program

    return open_program(spec, game, setting)


PROGRAM = PlayerKind(
    "programs", _open, prefix=PREFIX, options=ProgramOptions, matches_only=True, runs_code=True
)
PLAYERS = (*KINDS, PROGRAM)  # everybody who can be at a board
