"""Our players at the powers of games of the package `diplomacy`: `DiplomacyPlayer`.

The package (PyPI, 1.1.2) is not imported: of a game `map_name`, `order_history`, `state_history`,
`get_current_phase()` and `get_state()` are asked, which a game over the network has, too. The game
is played again by our rules, so that a player sees what it would see here.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from stratkit.arguments import Seed, checked
from stratkit.engine import Batch
from stratkit.engine.diplomacy import map_of
from stratkit.errors import InputError, error_context, nearest_or_all
from stratkit.games.diplomacy.games import (
    ENDED,
    Reading,
    SavedPhase,
    game_of,
    order_length,
    order_of,
    saved_phase,
    seen,
    written_orders,
)
from stratkit.games.diplomacy.orders import Order, order_text, orders_array
from stratkit.players.factory import open_player
from stratkit.players.player import Views, decide, take_seat
from stratkit.players.registry import parse_player

ROWS = 64  # views that a network evaluates at a time, for players that search

History = list[tuple[str, Mapping[str, Sequence[str]]]]  # phases with the orders of all powers


class TheirGame(Protocol):
    """What is asked of a `diplomacy.Game`."""

    map_name: str
    order_history: Any  # by phase, and by power, in the order in which they were played
    state_history: Any  # by phase, as `get_state()`

    def get_current_phase(self) -> str:
        """Such as S1901M, or COMPLETED."""

    def get_state(self) -> dict[str, Any]:
        """With `units` by power."""


class DiplomacyPlayer:
    """A PLAYER of stratkit at a power of games of the package `diplomacy`, one after the other:
    `game.set_orders("FRANCE", player.orders(game))`.

    player    the PLAYER's text, as match(1) takes it, such as "diplomacy-v1"
    power     the power's name, such as "FRANCE"
    seed      keys random choices, with the number of games that were met before
    map_name  that package's name of the map: "standard", "standard_france_austria",
              "standard_germany_italy" or "pure"

    `InputError`, `UsageError`: there is no such player, power or map, or the player does not play
    the map. `ValueError`: a seed is from 0 to 2^64 - 1.
    """

    @checked
    def __init__(self, player: str, power: str, seed: Seed = 0, map_name: str = "standard") -> None:
        self.map_name = map_name
        self._game = game_of({"map": map_name})
        self._map = map_of(self._game)
        if power not in self._map.powers:
            what = f"no power of this map{nearest_or_all(power, self._map.powers)}"
            raise InputError(what, text=power)
        self.power, self._side = power, self._map.powers.index(power)
        self._player = open_player(parse_player(player), self._game, seed, ROWS).player
        self._number = -1  # of the game
        self._begin()

    def orders(self, game: TheirGame) -> list[str]:
        """The power's orders in the phase of a `diplomacy.Game`, as its `set_orders` takes them;
        none where it has nothing to order. The same ones when it is asked again.

        `InputError`: another map, or play there has led elsewhere than our rules do.
        """
        if game.map_name != self.map_name:
            raise InputError(f"the player is for the map {self.map_name}", text=game.map_name)
        if game.get_current_phase() == ENDED:
            return []
        present = self._follow(game)
        with error_context(None, present.name):
            return self._chosen() if self._reading.begins(present) else []

    def _begin(self) -> None:
        """A game, before its first phase."""
        self._number += 1
        self._seat = take_seat(self._player, self._number, self._side)
        self._reading, self._read = Reading(self._game, lambda _: None), History()

    def _follow(self, game: TheirGame) -> SavedPhase:
        """Plays what was played there since; all of it, if it is not how the game went on that was
        met last. Returns the present phase."""
        history: History = [(str(name), orders) for name, orders in game.order_history.items()]
        if history[: len(self._read)] != self._read:
            self._player.end(*self._seat)
            self._begin()
        states = {str(name): state for name, state in game.state_history.items()}
        new = [
            _phase(name, states.get(name, {}), orders)
            for name, orders in history[len(self._read) :]
        ]
        new.append(_phase(game.get_current_phase(), game.get_state(), {}))
        for phase, then in itertools.pairwise(new):
            with error_context(None, phase.name):
                self._reading.read(phase, then)
            self._read.append(history[len(self._read)])
        return new[-1]

    def _chosen(self) -> list[str]:
        """What the player orders in the phase that is due. Powers order in turn, unseen by each
        other: those before it order anything."""
        batch, actions = self._reading.batch.clone(), list(self._reading.actions)
        orders, turn = dict[int, Order](), batch.turns()[0]
        while batch.turns()[0] == turn and batch.actors()[0] <= self._side:
            own, at = batch.actors()[0] == self._side, int(seen(batch)["at"][0])
            words: list[int] = []
            while not words or len(words) < order_length(words[0]):
                any_ = int(batch.legal()[0].argmax())
                words.append(self._action(batch, actions) if own else any_)
                batch.apply(np.array(words[-1:], np.int32))
                actions.append(words[-1])
            if own:
                orders[at] = order_of(words)
        position = self._reading.position
        written = written_orders(self._map, position, orders_array(self._map, orders.items()))
        return [order_text(self._map, position, *one) for one in written[self.power]]

    def _action(self, batch: Batch, actions: Sequence[int]) -> int:
        views = Views.of_one(batch, self._number, len(actions), actions)
        return int(decide(self._player, views).actions[0])


def _phase(name: str, state: Mapping[str, Any], orders: Mapping[str, Any]) -> SavedPhase:
    return saved_phase({"name": name, "state": state, "orders": orders}, name)
