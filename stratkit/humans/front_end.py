"""The people among the players of a match, and the front ends at which they play."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from stratkit.errors import UsageError, error_context, printable
from stratkit.humans.words import CLOCK, Words
from stratkit.players.spec import CHOSEN
from stratkit.storage.atomic import is_special
from stratkit.storage.streams import STDOUT, read_line

if TYPE_CHECKING:
    from stratkit.engine import Game
    from stratkit.humans.browser import Browser
    from stratkit.humans.live_clock import LiveClock
    from stratkit.humans.session import Ended, FrontEnd, Interactive, Session
    from stratkit.humans.spectators import Spectators
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
    def host(self) -> str | None:
        """The address of this machine at which others reach the page; None: it alone."""

    @property
    def style(self) -> str | None:
        """The characters of the terminal's board."""

    @property
    def colour(self) -> str | None:
        """Whether the terminal's board has colours."""

    @property
    def front_end(self) -> str | None:
        """The program that shows the board."""


def find_people(
    contestants: Sequence[Contestant[Any]], options: PersonOptions, game: Game
) -> list[Interactive]:
    """The people among the players of the game: none, one, or two who play each other."""
    from stratkit.humans.session import Interactive

    found = [contestant.player for contestant in contestants]
    people = [player for player in found if isinstance(player, Interactive)]
    _check_chosen(contestants, len(people))
    if not people:
        if options.front_end:
            raise UsageError(f"{options.front_end} is for human, and no player is one")
        return []
    if len(contestants) > 2:
        raise UsageError("human plays against one other player")
    if options.from_game is not None:
        from stratkit.humans.lead import lead_of
        from stratkit.players.player import Player

        if not all(isinstance(player, Player) for player in found):
            raise UsageError("--from-game is for games against a player of stratkit's own")
        lead_of(options.from_game, game)  # before a record is made
    if options.record == "-":
        raise UsageError("human needs the terminal: use -o FILE, not -o -")
    return people


def _check_chosen(contestants: Sequence[Contestant[Any]], people: int) -> None:
    """`UsageError`: a level is to be chosen, and there is no one person who does."""
    if people != 1:
        for contestant in contestants:
            if contestant.spec == CHOSEN:
                what = "the level of this player is chosen by a person, and no player is one"
                raise UsageError(what, text=CHOSEN)


@dataclass(frozen=True)
class Places:
    """Where the people play, in their order, the `pages` of those who have one, and the `names` of
    two. `again`: whether all of them want a rematch, after which the match has so many games.
    `scores`: of the first of them, 1, .5 or 0 a game, by the level of the opponent."""

    fronts: Sequence[FrontEnd] = ()
    pages: Sequence[Browser] = ()
    names: Sequence[str] = ()
    spectators: Spectators | None = None
    again: Callable[[int], bool] = lambda games: False
    scores: dict[int, list[float]] = field(default_factory=dict)


@contextlib.contextmanager
def open_places(
    people: Sequence[Interactive], contestants: Sequence[Contestant[Any]], options: PersonOptions
) -> Iterator[Places]:
    """Where the people play. `InputError`: it cannot be opened."""
    if not people:
        yield Places()
        return
    if options.browser:
        with _pages(people, contestants, options) as places:
            yield places
        return
    from stratkit.humans.hand_over import Screen, SharedFront
    from stratkit.humans.terminal import Terminal
    from stratkit.notation.drawing import STYLES, in_colour

    terminal = Terminal(
        read_line,
        _write,
        STYLES[options.style or "ascii"],
        in_colour(options.colour or "auto", sys.stdout.isatty()),
    )
    if len(people) == 1:
        yield Places([terminal])
        return
    screen = Screen(terminal, _write, sys.stdout.isatty())
    names = [printable(one.name) for one in contestants]
    yield Places([SharedFront(name, screen) for name in names], names=names)


@contextlib.contextmanager
def _pages(
    people: Sequence[Interactive], contestants: Sequence[Contestant[Any]], options: PersonOptions
) -> Iterator[Places]:
    from stratkit.games.kit import Notation
    from stratkit.games.table import kit_class
    from stratkit.humans.human import HumanPlayer
    from stratkit.humans.pages import Pages
    from stratkit.players.player import Explainer, Player

    assert options.game
    games = (options.games or 0) + (options.games or 0) % 2
    names = [printable(contestant.name) for contestant in contestants]
    about = {"of": options.game, "games": games, "people": len(people), "players": names}
    matches = []
    for person in people:
        me = next(at for at, one in enumerate(contestants) if one.player is person)
        other = contestants[1 - me].player
        moves = isinstance(person, HumanPlayer)
        matches.append(
            {
                **about,
                "me": names[me],
                "against": names[1 - me],
                "hints": isinstance(other, Explainer) and moves,
                "undoes": isinstance(other, Player) and moves,
                "draws": isinstance(other, Player) and moves,
            }
        )
    boards = kit_class(options.game).notation is Notation.LOG
    watched = boards and (len(people) > 1 or options.host is not None)
    pages = Pages(names, matches, about if watched else None, _write)
    pages.open(options.port or 0, options.host)
    failed = True
    try:
        yield Places(pages.fronts, pages.people, names, pages.spectators, pages.again)
        failed = False
    finally:
        pages.close(failed)


@dataclass(frozen=True)
class Seats:
    """Who plays; what tells the person that a game has ended; how often it took back a move of a
    game, and how many of its plies another game had."""

    players: list[Any]
    ended: Callable[[GameRecord], None] = lambda record: None
    helped: Callable[[int], tuple[int, int]] = lambda number: (0, 0)


@contextlib.contextmanager
def seated(
    people: Sequence[Interactive],
    places: Places,
    contestants: Sequence[Contestant[Any]],
    header: RecordHeader,
    options: PersonOptions,
    say: Callable[[str], None],
) -> Iterator[Seats]:
    """Seats the people, if there are any, at their front ends. What the first of them says and the
    other one plays is kept beside the record until all games are played: it leads to where the
    match was left. A person who leaves ends the context."""
    players = [contestant.player for contestant in contestants]
    if not people:
        yield Seats(players)
        return
    from stratkit.humans.session import Saved
    from stratkit.players.player import Player

    me = players.index(people[0])
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
        _sit_down(people, places, players, header.game, words)
        if options.from_game is not None:
            _lead(options.from_game, header, words, me)
        # Guests need not know where the record is.
        told = kept and len(people) == 1 and options.host is None
        source = options.record if told else None
        end = _end(people, places, contestants, header, say, source, words.levels)
        try:
            yield Seats(
                players, end, lambda number: (words.undone[number], words.led.get(number, 0))
            )
        except Saved:
            return
    words.forget()


def _sit_down(
    people: Sequence[Interactive], places: Places, players: list[Any], game: str, words: Words
) -> None:
    """Gives the people their sessions, and puts who replays its actions in the place of the other
    one. `players` are all of the match, in their order."""
    from stratkit.humans.draws import DeclinedOffers, DrawOffers
    from stratkit.humans.level_choice import LevelChoice
    from stratkit.humans.replayed_opponent import ReplayedOpponent
    from stratkit.humans.session import Session
    from stratkit.players.chosen_level import ChosenLevel
    from stratkit.players.player import Explainer, Player

    me, path, alone = players.index(people[0]), words.path, len(people) == 1
    other = players[1 - me]
    ours = isinstance(other, Player)
    hints = [player.explain for player in players if isinstance(player, Explainer)]
    hint, draws = hints[0] if hints else None, DrawOffers() if ours else DeclinedOffers()
    clocks = _clocks(places, players, me, words)
    session = Session(
        places.fronts[0], words.said, words.say, hint, path, ours, draws, me, clocks[me]
    )
    if isinstance(other, ChosenLevel):
        meets = [page.meet for page in places.pages]
        choice = LevelChoice(other, session.front, words, game, places.scores, *meets)
        session = replace(session, begin=choice.begin)
    if not alone:
        session = _seat_second(session, people, places, clocks[1 - me], words)
    people[0].sit_down(session)
    if ours:
        answering = draws if alone else None
        players[1 - me] = ReplayedOpponent(other, words.played, words.play, path, answering, 1 - me)


def _seat_second(
    session: Session,
    people: Sequence[Any],
    places: Places,
    clock: LiveClock | None,
    words: Words,
) -> Session:
    """Seats the second of two people; the session of the first, who then has to ask it before a
    move is taken back, as it has to ask the first."""
    from stratkit.humans.human import HumanPlayer
    from stratkit.humans.session import Session
    from stratkit.humans.take_back import Consent
    from stratkit.humans.words import UNDO, UNDO_OTHER

    def keep(game: int, word: str) -> None:
        if word == UNDO:  # of its words nothing else is kept: it has played
            words.say(game, UNDO_OTHER)

    front = places.fronts[1]
    second = Session(front, keep=keep, file=words.path, undoes=True, draws=session.draws)
    second = replace(second, me=1 - session.me, clock=clock)
    if isinstance(people[1], HumanPlayer):
        asked: Sequence[Any] = places.pages or places.fronts  # who watches is not told
        refresh = [page.refresh for page in places.pages] or [lambda: None] * 2
        to_first, to_second = (
            Consent(places.names[1 - at], people[at], asked[at], refresh[at]) for at in (0, 1)
        )
        session, second = replace(session, consent=to_second), replace(second, consent=to_first)
    people[1].sit_down(second)
    return session


def _clocks(
    places: Places, players: Sequence[Any], me: int, words: Words
) -> tuple[LiveClock | None, LiveClock | None]:
    """The clocks of both players, where they are people who have one, for their pages, too. `me` is
    the first of the people."""
    from stratkit.humans.human import HumanPlayer
    from stratkit.humans.live_clock import LiveClock

    def clock_of(at: int) -> LiveClock | None:
        player = players[at]
        if not isinstance(player, HumanPlayer) or player.clock is None:
            return None
        keep = lambda game, left: words.say(game, f"{CLOCK}{at} {left:.1f}")  # noqa: E731
        return LiveClock(player.clock, words.clocks[at], keep)

    one, two = clock_of(0), clock_of(1)
    mine = (one, two) if me == 0 else (two, one)
    for page, clocks in zip(places.pages, (mine, mine[::-1]), strict=False):
        page.clocks = clocks
    if places.spectators is not None:
        places.spectators.clocks = one, two
    return one, two


def _end(
    people: Sequence[Interactive],
    places: Places,
    contestants: Sequence[Contestant[Any]],
    header: RecordHeader,
    say: Callable[[str], None],
    source: str | None,
    levels: Mapping[int, int],
) -> Callable[[GameRecord], None]:
    """What tells everybody that a game has ended. `source`: the record, from whose plies a person
    may be told how to go on. `levels`: those that were chosen, by game."""
    found = [contestant.player for contestant in contestants]
    seats = [found.index(person) for person in people]
    suggest = _suggester(header.game, contestants[1 - seats[0]].spec, places.scores)

    def end(record: GameRecord) -> None:
        for front, me in zip(places.fronts, seats, strict=True):
            front.show(_ended(header, record, me, source=source))
        neutral = _result(header, record, None)
        if places.spectators is not None:
            places.spectators.end(_ended(header, record, seats[0], neutral))
        say(_result(header, record, seats[0]) if len(seats) == 1 else neutral)
        points = record.returns[record.players.index(seats[0])]
        if advice := suggest(points, levels.get(record.number)):
            places.fronts[0].tell(advice)

    return end


def _result(header: RecordHeader, record: GameRecord, me: int | None) -> str:
    """How a game ended, in words: for player number `me`, or for who plays neither side."""
    points, who = record.returns[0 if me is None else record.players.index(me)], "you"
    if me is None:
        winner = record.players[0 if points > 0 else 1]
        who = header.players[winner].name if points else "nobody"
        result = "won"
    else:
        result = "won" if points > 0 else "lost" if points < 0 else "drew"
    reason = record.reason.replace("_", " ")
    much = f" {abs(points):g}" if points not in (-1, 0, 1) else ""
    return f"game {record.number + 1}: {who} {result}{much} ({reason})"


def _lead(text: str, header: RecordHeader, words: Words, me: int) -> None:
    """Leads the games that have not begun to the ply that `text` names."""
    from stratkit.engine import Game
    from stratkit.humans.lead import lead_of

    lead = lead_of(text, Game.stored(header.game, header.rules))
    for number in range(header.games):
        words.lead(number, lead.plies, *lead((number + me) % 2))


def _suggester(
    game: str, spec: str, scores: dict[int, list[float]]
) -> Callable[[float, int | None], str | None]:
    """What to try next, after these scores by level and further returns against `spec`, or against
    a level that was chosen."""
    from stratkit.players.levels import level_of, suggestion

    def suggest(points: float, chosen: int | None) -> str | None:
        level = level_of(spec) if chosen is None else chosen
        if level is None:
            return None
        won = scores.setdefault(level, [])
        won.append(1.0 if points > 0 else 0.0 if points < 0 else 0.5)
        return suggestion(level, game, won)

    return suggest


def _ended(
    header: RecordHeader,
    record: GameRecord,
    me: int,
    result: str | None = None,
    source: str | None = None,
) -> Ended:
    """What the person, player number `me`, is shown of a game that is over. `result`: how it ended,
    if not in that person's words. `source`: the record that it is in, if that is told."""
    from stratkit.convert.games import log_of
    from stratkit.convert.raw import RawRecord
    from stratkit.engine import Game
    from stratkit.games.kit import Notation
    from stratkit.games.table import kit_class
    from stratkit.humans.choice import told as in_words
    from stratkit.humans.lead import go_on_command
    from stratkit.humans.session import Ended
    from stratkit.notation.play import play_out
    from stratkit.notation.replay_page import Shown

    side, told = record.players.index(me), result or _result(header, record, me)
    if kit_class(header.game).notation is not Notation.LOG:
        actions = [int(action) for action in record.moves.split()]
        words = in_words(Game.stored(header.game, header.rules), actions, side)
        return Ended(record.number, side, told, None, words)
    if record.setups is None:
        return Ended(record.number, side, told, None)
    log = log_of(RawRecord(file=told, header=header, record=record))
    [played] = play_out([(told, log)], boards=True)
    by = go_on_command(source, record.number + 1, header.game) if source else ""
    return Ended(record.number, side, told, Shown(played, told, log.ending, go_on=by))


def _write(text: str) -> None:
    with error_context(STDOUT, only=OSError):
        sys.stdout.write(text)
        sys.stdout.flush()
