"""Which players of game records are the same, which matches, and which games."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from stratkit.errors import InputError, Say, apart, printable, shown

if TYPE_CHECKING:
    from stratkit.storage.records import GameRecord, RecordHeader, RecordPlayer

_SPEC = re.compile(r"((?:[\w-]+=[^,]*,)*)(.*)", re.DOTALL)  # of a player: options, and what it is
MAX_RULES, MAX_NAME = 4, 30  # that a message names, and characters of each
_BELIEF = re.compile(r"(belief=(?:setups\+)?)[^,]*[./][^,]*,")  # a file's


def plays_as(player: RecordPlayer) -> tuple[str, str | None]:
    """What may not differ between players of one name, beside the weights: of a checkpoint, which
    of its networks, and what is done to its policy; of a program, its limits and its command; but
    not where their files lie, nor which setups a person has. Of who was told a setup, this one."""
    options, spec = _SPEC.fullmatch(player.spec).groups()  # type: ignore[union-attr]
    if spec == "human":
        options = re.sub("(setup|favourites)=[^,]*,", "", options)
    told = f"setup={player.setup}," if player.setup is not None else r"setup=\g<2>,"
    options = re.sub(r"(?<![^,])setup=([^,#]*/)?([^,]*),", told, options)
    options = _BELIEF.sub(rf"\g<1>{player.belief},", options)
    return options, player.sha256 or re.sub("^ucc:[^ ]*/", "ucc:", spec)


def on_its_day(name: str, record: GameRecord) -> str:
    """Who a player is whom `rate --by-day` names: another one each day, if the game has a date."""
    return f"{name} {record.date[: len('2026-11-27')]}" if record.date else name


class KnownPlayers:
    """The players that were met so far, and where first: a name always means the same player."""

    def __init__(self) -> None:
        self._met: dict[str, tuple[RecordPlayer, str]] = {}

    @property
    def names(self) -> list[str]:
        """What they are called."""
        return list(self._met)

    def add(self, players: Iterable[RecordPlayer], file: str) -> None:
        """Raises `InputError` for a player whose name another one has."""
        for player in players:
            known, before = self._met.setdefault(player.name, (player, file))
            for field, differs in (("sha256", "has other weights"), ("setup", "has another setup")):
                if getattr(known, field) != getattr(player, field):
                    what = f"player {player.name!r} {differs} than in {before}"
                    raise InputError(what, file=file)
            if plays_as(known) != plays_as(player):
                before_text, here = apart(known.spec, player.spec)
                what = f"player {player.name!r} is another one in {before}, {shown(before_text)}"
                raise InputError(what, file=file, text=here)


class CommonRules:
    """The game and the rules that all records have. With `mixed` their rules may differ: each new
    set of them is told to `tell`, and `differing` has the names of the rules that do."""

    def __init__(self, mixed: bool = False, tell: Say = lambda line: None) -> None:
        self.game = ""
        self.differing: set[str] = set()
        self._mixed, self._tell = mixed, tell
        self._first: tuple[Mapping[str, int], str] | None = None  # rules, of which file
        self._met: list[Mapping[str, int]] = []

    def add(self, header: RecordHeader, file: str, line: int) -> None:
        """A header on a line of a file. Raises `InputError` when it does not belong to the first
        one."""
        self._first = self._first or (header.rules, file)
        self.game = self.game or header.game
        (rules, before), where = self._first, f"line {line}"
        if header.game != self.game:
            what = f"games of {header.game}, but {before} has {self.game}"
            if file == before:
                what = f"games of {header.game} behind games of {self.game}{_remedy(header)}"
            raise InputError(what, file=file, where=where)
        if header.rules == rules or header.rules in self._met:
            return
        than = "before" if file == before else f"in {before}"
        what = f"other rules than {than}: {_differences(rules, header.rules)}"
        if not self._mixed:
            what += "; --mixed-rules rates them together"
            raise InputError(what, file=file, where=where)
        self._met.append(header.rules)
        self.differing |= {r for r in {**rules, **header.rules} if _differ(r, rules, header.rules)}
        self._tell(f"{file}: {where}: {what}; rated together")


def _remedy(header: RecordHeader) -> str:
    """How to rate games of one variant of Stratego out of several."""
    return "; fenfs convert --variant chooses one" if "two_squares" in header.rules else ""


def _differ(rule: str, before: Mapping[str, int], now: Mapping[str, int]) -> bool:
    return before.get(rule) != now.get(rule)


def _differences(before: Mapping[str, int], now: Mapping[str, int]) -> str:
    """What rules are there and here: the first that differ, and how many more do."""
    names = sorted(rule for rule in {**before, **now} if _differ(rule, before, now))
    parts = [
        f"{printable(rule)[:MAX_NAME]} is {before.get(rule, 'not named')} there,"
        f" {now.get(rule, 'not named')} here"
        for rule in names[:MAX_RULES]
    ]
    more = len(names) - MAX_RULES
    return "; ".join([*parts, f"and {more} more"] if more > 0 else parts)


def match_key(header: RecordHeader) -> str:
    """Tells matches apart: in one match there is one game of a number."""
    rules = sorted(header.rules.items())
    games = header.games if len(header.players) > 2 else None  # two players may go on with more
    seats = sorted((header.seats or "").split(","))  # in whatever order they were typed
    key = header.game, rules, header.seed, games, header.players, header.setups, seats
    return f"{key!r}{header.begins}"


def game_hash(record: GameRecord) -> int:
    """Tells whether two games of one match that have one number are the same. Within a process."""
    return hash((record.players, record.setups, record.moves, record.returns, record.reason))
