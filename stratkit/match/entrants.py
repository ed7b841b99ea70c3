"""The players of a match, opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, Union

from stratkit.engine import Game
from stratkit.errors import UsageError
from stratkit.players.open import Entrant, check_names
from stratkit.players.player import Player, ValuePlayer
from stratkit.players.registry import HUMAN, Setting
from stratkit.players.spec import PlayerSpec
from stratkit.ucc.kind import PROGRAM

if TYPE_CHECKING:
    from stratkit.ucc.process import Program

ROWS = 64  # views that a network evaluates at a time, where so many games are played at a time

AnyEntrant: TypeAlias = Union[Entrant[Player], "Entrant[Program]"]


def open_entrants(
    specs: Sequence[PlayerSpec],
    game: Game,
    seed: int,
    rows: int,
    setups: bool,
    warn: Callable[[str], None],
    programs_talk: bool,
) -> list[AnyEntrant]:
    """The players that `specs` ask for; a network evaluates `rows` views at a time. Every program
    is started once, to see whether it answers; `programs_talk`: its stderr is ours. `setups`: the
    match gives the setups, which programs cannot take. Raises `InputError` and `UsageError`."""
    entrants: list[AnyEntrant] = []
    for spec in specs:
        if setups and spec.kind is PROGRAM:
            what = "--setups is not for programs, which set up by themselves"
            raise UsageError(what, text=spec.text)
        entrants.append(spec.kind.open(spec, game, Setting(seed, rows, programs_talk)))
    check_names(entrants)
    for entrant in entrants:
        if not isinstance(entrant.player, Player):
            from stratkit.ucc.engine_pool import check_start

            check_start(entrant.player, game)
        if entrant.caution:
            warn(entrant.caution)
    if any(entrant.sha256 for entrant in entrants):
        import torch

        torch.set_num_threads(1)  # the same sums whatever --concurrency says
    return entrants


def network_rows(specs: Sequence[PlayerSpec], slots: int) -> int:
    """How many views a network evaluates at a time. Against a person, or programs only, it is asked
    for one decision after the other."""
    ours = [spec for spec in specs if spec.kind is not PROGRAM]
    alone = len(ours) < 2 or any(spec.kind is HUMAN for spec in ours)
    return 1 if alone else min(ROWS, slots)


def check_values(entrants: Sequence[AnyEntrant]) -> None:
    """`UsageError`: no player has values to adjudicate games by."""
    if not any(isinstance(entrant.player, ValuePlayer) for entrant in entrants):
        raise UsageError("--resign and --draw need the values of a network, and no player is one")
