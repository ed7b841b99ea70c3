"""A person, as a player: what is typed, or what stands for it, becomes moves."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from stratkit.arrays import Bytes
from stratkit.declared import options_text
from stratkit.engine import Game, observation_dtype, sample
from stratkit.engine.random_streams import Stream
from stratkit.engine.stratego import (
    BOMB,
    FLAG,
    PIECE,
    SCOUT,
    SIDE,
    TYPE,
    placements,
    setup_of,
    variant,
)
from stratkit.errors import InputError, error_context, nearest
from stratkit.games.kit import Notation
from stratkit.games.table import kit_of
from stratkit.humans.chooser import ChoosingPlayer
from stratkit.humans.live_clock import LiveClock, minutes
from stratkit.humans.observed_game import ObservedGame, Offer, Turn
from stratkit.humans.orderer import OrderingPlayer
from stratkit.humans.session import AGREE, MISFIT, OUT_OF_TIME, RESIGN, Saved, Session, Undone
from stratkit.humans.words import UNDO
from stratkit.notation.setups import (
    file_and_name,
    parse_setup,
    read_setups,
    setup_text,
)
from stratkit.notation.squares import move_text, parse_move, parse_square
from stratkit.players.clock import Clock
from stratkit.players.player import Decision, Games, Player, Sides, Views
from stratkit.players.spec import Contestant, OpenContext, PlayerSpec
from stratkit.setups.source import SetupSource
from stratkit.setups.told import read_setup

SIDES = ("red", "blue")
SETUP_PROMPT = "Your setup (return takes it; help)"
DRAW, DECLINE = "draw", "decline"
FELL = "out of time"  # kept as a word: the flag fell
MOVE_WORDS = ("moves", "board", "help", "save", "resign", UNDO, DRAW, DECLINE)

MAX_OFFERS = 1 << 20  # in a game before they come again

Setup = npt.NDArray[np.uint8]


class HumanPlayer(Player):
    """Asks for whole moves and answers with their actions, one game at a time.

    `setup`: as in a `.setups` file, or None: one of `offers`, or a uniformly random one, is
    offered; `favourites` are others, by name. `clock`: for its moves of a game. A person has chosen
    with probability 1. `sit_down` comes before the first game.
    """

    session: Session

    def __init__(
        self,
        game: Game,
        seed: int,
        setup: Setup | None = None,
        offers: Callable[[int], Setup] | None = None,
        favourites: Mapping[str, Setup] = MappingProxyType({}),
        clock: Clock | None = None,
    ) -> None:
        self.game, self.seed, self.setup = game, seed, setup
        self.offers, self.favourites, self.clock = offers, favourites, clock
        self.variant = variant(game.name)
        self.dtype = observation_dtype(self.variant.squares)
        self.shown: Turn | None = None  # the person's last turn in this game
        self._observed: ObservedGame | None = None
        self._words = 0  # that were said in this game
        self._placements: list[int] = []
        self._destination = -1

    def sit_down(self, session: Session) -> None:
        """Plays through this session from now on."""
        self.session = session

    def begin(self, games: Games, sides: Sides) -> None:
        self._words, self._observed, self.shown = 0, None, None
        self._placements, self._destination = [], -1
        self.session.draws.begin()
        for game, side in zip(games.tolist(), sides.tolist(), strict=True):
            self.session.begin(game, side)
            if self.session.clock is not None:
                self.session.clock.begin(game)

    def act(self, views: Views) -> Decision:
        actions = np.array([self._action(views, row) for row in range(len(views))], np.int32)
        mu = np.ones(len(views), np.float32)
        resigned, agreed, late = (actions == word for word in (RESIGN, AGREE, OUT_OF_TIME))
        return Decision(actions, mu, resigned=resigned, agreed=agreed, out_of_time=late)

    def watch(self, views: Views) -> None:
        """`Watcher.watch`: turns at which the person has said before what is played now."""
        for row in range(len(views)):
            seen = views.observations[row].view(self.dtype)[0]
            if not seen["phase"] and not seen["stage"]:
                self._look(seen, views, row)

    def _action(self, views: Views, row: int) -> int:
        seen = views.observations[row].view(self.dtype)[0]
        if seen["phase"]:
            return self._place(views, row)
        if seen["stage"]:
            return self._begun(self._destination >= 0, self._destination)
        turn = self._look(seen, views, row)
        move = self._move(turn, views, row)
        if isinstance(move, int):
            return move
        start, self._destination = (self.variant.framed(turn.side, square) for square in move)
        return start

    def _look(self, seen: Any, views: Views, row: int) -> Turn:
        game, side = int(views.games[row]), int(views.sides[row])
        start = self.session.start
        self._observed = self._observed or ObservedGame(self.variant, game, side, start)
        self._destination = -1
        return self._observed.look(seen, views.state(row).moves())

    def _begun(self, is_known: bool, action: int) -> int:
        """The rest of what the person has decided. `InputError`: it was lost on the way."""
        if not is_known:
            raise InputError(f"what was said {MISFIT}", file=self.session.file)
        return action

    # ---- deployment ----

    def _place(self, views: Views, row: int) -> int:
        done = int(views.numbers[row]) % self.variant.pieces
        if done == 0:
            game, side = int(views.games[row]), int(views.sides[row])
            own = self.setup
            setup = self._choose_setup(game, side) if own is None else self._given(game, own)
            self._placements = placements(self.variant, setup).tolist()
        left = self._placements[done:]
        return self._begun(bool(left), left[0] if left else -1)

    def _given(self, game: int, own: Setup) -> Setup:
        """The setup of a file; the one that a game began with, if the file has changed since."""
        before = self.session.said.get(game, ())
        first = self._typed(before[0]) if before else own
        if first is None:
            return own  # the words are of a version that did not keep it
        self._keep(game, setup_text(first))
        return first

    def _choose_setup(self, game: int, side: int) -> Setup:
        """The setup that the person agrees to or types."""

        def offer() -> Offer:
            return Offer(game, side, self.variant, offered, tuple(self.favourites))

        offered, drawn, before = self._offer(game, 0), 1, self._words
        for word in self._lines(offer(), SETUP_PROMPT):
            lower = word.lower()
            if lower == "save":
                raise Saved
            if lower == "help":
                self.session.front.help(offer())
                continue
            try:
                if lower == "another":
                    offered, drawn = self._offer(game, drawn), drawn + 1
                elif (typed := self._typed(word)) is not None:
                    self._keep(game, setup_text(typed))
                    return typed
                elif word:
                    arranged = self._arranged(word, offered, side)
                    placements(self.variant, arranged)  # no piece is on a lake, or it raises
                    offered = arranged
            except InputError as error:
                self.session.front.tell(str(error))
                continue
            if not word:
                if before < len(self.session.said.get(game, ())):
                    offered = self._drawn(game, 0)  # the words are of a version that offered this
                self._keep(game, setup_text(offered))
                return offered
            self.session.front.show(offer())
        raise Saved

    def _typed(self, word: str) -> Setup | None:
        """The setup that a word spells; None: it is no such word."""
        if len(word) != self.variant.zone or not re.fullmatch("[A-Ma-m]*", word):
            return None
        return parse_setup(word.upper(), self.variant)

    def _arranged(self, word: str, offered: Setup, side: int) -> Setup:
        """The setup that a word makes of the one that is offered, or that a file has."""
        own = self.variant
        if word in self.favourites:
            return self.favourites[word]
        if word.lower() == "mirror":
            return np.ascontiguousarray(offered.reshape(own.ranks, own.width)[:, ::-1]).reshape(-1)
        if swap := re.fullmatch("(?i:swap) ([A-Za-z][0-9]+)[ -]?([A-Za-z][0-9]+)", word):
            ends = [parse_square(text.upper(), own.width, own.height) for text in swap.groups()]
            squares = [own.framed(side, square) for square in ends]
            if max(squares) >= own.zone:
                raise InputError("not both squares are where you set up", text=word)
            swapped = offered.copy()
            swapped[squares] = offered[squares[::-1]]
            return swapped
        if os.path.isfile(file_and_name(word)[0]):
            try:
                return read_setup(word, self.game)
            except OSError as error:
                raise InputError(str(error.strerror), file=word) from None
        if len(word) != own.zone:
            what = f"no word, file or setup of {own.zone} letters (help tells the words)"
            raise InputError(what, text=word)
        return parse_setup(word, own)  # says what is wrong with it

    def _offer(self, game: int, times: int) -> Setup:
        """The setup that is offered after so many others."""
        if self.offers is None:
            return self._drawn(game, times)
        return self.offers(game * MAX_OFFERS + times % MAX_OFFERS)

    def _drawn(self, game: int, times: int) -> Setup:
        """A uniformly random setup, after so many others."""
        free = np.zeros((1, self.variant.squares), np.uint8)
        free[0, : self.variant.zone] = self.variant.places
        actions = np.zeros(self.variant.pieces, np.int32)
        for at in range(len(actions)):
            number = times * len(actions) + at
            games, numbers = np.array([game], np.int64), np.array([number], np.int32)
            actions[at] = sample(None, free, self.seed, games, numbers, Stream.HUMAN_SETUP)[0][0]
            free[0, actions[at]] = 0
        return setup_of(self.variant, actions)

    # ---- play ----

    def _move(self, turn: Turn, views: Views, row: int) -> tuple[int, int] | int:
        """What the person moves, as squares of the board, or `RESIGN`, `AGREE` or `OUT_OF_TIME`."""
        clock = self.session.clock
        with contextlib.nullcontext() if clock is None else clock.turn():
            return self._said_move(turn, views, row)

    def _said_move(self, turn: Turn, views: Views, row: int) -> tuple[int, int] | int:
        session, told = self.session, dataclasses.replace(turn, draw=self._draw())
        self.shown = told
        for word in self._lines(told, SIDES[turn.side], session.clock):
            if word == FELL and session.clock is not None:
                self._keep(turn.game, word)
                return OUT_OF_TIME
            if word.lower() == "resign":
                self._keep(turn.game, word.lower())
                return RESIGN
            if word.lower() == DRAW and session.draws.is_offered_to(session.me):
                return AGREE
            try:
                move = self._understand(word, turn, views, row)
            except InputError as error:
                self.session.front.tell(str(error))
                continue
            if move is None:
                continue
            if move not in turn.moves:
                what = f"{word}: not a legal move ({self._why(turn, move)})"
                self.session.front.tell(what)
                continue
            session.draws.decline(session.me)
            self._keep(turn.game, word)
            return move
        raise Saved

    def _draw(self) -> str:
        """How it stands with a draw, for who is to move: a word of `Turn.draw`."""
        draws, me = self.session.draws, self.session.me
        if draws.take_refusal(me):
            return "declined"
        return "theirs" if draws.is_offered_to(me) else "mine" if draws.is_offered_by(me) else ""

    def _understand(self, word: str, turn: Turn, views: Views, row: int) -> tuple[int, int] | None:
        """The move that a word means; None: it meant something else."""
        front, width, height = self.session.front, self.variant.width, self.variant.height
        lower = word.lower()
        if lower in ("?", "? all", "?all"):
            self._advise(turn, views, row, lower != "?")
        elif lower == "moves":
            front.tell(" ".join(move_text(*move, width) for move in turn.moves))
        elif lower == "board":
            front.show(turn)
        elif lower == "save":
            raise Saved
        elif lower == UNDO:
            self._undo(turn)
        elif lower in (DRAW, DECLINE):
            self._answer_draw(turn, lower)
        elif lower in ("help", ""):
            front.help(turn)
        else:
            try:
                return parse_move(word.upper(), width, height)
            except InputError as error:
                hint = nearest(word, MOVE_WORDS) or " (help tells the words)"
                raise InputError(f"{error.what}{hint}", text=word) from None
        return None

    def _advise(self, turn: Turn, views: Views, row: int, every: bool) -> None:
        if self.session.hint is None:
            self.session.front.tell("nobody here can be asked")
            return
        one = views.take(slice(row, row + 1))
        self.session.front.advise(turn, self.session.hint(one), every)

    def _why(self, turn: Turn, move: tuple[int, int]) -> str:
        """Why a move is none of the legal ones."""
        cells, (start, end) = turn.position.cells, move
        if not _is_own(int(cells[start]), turn.side):
            return "no piece of yours stands there"
        if self._reaches(cells, start, end) and not _is_own(int(cells[end]), turn.side):
            return "the two-squares or the more-squares rule forbids to repeat it"
        can = any(square == start for square, _ in turn.moves)
        return "this piece cannot go there now" if can else "this piece cannot move now"

    def _reaches(self, cells: Bytes, start: int, end: int) -> bool:
        """Whether the piece at `start` could go so far, were there no rules against repetition."""
        (row, column), (to_row, to_column) = (divmod(at, self.variant.width) for at in (start, end))
        far = abs(to_row - row) + abs(to_column - column)
        type_ = int(cells[start]) & TYPE
        if type_ in (FLAG, BOMB) or end in self.variant.lakes or not far:
            return False
        if far == 1:
            return True
        straight = row == to_row or column == to_column
        between = range(start, end, (end - start) // far) if straight else ()
        return type_ == SCOUT and straight and not any(cells[at] for at in between[1:])

    # ---- what is said ----

    def _answer_draw(self, turn: Turn, word: str) -> None:
        """Offers a draw, or declines one."""
        draws, me, front = self.session.draws, self.session.me, self.session.front
        if word == DRAW:
            draws.offer(me)
            front.tell("a draw is offered: move, and it is answered")
        elif draws.is_offered_to(me):
            draws.decline(me)
            front.tell("the draw is declined: your move")
        else:
            front.tell("no draw is offered")
        front.show(dataclasses.replace(turn, draw=self._draw(), new=0))

    def _undo(self, turn: Turn) -> None:
        """Takes back the person's last word, if who has to agree does. `InputError`: it may not, or
        has said none."""
        consent, clock = self.session.consent, self.session.clock
        if not self.session.undoes:
            raise InputError("no move against a program can be taken back")
        moved = any(ply.side == turn.side for ply in turn.plies)
        if not (self._words if consent is None else moved):
            raise InputError("there is nothing to take back")
        if consent is not None:
            if clock is not None:
                clock.pause()
            if not consent(turn.game):
                self.session.front.tell("your move is not given back")
                self.session.front.show(dataclasses.replace(turn, draw=self._draw(), new=0))
                return
        self.session.keep(turn.game, UNDO)
        raise Undone

    def _lines(
        self, scene: Offer | Turn, prompt: str, clock: LiveClock | None = None
    ) -> Iterator[str]:
        """What was said before, then what the person types before the scene; `FELL` when the
        `clock` has run out."""
        before, front = self.session.said.get(scene.game, ()), self.session.front
        if self._words < len(before):
            yield before[self._words]  # who accepts it asks for no other line
            what = f"what was said {MISFIT}"
            raise InputError(what, file=self.session.file, text=before[self._words])
        front.show(scene)
        while (line := self._ask(prompt, clock)) is not None:
            yield " ".join(line.split())

    def _ask(self, prompt: str, clock: LiveClock | None) -> str | None:
        if clock is None:
            return self.session.front.ask(f"{prompt}> ")
        clock.run()
        line = self.session.front.ask(f"{prompt} {minutes(clock.left)}> ", clock)
        return line if clock.left else FELL

    def _keep(self, game: int, word: str) -> None:
        """A word that counts: it is said again when the match is resumed."""
        if self._words >= len(self.session.said.get(game, ())):
            self.session.keep(game, word)
        self._words += 1


def _is_own(cell: int, side: int) -> bool:
    return bool(cell & PIECE) and bool(cell & SIDE) == bool(side)


def open_human(spec: PlayerSpec, game: Game, context: OpenContext) -> Contestant[Player]:
    """The person that `spec` asks for."""
    own, notation = spec.options, kit_of(game).notation
    if notation is not Notation.LOG and any((spec.setup, own.favourites, own.offers, own.clock)):
        what = f"setups and clocks are for boards with setups, and {game.name} has none"
        raise InputError(what, text=spec.text)
    player: Player
    if notation is Notation.ORDERS:
        player = OrderingPlayer(game)
    elif notation is Notation.LOG:
        player = _with_setups(spec, game, context.seed)
    else:
        player = ChoosingPlayer(game)
    return Contestant(spec.name or spec.spec, player, f"{options_text(own)}{spec.spec}")


def _with_setups(spec: PlayerSpec, game: Game, seed: int) -> HumanPlayer:
    """A person, with the setups that it has and is offered."""
    file, more, named = spec.setup, spec.options.favourites, spec.options.offers

    @functools.cache
    def source() -> SetupSource:
        from stratkit.setups.deployed import good_setups
        from stratkit.setups.generate import setups_from

        return good_setups(game, seed) if named is None else setups_from(named, game, seed)

    def offers(number: int) -> Setup:
        return np.asarray(source().draw(number, 1)[0])

    if named is not None:
        source()  # what is wrong with it is told before a game begins
    setup = read_setup(file, game) if file else None
    favourites = read_favourites(more, game) if more else {}
    return HumanPlayer(game, seed, setup, offers, favourites, spec.options.clock)


def read_favourites(file: str, game: Game) -> dict[str, Setup]:
    """The setups of a file that have a name, by name; of two with one name the first."""
    found: dict[str, Setup] = {}
    with error_context(file, only=OSError), open(file, "rb") as stream:
        for _, line in read_setups(stream, file, variant(game.name)):
            if isinstance(line, InputError):
                raise line
            if line.name:
                found.setdefault(line.name, line.setup)
    if not found:
        raise InputError("no setup in it has a name", file=file)
    return found
