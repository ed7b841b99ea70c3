"""The people among the players of a match, and the front ends at which they play."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from stratkit.engine import Game
from stratkit.engine.stratego import Position, variant
from stratkit.errors import UsageError, error_context, printable
from stratkit.games.kit import Notation
from stratkit.games.table import kit_class
from stratkit.humans.draws import DeclinedOffers, DrawOffers
from stratkit.humans.human import HumanPlayer
from stratkit.humans.live_clock import LiveClock
from stratkit.humans.orderer import OrderingPlayer
from stratkit.humans.session import Interactive, Saved, Session
from stratkit.humans.words import CLOCK, UNDO, UNDO_OTHER, Words
from stratkit.notation.drawing import STYLES, in_colour
from stratkit.notation.fenfs import parse_fenfs, start_position
from stratkit.players.player import Explainer, Player
from stratkit.players.spec import CHOSEN
from stratkit.setups.told import told_player
from stratkit.storage.atomic import is_special
from stratkit.storage.streams import STDOUT, read_line

if TYPE_CHECKING:
    from stratkit.humans.browser import Browser
    from stratkit.humans.options import PersonOptions
    from stratkit.humans.session import FrontEnd
    from stratkit.humans.spectators import Spectators
    from stratkit.players.spec import Contestant
    from stratkit.storage.records import GameRecord, RecordHeader

WORDS = ".said"  # the file beside the record with what the person said, and the other one played


class SeatPlan(Protocol):
    """Who sits where in each game of a match."""

    def __len__(self) -> int:
        """How many games there are."""
        ...

    def seats(self, number: int) -> tuple[int, ...]:
        """Who plays game `number`, by side."""
        ...


def find_people(
    contestants: Sequence[Contestant[Any]], options: PersonOptions, record: str, game: Game
) -> list[Interactive]:
    """The people among the players of the game: none, one, or two who play each other."""
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

        if not all(isinstance(player, Player) for player in found):
            raise UsageError("--from-game is for games against a player of stratkit's own")
        lead_of(options.from_game, game)  # before a record is made
    if record == "-":
        raise UsageError("human needs the terminal: use -o FILE, not -o -")
    return people


def find_start(
    options: PersonOptions, seed: int, recorded: str | None, record: str, game: Game
) -> Position | None:
    """The position that the games of a match begin at; None: they begin with setups. `recorded`:
    the one that the record which is resumed has, if any."""
    if options.from_game is not None:
        from stratkit.humans.lead import lead_of

        return lead_of(options.from_game, game, seed).start
    if recorded is None:
        return None
    with error_context(record, "line 1"):
        return start_position(parse_fenfs(recorded), variant(game.name))


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
    game: str,
    games: int,
) -> Iterator[Places]:
    """Where the people play so many games of `game`. `InputError`: it cannot be opened."""
    if not people:
        yield Places()
        return
    if options.browser:
        with _pages(people, contestants, options, game, games) as places:
            yield places
        return
    from stratkit.humans.hand_over import Screen, SharedFront
    from stratkit.humans.terminal import Terminal

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
    game: str,
    games: int,
) -> Iterator[Places]:
    from stratkit.humans.pages import Pages

    names = [printable(contestant.name) for contestant in contestants]
    about = {"of": game, "games": games, "people": len(people), "players": names}
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
    boards = kit_class(game).notation is Notation.LOG
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
    record: str,
    resume: bool,
    say: Callable[[str], None],
    plan: SeatPlan,
) -> Iterator[Seats]:
    """Seats the people, if there are any, at their front ends. What the first of them says and the
    other one plays is kept beside the record until all games are played: it leads to where the
    match was left, for whoever wants to `resume`. A person who leaves ends the context."""
    players = [contestant.player for contestant in contestants]
    if not people:
        yield Seats([told_player(one, header.game) for one in contestants])
        return
    me = players.index(people[0])
    # Nothing is kept beside a record that is none, such as /dev/null, or of a game with a program,
    # which cannot be led to where the game was left.
    ours = all(isinstance(player, Player) for player in players)
    kept = ours and not is_special(record)
    path = record + WORDS if kept else os.devnull
    words = Words(path)
    words.read()  # also of an earlier match: it holds nothing but words
    if not resume:
        words.forget()
    with error_context(path, only=OSError), open(path, "a", encoding="utf-8") as words.stream:
        players = _sit_down(people, places, contestants, header, words)
        if options.from_game is not None:
            _lead(options.from_game, header, words, me, plan)
        # Guests need not know where the record is.
        told = kept and len(people) == 1 and options.host is None
        source = record if told else None
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
    from stratkit.humans.level_choice import LevelChoice
    from stratkit.humans.replayed_opponent import Done, ReplayedOpponent
    from stratkit.players.chosen_level import ChosenLevel

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
    from stratkit.humans.take_back import Consent

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
    from stratkit.humans.ending import ended, result_of, suggester

    found = [contestant.player for contestant in contestants]
    seats = [found.index(person) for person in people]
    other = next(at for at in range(len(found)) if at != seats[0])
    suggest = suggester(header.game, contestants[other].spec, places.scores)

    def end(record: GameRecord) -> None:
        for front, me in zip(places.fronts, seats, strict=True):
            if me in record.players:
                front.show(ended(header, record, me, source=source))
        if seats[0] not in record.players:
            return
        neutral = result_of(header, record, None)
        if places.spectators is not None:
            places.spectators.end(ended(header, record, seats[0], neutral))
        say(result_of(header, record, seats[0]) if len(seats) == 1 else neutral)
        points = record.returns[record.players.index(seats[0])]
        if advice := suggest(points, levels.get(record.number)):
            places.fronts[0].tell(advice)

    return end


def _lead(text: str, header: RecordHeader, words: Words, me: int, plan: SeatPlan) -> None:
    """Leads the games that have not begun to the ply that `text` names."""
    from stratkit.humans.lead import lead_of

    lead = lead_of(text, Game.stored(header.game, header.rules), header.seed)
    for number in range(len(plan)):
        mine = [side for side, player in enumerate(plan.seats(number)) if player == me]
        words.lead(number, lead.plies, *lead(mine))


def _write(text: str) -> None:
    with error_context(STDOUT, only=OSError):
        sys.stdout.write(text)
        sys.stdout.flush()
