"""Programs as a kind of player: `[key=value,]...ucc:COMMAND`. This module imports neither torch nor
numpy: `--help` needs it too."""

from __future__ import annotations

from stratkit.declared import option, seconds, switch, text, whole
from stratkit.frozen import frozen
from stratkit.players.clock import CLOCK, DAY, Clock
from stratkit.players.spec import PlayerKind


@frozen()
class ProgramOptions:
    """Of a program: its limits, and how it is run."""

    time: float = option(5.0, seconds(DAY), "how long a program may take for a line")
    startup: float = option(10.0, seconds(DAY), "how long it may take until its first line")
    nodes: int | None = option(
        None, whole(1, 10**18 - 1), "tell the program this budget for a move, as MATCH_NODES"
    )
    clock: Clock | None = option(
        None, CLOCK, "how long it may take for all moves of a game, and how much more for each"
    )
    reuse: bool = option(False, switch(), "let a process play one game after the other")
    rules: bool = option(
        True, switch(), "off: the repetition rules do not bind the program, only its opponents"
    )
    log: str | None = option(None, text("FILE"), "append its stderr to FILE")


PROGRAM = PlayerKind("programs", prefix="ucc:", options=ProgramOptions, runs_code=True)
