"""A mixture of players: a member that is drawn at its beginning plays a whole game.

That is a mixed strategy. With perfect recall it plays as one behaviour strategy does (Kuhn 1953):
nobody who plays one game can tell them apart. FILE has a member a line (formats/mixture.md).
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stratkit.arrays import Int64s
from stratkit.declared import number
from stratkit.engine.random_streams import Stream
from stratkit.engine.sampling import uniform
from stratkit.errors import InputError, UsageError, error_context
from stratkit.players.player import (
    Decision,
    Games,
    Player,
    Sides,
    ValuePlayer,
    Views,
    decide,
    watch,
)
from stratkit.players.spec import MIX, PlayerSpec, ReadPlayer

MAX_BYTES = 1 << 20  # of a file
SLACK = 1e-6  # by which the sum of the weights may differ from 1
WEIGHT = number(above=0, most=1)


class Member(NamedTuple):
    """A member of a mixture: its weight, its PLAYER, and the line that names it, for messages."""

    weight: float
    player: PlayerSpec
    file: str
    line: int


def read_mixture(path: str, read_player: ReadPlayer, within: Sequence[str] = ()) -> list[Member]:
    """The members that the file names, and those of mixtures among them, each with its whole
    weight. `within`: the real paths of the mixtures that this one is in. `InputError`: it is no
    mixture."""
    real = os.path.realpath(path)
    if real in within:
        raise InputError("the mixture names itself", text=path)
    with error_context(path, only=OSError), open(path, "rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    with error_context(path):
        lines = _lines(data)
    members: list[Member] = []
    for line, text in lines:
        with error_context(path, f"line {line}"):
            weight, spec = _member(text, read_player)
            if not spec.spec.startswith(MIX):
                members.append(Member(weight, spec, path, line))
                continue
            inner = read_mixture(spec.spec.removeprefix(MIX), read_player, (*within, real))
            members += [one._replace(weight=weight * one.weight) for one in inner]
    total = math.fsum(member.weight for member in members)
    if not members:
        raise InputError("a mixture without members", file=path)
    if abs(total - 1) > SLACK:
        raise InputError("the weights do not sum to 1", file=path, text=f"{total:.6g}")
    return members


def _lines(data: bytes) -> list[tuple[int, str]]:
    """The lines that name members, by their numbers."""
    if len(data) > MAX_BYTES:
        raise InputError(f"over {MAX_BYTES} bytes")
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError:
        raise InputError("not UTF-8") from None
    named = ((k, line.strip()) for k, line in enumerate(lines, 1))
    return [(k, line) for k, line in named if line and not line.startswith("#")]


def _member(text: str, read_player: ReadPlayer) -> tuple[float, PlayerSpec]:
    """The weight and the PLAYER of a line."""
    weight, *player = text.split(None, 1)
    try:
        return WEIGHT.read(weight), read_player("".join(player))
    except ValueError:
        what = f"WEIGHT PLAYER is needed; a weight is {WEIGHT.needed}"
        raise InputError(what, text=weight) from None
    except UsageError as error:
        raise InputError(error.what, text=error.text) from None


class MixturePlayer(Player):
    """One of `members` plays a game on one side, drawn by `weights`, `seed`, game and side."""

    def __init__(self, members: Sequence[Player], weights: Sequence[float], seed: int) -> None:
        self.members, self.seed = list(members), seed
        self.weighted = list(zip(members, weights, strict=True))
        self._ends = np.cumsum(weights)[:-1]

    def drawn(self, games: Games, sides: Sides) -> Int64s:
        """int64 [n]: which member plays each game on this side."""
        at = uniform(self.seed, games, sides.astype(np.int32), Stream.MEMBER)
        return self._ends.searchsorted(at, side="right")

    def begin(self, games: Games, sides: Sides) -> None:
        for member, rows in self._parts(games, sides):
            member.begin(games[rows], sides[rows])

    def act(self, views: Views) -> Decision:
        return self._each(views, values=False)

    def end(self, games: Games, sides: Sides) -> None:
        for member, rows in self._parts(games, sides):
            member.end(games[rows], sides[rows])

    def watch(self, views: Views) -> None:
        """`Watcher.watch`."""
        for member, rows in self._parts(views.games, views.sides):
            watch(member, views.take(rows))

    def _parts(self, games: Games, sides: Sides) -> list[tuple[Player, Int64s]]:
        """The members that play, each with the rows of its games."""
        which = self.drawn(games, sides)
        return [(self.members[k], np.flatnonzero(which == k)) for k in np.unique(which).tolist()]

    def _each(self, views: Views, values: bool) -> Decision:
        """What each member decides in its games."""
        parts = self._parts(views.games, views.sides)
        decided = [(rows, decide(member, views.take(rows), values)) for member, rows in parts]
        return Decision.merged(len(views), decided)


class ValuedMixturePlayer(MixturePlayer, ValuePlayer):
    """A mixture whose members all say what they expect to get."""

    def act_with_values(self, views: Views) -> Decision:
        """`ValuePlayer.act_with_values`."""
        return self._each(views, values=True)


def mixed(members: Sequence[Player], weights: Sequence[float], seed: int) -> MixturePlayer:
    """The player of a mixture."""
    valued = all(isinstance(member, ValuePlayer) for member in members)
    return (ValuedMixturePlayer if valued else MixturePlayer)(members, weights, seed)
