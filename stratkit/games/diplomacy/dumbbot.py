"""Diplomacy by the value of provinces, after the idea of David Norman's DumbBot: centres of strong
neighbours draw units, own centres beside enemies hold them, and both spread over the map.

What it does is written anew from that idea. Units are ordered in the map's sequence, not in a drawn
one; who follows an own unit that is still to be ordered risks to be stopped by it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stratkit.arrays import Bools, Float64s, Int64s
from stratkit.engine import Game
from stratkit.engine.diplomacy import (
    ADJUSTMENTS,
    BUILD_ARMY,
    BUILD_FLEET,
    COAST,
    COAST_SHIFT,
    DISBAND,
    FALL_MOVES,
    FALL_RETREATS,
    FLEET,
    HOLD,
    MOVE,
    NONE,
    POWER,
    RETREAT,
    SPRING_RETREATS,
    SUPPORT_HOLD,
    SUPPORT_MOVE,
)
from stratkit.games.diplomacy.scored_orders import ScoredOrders

NEUTRAL = 16.0  # the strength of nobody, and of a power without centres
SPREAD = 5.0  # a province and its neighbours are summed, then divided by this
# What a place is worth by the centres that so many steps of spreading bring to it. In spring there
# is another move before centres change hands.
_SPRING = np.array([100.0, 1000.0, 30.0, 10.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
_FALL = np.array([1000.0, 100.0, 30.0, 10.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
ATTACK, DEFENCE = np.array([0.7, 0.6]), np.array([0.3, 0.4])  # in spring, in fall
CLOSE = 0.05  # places that differ by this share of the best are drawn e times less
FOLLOWS = 0.5  # the share of a place's value where an own unit stands that has no order yet
NEVER = -40.0  # of a logarithm
LAST_RESORT = 1e-6  # what it is worth to disband instead of a retreat
_GOES = (MOVE, RETREAT, BUILD_ARMY, BUILD_FLEET)
_KNOWN = (*_GOES, HOLD, SUPPORT_HOLD, SUPPORT_MOVE, DISBAND)  # it never convoys


class _Plan(NamedTuple):
    """What n views come to.

    worth    float64 [n, 2, L]  what each location is worth to an army, to a fleet
    own      bool [n, P]        where units of the acting power stand
    later    bool [n, P]        those of them that have no order yet
    taken    bool [n, P]        where own units have been ordered to be
    goes     bool [n, P]        where own units have been ordered to move to
    rivals   int64 [n, P]       the most units that one other power may have there
    """

    worth: Float64s
    own: Bools
    later: Bools
    taken: Bools
    goes: Bools
    rivals: Int64s


class DumbBot(ScoredOrders):
    """The policy of `game`, Diplomacy on any map: places are drawn by their values."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        map_ = self.map
        reach = np.stack([map_.army, map_.fleet])
        spread = (reach | np.eye(len(map_.locations), dtype=bool)).astype(float) / SPREAD
        self.near = map_.near.astype(float)
        (self.centred,) = np.nonzero(map_.centre[map_.parent] != NONE)  # locations with a centre
        self.of_location = map_.centre[map_.parent[self.centred]].astype(int)
        self.spread = np.stack([self._spread(spread, weights) for weights in (_SPRING, _FALL)])

    def _spread(self, spread: Float64s, weights: Float64s) -> Float64s:
        """float64 [2, centred, L]: what a centre's location is worth to others by all steps."""
        near = np.zeros((2, len(self.centred), spread.shape[1]))
        near[:, np.arange(len(self.centred)), self.centred] = 1
        total = near * weights[0]
        for weight in weights[1:]:
            near = near @ spread
            total += near * weight
        return np.asarray(total)

    def log_weights(self, views: np.ndarray, rows: Int64s, orders: Int64s) -> Float64s:
        plan = self._plan(views)
        adjusts = views["position"]["phase"] == ADJUSTMENTS
        scores = self._scores(views, plan, rows, orders)
        best = np.zeros(len(views))
        np.maximum.at(best, rows, scores)
        out = np.where(scores > 0, (scores / np.maximum(best, 1e-9)[rows] - 1) / CLOSE, NEVER)
        asked = adjusts[rows]
        if asked.any():
            due = self._due(views, plan)
            changes = orders[asked, 0] != HOLD
            out[asked] = np.where(changes == due[rows[asked]], np.maximum(out[asked], -20), NEVER)
        return np.asarray(out)

    def _plan(self, views: np.ndarray) -> _Plan:
        p = np.arange(self.map.provinces)
        unit = views["position"]["unit"][:, : len(p)].astype(int)
        power, here = views["power"][:, None].astype(int), views["at"][:, None]
        own = (unit > 0) & (unit & POWER == power)
        row, before = np.nonzero(own & (p < here))
        given = views["own"][row, before].astype(int)
        moves = given[:, 0] == MOVE
        taken, goes = np.zeros(own.shape, bool), np.zeros(own.shape, bool)
        taken[row, np.where(moves, self.parent[np.where(moves, given[:, 2], 0)], before)] = True
        goes[row[moves], self.parent[given[moves, 2]]] = True
        rivals = np.zeros(own.shape, np.int64)
        for other in range(len(self.map.powers)):
            theirs = (unit > 0) & (unit & POWER == other) & (power != other)
            np.maximum(rivals, theirs @ self.near + theirs, out=rivals, casting="unsafe")
        return _Plan(self._worth(views, unit, own), own, own & (p >= here), taken, goes, rivals)

    def _worth(self, views: np.ndarray, unit: Int64s, own: Bools) -> Float64s:
        """float64 [n, 2, L]: what locations are worth to an army and to a fleet."""
        n, powers = len(views), len(self.map.powers)
        owner = views["position"]["owner"][:, : self.map.centres].astype(int)
        held = np.stack([(owner == 1 + power).sum(1) for power in range(powers)], axis=1)
        strength = np.pad(held**2 + 4.0 * held + NEUTRAL, ((0, 0), (1, 0)))
        strength[:, 0] = NEUTRAL
        threat = np.zeros((n, self.map.provinces))
        for power in range(powers):
            beside = ((unit > 0) & (unit & POWER == power) & ~own).astype(float) @ self.near > 0
            np.maximum(threat, np.where(beside, strength[:, power + 1 : power + 2], 0), out=threat)
        phase = views["position"]["phase"]
        fall = ((phase == FALL_MOVES) | (phase == FALL_RETREATS)).astype(int)[:, None]
        mine = owner == 1 + views["power"][:, None].astype(int)
        attack = ATTACK[fall] * np.take_along_axis(strength, owner, 1)
        province = np.empty(self.map.centres, int)
        province[self.map.centre[self.centres]] = self.centres
        centre = np.where(mine, DEFENCE[fall] * threat[:, province], attack)
        each = centre[:, self.of_location]
        worth = np.empty((n, 2, len(self.map.locations)))
        for season in (0, 1):
            (rows,) = np.nonzero(fall[:, 0] == season)
            worth[rows] = (each[rows] @ self.spread[season]).swapaxes(0, 1)
        return worth

    def _scores(self, views: np.ndarray, plan: _Plan, rows: Int64s, orders: Int64s) -> Float64s:
        """float64 [m]: the value of the place that each order is for; 0: it is never given."""
        verbs, whoms, whithers = orders.T
        kind, stands = self._standing(views)
        fleet = np.where(verbs == BUILD_FLEET, 1, np.where(verbs == BUILD_ARMY, 0, kind[rows]))
        helps = (verbs == SUPPORT_HOLD) | (verbs == SUPPORT_MOVE)
        place = np.where(np.isin(verbs, (*_GOES, SUPPORT_MOVE)), whithers, stands[rows])
        place = np.where(verbs == SUPPORT_HOLD, whoms, place)
        province = self.parent[place]
        worth = plan.worth[rows, fleet, place]
        worth = np.maximum(worth, helps * plan.worth[rows, 1 - fleet, place])
        moves = verbs == MOVE
        worth = np.where(moves & plan.later[rows, province], FOLLOWS * worth, worth)
        never = moves & plan.taken[rows, province]
        never |= helps & ~self._helpful(views, plan, rows, orders, province)
        worth = np.where(verbs == DISBAND, LAST_RESORT, worth)
        return np.where(never | ~np.isin(verbs, _KNOWN), 0, worth)

    def _helpful(
        self, views: np.ndarray, plan: _Plan, rows: Int64s, orders: Int64s, province: Int64s
    ) -> Bools:
        """bool [m]: whether an order, if it is a support, is one of an own unit that has its order,
        where a rival may be that is as strong."""
        verbs, whoms, whithers = orders.T
        whoms = np.minimum(whoms, self.map.provinces - 1)
        verb, _, whither = views["own"][rows, whoms].T
        ordered = plan.own[rows, whoms] & ~plan.later[rows, whoms]
        moves = ordered & (verb == MOVE)
        follows = np.where(verbs == SUPPORT_MOVE, moves & (whither == whithers), ordered & ~moves)
        return np.asarray(follows & (plan.rivals[rows, province] > (verbs == SUPPORT_HOLD)))

    def _standing(self, views: np.ndarray) -> tuple[Int64s, Int64s]:
        """Of the province that each view is asked for: whether its unit is a fleet, int64 [n], and
        the location where it stands, int64 [n]. Without a unit an army on the province."""
        position, at, each = views["position"], views["at"], np.arange(len(views))
        retreats = (position["phase"] == SPRING_RETREATS) | (position["phase"] == FALL_RETREATS)
        unit = np.where(retreats, position["dislodged"][each, at], position["unit"][each, at])
        coast = np.where(unit > 0, (unit & COAST) >> COAST_SHIFT, 0)
        return (unit & FLEET).astype(int) // FLEET, self.coasts[at, coast]

    def _due(self, views: np.ndarray, plan: _Plan) -> Bools:
        """bool [n]: in adjustments, whether the province that is asked for is to change: it is
        among the best to build in, or among the worst to keep."""
        provinces, each = np.arange(self.map.provinces), np.arange(len(views))
        power, at = views["power"][:, None].astype(int), views["at"].astype(int)
        owner = views["position"]["owner"][:, : self.map.centres]
        held = (owner == 1 + power).sum(1)
        passed = provinces < at[:, None]
        verb = views["own"][:, : len(provinces), 0]
        changed = passed & np.isin(verb, [BUILD_ARMY, BUILD_FLEET, DISBAND])
        surplus = plan.own.sum(1) - held
        left = np.abs(surplus) - changed.sum(1)
        empty = views["position"]["unit"][:, : len(provinces)] == 0
        homes = np.zeros(empty.shape, bool)
        homes[:, self.centres] = owner[:, self.map.centre[self.centres]] == 1 + power
        homes &= (self.map.home == power) & empty & ~passed
        worth = plan.worth.max(1)[:, : len(provinces)] * np.where(surplus > 0, -1, 1)[:, None]
        rivals = np.where(np.where(surplus > 0, plan.later.T, homes.T).T, worth, -np.inf)
        return np.asarray((rivals > rivals[each, at][:, None]).sum(1) < left)
