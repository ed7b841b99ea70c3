"""Players that bring the repetition rules about. Each chooses among the slow twin's moves."""

from __future__ import annotations

import random
from collections.abc import Callable

from slow_stratego import SlowGame
from stratkit.engine.stratego import SCOUT

Move = tuple[int, int]
Player = Callable[[SlowGame, random.Random], Move]


def moves_of(game: SlowGame) -> list[Move]:
    return [(a, b) for a, targets in game.moves().items() for b in targets]


def any_move(game: SlowGame, rng: random.Random) -> Move:
    return rng.choice(moves_of(game))


def shuttle(game: SlowGame, rng: random.Random) -> Move:
    """Mostly straight back, else on with the same piece."""
    moves = moves_of(game)
    if len(game.history) >= 2 and rng.random() < 0.9:
        before = game.history[-2]
        same_piece = [m for m in moves if m[0] == before.to]
        back = [m for m in same_piece if m[1] == before.from_]
        moves = back or same_piece or moves
    return rng.choice(moves)


def scout_along(game: SlowGame, rng: random.Random) -> Move:
    """Mostly a scout, and mostly to and fro on one line, by several squares at a time."""
    moves = moves_of(game)
    before = game.history[-2] if len(game.history) >= 2 else None
    if before is not None and before.piece.type == SCOUT and rng.random() < 0.9:
        on = [m for m in moves if m[0] == before.to]
        line = (before.to - before.from_) % game.width == 0
        same_line = [m for m in on if ((m[1] - m[0]) % game.width == 0) == line]
        moves = same_line or on or moves
    else:
        moves = [m for m in moves if game.board[m[0]].type == SCOUT] or moves
    quiet = [m for m in moves if m[1] not in game.board]
    return rng.choice(quiet if quiet and rng.random() < 0.95 else moves)


def chase(game: SlowGame, rng: random.Random) -> Move:
    """Mostly a quiet move that ends beside an enemy; best of all a piece that has just run."""
    moves = [m for m in moves_of(game) if m[1] not in game.board]
    enemies = {at for at, p in game.board.items() if p.side != game.side}
    threats = [m for m in moves if enemies & set(game.neighbours(m[1]))]
    runner = game.history[-1].to if game.history else None
    after = [m for m in threats if runner in game.neighbours(m[1])]
    return _now_and_then_else(game, rng, after if rng.random() < 0.7 else threats, threats)


def strike(game: SlowGame, rng: random.Random) -> Move:
    """Mostly an attack that is won beside an enemy, if there is one; else as `chase`."""
    board = game.board
    enemies = {at for at, p in board.items() if p.side != game.side}
    won = [
        (a, b)
        for a, b in moves_of(game)
        if b in enemies
        and game.winner(board[a], board[b]) is board[a]
        and enemies & set(game.neighbours(b))
    ]
    return rng.choice(won) if won and rng.random() < 0.6 else chase(game, rng)


def run_away(game: SlowGame, rng: random.Random) -> Move:
    """Mostly a piece that was threatened just now, away from there."""
    moves = [m for m in moves_of(game) if m[1] not in game.board]
    chaser = game.history[-1].to if game.history else None
    return _now_and_then_else(game, rng, [m for m in moves if chaser in game.neighbours(m[0])])


def _now_and_then_else(game: SlowGame, rng: random.Random, *wishes: list[Move]) -> Move:
    """The first wish that can be had; now and then an attack, or one free move."""
    moves, fate = moves_of(game), rng.random()
    attacks = [m for m in moves if m[1] in game.board]
    if fate < 0.02:
        return rng.choice(moves)
    if fate < 0.03 and attacks:
        return rng.choice(attacks)
    for wish in wishes:
        if wish:
            return rng.choice(wish)
    return rng.choice([m for m in moves if m not in attacks] or moves)
