"""Whether games, positions and setups are sound, and the sound part of them."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections import defaultdict
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from stratkit.convert.games import NotFromTheStart, PlayedGame, games, in_order
from stratkit.convert.options import CheckOptions
from stratkit.convert.raw import (
    Raw,
    RawEpisode,
    RawJson,
    RawLog,
    RawPosition,
    RawRecord,
    RawSetup,
    chunks,
    is_of_orders,
)
from stratkit.convert.sink import Names, new_file
from stratkit.convert.tally import FaultTally
from stratkit.errors import InputError, Say, error_context
from stratkit.storage.identities import KnownPlayers, match_key
from stratkit.storage.numbers import NumberSet

if TYPE_CHECKING:
    from stratkit.notation.select import Selection
    from stratkit.storage.records import RecordPlayer

    Players = tuple[RecordPlayer, ...]

from stratkit.convert.games import log_of
from stratkit.games.kit import Notation
from stratkit.games.table import kit_class
from stratkit.notation.play import play_out
from stratkit.storage.records import GameRecord, RecordHeader

NOBODY: Players = ()


def run_check(options: CheckOptions, warn: Say, note: Say) -> int:
    """Checks the inputs; the exit status. Faults go to `warn`, names of sound files to `note`."""
    tally = FaultTally(warn, options.strict)
    keep = options.salvage is not None
    task = functools.partial(
        check_chunk, selection=options.selection, two_squares=options.two_squares, keep=keep
    )
    known, players = KnownPlayers(), NOBODY
    checking = in_order(task, chunks(options.inputs, numbers=options.selection.game), options.jobs)
    with Salvage(options.salvage, options.force) as salvage, checking as answers:
        results = itertools.chain.from_iterable(answers)
        for file, of_file in itertools.groupby(results, key=lambda result: result.file):
            before, numbers = tally.faults, defaultdict[str, NumberSet](NumberSet)
            for result in of_file:
                if result.players != players:
                    players = result.players
                    _check_players(result, known)
                if result.place and not numbers[result.place.match].add(result.place.number):
                    result.double()
                result.report(tally)
                salvage.write(result)
            if file and tally.faults == before:
                note(f"{file}: sound")
    return tally.status


def _check_players(result: CheckResult, known: KnownPlayers) -> None:
    """Enters a player that was another one before: `rate` refuses these games together."""
    try:
        known.add(result.players, result.file)
    except InputError as error:
        result.faults.append(error)


@dataclass(frozen=True)
class Place:
    """Which game a record is.

    match    key of the match
    number   in the match
    name     in messages
    """

    match: str
    number: int
    name: str


@dataclass
class CheckResult:
    """What checking one item gave.

    file      where it stands
    faults    what is wrong with it
    notes     what is no fault, such as breaches of repetition rules
    header    what goes before `text`, if it is not that of the item before
    players   of a record
    place     of a record
    text      its sound part
    """

    file: str
    faults: list[InputError] = field(default_factory=list)
    notes: list[InputError] = field(default_factory=list)
    header: str = ""
    players: Players = NOBODY
    place: Place | None = None
    text: str = ""

    def double(self) -> None:
        """Enters that an earlier game of the file has the number of this one: `rate` would leave
        one out."""
        assert self.place is not None
        what = f"its number in the match, {self.place.number}, is an earlier game's, too"
        self.faults.append(InputError(what, file=self.place.name))
        self.text = ""

    def report(self, tally: FaultTally) -> None:
        """Counts the item as sound or not, and warns of its notes and faults."""
        for note in self.notes:
            tally.warn(str(note))
        for fault in self.faults:
            tally.fault(fault)
        if not self.faults:
            tally.passed()


def check_chunk(
    chunk: list[Raw | InputError], selection: Selection, two_squares: int, keep: bool
) -> list[CheckResult]:
    """What is found in each item that is wanted; with `keep`, also its sound part."""
    results = [CheckResult(item.file or "") for item in chunk]
    matches: dict[int, str] = {}  # by the identities of headers
    played: list[tuple[CheckResult, Raw]] = []
    for result, item in zip(results, chunk, strict=True):
        if isinstance(item, InputError):
            result.faults.append(item)
        elif isinstance(item, RawPosition | RawSetup):
            result.text = _line(item)
        elif is_of_orders(item):
            if not selection.by_log:
                _enter_record(result, item, matches)
                _check_diplomacy(result, item, keep)
        else:
            played.append((result, item))
    sound: list[tuple[CheckResult, PlayedGame]] = []
    outcomes = games([raw for _, raw in played], selection)
    for (result, item), game in zip(played, outcomes, strict=True):
        if game is None:
            continue  # nobody asked for it
        if isinstance(item, RawRecord | RawEpisode):
            result.faults += _header_faults(item)
        keeps = keep and not result.faults  # no part of a game mends its header
        _enter_record(result, item, matches)
        if isinstance(game, NotFromTheStart) and isinstance(item, RawEpisode):
            result.faults += _replay_faults(item)
        elif isinstance(game, InputError):
            result.faults.append(game)
        else:
            result.faults += game.played.faults or _contradictions(game)
            result.header, result.text = _sound_part(game) if keeps else ("", "")
            sound.append((result, game))
    _find_breaches(sound, two_squares)
    return results


def _enter_record(result: CheckResult, raw: Raw, matches: dict[int, str]) -> None:
    """Enters the players and the place of a record; `matches` are those of the chunk so far."""
    if isinstance(raw, RawRecord):
        header, record = raw.header, raw.record
        match = matches.get(id(header)) or matches.setdefault(id(header), match_key(header))
        result.players = header.players
        result.place = Place(match, record.number, raw.name)


def _contradictions(game: PlayedGame) -> list[InputError]:
    """What a record says of its game that its own moves and result contradict."""
    if not isinstance(game.raw, RawRecord):
        return []
    header, record = game.raw.header, game.raw.record
    faults, moves = [], len(record.moves.split())
    if record.plies != moves:
        faults.append(InputError(f"it says {record.plies} plies, but has {moves} moves"))
    if record.returns != game.log.returns:
        what = f"returns that no game of {game.log.variant.name} has"
        faults.append(InputError(what, text=list(record.returns)))
    if record.adjudicator and game.log.by_rules:
        faults.append(InputError(f"{record.reason} needs no adjudicator", text=record.adjudicator))
    word, _, limit = (record.adjudicator or "").partition(" ")
    if limit and limit != {"resign": header.resign, "draw": header.draw}.get(word):
        what = "an adjudicator that the header does not have"
        faults.append(InputError(what, text=record.adjudicator))
    for fault in faults:
        fault.file = game.raw.name
    return faults


def _check_diplomacy(result: CheckResult, raw: Raw, keep: bool) -> None:
    """Enters what is wrong with a game of Diplomacy; with `keep`, also its sound part."""
    from stratkit.convert.diplomacy import json_text, play, record_of
    from stratkit.storage.records import header_line, record_line

    result.faults += _twice(raw)
    keep = keep and not result.faults
    try:
        with error_context(raw.name):
            played = play(raw)
    except InputError as error:
        result.faults.append(error)
        return
    result.faults += filter(None, [played.fault])
    result.notes += played.notes
    if keep and isinstance(raw, RawJson):
        result.text = json_text(played)
    elif keep and isinstance(raw, RawRecord):
        header, record = record_of(raw, played)
        result.header, result.text = header_line(header).decode(), record_line(record).decode()


def _header_faults(raw: RawRecord | RawEpisode) -> list[InputError]:
    """Why `match`, `train` or `rate` refuse the header of a record or an episode: its rules are
    unknown, or a player plays against itself."""
    from stratkit.engine import Game as Rules
    from stratkit.games.kit import Notation
    from stratkit.games.table import kit_class

    header = raw.header
    faults = []
    try:
        if kit_class(header.game).notation is Notation.LOG:  # else that is a fault of its own
            Rules.stored(header.game, header.rules)
    except InputError as error:
        faults.append(InputError(error.what, file=raw.name, text=error.text))
    return faults + _twice(raw)


def _twice(raw: Raw) -> list[InputError]:
    """Why a game between two of a record does not count: both are the same player."""
    players = raw.record.players if isinstance(raw, RawRecord) else ()
    if len(players) == 2 == 1 + len(set(players)):
        return [InputError("a player against itself", file=raw.name)]
    return []


def _replay_faults(raw: RawEpisode) -> list[InputError]:
    """What is wrong with an episode that begins within a game, repetition rules aside: they depend
    on the moves before it."""
    from stratkit.engine import Game as Rules
    from stratkit.engine import IllegalAction, replay
    from stratkit.notation.endings import KNOWN, NO_MOVE
    from stratkit.notation.log import LIMITS, ON_THE_BOARD

    header, episode = raw.header, raw.episode
    limits = {name: header.rules.get(name, 0) for name in LIMITS}
    try:
        game = Rules.stored(header.game, {**dict.fromkeys(Rules(header.game).rules, 0), **limits})
    except InputError:
        return []  # a fault of the header
    try:
        played = replay(game, episode.actions, episode.start)
    except IllegalAction as error:
        what = "its start is no position of the game"
        if error.action is not None and error.index is not None:
            what = f"action {error.index + 1}, {error.action}, is not legal"
        return [InputError(what, file=raw.name)]
    claim, seen = header.endings[episode.ending], game.endings[played.endings[0]]
    same = claim == seen or (claim == "cut" and not seen)
    if not seen and claim in KNOWN.difference(LIMITS, ON_THE_BOARD, ["cut"]) | {NO_MOVE}:
        return []  # it ended off the board; or repetition rules may have left no move
    if not same or episode.returns.tolist() != played.returns[0].tolist():
        what = f"the result is not that of the board ({seen or 'not ended'})"
        return [InputError(what, file=raw.name, text=claim)]
    return []


def _waived(raw: Raw) -> int:
    """A bit for each side that the repetition rules did not bind."""
    if isinstance(raw, RawEpisode):
        return int(raw.header.rules.get("waived", 0))
    if not isinstance(raw, RawRecord):
        return 0
    seats = enumerate(raw.record.players)
    return sum(1 << side for side, i in seats if not raw.header.players[i].bound)


def _find_breaches(sound: list[tuple[CheckResult, PlayedGame]], two_squares: int) -> None:
    """Enters the first breach of each repetition rule: of the rules of its own header in a record
    or episode, of Gravon's in a log. Rules that the engine does not take are faults."""
    from stratkit.notation.play import breaches

    by_rule: dict[tuple[str, int, int], list[tuple[CheckResult, PlayedGame]]] = {}
    for result, game in sound:
        own = {"two_squares": two_squares, "more_squares": 1}
        raw = game.raw
        rules = raw.header.rules if isinstance(raw, RawRecord | RawEpisode) else own
        for rule in own:
            if rules.get(rule):
                key = rule, rules[rule], _waived(raw)
                by_rule.setdefault(key, []).append((result, game))
    for (rule, number, waived), some in by_rule.items():
        try:
            first = breaches([game.log for _, game in some], {rule: number, "waived": waived})
        except InputError:
            continue  # a fault of the header
        for (result, game), ply in zip(some, first, strict=True):
            if ply is not None:
                name = (
                    f"two-squares rule ({number})" if rule == "two_squares" else "more-squares rule"
                )
                what = f"the {name} forbids this move, and perhaps later ones: no fault here"
                where, text = game.log.where(ply), game.log.move_text(ply)
                result.notes.append(InputError(what, file=game.raw.name, where=where, text=text))


def _sound_part(game: PlayedGame) -> tuple[str, str]:
    """Header and text of a game as far as it is sound, in the form that it came in."""
    from stratkit.convert.records import record_of
    from stratkit.notation.gravon import is_xml
    from stratkit.notation.gravon_text import gsn_text, xml_text
    from stratkit.storage.records import header_line, record_line

    if isinstance(game.raw, RawLog):
        return "", (xml_text if is_xml(game.raw.data) else gsn_text)(game.log)
    if isinstance(game.raw, RawRecord):
        header, record = record_of(game)
        return header_line(header).decode(), record_line(record).decode()
    return "", ""  # of episodes `train` itself keeps what is whole


def _line(item: RawPosition | RawSetup) -> str:
    return f"{item.fenfs if isinstance(item, RawPosition) else item.line.line}\n"


class Salvage(contextlib.AbstractContextManager["Salvage"]):
    """Writes what is sound of each file into a folder, under the file's own name."""

    def __init__(self, folder: str | None, force: bool) -> None:
        self._folder, self._force = folder, force
        self._names = Names()
        self._file = self._header = ""
        self._open = contextlib.ExitStack()
        self._out: IO[Any] | None = None
        if folder is not None:
            os.makedirs(folder, exist_ok=True)

    def write(self, result: CheckResult) -> None:
        """Writes the sound part of an item, if there is one and a folder for it."""
        if self._folder is None or not result.text:
            return
        if result.file != self._file or self._out is None:
            self._open.close()
            name = self._names.fresh(os.path.basename(result.file))
            path = os.path.join(self._folder, name)
            self._out = self._open.enter_context(new_file(path, self._force))
            self._file, self._header = result.file, ""
        text = result.text if result.header == self._header else result.header + result.text
        self._header = result.header
        self._out.write(text.encode())

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)


def denied(header: RecordHeader, record: GameRecord) -> str:
    """Why the board denies a record of logs, or "". Of other games nothing is played."""
    if kit_class(header.game).notation is not Notation.LOG:
        return ""
    try:
        log = log_of(RawRecord(file="", header=header, record=record))
    except InputError as error:
        return error.what
    [played] = play_out([("", log)])
    return played.faults[0].what if played.faults else ""
