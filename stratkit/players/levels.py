"""Opponents for people, `level=1` to `level=8`, meant to be 150 Elo apart.

A weak level is a person with a habit who overlooks much: scripted players, of whom one is drawn for
each game. Middle ones are an older network that is less sure of itself and yet drops absurd moves.
stratkit-players(7) has what they were measured at; who changes one measures again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from stratkit.errors import InputError, UsageError
from stratkit.players.registry import LEVEL, NETWORK, parse_player
from stratkit.players.spec import CHOSEN, Contestant, OpenContext, Opener, PlayerKind, PlayerSpec
from stratkit.players.spec import LEVEL as PREFIX

if TYPE_CHECKING:
    from stratkit.engine import Game
    from stratkit.players.player import Player

HABITS = ("rusher", "baiter", "miner-hunter", "bluffer")


def _habits(skill: float) -> tuple[str, ...]:
    return tuple(f"skill={skill:g},{habit}" for habit in HABITS)


# By game, the weakest first: PLAYERs, of whom one is drawn for each game.
LEVELS: dict[str, tuple[tuple[str, ...], ...]] = {
    "barrage": (
        _habits(0),
        _habits(0.17),
        _habits(0.5),
        ("skill=.81,raider", "skill=.81,rusher"),
        ("temperature=6,threshold=.05,barrage-easy",),
        ("preset=fast,barrage-easy",),
        ("preset=fast,barrage",),
        ("threshold=.1,quanta=8,search=mmd,rollouts=64,depth=3,eta=30,belief=setups,barrage",),
    ),
    "classic": (
        _habits(0.28),
        _habits(0.7),
        _habits(1),
        ("temperature=3,threshold=.05,classic-easy",),
        ("temperature=8.5,threshold=.05,classic",),
        ("temperature=4.7,threshold=.05,classic",),
        ("temperature=2.4,threshold=.05,classic",),
        ("preset=fast,classic",),
    ),
}
ENOUGH = 3  # games until another level is suggested
HIGH, LOW = 2 / 3, 1 / 3  # scores that suggest it


def level_of(spec: str) -> int | None:
    """The level that a SPEC names; None: it is no such SPEC."""
    number = spec.removeprefix(PREFIX)
    return int(number) if spec.startswith(PREFIX) and number.isdecimal() else None


def level_networks(game: str) -> dict[int, PlayerSpec]:
    """The levels of a game that are one network without a search each, by number."""
    found = {}
    for number, members in enumerate(LEVELS.get(game, ()), 1):
        spec = parse_player(members[0])
        if len(members) == 1 and spec.kind is NETWORK and not spec.options.searching:
            found[number] = spec
    return found


def open_level(
    spec: PlayerSpec, game: Game, context: OpenContext, openers: Mapping[PlayerKind, Opener]
) -> Contestant[Player]:
    """The player of a level. `InputError`: the game has none. `UsageError`: no such number."""
    from stratkit.players.mixture import mixed

    levels, number = LEVELS.get(game.name), level_of(spec.spec)
    if levels is None:
        names = " and ".join(LEVELS)
        raise InputError(f"levels are for {names}, not for {game.name}", text=spec.text)
    if spec.spec == CHOSEN:
        return _chosen(spec, len(levels), lambda one: open_level(one, game, context, openers))
    if number is None or not 1 <= number <= len(levels):
        raise UsageError(f"levels are 1 to {len(levels)}, or any", text=spec.spec)
    assert spec.kind is LEVEL
    members = [parse_player(text) for text in levels[number - 1]]
    opened: list[Contestant[Player]] = [openers[one.kind](one, game, context) for one in members]
    lines = [
        f"{one.text} {contestant.sha256}" for one, contestant in zip(members, opened, strict=True)
    ]
    sha256 = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    first, name = opened[0], spec.name or spec.spec
    if len(opened) == 1:
        return replace(first, name=name, spec=spec.spec, sha256=sha256, step=-1)
    player = mixed([one.player for one in opened], [1 / len(opened)] * len(opened), context.seed)
    members_names = tuple(one.name for one in opened)
    return Contestant(name, player, spec.spec, sha256, members=members_names)


def _chosen(
    spec: PlayerSpec, levels: int, open_one: Callable[[PlayerSpec], Contestant[Player]]
) -> Contestant[Player]:
    """All levels, of which a person chooses one before each game."""
    from stratkit.players.chosen_level import ChosenLevel

    opened = [open_one(parse_player(f"{PREFIX}{at + 1}")) for at in range(levels)]
    sha256 = hashlib.sha256("\n".join(str(one.sha256) for one in opened).encode()).hexdigest()
    player, names = ChosenLevel([one.player for one in opened]), tuple(one.name for one in opened)
    return Contestant(spec.name or spec.spec, player, spec.spec, sha256, members=names)


def suggestion(number: int, game: str, scores: Sequence[float]) -> str | None:
    """What to try after these scores (1, .5 or 0 a game) against a level; None: too few games."""
    if len(scores) < ENOUGH:
        return None
    score = sum(scores) / len(scores)
    another = number + 1 if score >= HIGH else number - 1 if score <= LOW else number
    told = f"you have {sum(scores):g} of {len(scores)} against level={number}"
    if another == number or not 1 <= another <= len(LEVELS[game]):
        return f"{told}: it suits you"
    return f"{told}: try level={another}"
