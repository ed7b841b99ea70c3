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
    from stratkit.engine.stratego import Position
    from stratkit.humans.browser import Browser
    from stratkit.humans.live_clock import LiveClock
    from stratkit.humans.session import Ended, FrontEnd, Interactive, Session
    from stratkit.humans.spectators import Spectators
    from stratkit.players.spec import Contestant
    from stratkit.storage.records import GameRecord, RecordHeader

LAST_PHASES = 5  # of a game, at most a year, that are told when it is over
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
    def seats(self) -> str | None:
        """Who sits where in a game of more than two players."""

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
    def start(self) -> str | None:
        """The position that the games of the record that is resumed began at."""

    @property
    def seed(self) -> int:
        """Of all random numbers."""

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


class SeatPlan(Protocol):
    """Who sits where in each game of a match."""

    def __len__(self) -> int:
        """How many games there are."""
        ...

    def seats(self, number: int) -> tuple[int, ...]:
        """Who plays game `number`, by side."""
        ...


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
    if len(contestants) > 2 and game.players == 2:
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


def find_start(options: PersonOptions, game: Game) -> Position | None:
    """The position that the games of a match begin at; None: they begin with setups."""
    from stratkit.engine.stratego import variant
    from stratkit.humans.lead import lead_of
    from stratkit.notation.fenfs import parse_fenfs, start_position

    if options.from_game is not None:
        return lead_of(options.from_game, game, options.seed).start
    if options.start is None:
        return None
    with error_context(options.record, "line 1"):
        return start_position(parse_fenfs(options.start), variant(game.name))


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
    people: Sequence[Interactive],
    contestants: Sequence[Contestant[Any]],
    options: PersonOptions,
    seats: int = 2,
) -> Iterator[Places]:
    """Where the people play, in a game of so many `seats`. `InputError`: it cannot be opened."""
    if not people:
        yield Places()
        return
    if options.browser:
        with _pages(people, contestants, options, seats) as places:
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
    seated = [one for person in people for one in contestants if one.player is person]
    names = [printable(one.name) for one in seated]
    yield Places([SharedFront(name, screen) for name in names], names=names)


@contextlib.contextmanager
def _pages(
    people: Sequence[Interactive],
    contestants: Sequence[Contestant[Any]],
    options: PersonOptions,
    seats: int,
) -> Iterator[Places]:
    from stratkit.games.kit import Notation
    from stratkit.games.table import kit_class
    from stratkit.humans.human import HumanPlayer
    from stratkit.humans.orderer import OrderingPlayer
    from stratkit.humans.pages import Pages
    from stratkit.players.player import Explainer, Player

    assert options.game
    games, named = options.games or 0, "=" in (options.seats or "")
    games = games if named else -(-games // seats) * seats
    names = [printable(contestant.name) for contestant in contestants]
    about = {"of": options.game, "games": games, "people": len(people), "players": names}
    matches: list[dict[str, Any]] = []
    for person in people:
        me = next(at for at, one in enumerate(contestants) if one.player is person)
        others = [at for at in range(len(names)) if at != me]
        other = contestants[others[0]].player
        moves, orders = isinstance(person, HumanPlayer), isinstance(person, OrderingPlayer)
        matches.append(
            {
                **about,
                "me": names[me],
                "against": ", ".join(names[at] for at in others),
                "hints": isinstance(other, Explainer) and moves,
                "undoes": isinstance(other, Player) and (moves or (orders and len(people) == 1)),
                "draws": isinstance(other, Player) and moves,
            }
        )
    boards = kit_class(options.game).notation is Notation.LOG
    watched = boards and (len(people) > 1 or options.host is not None)
    pages = Pages([match["me"] for match in matches], matches, about if watched else None, _write)
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
    plan: SeatPlan,
) -> Iterator[Seats]:
    """Seats the people, if there are any, at their front ends. What the first of them says and the
    other one plays is kept beside the record until all games are played: it leads to where the
    match was left. A person who leaves ends the context."""
    from stratkit.setups.told import told_player

    players = [contestant.player for contestant in contestants]
    if not people:
        yield Seats([told_player(one, header.game) for one in contestants])
        return
    from stratkit.humans.session import Saved
    from stratkit.players.player import Player

    me = players.index(people[0])
    # Nothing is kept beside a record that is none, such as /dev/null, or of a game with a program,
    # which cannot be led to where the game was left.
    ours = all(isinstance(player, Player) for player in players)
    kept = ours and not is_special(options.record)
    path = options.record + WORDS if kept else os.devnull
    words = Words(path)
    words.read()  # also of an earlier match: it holds nothing but words
    if not options.resume:
        words.forget()
    with error_context(path, only=OSError), open(path, "a", encoding="utf-8") as words.stream:
        players = _sit_down(people, places, contestants, header, words)
        if options.from_game is not None:
            _lead(options.from_game, header, words, me, plan)
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
    people: Sequence[Interactive],
    places: Places,
    contestants: Sequence[Contestant[Any]],
    header: RecordHeader,
    words: Words,
) -> list[Any]:
    """Gives the people their sessions; all players of the match, in their order, with who replays
    its actions in the place of the other one."""
    from stratkit.engine.stratego import variant
    from stratkit.humans.draws import DeclinedOffers, DrawOffers
    from stratkit.humans.human import HumanPlayer
    from stratkit.humans.level_choice import LevelChoice
    from stratkit.humans.replayed_opponent import Done, ReplayedOpponent
    from stratkit.humans.session import Session
    from stratkit.notation.fenfs import parse_fenfs, start_position
    from stratkit.players.chosen_level import ChosenLevel
    from stratkit.players.player import Explainer, Player
    from stratkit.setups.told import told_player

    players = [contestant.player for contestant in contestants]
    me, path, alone = players.index(people[0]), words.path, len(people) == 1
    others = [at for at in range(len(players)) if at != me]
    other = players[others[0]]
    ours = all(isinstance(player, Player) for player in players)
    hints = [player.explain for player in players if isinstance(player, Explainer)]
    hint, draws = hints[0] if hints else None, DrawOffers() if ours else DeclinedOffers()
    clocks = _clocks(places, players, me, words)
    undoes = ours and (alone or isinstance(people[0], HumanPlayer))
    session = Session(
        places.fronts[0], words.said, words.say, hint, path, undoes, draws, me, clocks[0]
    )
    if header.start is not None:
        start = start_position(parse_fenfs(header.start), variant(header.game))
        session = replace(session, start=start)
    if isinstance(other, ChosenLevel):
        meets = [page.meet for page in places.pages]
        choice = LevelChoice(other, session.front, words, header.game, places.scores, *meets)
        session = replace(session, begin=choice.begin)
    if not alone:
        session = _seat_second(session, people, places, clocks[1], words)
    people[0].sit_down(session)
    answering, done = draws if alone and len(others) == 1 else None, Done()
    for at in others if ours else ():
        decides = told_player(contestants[at], header.game)
        players[at] = ReplayedOpponent(
            decides, words.played, words.play, path, answering, 1 - me, done
        )
    return players


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
    undoes = isinstance(people[1], HumanPlayer)
    second = Session(front, keep=keep, file=words.path, undoes=undoes, draws=session.draws)
    second = replace(second, me=1 - session.me, clock=clock, start=session.start)
    if undoes:
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
    """The clocks of the first of the people, who is player `me`, and of the other one, where they
    are people who have one; for their pages, too."""
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
    return mine


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
    other = next(at for at in range(len(found)) if at != seats[0])
    suggest = _suggester(header.game, contestants[other].spec, places.scores)

    def end(record: GameRecord) -> None:
        for front, me in zip(places.fronts, seats, strict=True):
            if me in record.players:
                front.show(_ended(header, record, me, source=source))
        if seats[0] not in record.players:
            return
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
    if len(record.players) > 2:
        return f"game {record.number + 1}: {_shares(header, record, me)} ({record.reason})"
    if me is None:
        winner = record.players[0 if points > 0 else 1]
        who = header.players[winner].name if points else "nobody"
        result = "won"
    else:
        result = "won" if points > 0 else "lost" if points < 0 else "drew"
    reason = record.reason.replace("_", " ")
    much = f" {abs(points):g}" if points not in (-1, 0, 1) else ""
    return f"game {record.number + 1}: {who} {result}{much} ({reason})"


def _shares(header: RecordHeader, record: GameRecord, me: int | None) -> str:
    """What the seats of player number `me` got in a game of more than two; of all, if None."""
    names = header.powers or tuple(f"seat {at + 1}" for at in range(len(record.players)))
    mine = [at for at, player in enumerate(record.players) if me in (None, player)]
    got = ", ".join(f"{names[at]} {record.returns[at]:.3f}" for at in mine)
    return got if me is None else f"you scored {got}"


def _lead(text: str, header: RecordHeader, words: Words, me: int, plan: SeatPlan) -> None:
    """Leads the games that have not begun to the ply that `text` names."""
    from stratkit.engine import Game
    from stratkit.humans.lead import lead_of

    lead = lead_of(text, Game.stored(header.game, header.rules), header.seed)
    for number in range(len(plan)):
        mine = [side for side, player in enumerate(plan.seats(number)) if player == me]
        words.lead(number, lead.plies, *lead(mine))


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
    if kit_class(header.game).notation is Notation.ORDERS:
        return _ended_in_phases(header, record, side, told)
    if kit_class(header.game).notation is not Notation.LOG:
        actions = [int(action) for action in record.moves.split()]
        words = in_words(Game.stored(header.game, header.rules), actions, side)
        return Ended(record.number, side, told, None, words)
    log = log_of(RawRecord(file=told, header=header, record=record))
    if not log.has_board:
        return Ended(record.number, side, told, None)
    [played] = play_out([(told, log)], boards=True)
    by = go_on_command(source, record.number + 1, header.game) if source else ""
    return Ended(record.number, side, told, Shown(played, told, log.ending, go_on=by))


def _ended_in_phases(header: RecordHeader, record: GameRecord, side: int, result: str) -> Ended:
    """What is shown of a game of Diplomacy that is over: its last year in words, and all maps."""
    from stratkit.convert.diplomacy import maps, play
    from stratkit.convert.raw import RawRecord
    from stratkit.games.diplomacy.told import history, standing
    from stratkit.humans.session import Ended

    played = play(RawRecord(file=result, header=header, record=record))
    *phases, (end, _) = played.phases()
    past = [(position, orders) for position, orders in phases if orders is not None]
    last = history(played.map, past, end)[-LAST_PHASES:]
    news = [line for name, lines in last for line in (f"{name}:", *lines)]
    news += [f"the end of game {record.number + 1}:", *standing(played.map, end)]
    page = maps(played)
    return Ended(record.number, side, result, None, news=news, page=page, pages=len(past))


def _write(text: str) -> None:
    with error_context(STDOUT, only=OSError):
        sys.stdout.write(text)
        sys.stdout.flush()
