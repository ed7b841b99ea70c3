"""From a PLAYER `ucc:COMMAND` on the command line to a program at the board."""

from __future__ import annotations

import os
import shlex
import shutil
from typing import TYPE_CHECKING

from stratkit.engine import Game
from stratkit.errors import InputError, UsageError
from stratkit.games.kit import Notation
from stratkit.games.table import kit_of
from stratkit.players.spec import Contestant, OpenContext, PlayerSpec

if TYPE_CHECKING:
    from stratkit.ucc.process import Program


def open_program(spec: PlayerSpec, game: Game, context: OpenContext) -> Contestant[Program]:
    """The program that `spec`, `ucc:COMMAND`, asks for; its stderr is ours if we are `talkative`.

    Raises `InputError` when there is no such program, or the protocol cannot speak of the game.
    """
    from stratkit.ucc.process import Program

    words = command_words(spec)
    if kit_of(game).notation is not Notation.LOG:
        raise InputError(f"programs do not play {game.name}", text=spec.text)
    if shutil.which(words[0]) is None:
        raise InputError(f"no such program, or not executable: {words[0]}", text=spec.text)
    options = spec.options
    program = Program(
        name=spec.name or os.path.basename(words[0]),
        words=tuple(words),
        time=options.time,
        startup=options.startup,
        nodes=options.nodes,
        clock=options.clock,
        reuse=options.reuse,
        bound=options.rules,
        log=options.log,
        talkative=context.talkative,
    )
    # Where its stderr goes does not change how it plays: a match may be resumed with another log.
    given = ((key, value) for key, value in spec.given.items() if key != "log")
    limits = "".join(f"{key}={value}," for key, value in given)
    return Contestant(program.name, program, limits + spec.spec, bound=options.rules)


def command_words(spec: PlayerSpec) -> list[str]:
    """The words of COMMAND, split as a shell splits them; `UsageError`."""
    try:
        words = shlex.split(spec.spec.removeprefix(spec.kind.prefix or ""))
    except ValueError as error:  # an open quote
        raise UsageError(f"{error}".lower(), where="PLAYER", text=spec.text) from None
    if not words or not words[0]:
        raise UsageError("ucc: needs a COMMAND", where="PLAYER", text=spec.text)
    return words
