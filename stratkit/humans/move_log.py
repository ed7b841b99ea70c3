"""The log that people read, and what a network thinks of a position."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, cast

from stratkit.errors import UsageError
from stratkit.storage.atomic import is_special
from stratkit.storage.streams import exists_already, open_output

if TYPE_CHECKING:
    from stratkit.engine import Game
    from stratkit.players.player import Explanation, Player
    from stratkit.players.spec import Contestant


# ---- the log ----


class MoveLog:
    """A log of how networks' moves come about. Nothing is lost before `begin`. Games with programs
    write to it from several threads, and a text stream of Python 3.11 loses what one of them writes
    while another one's text is flushed."""

    def __init__(self, stream: IO[str] | None, game: Game, overwrite: bool) -> None:
        self.stream, self.game, self.overwrite = stream, game, overwrite
        self.begun = False
        self._lock = threading.Lock()

    def begin(self, contestants: Sequence[Contestant[Any]]) -> list[Contestant[Any]]:
        """Empties the log if it is to be overwritten; returns the contestants, who write to it from
        now on."""
        self.begun = True
        if self.stream is None:
            return list(contestants)
        if self.overwrite:
            self.stream.truncate(0)
        return [_logging(contestant, self.game, self._write) for contestant in contestants]

    def _write(self, text: str) -> None:
        assert self.stream is not None
        with self._lock:
            self.stream.write(text)


@contextlib.contextmanager
def open_log(path: str | None, game: Game, resume: bool, force: bool) -> Iterator[MoveLog]:
    """The log `path` (`-` is stdout, None: there is none), written line by line. That of a match
    that is resumed is continued. Raises `InputError` if it exists and neither `resume` nor `force`
    is true, `UsageError` if nobody could explain a move of the game."""
    from stratkit.games.table import kit_of

    if path is None:
        yield MoveLog(None, game, False)
        return
    if not kit_of(game).draws and not game.hands:
        what = "--explain is for games with a drawn board and for public belief states"
        raise UsageError(f"{what}, not for {game.name}")
    if path == "-":
        with open_output(path) as stream:
            yield MoveLog(stream, game, False)
        return
    regular = not is_special(path)
    mode = "x" if regular and not (resume or force) else "a"
    try:
        file = open(path, mode, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    except FileExistsError:
        raise exists_already(path) from None
    log = MoveLog(file, game, regular and not resume)
    with file:
        try:
            yield log
        except BaseException:
            if mode == "x" and not log.begun:  # the record was refused
                os.unlink(path)
            raise


def explainers(contestants: Sequence[Contestant[Any]], game: Game) -> list[Contestant[Any]]:
    """Those who can tell how their moves of this game come about."""
    from stratkit.games.table import kit_of
    from stratkit.players.player import Explainer, Logged

    drawn = kit_of(game).draws
    return [
        contestant
        for contestant in contestants
        if isinstance(contestant.player, Logged)
        or (drawn and isinstance(contestant.player, Explainer))
    ]


def _logging(
    contestant: Contestant[Any], game: Game, write: Callable[[str], None]
) -> Contestant[Any]:
    from stratkit.players.player import Explainer, Logged

    player = contestant.player
    if not explainers([contestant], game):
        return contestant
    if isinstance(player, Logged):

        def say(words: str) -> None:
            write(f"{contestant.name}: {words}\n\n")

        logged = player.logged(say)
        return replace(cast("Contestant[Player]", contestant), player=logged)
    assert isinstance(player, Explainer)

    from stratkit.players.testtime.explain import text

    def log(explanation: Explanation) -> None:
        write(f"{contestant.name}: {text(explanation, game)}\n")

    return replace(cast("Contestant[Player]", contestant), player=player.explained(log))
