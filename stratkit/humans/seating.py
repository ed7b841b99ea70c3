"""Who plays a match in which there are people: they are seated, and what they say is kept."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from stratkit.engine import Game
from stratkit.engine.stratego import variant
from stratkit.errors import Say, error_context
from stratkit.humans.draws import DeclinedOffers, DrawOffers
from stratkit.humans.front_end import Places
from stratkit.humans.human import HumanPlayer
from stratkit.humans.live_clock import LiveClock
from stratkit.humans.session import Interactive, Saved, Session
from stratkit.humans.words import CLOCK, UNDO, UNDO_OTHER, Words
from stratkit.notation.fenfs import parse_fenfs, start_position
from stratkit.players.player import Explainer, Player
from stratkit.setups.told import told_player
from stratkit.storage.atomic import is_special

if TYPE_CHECKING:
    from stratkit.humans.options import PersonOptions
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


@dataclass(frozen=True)
class Seats:
    """Who plays; what tells the person that a game has ended; how often it took back a move of a
    game, and how many of its plies another game had."""

    players: list[Any]
    ended: Callable[[GameRecord], None] = lambda record: None
    helped: Callable[[int], tuple[int, int]] = lambda number: (0, 0)


@dataclass(frozen=True)
class Meeting:
    """The people of a match, the places at which they sit, and all who play, they among them."""

    people: Sequence[Interactive]
    places: Places
    contestants: Sequence[Contestant[Any]]
    header: RecordHeader

    @cached_property
    def players(self) -> list[Any]:
        """In their order in the match."""
        return [contestant.player for contestant in self.contestants]

    @cached_property
    def me(self) -> int:
        """Which player is the first of the people."""
        return self.players.index(self.people[0])

    @cached_property
    def others(self) -> list[int]:
        """Which players are not."""
        return [at for at in range(len(self.players)) if at != self.me]

    @cached_property
    def ours(self) -> bool:
        """Whether nobody is a program, which cannot be led to where a game was left."""
        return all(isinstance(player, Player) for player in self.players)


@contextlib.contextmanager
def seated(
    meeting: Meeting, options: PersonOptions, record: str, resume: bool, say: Say, plan: SeatPlan
) -> Iterator[Seats]:
    """Seats the people, if there are any, at their front ends. What the first of them says and the
    other one plays is kept beside the record until all games are played: it leads to where the
    match was left, for whoever wants to `resume`. A person who leaves ends the context."""
    people, header = meeting.people, meeting.header
    if not people:
        yield Seats([told_player(one, header.game) for one in meeting.contestants])
        return
    kept = meeting.ours and not is_special(record)  # nothing beside /dev/null
    path = record + WORDS if kept else os.devnull
    words = Words(path)
    words.read()  # also of an earlier match: it holds nothing but words
    if not resume:
        words.forget()
    with error_context(path, only=OSError), words.opened():
        players = _sit_down(meeting, words)
        if options.from_game is not None:
            _lead(options.from_game, header, words, meeting.me, plan)
        # Guests need not know where the record is.
        told = kept and len(people) == 1 and options.host is None
        source = record if told else None
        end = _end(meeting, say, source, words.levels)
        try:
            yield Seats(
                players, end, lambda number: (words.undone[number], words.led.get(number, 0))
            )
        except Saved:
            return
    words.forget()


def _sit_down(meeting: Meeting, words: Words) -> list[Any]:
    """Gives the people their sessions; all players of the match, in their order, with who replays
    its actions in the place of the other one."""
    from stratkit.humans.level_choice import LevelChoice
    from stratkit.humans.replayed_opponent import Done, ReplayedOpponent
    from stratkit.players.chosen_level import ChosenLevel

    people, places, header = meeting.people, meeting.places, meeting.header
    players, me, others, ours = list(meeting.players), meeting.me, meeting.others, meeting.ours
    path, alone, other = words.path, len(people) == 1, players[others[0]]
    hints = [player.explain for player in players if isinstance(player, Explainer)]
    hint, draws = hints[0] if hints else None, DrawOffers() if ours else DeclinedOffers()
    clocks = _clocks(meeting, words)
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
        session = _seat_second(session, meeting, clocks[1], words)
    people[0].sit_down(session)
    answering, done = draws if alone and len(others) == 1 else None, Done()
    for at in others if ours else ():
        decides = told_player(meeting.contestants[at], header.game)
        players[at] = ReplayedOpponent(
            decides, words.played, words.play, path, answering, 1 - me, done
        )
    return players


def _seat_second(
    session: Session, meeting: Meeting, clock: LiveClock | None, words: Words
) -> Session:
    """Seats the second of two people; the session of the first, who then has to ask it before a
    move is taken back, as it has to ask the first."""
    from stratkit.humans.take_back import Consent

    people: Sequence[Any] = meeting.people
    places = meeting.places

    def keep(game: int, word: str) -> None:
        if word == UNDO:  # of its words nothing else is kept: it has played
            words.say(game, UNDO_OTHER)

    front = places.fronts[1]
    undoes = isinstance(people[1], HumanPlayer)
    second = Session(front, keep=keep, file=words.path, undoes=undoes, draws=session.draws)
    second = replace(second, me=1 - session.me, clock=clock, start=session.start)
    if undoes:
        asked: Sequence[Any] = places.pages or places.fronts  # who watches is not told
        refresh = [page.refresh for page in places.pages] or [lambda stands: None] * 2
        to_first, to_second = (
            Consent(places.names[1 - at], people[at], asked[at], refresh[at]) for at in (0, 1)
        )
        session, second = replace(session, consent=to_second), replace(second, consent=to_first)
    people[1].sit_down(second)
    return session


def _clocks(meeting: Meeting, words: Words) -> tuple[LiveClock | None, LiveClock | None]:
    """The clocks of the first of the people and of the other one, where they are people who have
    one; for their pages, too."""
    places = meeting.places

    def clock_of(at: int) -> LiveClock | None:
        player = meeting.players[at]
        if not isinstance(player, HumanPlayer) or player.clock is None:
            return None
        keep = lambda game, left: words.say(game, f"{CLOCK}{at} {left:.1f}")  # noqa: E731
        return LiveClock(player.clock, words.clocks[at], keep)

    one, two = clock_of(0), clock_of(1)
    mine = (one, two) if meeting.me == 0 else (two, one)
    for page, clocks in zip(places.pages, (mine, mine[::-1]), strict=False):
        page.clocks = clocks
    if places.spectators is not None:
        places.spectators.clocks = one, two
    return mine


def _end(
    meeting: Meeting, say: Say, source: str | None, levels: Mapping[int, int]
) -> Callable[[GameRecord], None]:
    """What tells everybody that a game has ended. `source`: the record, from whose plies a person
    may be told how to go on. `levels`: those that were chosen, by game."""
    from stratkit.humans.ending import ended, result_of, suggester

    places, header = meeting.places, meeting.header
    seats = [meeting.players.index(person) for person in meeting.people]
    other = meeting.contestants[meeting.others[0]]
    suggest = suggester(header.game, other.spec, places.scores)

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
