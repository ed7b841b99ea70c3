"""A person among the players of a match, and the log that people read."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, TypeAlias, cast

from stratkit.errors import InputError, UsageError, error_context
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


class MoveLog:
    """A log of how networks' moves come about. Nothing is lost before `begin`."""

    def __init__(self, stream: IO[str] | None, game: Game, overwrite: bool) -> None:
        self.stream, self.game, self.overwrite = stream, game, overwrite
        self.begun = False

    def begin(self, entrants: Sequence[Anybody]) -> list[Anybody]:
        """Empties the log if it is to be overwritten; returns the entrants, who write to it from
        now on."""
        self.begun = True
        if self.stream is None:
            return list(entrants)
        if self.overwrite:
            self.stream.truncate(0)
        return [_telling(entrant, self.game, self.stream) for entrant in entrants]


@contextlib.contextmanager
def open_log(path: str | None, game: Game, resume: bool, force: bool) -> Iterator[MoveLog]:
    """The log `path` (`-` is stdout, None: there is none), written line by line. That of a match
    that is resumed is continued. Raises `InputError` if it exists and neither `resume` nor `force`
    is true, `UsageError` if the game is not Stratego."""
    if path is None:
        yield MoveLog(None, game, False)
        return
    if len(game.shape) != 3:
        raise UsageError(f"--explain is for Stratego, not for {game.name}")
    if path == "-":
        with open_output(path) as stream:
            yield MoveLog(stream, game, False)
        return
    regular = not is_special(path)
    mode = "x" if regular and not (resume or force) else "a"
    try:
        file = open(path, mode, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    except FileExistsError:
        raise InputError("exists already; -f overwrites it", file=path) from None
    log = MoveLog(file, game, regular and not resume)
    with file:
        try:
            yield log
        except BaseException:
            if mode == "x" and not log.begun:  # the record was refused
                os.unlink(path)
            raise


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
    from stratkit.players.player import Interactive, Player

    found = [entrant.player for entrant in entrants]
    people = [player for player in found if isinstance(player, Interactive)]
    if not people:
        return None
    if (
        len(people) > 1
        or len(entrants) > 2
        or not all(isinstance(player, Player) for player in found)
    ):
        raise UsageError("human plays against one other player, which is no program")
    if output == "-":
        raise UsageError("human needs the terminal: use -o FILE, not -o -")
    return people[0]


@contextlib.contextmanager
def seated(
    person: Interactive | None,
    entrants: Sequence[Anybody],
    game: Game,
    output: str,
    resume: bool,
    say: Callable[[str], None],
) -> Iterator[Callable[[GameRecord], None]]:
    """Seats the person, if there is one, at the terminal; yields what tells the person how a game
    ended. What the person types is kept beside the record until all games are played: typed again
    to the same players, it leads to where the match was left. A person who leaves ends the
    context."""
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
    with error_context(path, only=OSError), open(path, "a", encoding="utf-8") as words:

        def keep(number: int, word: str) -> None:
            words.write(f"{number} {word}\n")
            words.flush()

        hint = None
        for player in (entrant.player for entrant in entrants):
            if isinstance(player, Explainer):
                hint = functools.partial(advise, player, game)
        person.sit_down(Terminal(read_line, _tell, said, keep, hint))
        try:
            yield lambda record: say(_result(record, me))
        except Saved:
            return
    os.unlink(path)


def _result(record: GameRecord, me: int) -> str:
    result = ("lost", "drew", "won")[int(record.returns[record.players.index(me)]) + 1]
    return f"game {record.number + 1}: you {result} ({record.reason})"


def read_words(path: str) -> dict[int, list[str]]:
    """What was said in each game; an unterminated last line is left out."""
    said: dict[int, list[str]] = {}
    try:
        with open(path, encoding="utf-8") as stream:
            for line in stream:
                number, blank, word = line.partition(" ")
                whole = line.endswith("\n")
                if not re.fullmatch("[0-9]{1,18}", number) or (whole and not blank):
                    raise InputError("not a word of a game", file=path, text=line.rstrip("\n"))
                if whole:
                    said.setdefault(int(number), []).append(word.rstrip("\n"))
    except FileNotFoundError:
        pass
    except UnicodeDecodeError:
        raise InputError("not the words of a person: not UTF-8", file=path) from None
    return said


def _tell(text: str) -> None:
    with error_context(STDOUT, only=OSError):
        sys.stdout.write(text)
        sys.stdout.flush()
