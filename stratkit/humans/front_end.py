"""The people among the players of a match, and the front ends at which they play."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stratkit.engine import Game
from stratkit.engine.stratego import Position, variant
from stratkit.errors import UsageError, error_context, printable
from stratkit.games.kit import Notation
from stratkit.games.table import kit_class
from stratkit.humans.human import HumanPlayer
from stratkit.humans.orderer import OrderingPlayer
from stratkit.humans.session import Interactive
from stratkit.notation.drawing import STYLES, in_colour
from stratkit.notation.fenfs import parse_fenfs, start_position
from stratkit.players.player import Explainer, Player
from stratkit.players.spec import CHOSEN
from stratkit.storage.streams import STDOUT, read_line

if TYPE_CHECKING:
    from stratkit.humans.browser import Browser
    from stratkit.humans.options import PersonOptions
    from stratkit.humans.session import FrontEnd
    from stratkit.humans.spectators import Spectators
    from stratkit.players.spec import Contestant


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


def _write(text: str) -> None:
    with error_context(STDOUT, only=OSError):
        sys.stdout.write(text)
        sys.stdout.flush()
