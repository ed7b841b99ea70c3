"""The games of a rated player that `rate --games` shows: its losses before its draws and wins."""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stratkit.convert.games import log_of
from stratkit.convert.raw import RawRecord
from stratkit.errors import InputError, UsageError, printable
from stratkit.storage.streams import input_name, open_plain

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from stratkit.notation.play import Played
    from stratkit.notation.replay_page import Shown
    from stratkit.storage.records import GameRecord, RecordHeader

OUTCOMES = ("lost", "drawn", "won")  # in the order in which they are shown


def check_read_twice(paths: Sequence[str]) -> None:
    """Raises `UsageError` for what can be read only once."""
    for path in paths:
        if path == "-" or (os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode)):
            raise UsageError("--games needs a file, which can be read twice", file=input_name(path))


class GameChooser:
    """Takes games one by one, and keeps those of `player` to show: `most` at most.

    `player` is one of the `rated`, of whom it says how many games each lost, drew and won;
    `new_names` says who is called otherwise there than in the records, and `by_day` who is another
    one each day. What is met again, and what cannot be replayed, is passed over.
    """

    def __init__(
        self,
        player: str,
        most: int,
        new_names: Mapping[str, str],
        rated: Mapping[str, tuple[int, int, int]],
        by_day: str | None = None,
    ) -> None:
        self.player, self.most, self._by_day = player, most, by_day
        self._new_names, self._rated = new_names, rated.keys()
        self._outcome_counts = dict(zip(OUTCOMES, rated[player], strict=True))
        self._met: set[tuple[str, int]] = set()
        self._games: dict[str, list[Shown]] = {outcome: [] for outcome in OUTCOMES}

    @property
    def full(self) -> bool:
        """Whether nothing that may come could change what is shown: it need not be read."""
        return all(
            len(self._games[outcome]) == self._outcome_counts[outcome]
            or not self._has_room(outcome)
            for outcome in OUTCOMES
        )

    def shown(self) -> list[Shown]:
        """The games; losses first, then draws, otherwise in the order in which they came."""
        return [one for games in self._games.values() for one in games][: self.most]

    def take(self, header: RecordHeader, record: GameRecord, file: str, number: int) -> None:
        """Keeps game `number` of `file`, from 1, if it belongs to those that are shown."""
        from stratkit.notation.replay_page import Shown
        from stratkit.storage.identities import match_key, on_its_day

        names = [header.players[index].name for index in record.players]
        names = [on_its_day(name, record) if name == self._by_day else name for name in names]
        names = [self._new_names.get(name, name) for name in names]
        if self.player not in names or len(set(names) & self._rated) != 2:
            return
        side = names.index(self.player)
        won = {"red": 0, "blue": 1}.get(record.result or "")
        outcome = "drawn" if won is None else "won" if won == side else "lost"
        key = match_key(header), record.number
        if not self._has_room(outcome) or key in self._met:
            return
        played = _played(header, record, file)
        if played is None:
            return
        self._met.add(key)
        log = dataclasses.replace(played.log, players=(names[0], names[1]))
        colour = ("red", "blue")[side]
        how = f"{log.reason.replace('_', ' ')}, {log.plies} plies"
        title = f"{outcome} as {colour} against {names[1 - side]}: {how}"
        result = f"{log.ending} ({file}, game {number})"
        self._games[outcome].append(Shown(dataclasses.replace(played, log=log), title, result))

    def _has_room(self, outcome: str) -> bool:
        before = OUTCOMES[: OUTCOMES.index(outcome) + 1]
        return sum(len(self._games[name]) for name in before) < self.most


def _played(header: RecordHeader, record: GameRecord, file: str) -> Played | None:
    """The game with its boards; None if it has no moves or cannot be played to its end."""
    from stratkit.notation.play import play_out

    try:
        log = log_of(RawRecord(file=file, header=header, record=record))
    except InputError:
        return None
    if not log.plies:
        return None
    [played] = play_out([(file, log)], boards=True)
    return None if played.fault else played


def games_to_show(chooser: GameChooser, paths: Sequence[str]) -> tuple[str, str, Element] | None:
    """The chosen games of these files as a part of a page: title, style and viewer; None if there
    are none."""
    from stratkit.notation.replay_page import viewer

    _offer(chooser, paths)
    shown = chooser.shown()
    return (f"Games of {printable(chooser.player)}", *viewer(shown)) if shown else None


def _offer(chooser: GameChooser, paths: Sequence[str]) -> None:
    from stratkit.storage.records import read_records
    from stratkit.storage.results import form_of

    for path in paths:
        with open_plain(path) as stream:
            form, whole = form_of(stream, path)
            games = read_records(whole, path) if form is None else ()  # results have no moves
            for number, (header, record) in enumerate(games, 1):
                chooser.take(header, record, path, number)
                if chooser.full:
                    return
