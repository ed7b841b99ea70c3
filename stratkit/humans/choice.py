"""A person's turn in a game of single actions, and such a game when it is over."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stratkit.arrays import Int32s
from stratkit.engine import Batch, Game
from stratkit.engine.batch import CHANCE
from stratkit.games.kit import Cells
from stratkit.games.table import kit_of

SEATS = ("first", "second")  # to act


@dataclass(frozen=True)
class Choice:
    """A person's turn: what it sees, and what it may do.

    game     its number
    side     who the person is
    column   what actions are called
    facts    what the person knows, lines ended by a line feed
    board    the same as a drawing, or ""
    cells    the board, for who draws it otherwise
    actions  legal ones by their names
    resigns  whether the game can be given up
    """

    game: int
    side: int
    column: str
    facts: str
    board: str
    cells: Cells | None
    actions: dict[str, int]
    resigns: bool


def told(game: Game, actions: Int32s | Sequence[int], me: int | None = None) -> list[str]:
    """A game that is over, action by action, with all that was hidden: `you: bet`, `your card: K`.
    `me`: who reads it; None: nobody of the game."""
    batch, kit = Batch(game, 1), kit_of(game)
    names, who, dealt = kit.action_names(), list(SEATS), [f"{one}'s" for one in SEATS]
    if me is not None:
        who[me], who[1 - me], dealt[me], dealt[1 - me] = "you", "they", "your", "their"
    whose = (f"{one} {kit.dealt}" for one in itertools.chain(dealt, itertools.repeat("public")))
    lines = []
    for action in map(int, actions):
        actor = int(batch.actors()[0])
        said = who[actor] if actor != CHANCE else next(whose) if kit.dealt else "chance"
        lines.append(f"{said}: {names[actor, action]}")
        batch.apply(np.array([action], np.int32))
    return lines
