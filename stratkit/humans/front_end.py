"""The person among the players of a match, and the front end at which that person plays."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from stratkit.errors import UsageError, error_context, printable
from stratkit.humans.words import Words
from stratkit.storage.atomic import is_special
from stratkit.storage.streams import STDOUT, read_line

if TYPE_CHECKING:
    from stratkit.humans.session import Ended, FrontEnd, Interactive
    from stratkit.players.spec import Contestant
    from stratkit.storage.records import GameRecord, RecordHeader

WORDS = ".said"  # the file beside the record with what the person said, and the other one played


class PersonOptions(Protocol):
    """What of a match's options a front end needs."""

    @property
    def game(self) -> str | None:
        """The game, or None: the standard one, or that of the record."""

    @property
    def games(self) -> int | None:
        """How many games to play."""

    @property
    def record(self) -> str:
        """The file of the games' record."""

    @property
    def resume(self) -> bool:
        """Whether to go on with the record."""

    @property
    def from_game(self) -> str | None:
        """The ply of a game of a record from which to go on."""

    @property
    def browser(self) -> bool:
        """Whether to play in a browser."""

    @property
    def port(self) -> int | None:
        """The port of the page; None: any that is free."""

    @property
    def style(self) -> str | None:
        """The characters of the terminal's board."""

    @property
    def colour(self) -> str | None:
        """Whether the terminal's board has colours."""

    @property
    def front_end(self) -> str | None:
        """The program that shows the board."""


def find_person(
    contestants: Sequence[Contestant[Any]], options: PersonOptions
) -> Interactive | None:
    """The human among the players, of whom there can be one."""
    from stratkit.humans.session import Interactive

    found = [contestant.player for contestant in contestants]
    people = [player for player in found if isinstance(player, Interactive)]
    if not people:
        if options.front_end:
            raise UsageError(f"{options.front_end} is for human, and no player is one")
        return None
    if len(people) > 1 or len(contestants) > 2:
        raise UsageError("human plays against one other player")
    if options.from_game is not None:
        from stratkit.engine import Game
        from stratkit.humans.lead import lead_of
        from stratkit.players.player import Player

        assert options.game
        if not all(isinstance(player, Player) for player in found):
            raise UsageError("--from-game is for games against a player of stratkit's own")
        lead_of(options.from_game, Game(options.game))  # before a record is made
    if options.record == "-":
        raise UsageError("human needs the terminal: use -o FILE, not -o -")
    return people[0]


@contextlib.contextmanager
def open_front_end(
    person: Interactive | None, contestants: Sequence[Contestant[Any]], options: PersonOptions
) -> Iterator[FrontEnd | None]:
    """Where the person plays; None: there is none. `InputError`: it cannot be opened."""
    if person is None:
        yield None
        return
    if options.browser:
        with _browser(person, contestants, options) as front:
            yield front
        return
    from stratkit.humans.terminal import Terminal
    from stratkit.notation.drawing import STYLES, in_colour

    yield Terminal(
        read_line,
        _write,
        STYLES[options.style or "ascii"],
        in_colour(options.colour or "auto", sys.stdout.isatty()),
    )


@contextlib.contextmanager
def _browser(
    person: Interactive, contestants: Sequence[Contestant[Any]], options: PersonOptions
) -> Iterator[FrontEnd]:
    from stratkit.humans.browser import Browser
    from stratkit.humans.human import HumanPlayer
    from stratkit.players.player import Explainer, Player

    [other] = [contestant for contestant in contestants if contestant.player is not person]
    games = (options.games or 0) + (options.games or 0) % 2
    hints = isinstance(other.player, Explainer) and isinstance(person, HumanPlayer)
    match = {"against": printable(other.name), "of": options.game, "games": games, "hints": hints}
    match["undoes"] = isinstance(other.player, Player) and isinstance(person, HumanPlayer)
    browser, failed = Browser(match, _write), True
    browser.open(options.port or 0)
    try:
        yield browser
        failed = False
    finally:
        browser.close(failed)


@dataclass(frozen=True)
class Seats:
    """Who plays; what tells the person that a game has ended; how often it took back a move of a
    game, and how many of its plies another game had."""

    players: list[Any]
    ended: Callable[[GameRecord], None] = lambda record: None
    helped: Callable[[int], tuple[int, int]] = lambda number: (0, 0)


@contextlib.contextmanager
def seated(
    person: Interactive | None,
    front: FrontEnd | None,
    contestants: Sequence[Contestant[Any]],
    header: RecordHeader,
    options: PersonOptions,
    say: Callable[[str], None],
) -> Iterator[Seats]:
    """Seats the person, if there is one, at the front end. What the person says and the other one
    plays is kept beside the record until all games are played: it leads to where the match was
    left. A person who leaves ends the context."""
    players = [contestant.player for contestant in contestants]
    if person is None or front is None:
        yield Seats(players)
        return
    from stratkit.humans.replayed_opponent import ReplayedOpponent
    from stratkit.humans.session import Saved, Session
    from stratkit.players.player import Explainer, Player

    me = players.index(person)
    other = players[1 - me]
    # Nothing is kept beside a record that is none, such as /dev/null, or of a game with a program,
    # which cannot be led to where the game was left.
    kept = isinstance(other, Player) and not is_special(options.record)
    path = options.record + WORDS if kept else os.devnull
    words = Words(path)
    words.read()  # also of an earlier match: it holds nothing but words
    if not options.resume:
        words.forget()
    with error_context(path, only=OSError), open(path, "a", encoding="utf-8") as words.stream:
        suggest = _suggester(header.game, contestants[1 - me].spec)

        def end(record: GameRecord) -> None:
            ended = _ended(header, record, me)
            front.show(ended)
            say(ended.result)
            if advice := suggest(record.returns[record.players.index(me)]):
                front.tell(advice)

        hints = [player.explain for player in players if isinstance(player, Explainer)]
        ours = isinstance(other, Player)
        person.sit_down(
            Session(front, words.said, words.say, hints[0] if hints else None, path, undoes=ours)
        )
        if isinstance(other, Player):
            players[1 - me] = ReplayedOpponent(other, words.played, words.play, path)
        if options.from_game is not None:
            _lead(options.from_game, header, words, me)
        try:
            yield Seats(
                players, end, lambda number: (words.undone[number], words.led.get(number, 0))
            )
        except Saved:
            return
    words.forget()


def _lead(text: str, header: RecordHeader, words: Words, me: int) -> None:
    """Leads the games that have not begun to the ply that `text` names."""
    from stratkit.engine import Game
    from stratkit.humans.lead import lead_of

    lead = lead_of(text, Game.stored(header.game, header.rules))
    for number in range(header.games):
        words.lead(number, lead.plies, *lead((number + me) % 2))


def _suggester(game: str, spec: str) -> Callable[[float], str | None]:
    """What to try next, after returns of games against `spec`, which may name a level."""
    from stratkit.players.levels import level_of, suggestion

    scores: list[float] = []
    level = level_of(spec)

    def suggest(points: float) -> str | None:
        scores.append(1.0 if points > 0 else 0.0 if points < 0 else 0.5)
        return None if level is None else suggestion(level, game, scores)

    return suggest


def _ended(header: RecordHeader, record: GameRecord, me: int) -> Ended:
    """What the person, player number `me`, is shown of a game that is over."""
    from stratkit.convert.games import log_of
    from stratkit.convert.raw import RawRecord
    from stratkit.engine import Game
    from stratkit.games.kit import Notation
    from stratkit.games.table import kit_class
    from stratkit.humans.choice import told as in_words
    from stratkit.humans.session import Ended
    from stratkit.notation.play import play_out
    from stratkit.notation.replay_page import Shown

    side = record.players.index(me)
    points = record.returns[side]
    result = "won" if points > 0 else "lost" if points < 0 else "drew"
    much = f" {abs(points):g}" if points not in (-1, 0, 1) else ""
    told = f"game {record.number + 1}: you {result}{much} ({record.reason})"
    if kit_class(header.game).notation is not Notation.LOG:
        actions = [int(action) for action in record.moves.split()]
        words = in_words(Game.stored(header.game, header.rules), actions, side)
        return Ended(record.number, side, told, None, words)
    if record.setups is None:
        return Ended(record.number, side, told, None)
    log = log_of(RawRecord(file=told, header=header, record=record))
    [played] = play_out([(told, log)], boards=True)
    return Ended(record.number, side, told, Shown(played, told, log.ending))


def _write(text: str) -> None:
    with error_context(STDOUT, only=OSError):
        sys.stdout.write(text)
        sys.stdout.flush()
