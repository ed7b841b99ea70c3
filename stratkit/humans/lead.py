"""A person goes on from a ply of a game that others have played: it has said and seen what the side
that it takes had, and the other one has played the rest."""

from __future__ import annotations

import re
import shlex

import numpy as np

from stratkit.convert.games import log_of
from stratkit.convert.raw import RawEpisode, RawLog, RawPositions, RawRecord, chunks
from stratkit.engine import Game
from stratkit.engine.arbiter import Arbiter
from stratkit.engine.stratego import RED, placements, variant
from stratkit.errors import InputError, UsageError, error_context
from stratkit.games.kit import Notation
from stratkit.games.table import kit_of
from stratkit.models.shipped import SHIPPED
from stratkit.notation.log import Log
from stratkit.notation.setups import has_counts, parse_setup, setup_text
from stratkit.notation.squares import move_words, parse_move

GAMES = (RawRecord, RawLog, RawEpisode, RawPositions)


def go_on_command(file: str, number: int, game: str) -> str:
    """The command by which a person goes on from ply `PLY` of a game of a record."""
    other = f"preset=strong,{game}" if game in SHIPPED else "heuristic"
    place = shlex.quote(f"{file}:{number}:PLY")
    return f"match human {other} --game {game} -n 2 --browser -o mine.jsonl --from-game {place}"


def lead_of(text: str, game: Game) -> Lead:
    """What leads to the ply that `text` names. `UsageError`: it is no FILE:GAME:PLY. `InputError`:
    there is no such ply."""
    found = re.fullmatch(r"(.+):([1-9]\d{0,8}):(\d{1,9})", text)
    if found is None:
        raise UsageError("--from-game wants FILE:GAME:PLY", text=text)
    if kit_of(game).notation is not Notation.LOG:
        raise UsageError(f"--from-game is for games with setups, not for {game.name}")
    file, number, ply = found[1], int(found[2]), int(found[3])
    with error_context(file, f"game {number}"):
        log = _game(file, number)
        return Lead(game, *_begun(game, log, ply))


def _game(file: str, number: int) -> Log:
    """A game of the file, counted from 1."""
    at = 0
    for items in chunks([file], together=True):
        for item in items:
            if isinstance(item, InputError):
                raise item
            at += isinstance(item, GAMES)
            if at == number and isinstance(item, GAMES):
                return log_of(item)
    raise InputError(f"there is no game {number}", file=file)


def _begun(game: Game, log: Log, ply: int) -> tuple[tuple[str, ...], list[str]]:
    """The setups, and the first moves, so many, of a game that goes on after them."""
    kind = variant(game.name)
    if log.variant.name != kind.name:
        raise InputError(f"it is of {log.variant.name}, not of {kind.name}")
    if log.setups is None or not all(has_counts(kind, setup) for setup in log.setups):
        raise InputError("a game without setups of its board")
    if ply > log.plies:
        raise InputError("the game has no such ply to go on from", text=str(ply))
    arbiter = Arbiter(game)
    for setup in log.setups:
        arbiter.deploy(setup)
    texts = move_words(log.moves[: 2 * ply], kind.width, kind.height, "")
    moves = np.frombuffer(log.moves[: 2 * ply], np.uint8).reshape(-1, 2).tolist()
    for at, ((start, end), move) in enumerate(zip(moves, texts, strict=True), start=1):
        if arbiter.turn is None or arbiter.why_illegal(start, end):
            raise InputError(f"the rules of this match forbid move {at}", text=move)
        arbiter.move(start, end)
    if arbiter.turn is None:
        raise InputError("the game has no such ply to go on from", text=str(ply))
    red, blue = (setup_text(setup) for setup in log.setups)
    return (red, blue), list(texts)


class Lead:
    """What leads to the turn after some moves of a game with these setups. By the person's side:
    its words, the other one's actions, and how many of these came before each word."""

    def __init__(self, game: Game, setups: tuple[str, ...], moves: list[str]) -> None:
        self.variant, self.setups, self.moves = variant(game.name), setups, moves
        self.plies = len(moves)

    def __call__(self, side: int) -> tuple[list[str], list[int], list[int]]:
        kind = self.variant
        words, played = [self.setups[side]], self._placed(1 - side)
        before = [0 if side == RED else len(played)]
        for ply, text in enumerate(self.moves):
            if ply % 2 == side:
                before.append(len(played))
                words.append(text)
            else:
                squares = parse_move(text, kind.width, kind.height)
                played += [kind.framed(1 - side, square) for square in squares]
        return words, played, before

    def _placed(self, side: int) -> list[int]:
        setup = parse_setup(self.setups[side], self.variant)
        return list(map(int, placements(self.variant, setup)))
