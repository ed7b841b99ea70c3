"""A log in the engine's terms: its start, its actions, and how far rules allow them."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Iterator, Mapping

import numpy as np

from stratkit.arrays import Int32s
from stratkit.engine import Game
from stratkit.engine.replay import Prefix, legal_prefix, positions
from stratkit.engine.stratego import (
    PIECE,
    RED,
    REVEALED,
    TYPE,
    Position,
    Variant,
    free_game,
    setup_of,
)
from stratkit.notation.log import Log
from stratkit.notation.setups import setup_text
from stratkit.notation.squares import move_text


def actions_of(log: Log) -> Int32s:
    """The moves as the engine's actions, int32 [2 * plies], each side's in its own frame."""
    moves = np.frombuffer(log.moves, np.uint8).reshape(-1, 2).astype(np.int32)
    blue = moves[1 - log.mover(0) :: 2]
    blue[:] = log.variant.flip(blue)
    return moves.reshape(-1)


def start_of(log: Log) -> Position:
    """The board before the first move of a log that has one."""
    if log.start is not None:
        return log.start
    assert log.setups is not None
    start = Position.of_setups(log.variant, *log.setups)
    known = np.isin(start.cells & TYPE, log.open_types) & (start.cells & PIECE != 0)
    return dataclasses.replace(start, cells=start.cells | known * np.uint8(REVEALED))


def prefix(game: Game, log: Log) -> Prefix:
    """How far the moves are legal in the game."""
    return legal_prefix(game, actions_of(log), start_of(log).to_bytes())


def prefix_by(rules: Mapping[str, int], log: Log) -> Prefix:
    """How far the moves are legal by these rules, all others being off. Raises `InputError` for
    rules that the engine does not have."""
    return prefix(_game(log.variant.name, tuple(sorted(rules.items()))), log)


@functools.lru_cache(64)  # headers of files may have any rules
def _game(name: str, rules: tuple[tuple[str, int], ...]) -> Game:
    return Game(name, {**free_game(name).rules, **dict(rules)})


def positions_of(sound: Log) -> Iterator[bytes]:
    """The positions before each move of a log whose moves are legal, and at its end."""
    return positions(free_game(sound.variant.name), actions_of(sound), start_of(sound).to_bytes())


def last_position(sound: Log) -> Position:
    """The position at the end of a log whose moves are legal."""
    [last] = collections.deque(positions_of(sound), maxlen=1)
    return Position.from_bytes(sound.variant, last)


def transcript(variant: Variant, actions: Int32s) -> tuple[tuple[str, str], list[str]]:
    """Setups (red's, blue's; `.setups` letters) and moves ("A4A5") of a game.

    The game is given as actions, int32 [T]. A piece that was selected but not yet moved when the
    game was cut is left out.
    """
    n = variant.pieces
    red, blue = (setup_of(variant, actions[at : at + n]) for at in (0, n))
    return (setup_text(red), setup_text(blue)), moves_of(variant, actions[2 * n :], RED)


def moves_of(variant: Variant, actions: Int32s, first: int) -> list[str]:
    """The moves ("A4A5") of actions of play, int32 [T], of which side `first` makes the first."""
    plies = actions[: len(actions) // 2 * 2].reshape(-1, 2).astype(int)
    blue = plies[1 - first :: 2]
    blue[:] = variant.flip(blue)
    return [move_text(from_, to, variant.width) for from_, to in plies.tolist()]
