"""A player of ours as an agent of the UCC protocol, under somebody else's manager.

Our players look at observations that the engine makes, and the engine must know every piece. It is
given a consistent game: the enemy's pieces are *some* pieces that would have done all that was
seen. Those whose ranks were shown are what they are, the others any that can be. The observation of
a side does not depend on what the side does not know, and neither do its legal moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from stratkit.arrays import Bytes
from stratkit.engine import Game
from stratkit.engine.arbiter import Arbiter, IllegalMove
from stratkit.engine.stratego import (
    BLUE,
    BOMB,
    FLAG,
    NO_PIECE,
    RED,
    SCOUT,
    Variant,
    setup_of,
    variant,
)
from stratkit.errors import InputError
from stratkit.players.player import Player, Views, decide, take_seat
from stratkit.ucc import protocol as ucc

Setup = Bytes
Get = Callable[[], str | None]
Put = Callable[[str], None]
ObservedMove = tuple[int, int, ucc.MoveOutcome]  # from, to, and what it did

IMPOSSIBLE = "no move that is possible here"


@dataclass
class Enemy:
    """What is known of the enemy's pieces, each called by the square where it began.

    standing  square -> piece
    types     piece -> type, of those that showed it
    moved     the pieces that moved
    """

    variant: Variant
    standing: dict[int, int]
    types: dict[int, int] = field(default_factory=dict)
    moved: set[int] = field(default_factory=set)

    def fits(self, guess: dict[int, int]) -> bool:
        """Whether pieces of the types `guess` would have done what was seen."""
        shown = all(guess[piece] == type_ for piece, type_ in self.types.items())
        return shown and all(guess[piece] not in (FLAG, BOMB) for piece in self.moved)

    def guess(self) -> dict[int, int]:
        """Any types that fit; `InputError` if there are none."""
        counts = Counter(dict(enumerate(self.variant.counts)))
        counts.subtract(self.types.values())
        left = [type_ for type_ in (FLAG, BOMB) for _ in range(counts.pop(type_))]
        left += sorted(counts.elements())
        pieces = sorted({*self.standing.values(), *self.moved, *self.types} - self.types.keys())
        pieces.sort(key=self.moved.__contains__)  # flag and bombs are among those that never moved
        guess = {**self.types, **dict(zip(pieces, left, strict=False))}
        if min(counts.values()) < 0 or len(left) != len(pieces) or not self.fits(guess):
            raise InputError(f"the enemy's pieces are not those of {self.variant.name}")
        return guess


class ConsistentGame:
    """The game as the side `colour` sees it, with `setup` as its own, in the engine."""

    def __init__(self, game: Game, colour: int, setup: Setup, enemy: Enemy) -> None:
        self.game, self.variant, self.colour, self.enemy = game, enemy.variant, colour, enemy
        self.setup = setup
        self.moves: list[tuple[int, int]] = []
        self._rebuild()

    def play(self, from_: int, to: int, outcome: ucc.MoveOutcome) -> None:
        """A move and what it did. Raises `IllegalMove` or `KeyError` if no enemy can make it so."""
        mine = from_ not in self.enemy.standing
        self._learn(mine, from_, to, outcome)
        self.moves.append((from_, to))
        try:
            if not self.enemy.fits(self._guess):
                raise IllegalMove
            self.arbiter.move(from_, to)
        except IllegalMove:  # the guess was wrong: the enemy has other pieces
            self._rebuild()

    def _learn(self, mine: bool, from_: int, to: int, outcome: ucc.MoveOutcome) -> None:
        enemy, fight = self.enemy, outcome.word != ucc.OK
        if mine:
            if fight:
                enemy.types[enemy.standing[to]] = outcome.defender
            if outcome.word in (ucc.KILLS, ucc.BOTHDIE):
                del enemy.standing[to]
            return
        piece = enemy.standing.pop(from_)
        enemy.moved.add(piece)
        if abs(to - from_) not in (1, self.variant.width):
            enemy.types[piece] = SCOUT
        if fight:
            enemy.types[piece] = outcome.attacker
        if outcome.word in (ucc.OK, ucc.KILLS):
            enemy.standing[to] = piece

    def _rebuild(self) -> None:
        """Plays the game again with a guess that fits what is known by now."""
        self._guess = self.enemy.guess()
        other = np.full(self.variant.zone, NO_PIECE, np.uint8)
        for piece, type_ in self._guess.items():
            other[self.variant.framed(1 - self.colour, piece)] = type_
        self.arbiter = Arbiter(self.game)
        for setup in (self.setup, other) if self.colour == RED else (other, self.setup):
            self.arbiter.deploy(setup)
        for from_, to in self.moves:
            self.arbiter.move(from_, to)

    def choose(self, player: Player, number: int) -> tuple[int, int] | None:
        """(from, to) of the move that `player` makes in game `number`; None when it has none."""
        if self.arbiter.turn != self.colour:
            return None
        ahead = self.arbiter.copy()
        from_, to = (
            self.variant.framed(self.colour, _act(player, ahead, number)) for _ in range(2)
        )
        return from_, to


def _act(player: Player, arbiter: Arbiter, number: int) -> int:
    """One action of the player whose turn it is in game `number`."""
    views = Views.of_one(arbiter.batch, number, len(arbiter.actions), arbiter.actions)
    action = int(decide(player, views).actions[0])
    arbiter.act(action)
    return action


def _deploy(game: Game, player: Player, colour: int, number: int) -> Setup:
    """The player's setup. Nobody sees the other one while setting up: it may be any."""
    arbiter = Arbiter(game)
    kind = arbiter.variant
    if colour == BLUE:
        for _ in range(kind.pieces):
            arbiter.act(int(arbiter.batch.legal()[0].argmax()))
    actions = [_act(player, arbiter, number) for _ in range(kind.pieces)]
    return setup_of(kind, np.array(actions, np.int32))


class Agent:
    """Speaks for `player`: `get` a line from the manager (None: it went away), `put` one."""

    def __init__(self, game: Game, player: Player, get: Get, put: Put) -> None:
        self.game, self.player, self.get, self.put = game, player, get, put
        self.variant = variant(game.name)
        self.consistent: ConsistentGame | None = None
        self.number = -1  # of the game
        self.ended = False  # the manager went away

    def run(self) -> None:
        """Plays one game. `InputError`: the manager said something that is not of the protocol."""
        header = self._line()
        if header is None:
            return
        colour, self.consistent = self._colour(header), None
        self.number += 1
        game = take_seat(self.player, self.number, colour)
        try:
            self._play(colour)
        finally:
            self.player.end(*game)

    def _play(self, colour: int) -> None:
        """Deploys, and answers the manager until the game is over."""
        setup = _deploy(self.game, self.player, colour, self.number)
        for line in ucc.setup_lines(self.variant, colour, setup):
            self.put(line)
        while (report := self._line()) is not None:
            rows = [self._line() or "" for _ in range(self.variant.height)]
            self._turn(colour, setup, report, rows)
            echo = self._line()
            if echo is None:
                return
            if self.consistent and echo.split()[-1:] != ["ILLEGAL"]:
                self._hear(self.consistent, self._read(echo), echo)

    def _line(self) -> str | None:
        """The next line; None when the game is over."""
        line = self.get()
        self.ended = line is None
        return None if line is None or line.split()[:1] == [ucc.QUIT] else line

    def _colour(self, header: str) -> int:
        words = header.split()
        size = [str(self.variant.width), str(self.variant.height)]
        if len(words) != 4 or words[0] not in ucc.COLOURS:
            raise InputError("the manager's first line is no COLOUR OPPONENT WIDTH HEIGHT: it is",
                             text=header)  # fmt: skip
        if words[2:] != size:
            what = f"{self.variant.name} has a board of {' x '.join(size)}, but the manager's is"
            raise InputError(what, text=" x ".join(words[2:]))
        return ucc.COLOURS.index(words[0])

    def _turn(self, colour: int, setup: Setup, line: str, rows: list[str]) -> None:
        """Hears the other side's move, and moves."""
        played = None if line == ucc.START else self._read(line)
        if self.consistent is None:
            enemy = self._enemy(colour, rows, played)
            self.consistent = ConsistentGame(self.game, colour, setup, enemy)
        if played:
            self._hear(self.consistent, played, line)
        if self.consistent.arbiter.turn == 1 - colour:  # START that begins no game
            raise InputError(IMPOSSIBLE, text=line)
        move = self.consistent.choose(self.player, self.number)
        self.put(ucc.SURRENDER if move is None else ucc.move_line(self.variant, *move))

    def _read(self, line: str) -> ObservedMove:
        """The move that a line tells, on the board."""
        played = ucc.read_played(self.variant, line)
        if -1 in played[:2]:
            raise InputError(IMPOSSIBLE, text=line)
        return played

    def _hear(self, consistent: ConsistentGame, played: ObservedMove, line: str) -> None:
        """A move that `line` told."""
        try:
            consistent.play(*played)
        except (IllegalMove, KeyError):
            raise InputError(IMPOSSIBLE, text=line) from None

    def _enemy(self, colour: int, rows: list[str], played: ObservedMove | None) -> Enemy:
        """The enemy before its first move, which the first board already shows."""
        text = "".join(rows)
        if len(text) != self.variant.squares:
            raise InputError("a board of another size", text=text)
        squares = {at for at, c in enumerate(text) if c == ucc.ENEMY_CHARACTER}
        if played:
            squares = squares - {played[1]} | {played[0]}
        first = 0 if colour == BLUE else self.variant.squares - self.variant.zone
        if outside := squares - set(range(first, first + self.variant.zone)):
            y, x = divmod(min(outside), self.variant.width)
            raise InputError("no enemy can begin on the square", text=f"{x} {y}")
        return Enemy(self.variant, {square: square for square in squares})
