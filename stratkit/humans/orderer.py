"""A person in Diplomacy: orders are typed as people write them, a phase at a time, and sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from stratkit.engine import Game
from stratkit.engine.diplomacy import DISBAND, HOLD, NONE, map_of, views_of
from stratkit.errors import InputError, nearest
from stratkit.games.diplomacy.games import order_actions, phases
from stratkit.games.diplomacy.orders import WAIVE, Order
from stratkit.games.diplomacy.told import history
from stratkit.humans.phase import Phase
from stratkit.humans.session import MISFIT, RESIGN, Saved, Session, Undone
from stratkit.humans.words import SEND, UNDO
from stratkit.players.player import Decision, Games, Player, Sides, Views

ORDER_WORDS = ("orders", "legal", "clear", "board", "help", "save", "resign", SEND, UNDO)
_APART = re.compile(r"\s*[;,]\s*")  # between two orders in a line


class OrderingPlayer(Player):
    """Asks for the orders of a whole phase and answers with their actions. It may sit at several
    powers of a game. `sit_down` comes before the first game.

    What is kept of a phase is one word: its orders, when they are sent.
    """

    session: Session

    def __init__(self, game: Game) -> None:
        self.game, self.map = game, map_of(game)
        self._begin()

    def _begin(self) -> None:
        self._words = 0  # that were said in this game
        self._at: dict[int, tuple[int, int]] = {}  # year and phase that a power was asked last
        self._orders: dict[int, dict[int, Order]] = {}  # that it sent there
        self._told: dict[int, int] = {}  # how many phases it had been told of before
        self._rest: list[int] = []  # actions of an order that was begun

    def sit_down(self, session: Session) -> None:
        """Plays through this session from now on."""
        self.session = session

    def begin(self, games: Games, sides: Sides) -> None:
        self._begin()
        for game, side in zip(games.tolist(), sides.tolist(), strict=True):
            self.session.begin(game, side)

    def act(self, views: Views) -> Decision:
        actions = np.array([self._action(views, row) for row in range(len(views))], np.int32)
        return Decision(actions, np.ones(len(views), np.float32), resigned=actions == RESIGN)

    def watch(self, views: Views) -> None:
        """`Watcher.watch`: phases whose orders were sent before are not asked for again."""
        for row in range(len(views)):
            self._told[int(views.sides[row])] = len(self._past(views, row))

    def _action(self, views: Views, row: int) -> int:
        if not self._rest:
            side, seen = (
                int(views.sides[row]),
                views_of(self.game, views.observations[row : row + 1]),
            )
            position = seen["position"]
            now = int(position["year"][0]), int(position["phase"][0])
            if self._at.get(side) != now:
                orders = self._phase(views, row, position.copy())
                if orders is None:
                    return RESIGN
                self._at[side], self._orders[side] = now, orders
            legal, at = views.legal[row], int(seen["at"][0])
            default = (HOLD if legal[HOLD] else DISBAND, NONE, NONE)
            self._rest = order_actions(self._orders[side].get(at, default))
        action = self._rest.pop(0)
        if not views.legal[row, action]:
            raise InputError(f"what was said {MISFIT}", file=self.session.file)
        return action

    def _past(self, views: Views, row: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """The phases so far, each with its orders."""
        actions = views.state(row).past()
        return [] if actions is None else list(phases(self.game, actions))

    def _phase(self, views: Views, row: int, position: np.ndarray) -> dict[int, Order] | None:
        """The orders that the person sends; None: it resigns."""
        side, game, past = int(views.sides[row]), int(views.games[row]), self._past(views, row)
        new = len(past) - self._told.get(side, 0)
        self._told[side] = len(past)
        told = history(self.map, past, position)
        resigns = len(self.map.powers) == 2
        phase = Phase(game, side, self.map, position, told, new, {}, resigns)
        for word, again in self._lines(phase):
            lower = word.lower()
            if lower == "resign" and resigns:
                self._keep(game, lower)
                return None
            try:
                orders = self._understood(phase, word, again)
            except InputError as error:
                self.session.front.tell(str(error))
                continue
            if lower == SEND or again:
                phase = replace(phase, orders=orders)
                self._keep(game, "; ".join(phase.texts) or SEND)
                return dict(orders)
            if orders != phase.orders:
                phase = replace(phase, orders=orders, fresh=False)
                self.session.front.show(phase)
        raise Saved

    def _lines(self, phase: Phase) -> Iterator[tuple[str, bool]]:
        """What was said before, then what the person types; whether it was said before."""
        before, front = self.session.said.get(phase.game, ()), self.session.front
        if self._words < len(before):
            yield before[self._words], True  # who accepts it asks for no other line
            what = f"what was said {MISFIT}"
            raise InputError(what, file=self.session.file, text=before[self._words])
        front.show(phase)
        while (line := front.ask(f"{phase.power} {phase.name}> ")) is not None:
            yield " ".join(line.split()), False

    def _understood(self, phase: Phase, word: str, again: bool) -> dict[int, Order]:
        """The orders after a line, which may mean something else. `InputError`: it is wrong."""
        front, lower = self.session.front, word.lower()
        if lower == SEND:
            return dict(phase.orders)
        if lower == "save" and not again:
            raise Saved
        if lower in ("orders", "") and not again:
            front.show(replace(phase, fresh=False))
        elif lower == "board" and not again:
            front.show(replace(phase, fresh=True))
        elif lower == "help" and not again:
            front.help(phase)
        elif lower == UNDO and not again:
            self._undo(phase.game)
        elif lower == "clear":
            return {}
        elif lower.split()[0] == "legal" and not again:
            asked = phase.units if lower == "legal" else [phase.province_of(word[6:])]
            for province in asked:
                front.tell("; ".join(phase.legal(province)))
        else:
            return self._ordered(phase, word)
        return dict(phase.orders)

    def _ordered(self, phase: Phase, word: str) -> dict[int, Order]:
        """The orders with those of a line. None of it counts if one is wrong."""
        before = phase.orders
        for text in filter(None, _APART.split(word)):
            try:
                phase = replace(phase, orders=phase.with_order(text))
            except InputError as error:
                known = " " in text or text.upper() == WAIVE
                hint = "" if known else nearest(text, ORDER_WORDS)
                raise InputError(f"{error.what}{hint}", text=error.text) from None
        if phase.orders == before:  # a person sees that the line was taken
            self.session.front.show(replace(phase, fresh=False))
        return dict(phase.orders)

    def _undo(self, game: int) -> None:
        """Takes back what was sent last. `InputError`: it may not, or nothing was sent."""
        if not self.session.undoes:
            raise InputError("only against players of stratkit's own orders can be taken back")
        if not self._words:
            raise InputError("nothing was sent that could be taken back")
        self.session.keep(game, UNDO)
        raise Undone

    def _keep(self, game: int, word: str) -> None:
        """A word that counts: it is said again when the match is resumed."""
        if self._words >= len(self.session.said.get(game, ())):
            self.session.keep(game, word)
        self._words += 1
