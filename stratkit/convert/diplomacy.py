"""Games of Diplomacy: their JSON, records and episodes, checked, shown and made into one another.

Only `--game` chooses among them: what else chooses games is of Stratego.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stratkit.arrays import Bytes, Int32s
from stratkit.convert.raw import MAX_JSON, Raw, RawEpisode, RawJson, RawRecord
from stratkit.engine import Game as Rules
from stratkit.engine.diplomacy import DiplomacyMap, map_of
from stratkit.engine.replay import Prefix, legal_prefix
from stratkit.errors import InputError, printable, shown
from stratkit.games.diplomacy.games import actions_of, game_json, game_of, phases
from stratkit.storage.schema import parse_json

if TYPE_CHECKING:
    from stratkit.storage.records import GameRecord, RecordHeader

_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


class PlayedDiplomacy(NamedTuple):
    """A game as far as it is legal.

    rules     the game
    actions   int32 [T]
    end       how they end
    players   by power
    fault     what is wrong with it
    notes     what the rules do not take as it stands in the file
    """

    rules: Rules
    actions: Int32s
    end: Prefix
    players: tuple[str, ...]
    fault: InputError | None
    notes: tuple[InputError, ...] = ()

    @property
    def map(self) -> DiplomacyMap:
        """The map of the game's rules."""
        return map_of(self.rules)

    def phases(self) -> Iterator[tuple[np.ndarray, Bytes | None]]:
        """The position of each phase with its orders, and the last one without."""
        position = self.map.start()
        for position, orders in phases(self.rules, self.actions):
            yield position, orders
            position = self.map.resolve(position, orders)
        yield position, None


def play(raw: Raw) -> PlayedDiplomacy:
    """The item, which is a game of Diplomacy, played. Raises `InputError`."""
    notes: list[InputError] = []
    returns, claim = None, ""
    if isinstance(raw, RawJson):
        data = _object(raw.data)
        rules = game_of(data)
        players, actions = tuple(map_of(rules).powers), actions_of(rules, data, notes.append)
    elif isinstance(raw, RawRecord):
        header, record = raw.header, raw.record
        rules, actions = Rules.stored(header.game, header.rules), _numbers(record.moves)
        players = tuple(header.players[i].name for i in record.players)
        returns, claim = tuple(record.returns), record.reason
    else:
        assert isinstance(raw, RawEpisode)
        episode, rules = raw.episode, Rules.stored(raw.header.game, raw.header.rules)
        players, actions = tuple(map_of(rules).powers), episode.actions
        returns, claim = tuple(episode.returns), raw.header.endings[episode.ending]
        if episode.start:
            raise InputError("begins within a game: only whole games are looked at")
    inside = (actions >= 0) & (actions < rules.actions)
    end = legal_prefix(rules, actions if inside.all() else actions[: int(inside.argmin())])
    if end.legal < len(actions):
        fault = InputError(f"action {end.legal + 1}, {actions[end.legal]}, is not legal")
    elif returns is not None and claim != end.ending and (end.ending or claim in rules.endings):
        what = f"the result is not that of the board ({end.ending or 'not ended'})"
        fault = InputError(what, text=claim)
    elif returns is not None and end.ending and returns != tuple(end.returns.tolist()):
        text = " ".join(f"{value:g}" for value in returns)
        fault = InputError(f"the result is not that of the board ({end.ending})", text=text)
    else:
        return PlayedDiplomacy(rules, actions, end, players, None, _one_of_a_kind(notes, raw.name))
    fault.file = raw.name
    return PlayedDiplomacy(rules, actions[: end.legal], end, players, fault)


def _one_of_a_kind(notes: list[InputError], file: str) -> tuple[InputError, ...]:
    """The first of the notes of each kind, which says how many there are."""
    kinds: dict[str, list[InputError]] = {}
    for note in notes:
        kinds.setdefault(note.what, []).append(note)
    return tuple(
        InputError(f"{what} ({len(some)} such)", file=file, where=some[0].where, text=some[0].text)
        for what, some in kinds.items()
    )


def _object(data: bytes) -> Any:
    if len(data) > MAX_JSON:
        raise InputError(f"over {MAX_JSON >> 20} MiB")
    return parse_json(data)


def _numbers(words: str) -> Int32s:
    for at, word in enumerate(words.split()):
        if not (word.isascii() and word.isdecimal() and len(word) < 6):
            raise InputError("not an action", where=f"action {at + 1}", text=word)
    return np.array(words.split(), np.int32)


# ---- Out ----


def json_text(played: PlayedDiplomacy) -> str:
    """The game as JSON, in a line."""
    return json.dumps(game_json(played.rules, played.actions)) + "\n"


def file_name(raw: Raw, played: PlayedDiplomacy) -> str:
    """What a file of this game alone would be called."""
    number = raw.number
    if isinstance(raw, RawRecord | RawEpisode):
        number = (raw.record if isinstance(raw, RawRecord) else raw.episode).number
    return f"{_NOT_IN_NAMES.sub('-', played.rules.name)}-{number}.json"


def record_of(raw: Raw, played: PlayedDiplomacy) -> tuple[RecordHeader, GameRecord]:
    """The game as a record, with the header that belongs before it."""
    from msgspec.structs import replace

    from stratkit.storage.records import GameRecord, RecordHeader, RecordPlayer, result_of

    moves, end = " ".join(map(str, played.actions.tolist())), played.end
    if isinstance(raw, RawRecord):
        return raw.header, replace(raw.record, moves=moves)
    rules, seats, returns = played.rules, played.rules.players, tuple(end.returns.tolist())
    spec, setups, number, seed, sha = "human", None, 0, 0, None
    if isinstance(raw, RawJson):
        setups = {"from": "json", "sha256": hashlib.sha256(raw.data).hexdigest()}
    elif isinstance(raw, RawEpisode):
        spec, number = "selfplay", raw.episode.number
        seed, sha = raw.header.seed, raw.header.network
    header = RecordHeader(
        game=rules.name,
        rules=rules.rules,
        seed=seed,
        games=1,
        players=tuple(RecordPlayer(name, spec, sha) for name in played.players),
        setups=setups,
        powers=played.players if seats > 2 else None,
    )
    return header, GameRecord(
        number=number,
        pair=number,
        players=tuple(range(seats)),
        setups=None,
        moves=moves,
        result=result_of(returns),
        returns=returns,
        reason=end.ending or "cut",
        plies=sum(orders is not None for _, orders in played.phases()),
    )


def title(played: PlayedDiplomacy) -> str:
    """Who played, and how it ended."""
    seats = zip(played.map.powers, played.players, strict=True)
    who = ", ".join(power if power == name else f"{power} {shown(name)}" for power, name in seats)
    return f"{printable(played.rules.name)}: {who}; {played.end.ending or 'cut'}"


def maps(played: PlayedDiplomacy) -> str:
    """The game as a page of maps to step through."""
    from stratkit.games.diplomacy.maps_page import maps_page

    *phases_played, (end, _) = played.phases()
    shown_phases = [(position, orders) for position, orders in phases_played if orders is not None]
    return maps_page(played.map, shown_phases, end, title(played), _result(played))


def _result(played: PlayedDiplomacy) -> str:
    """What each power got, if the game has ended."""
    if not played.end.ending:
        return "the game has not ended"
    got = zip(played.map.powers, played.end.returns.tolist(), strict=True)
    return ", ".join(f"{power} {value:.3f}" for power, value in got)


def phase_lines(played: PlayedDiplomacy, phase: tuple[np.ndarray, Bytes | None]) -> str:
    """A phase in words: of each power its centres, and its orders, or its units where there are
    none."""
    from stratkit.games.diplomacy.games import phase_json

    position, orders = phase
    phase_object = phase_json(played.map, position, orders)
    lines = [phase_object["name"]]
    for power in played.map.powers:
        some = (
            phase_object["state"]["units"][power]
            if orders is None
            else phase_object["orders"][power]
        )
        count = len(phase_object["state"]["centers"][power])
        lines.append(f"{power} ({count}): {', '.join(some) or '-'}")
    return "\n".join(lines) + "\n"
