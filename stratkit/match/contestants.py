"""The players of a match, opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, Union

from stratkit.engine import Game
from stratkit.errors import InputError, UsageError
from stratkit.games.kit import Notation
from stratkit.games.table import kit_of
from stratkit.humans.human import open_human
from stratkit.humans.kind import HUMAN
from stratkit.match.live import Console
from stratkit.match.options import MatchOptions
from stratkit.players import factory
from stratkit.players.player import Player, ValuePlayer
from stratkit.players.spec import Contestant, OpenContext, Opener, PlayerKind, PlayerSpec
from stratkit.setups.told import read_setup
from stratkit.ucc.kind import PROGRAM
from stratkit.ucc.open_program import open_program

if TYPE_CHECKING:
    from stratkit.ucc.process import Program

OPENERS: Mapping[PlayerKind, Opener] = {**factory.OPENERS, HUMAN: open_human, PROGRAM: open_program}
ROWS = 64  # views that a network evaluates at a time, where so many games are played at a time

AnyContestant: TypeAlias = Union[Contestant[Player], "Contestant[Program]"]


def open_contestants(options: MatchOptions, game: Game, console: Console) -> list[AnyContestant]:
    """The players of a match. Every program is started once, to see whether it answers. Raises
    `InputError` and `UsageError`."""
    specs, rows = options.players, network_rows(options.players, options.slots)
    contestants: list[AnyContestant] = []
    for spec in specs:
        if options.setups is not None and spec.kind is PROGRAM:
            what = "--setups is not for programs, which set up by themselves"
            raise UsageError(what, text=spec.text)
        context = OpenContext(options.seed, rows, console.verbose)
        contestants.append(_with_setup(OPENERS[spec.kind](spec, game, context), spec, game))
        if spec.setup is not None and options.setups is not None:
            raise UsageError("--setups gives all setups, and this one, too", text=spec.text)
    contestants = _called_apart(_two_people(contestants, specs), specs)
    factory.check_names(contestants)
    for contestant in contestants:
        if not isinstance(contestant.player, Player):
            from stratkit.ucc.engine_pool import check_start

            check_start(contestant.player, game)
        if contestant.caution:
            console.warn(contestant.caution)
    if any(options.limits) and not any(isinstance(c.player, ValuePlayer) for c in contestants):
        raise UsageError("--resign and --draw need the values of a network, and no player is one")
    return contestants


def _with_setup(contestant: AnyContestant, spec: PlayerSpec, game: Game) -> AnyContestant:
    """The contestant with the setup that its PLAYER names, which a person reads by itself."""
    if spec.setup is None:
        return contestant
    if spec.kind is PROGRAM:
        raise UsageError("setup= is not for programs, which set up by themselves", text=spec.text)
    if kit_of(game).notation is not Notation.LOG:
        what = f"setups are for boards with setups, and {game.name} has none"
        raise InputError(what, text=spec.text)
    setup = None if spec.kind is HUMAN else read_setup(spec.setup, game)
    return replace(contestant, told=spec.setup, setup=setup)


def _two_people(
    contestants: list[AnyContestant], specs: Sequence[PlayerSpec]
) -> list[AnyContestant]:
    """A second person without a name gets one of its own."""
    if [spec.kind for spec in specs] != [HUMAN, HUMAN] or specs[1].name is not None:
        return contestants
    first, second = contestants
    return [first, replace(second, name=f"{second.name}-2")]


def _called_apart(
    contestants: list[AnyContestant], specs: Sequence[PlayerSpec]
) -> list[AnyContestant]:
    """Where names that nobody gave are equal, PLAYERs with options are called what they are."""
    often = Counter(one.name for one in contestants)
    return [
        replace(one, name=spec.text)
        if often[one.name] > 1 and spec.name is None and spec.given
        else one
        for one, spec in zip(contestants, specs, strict=True)
    ]


def network_rows(specs: Sequence[PlayerSpec], slots: int) -> int:
    """How many views a network evaluates at a time. Against a person, or programs only, it is asked
    for one decision after the other."""
    ours = [spec for spec in specs if spec.kind is not PROGRAM]
    alone = len(ours) < 2 or any(spec.kind is HUMAN for spec in ours)
    return 1 if alone else min(ROWS, slots)
