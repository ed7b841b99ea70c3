"""From a PLAYER `ucc:COMMAND` on the command line to a program at the board."""

from __future__ import annotations

import os
import shutil

from stratkit.engine import Game
from stratkit.engine.stratego import VARIANTS
from stratkit.errors import InputError
from stratkit.players.open import Entrant
from stratkit.players.spec import LIMITS, PlayerSpec
from stratkit.ucc.process import Program


def open_program(spec: PlayerSpec, game: Game, talkative: bool = False) -> Entrant[Program]:
    """The program that `spec`, `ucc:COMMAND`, asks for; its stderr is ours if it is `talkative`.

    Raises `InputError` when there is no such program, or the protocol cannot speak of the game.
    """
    words = spec.words
    assert words is not None
    if game.name not in VARIANTS:
        raise InputError(f"programs do not play {game.name}", text=spec.text)
    if shutil.which(words[0]) is None:
        raise InputError(f"no such program, or not executable: {words[0]}", text=spec.text)
    given = spec.options
    program = Program(
        name=spec.name or os.path.basename(words[0]),
        words=tuple(words),
        time=float(given.get("time", Program.time)),
        startup=float(given.get("startup", Program.startup)),
        nodes=int(given["nodes"]) if "nodes" in given else None,
        talkative=talkative,
    )
    limits = "".join(f"{key}={given[key]}," for key in LIMITS if key in given)
    return Entrant(program.name, program, limits + spec.spec)
