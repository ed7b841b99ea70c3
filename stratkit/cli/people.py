"""A person among the players of a match, and the log that people read."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, TypeAlias, cast

from stratkit.cli.messages import say
from stratkit.errors import InputError, UsageError, named
from stratkit.storage.atomic import is_special
from stratkit.storage.streams import STDOUT, open_output, read_line

if TYPE_CHECKING:
    from stratkit.engine import Game
    from stratkit.notation.fenfs import Fenfs
    from stratkit.players.open import Entrant
    from stratkit.players.player import Explainer, Explanation, Interactive, Player, Views
    from stratkit.storage.records import GameRecord
    from stratkit.ucc.process import Program

    Anybody: TypeAlias = Entrant[Player] | Entrant[Program]

WORDS = ".said"  # the file beside the record with what the person said


# ---- the log ----


@contextlib.contextmanager
def explained(
    entrants: Sequence[Anybody], game: Game, path: str | None, resume: bool, force: bool
) -> Iterator[list[Anybody]]:
    """The entrants; in `path` they tell how their moves come about, at once, as a log does; that of
    a match that is resumed is continued."""
    if path is None:
        yield list(entrants)
        return
    if len(game.shape) != 3:
        raise UsageError(f"--explain is for Stratego, not for {game.name}")
    with _open_log(path, resume, force) as stream:
        yield [_telling(entrant, game, stream) for entrant in entrants]


def _open_log(path: str, resume: bool, force: bool) -> contextlib.AbstractContextManager[IO[str]]:
    if path == "-":
        return open_output(path)
    mode = "a" if resume else "w" if force or is_special(path) else "x"
    try:
        return open(path, mode, encoding="utf-8", errors="backslashreplace")
    except FileExistsError:
        raise InputError("exists already; -f overwrites it", file=path) from None


def _telling(entrant: Anybody, game: Game, stream: IO[str]) -> Anybody:
    from stratkit.players.player import Explainer

    player = entrant.player
    if not isinstance(player, Explainer):
        return entrant

    def tell(explanation: Explanation) -> None:
        stream.write(f"{entrant.name}: {explanation_text(explanation, game)}\n")

    return replace(cast("Entrant[Player]", entrant), player=player.explained(tell))


def explanation_text(explanation: Explanation, game: Game, side: int | None = None) -> str:
    """The text; without `side`, red has begun."""
    from stratkit.engine.stratego import variant
    from stratkit.players.testtime.explain import acting, text

    kind = variant(game.name)
    return text(explanation, kind, acting(explanation, kind) if side is None else side)


def advise(player: Explainer, game: Game, views: Views, side: int) -> str:
    """What a player thinks of one view of play."""
    return "".join(explanation_text(turn, game, side) for turn in player.explain(views))


def position_explainer(text: str) -> Callable[[Fenfs], str]:
    """Tells what the PLAYER `text` would play in a position, for the side to move."""
    from stratkit.engine import Batch, Game
    from stratkit.engine.stratego import variant
    from stratkit.notation.fenfs import complete
    from stratkit.players.open import game_of, open_player
    from stratkit.players.player import Explainer, Views
    from stratkit.players.registry import NETWORK
    from stratkit.players.spec import parse_player
    from stratkit.ucc.kind import PLAYERS

    spec = parse_player(text, PLAYERS)
    if spec.kind is not NETWORK:
        raise UsageError("only a network's moves can be explained", text=text)
    game = Game(game_of(spec))
    kind = variant(game.name)
    player = open_player(spec, game, 0, 64).player
    assert isinstance(player, Explainer)

    def explain(fenfs: Fenfs) -> str:
        board = fenfs.variant
        if (board.width, board.height, board.lakes) != (kind.width, kind.height, kind.lakes):
            raise InputError(f"not a board of {game.name}, which {spec.spec} plays", text=fenfs)
        batch = Batch(game, 1)
        batch.start(0, complete(replace(fenfs, variant=kind)).to_bytes())
        if batch.actors()[0] < 0:
            raise InputError("the game is over", text=fenfs)
        return advise(player, game, Views.of_one(batch, 0, 0), fenfs.side)

    return explain


# ---- the person ----


def find_person(entrants: Sequence[Anybody], output: str) -> Interactive | None:
    """The human among the players, of whom there can be one."""
    from stratkit.players.player import Interactive
    from stratkit.ucc.process import Program

    found = [entrant.player for entrant in entrants]
    people = [player for player in found if isinstance(player, Interactive)]
    if not people:
        return None
    if len(people) > 1 or len(entrants) > 2 or any(isinstance(p, Program) for p in found):
        raise UsageError("one person plays against one other player that is no program")
    if output == "-":
        raise UsageError("a person plays where the record would go: name a file with -o")
    return people[0]


@contextlib.contextmanager
def seated(
    person: Interactive | None, entrants: Sequence[Anybody], game: Game, output: str, resume: bool
) -> Iterator[Callable[[GameRecord], None]]:
    """A person is at the terminal now; yields who tells how a game ended. What the person says is
    kept beside the record, until all games are played: said again to the same players, it leads to
    where the match was left. Who leaves ends the context."""
    if person is None:
        yield lambda record: None
        return
    from stratkit.players.human import Saved
    from stratkit.players.player import Explainer, Terminal

    path = output + WORDS
    if not resume:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    said = read_words(path)
    me = [entrant.player for entrant in entrants].index(person)
    with named(path), open(path, "a", encoding="utf-8") as words:

        def keep(number: int, word: str) -> None:
            words.write(f"{number} {word}\n")
            words.flush()

        hint = None
        for player in (entrant.player for entrant in entrants):
            if isinstance(player, Explainer):
                hint = functools.partial(advise, player, game)
        person.sit_down(Terminal(read_line, _tell, said, keep, hint))
        try:
            yield lambda record: _say_result(record, me)
        except Saved:
            return
    os.unlink(path)


def _say_result(record: GameRecord, me: int) -> None:
    result = ("lost", "drew", "won")[int(record.returns[record.players.index(me)]) + 1]
    say(f"game {record.number + 1}: you {result} ({record.reason})")


def read_words(path: str) -> dict[int, list[str]]:
    """What was said in each game; an unterminated last line is left out."""
    said: dict[int, list[str]] = {}
    try:
        with open(path, encoding="utf-8") as stream:
            for line in stream.read().splitlines(keepends=True):
                number, _, word = line.partition(" ")
                if not number.isdecimal():
                    raise InputError("no word of a game", file=path, text=line)
                if line.endswith("\n"):
                    said.setdefault(int(number), []).append(word.rstrip("\n"))
    except FileNotFoundError:
        pass
    return said


def _tell(text: str) -> None:
    with named(STDOUT):
        sys.stdout.write(text)
        sys.stdout.flush()
