"""What a match writes of itself and of each game (formats/games.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stratkit.engine import Game
from stratkit.engine.stratego import Position
from stratkit.games.table import kit_of
from stratkit.match.contestants import AnyContestant
from stratkit.match.options import MatchOptions
from stratkit.match.schedule import Schedule
from stratkit.notation.actions import moves_of
from stratkit.notation.fenfs import fenfs_of
from stratkit.notation.setups import setup_text
from stratkit.play.finished import GameNote
from stratkit.storage.columns import Episode
from stratkit.storage.records import (
    GAUNTLET,
    ROUND_ROBIN,
    GameRecord,
    RecordHeader,
    RecordPlayer,
    result_of,
)


def record_header(
    options: MatchOptions,
    game: Game,
    schedule: Schedule,
    contestants: Sequence[AnyContestant],
    setups_sha256: str | None,
    start: Position | None = None,
) -> RecordHeader:
    """The header of a match. `setups_sha256`: of its setups, if they come from a file. `start`: the
    position that its games begin at, if they have none."""
    resign, draw = options.limits
    many = game.players > 2 or "=" in (options.seats or "")
    return RecordHeader(
        game=game.name,
        rules=game.rules,
        seed=options.seed,
        games=schedule.games,
        players=tuple(map(_record_player, contestants)),
        setups={"file": options.setups, "sha256": setups_sha256}
        if options.setups and setups_sha256
        else None,
        pairing=GAUNTLET if options.gauntlet else ROUND_ROBIN,
        resign=resign.text if resign else None,
        draw=draw.text if draw else None,
        sprt=options.sprt,
        seats=options.seats if many else None,
        powers=kit_of(game).seats if many else None,
        start=str(fenfs_of(start, extended=True)) if start else None,
    )


def _record_player(one: AnyContestant) -> RecordPlayer:
    spec = one.spec if one.told is None else f"setup={one.told},{one.spec}"
    setup = None if one.setup is None else setup_text(one.setup)
    more = one.reproducible, one.belief, one.bound, one.backend, setup
    return RecordPlayer(one.name, spec, one.sha256, *more)


def game_record(
    game: Game,
    schedule: Schedule,
    episode: Episode,
    seats: tuple[int, ...],
    plies: int,
    note: GameNote,
    contestants: Sequence[AnyContestant] = (),
    date: str | None = None,
    helped: tuple[int, int] = (0, 0),
    start: Position | None = None,
) -> GameRecord:
    """The record of one game, in which `seats` played each side (indices of `contestants`). `date`:
    when it ended, of a person's. `helped`: how often the person took back a move, and how many
    plies were those of another game. `start`: the position that it began at, if not with setups."""
    setups: tuple[str, ...] | None = None
    if start is None:
        setups, moves = kit_of(game).transcript(episode.actions)
    else:
        moves = moves_of(start.variant, episode.actions, start.side)
    returns = tuple(float(value) for value in episode.returns)
    return GameRecord(
        number=episode.number,
        pair=schedule.pair(episode.number),
        players=seats,
        setups=setups,
        moves=" ".join(moves),
        result=result_of(returns),
        returns=returns,
        reason=note.reason or game.endings[episode.ending],
        adjudicator=note.adjudicator,
        fault=note.fault,
        plies=plies - (start.plies if start else 0),
        times=note.times,
        drawn=_drawn(contestants, episode.number, seats),
        date=date,
        undone=helped[0] or None,
        led=helped[1] or None,
    )


def _drawn(
    contestants: Sequence[AnyContestant], number: int, seats: tuple[int, ...]
) -> tuple[str | None, ...] | None:
    """Which member played each side for a mixture; None: there is no mixture at the board."""
    if not any(one.members for one in contestants):
        return None
    names: list[str | None] = []
    for side, one in enumerate(contestants[seat] for seat in seats):
        mixture: Any = one.player if one.members else None
        which = mixture and mixture.drawn(np.array([number]), np.array([side], np.int8))
        names.append(None if which is None else one.members[int(which[0])])
    return tuple(names) if any(names) else None
