"""A person goes on from a ply of a game that others have played: it has said and seen what the side
that it takes had, and the other one has played the rest. Or from a position that is of no game."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from stratkit.convert.games import log_of
from stratkit.convert.raw import RawEpisode, RawJson, RawLog, RawPositions, RawRecord, chunks
from stratkit.engine import Batch, Game, worlds
from stratkit.engine.arbiter import Arbiter
from stratkit.engine.stratego import RED, Position, placements, variant
from stratkit.errors import InputError, UsageError, error_context
from stratkit.games.kit import Notation
from stratkit.games.table import kit_of
from stratkit.humans.words import SEND
from stratkit.models.shipped import SHIPPED
from stratkit.notation.fenfs import (
    OBSERVER,
    Fenfs,
    check_board,
    complete,
    fenfs_of,
    parse_fenfs,
    start_position,
)
from stratkit.notation.log import Log
from stratkit.notation.setups import has_counts, parse_setup, setup_text
from stratkit.notation.squares import move_words, parse_move

GAMES = (RawRecord, RawLog, RawEpisode, RawPositions, RawJson)


def go_on_command(file: str, number: int, game: str) -> str:
    """The command by which a person goes on from ply `PLY` of a game of a record."""
    other = f"preset=strong,{game}" if game in SHIPPED else "heuristic"
    place = shlex.quote(f"{file}:{number}:PLY")
    return f"match human {other} --game {game} -n 2 --browser -o mine.jsonl --from-game {place}"


def lead_of(text: str, game: Game, seed: int = 0) -> Lead | PhaseLead:
    """What leads to the ply that `text` names, or to the FENfS that it is; `seed` deals the pieces
    that this hides. `UsageError`: it is neither that nor FILE:GAME:PLY, or the game has none.
    `InputError`: there is no such ply."""
    orders = kit_of(game).notation is Notation.ORDERS
    if not orders and kit_of(game).notation is not Notation.LOG:
        raise UsageError(f"--from-game is for games with setups, not for {game.name}")
    if not orders and re.fullmatch(r"\S+ [rb] [0-9]+( \S+)?", text):
        return Lead(game, start=_dealt(parse_fenfs(text), game, seed))
    ply = r"\d{1,9}|[SFWsfw]\d{1,4}[MRAmra]" if orders else r"\d{1,9}"
    found = re.fullmatch(rf"(.+):([1-9]\d{{0,8}}):({ply})", text, re.A)
    if found is None:
        what = "--from-game wants FILE:GAME:PLY or a FENfS"
        like = "--from-game wants FILE:GAME:PLY, with PLY like 3 or F1902M"
        raise UsageError(like if orders else what, text=text)
    if orders:
        with error_context(found[1], f"game {found[2]}"):
            return PhaseLead.of(game, found[1], int(found[2]), found[3].upper())
    file, number, plies = found[1], int(found[2]), int(found[3])
    with error_context(file, f"game {number}"):
        item = _item(file, number)
        if isinstance(item, RawJson):
            raise InputError("a game of Diplomacy")
        if isinstance(item, RawPositions) and _is_part(item):
            return Lead(game, start=_dealt(_position(item, plies), game, seed))
        return _begun(game, log_of(item), plies)


def _is_part(item: RawPositions) -> bool:
    """Whether positions are a part of a game, or one side's views, so that moves are not known."""
    return bool(item.lines[0][1].ply) or any(fenfs.view is not OBSERVER for _, fenfs in item.lines)


def _position(item: RawPositions, ply: int) -> Fenfs:
    """The one after so many plies."""
    for _, fenfs in item.lines:
        if fenfs.ply == ply:
            return fenfs
    raise InputError("no position has this ply number", text=str(ply))


def _dealt(fenfs: Fenfs, game: Game, seed: int) -> Position:
    """The position as one that a game begins at. Pieces that it hides from the side to move are
    dealt as that side could imagine them."""
    kind = variant(game.name)
    check_board(fenfs, kind)
    if fenfs.view is not OBSERVER and fenfs.side == fenfs.view:
        batch = Batch(game, 1)
        batch.start(0, complete(replace(fenfs, variant=kind)).to_bytes())
        if batch.actors()[0] >= 0:
            dealt = Position.from_bytes(kind, worlds(batch, 0, 1, seed).save(0))
            fenfs = fenfs_of(dealt, extended=True)
    start = start_position(fenfs, kind)
    if Arbiter(game, start).turn is None:
        raise InputError("the game is over", text=fenfs)
    return start


def _item(file: str, number: int) -> RawRecord | RawLog | RawEpisode | RawPositions | RawJson:
    """The same, as it stands there."""
    at = 0
    for items in chunks([file], together=True):
        for item in items:
            if isinstance(item, InputError):
                raise item
            at += isinstance(item, GAMES)
            if at == number and isinstance(item, GAMES):
                return item
    raise InputError(f"there is no game {number}", file=file)


def _begun(game: Game, log: Log, ply: int) -> Lead:
    """What leads to the turn after the first moves, so many, of a game that goes on after them."""
    kind = variant(game.name)
    if log.variant.name != kind.name:
        raise InputError(f"it is of {log.variant.name}, not of {kind.name}")
    if not log.has_board or not all(has_counts(kind, setup) for setup in log.setups or ()):
        raise InputError("a game without setups of its board")
    if ply > log.plies:
        raise InputError("the game has no such ply to go on from", text=str(ply))
    arbiter = Arbiter(game, log.start)
    for setup in log.setups or ():
        arbiter.deploy(setup)
    texts = move_words(log.moves[: 2 * ply], kind.width, kind.height, "")
    moves = np.frombuffer(log.moves[: 2 * ply], np.uint8).reshape(-1, 2).tolist()
    for at, ((start, end), move) in enumerate(zip(moves, texts, strict=True), start=1):
        if arbiter.turn is None or arbiter.why_illegal(start, end):
            raise InputError(f"the rules of this match forbid move {at}", text=move)
        arbiter.move(start, end)
    if arbiter.turn is None:
        raise InputError("the game has no such ply to go on from", text=str(ply))
    return Lead(game, tuple(map(setup_text, log.setups or ())), list(texts), log.start)


class Lead:
    """What leads to the turn after some moves of a game with these setups, or of one that began at
    `start`. By the person's side: its words, the other one's actions, and how many of these came
    before each word."""

    def __init__(
        self,
        game: Game,
        setups: tuple[str, ...] = (),
        moves: Sequence[str] = (),
        start: Position | None = None,
    ) -> None:
        self.variant, self.setups, self.moves = variant(game.name), setups, moves
        self.plies, self.start = len(moves), start

    def __call__(self, sides: Sequence[int]) -> tuple[list[str], list[int], list[int]]:
        kind, [side] = self.variant, sides
        words: list[str] = []
        played: list[int] = []
        before: list[int] = []
        if self.start is None:
            words, played = [self.setups[side]], self._placed(1 - side)
            before = [0 if side == RED else len(played)]
        first = RED if self.start is None else self.start.side
        for ply, text in enumerate(self.moves, first):
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


class PhaseLead:
    """The same in Diplomacy: what leads to the phase after so many others of a game with these
    actions. `orders`: of each phase, by power, as a person sends them."""

    start = None  # such a game begins as all do

    def __init__(self, game: Game, actions: Sequence[int], orders: list[dict[str, str]]) -> None:
        self.game, self.actions, self.orders = game, actions, orders
        self.plies, self.powers = len(orders), kit_of(game).seats or ()

    @classmethod
    def of(cls, game: Game, file: str, number: int, phase: str) -> PhaseLead:
        """Of a game of a file, counted from 1, up to a phase: its name, or how many come before.
        `InputError`: there is no such phase to go on from."""
        from stratkit.convert.diplomacy import play
        from stratkit.engine.diplomacy import map_of
        from stratkit.games.diplomacy.games import phases, written_orders
        from stratkit.games.diplomacy.orders import order_text, phase_text

        item = _item(file, number)
        if isinstance(item, RawLog | RawPositions):
            raise InputError(f"it is not of {game.name}")
        played = play(item)
        if played.fault or played.rules.name != game.name:
            raise played.fault or InputError(f"it is of {played.rules.name}, not of {game.name}")
        map_ = map_of(game)
        orders: list[dict[str, str]] = []
        for position, given in phases(played.rules, played.actions):
            if phase in (phase_text(map_, position), str(len(orders))):
                break
            written = written_orders(map_, position, given).items()
            orders.append({
                power: "; ".join(order_text(map_, position, *one) for one in some) or SEND
                for power, some in written
            })  # fmt: skip
        else:
            raise InputError("the game has no such phase to go on from", text=phase)
        return cls(game, cls._first(game, played.actions.tolist(), len(orders)), orders)

    @staticmethod
    def _first(game: Game, actions: list[int], phases: int) -> list[int]:
        """The actions of so many first phases. `InputError`: by the game's rules it is over."""
        batch, turns = Batch(game, 1), [-1]
        for at, action in enumerate(actions):
            if batch.actors()[0] < 0:
                raise InputError("by the rules of this match the game is over before")
            if batch.turns()[0] != turns[-1]:
                turns.append(int(batch.turns()[0]))
            if len(turns) > phases + 1:
                return actions[:at]
            batch.apply(np.array([action], np.int32))
        return actions

    def __call__(self, sides: Sequence[int]) -> tuple[list[str], list[int], list[int]]:
        words: list[str] = []
        played: list[int] = []
        before: list[int] = []
        batch, last, phase = Batch(self.game, 1), -1, -1
        asked: set[int] = set()
        for action in self.actions:
            if batch.turns()[0] != last:
                last, phase, asked = int(batch.turns()[0]), phase + 1, set()
            side = int(batch.actors()[0])
            if side not in sides:
                played.append(action)
            elif side not in asked:
                asked.add(side)
                words.append(self.orders[phase][self.powers[side]])
                before.append(len(played))
            batch.apply(np.array([action], np.int32))
        return words, played, before
