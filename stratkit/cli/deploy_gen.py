"""The command `deploy-gen`: setups for one side, one a line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

import click

from stratkit.cli.common import (
    GameName,
    Tool,
    input_name,
    open_input,
    open_output,
    output_options,
    run,
    seed_option,
    warn,
)
from stratkit.errors import InputError

if TYPE_CHECKING:
    from stratkit.engine import Game
    from stratkit.players.player import Player

ROWS = 256  # setups that are made at a time


@click.command(cls=Tool, short_help="Make setups.")
@click.option("--game", type=GameName(), required=True, metavar="G", help="The game to deploy for.")
@click.option(
    "-n", "count", type=click.IntRange(0), required=True, metavar="N", help="How many setups."
)
@click.option(
    "--from",
    "source",
    default="uniform",
    metavar="SOURCE",
    help="uniform, a file of setups to draw from (-: stdin), or a checkpoint or RUN (default:"
    " uniform).",
)
@seed_option
@output_options
def command(game: str, count: int, source: str, seed: int, output: str, force: bool) -> None:
    """Make N setups for one side of game G, one a line: the letters of StraDoS2, seen from the
    side's own chair, back rank first, left to right."""
    from stratkit.engine import Game

    make = _from_file if _is_setups(source) else _from_player
    with open_output(output, force) as out:
        for setup in make(Game(game), source, seed, count):
            out.write(setup + "\n")


def _is_setups(source: str) -> bool:
    """Whether this is stdin, a pipe, or a file that does not look like safetensors: eight bytes of
    length, then JSON."""
    if not os.path.isfile(source):
        return source == "-" or (os.path.exists(source) and not os.path.isdir(source))
    with open_input(source) as stream:
        return stream.read(9)[8:] != b"{"


def _from_player(game: Game, source: str, seed: int, count: int) -> Iterator[str]:
    """Setups that a player makes; the target network's, where it is a checkpoint."""
    from stratkit.notation.setups import setup_text
    from stratkit.players.deploy import deploy
    from stratkit.players.open import open_player
    from stratkit.players.random import RandomPlayer
    from stratkit.players.spec import parse_player

    if source == "uniform":
        player: Player = RandomPlayer(seed)
    else:
        entrant = open_player(parse_player(source), game, seed, ROWS)
        player = entrant.player
        if entrant.caution:
            warn(entrant.caution)
    for first in range(0, count, ROWS):
        for setup in deploy(game, player, first, min(ROWS, count - first)):
            yield setup_text(setup)


def _from_file(game: Game, source: str, seed: int, count: int) -> Iterator[str]:
    """Setups drawn from a file, each line with the same probability, with replacement."""
    import numpy as np

    from stratkit.engine import uniform
    from stratkit.engine.stratego import variant
    from stratkit.notation.setups import read_setups, setup_text

    setups = []
    with open_input(source) as stream:
        for _, setup in read_setups(stream, input_name(source), variant(game.name)):
            if isinstance(setup, InputError):
                raise setup
            setups.append(setup)
    if not setups:
        raise InputError("holds no setups", file=input_name(source))
    draws = uniform(seed, np.arange(count), np.zeros(count, np.int32))
    for index in (draws * len(setups)).astype(int):
        yield setup_text(setups[index])


def main() -> NoReturn:
    run(command, "deploy-gen")


if __name__ == "__main__":
    main()
