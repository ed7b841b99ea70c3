"""Rules of thumb that weigh whole orders: policies over the actions that an order is made of."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from stratkit.arrays import Bytes, Float32s, Float64s, Int64s
from stratkit.engine import Game
from stratkit.engine.diplomacy import (
    ADJUSTMENTS,
    ASK_VERB,
    ASK_WHITHER,
    HOLD,
    NONE,
    POWER,
    VERBS,
    map_of,
    views_of,
)
from stratkit.games.heuristic import Heuristic

FAR = 20  # more moves than any way has


class ScoredOrders(Heuristic):
    """A policy of `game`, Diplomacy on any map, by the weights of whole orders. A position is worth
    the squares of centres, those counted that a unit stands on."""

    def __init__(self, game: Game) -> None:
        self.game, self.map = game, map_of(game)
        self.parent = self.map.parent.astype(int)
        self.centres = np.flatnonzero(self.map.centre != NONE)
        self.coasts = np.array([(c + c[:1] * 3)[:4] for c in self.map.coasts])

    @abstractmethod
    def log_weights(self, views: np.ndarray, rows: Int64s, orders: Int64s) -> Float64s:
        """float64 [m]: of each order, int64 [m, 3], of the province that its row of the n `views`,
        int64 [m], is asked for: the logarithm of what it is drawn in proportion to."""

    def values(self, observations: Bytes) -> Float32s:
        views = self._views(observations)
        held = np.zeros((len(views), len(self.map.powers)))
        owner = views["position"]["owner"]
        unit = views["position"]["unit"][:, self.centres].astype(int)
        by = np.where(
            unit > 0, unit & POWER, owner[:, self.map.centre[self.centres]].astype(int) - 1
        )
        for power in range(held.shape[1]):
            held[:, power] = (by == power).sum(1)
        squares = held**2
        share = squares / np.maximum(squares.sum(1, keepdims=True), 1)
        own = share[np.arange(len(views)), views["power"]]
        return np.asarray(2 * own - 1 if held.shape[1] == 2 else own, np.float32)

    def _views(self, observations: Bytes) -> np.ndarray:
        return views_of(self.game, observations)

    def policy(self, observations: Bytes, legal: Bytes) -> Float32s:
        views = self._views(observations)
        rows, orders = self._orders(views)
        stage = views["stage"][rows].astype(int)
        asked = orders[np.arange(len(orders)), stage] + len(VERBS) * (stage != ASK_VERB)
        weights = np.exp(self.log_weights(views, rows, orders))
        shares = np.bincount(rows * legal.shape[1] + asked, weights, minlength=legal.size)
        shares = shares.reshape(legal.shape) * legal
        return np.asarray(shares / shares.sum(1, keepdims=True), np.float32)

    def _orders(self, views: np.ndarray) -> tuple[Int64s, Int64s]:
        """The rows, int64 [m], and the orders, int64 [m, 3], that fit what each chose so far."""
        position = np.ascontiguousarray(views["position"])
        orders, counts = self.map.legal_of_each(position, np.ascontiguousarray(views["at"]))
        # The map lists no hold in adjustments; `legal` says where the game allows one.
        (kept,) = np.nonzero((position["phase"] == ADJUSTMENTS) & (views["stage"] == ASK_VERB))
        rows = np.concatenate([np.repeat(np.arange(len(views)), counts), kept])
        holds = np.tile(np.array([HOLD, NONE, NONE]), (len(kept), 1))
        orders = np.concatenate([orders, holds])
        stage = views["stage"][rows]
        fits = (stage == ASK_VERB) | (orders[:, 0] == views["verb"][rows])
        fits &= (stage != ASK_WHITHER) | (orders[:, 1] == views["whom"][rows])
        return rows[fits], orders[fits]
