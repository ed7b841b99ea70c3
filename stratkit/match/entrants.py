"""The players of a match, opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias, Union

from stratkit.engine import Game
from stratkit.errors import UsageError
from stratkit.humans.human import open_human
from stratkit.match.live import Console
from stratkit.match.options import MatchOptions
from stratkit.players.open import Entrant, check_names
from stratkit.players.player import Player, ValuePlayer
from stratkit.players.registry import HUMAN, Setting
from stratkit.players.spec import PlayerSpec
from stratkit.ucc.kind import PROGRAM

if TYPE_CHECKING:
    from stratkit.ucc.process import Program

ROWS = 64  # views that a network evaluates at a time, where so many games are played at a time

AnyEntrant: TypeAlias = Union[Entrant[Player], "Entrant[Program]"]


def open_entrants(options: MatchOptions, game: Game, console: Console) -> list[AnyEntrant]:
    """The players of a match. Every program is started once, to see whether it answers. Raises
    `InputError` and `UsageError`."""
    specs, rows = options.players, network_rows(options.players, options.slots)
    entrants: list[AnyEntrant] = []
    for spec in specs:
        if options.setups is not None and spec.kind is PROGRAM:
            what = "--setups is not for programs, which set up by themselves"
            raise UsageError(what, text=spec.text)
        opening = open_human if spec.kind is HUMAN else spec.kind.open
        entrants.append(opening(spec, game, Setting(options.seed, rows, console.verbose)))
    check_names(entrants)
    for entrant in entrants:
        if not isinstance(entrant.player, Player):
            from stratkit.ucc.engine_pool import check_start

            check_start(entrant.player, game)
        if entrant.caution:
            console.warn(entrant.caution)
    if any(options.limits) and not any(isinstance(e.player, ValuePlayer) for e in entrants):
        raise UsageError("--resign and --draw need the values of a network, and no player is one")
    return entrants


def network_rows(specs: Sequence[PlayerSpec], slots: int) -> int:
    """How many views a network evaluates at a time. Against a person, or programs only, it is asked
    for one decision after the other."""
    ours = [spec for spec in specs if spec.kind is not PROGRAM]
    alone = len(ours) < 2 or any(spec.kind is HUMAN for spec in ours)
    return 1 if alone else min(ROWS, slots)
