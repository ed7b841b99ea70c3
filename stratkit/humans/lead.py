"""A person goes on from a ply of a game that others have played: it has said and seen what the side
that it takes had, and the other one has played the rest."""

from __future__ import annotations

import re

from stratkit.engine import Game
from stratkit.engine.stratego import RED, placements, variant
from stratkit.errors import InputError, UsageError, error_context
from stratkit.games.kit import Notation
from stratkit.games.table import kit_of
from stratkit.notation.setups import parse_setup
from stratkit.notation.squares import parse_move
from stratkit.storage.records import GameRecord, read_records
from stratkit.storage.streams import open_plain


def lead_of(text: str, game: Game) -> Lead:
    """What leads to the ply that `text` names. `UsageError`: it is no FILE:GAME:PLY. `InputError`:
    there is no such ply."""
    found = re.fullmatch(r"(.+):([1-9]\d{0,8}):(\d{1,9})", text)
    if found is None:
        raise UsageError("--from-game wants GAMES.jsonl:GAME:PLY", text=text)
    if kit_of(game).notation is not Notation.LOG:
        raise UsageError(f"--from-game is for games with setups, not for {game.name}")
    file, number, ply = found[1], int(found[2]), int(found[3])
    record = _game(file, number, game)
    with error_context(file, f"game {number}"):
        moves = record.moves.split()
        if record.setups is None or ply >= len(moves):
            raise InputError("the game has no such ply to go on from", text=str(ply))
        return Lead(game, record.setups, moves[:ply])


def _game(file: str, number: int, game: Game) -> GameRecord:
    with open_plain(file) as stream:
        for at, (header, record) in enumerate(read_records(stream, file), start=1):
            if at == number:
                if header.game != game.name:
                    raise InputError(f"game {number} is of {header.game}, not of {game.name}")
                return record
    raise InputError(f"there is no game {number}", file=file)


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
