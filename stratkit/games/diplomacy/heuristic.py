"""Diplomacy by rules of thumb: each power takes the centres that are nearest.

Orders are scored one after the other, in the light of the own orders before. A unit goes where the
nearest centre is that its power does not own, nor another own unit goes for. It stays where it
takes one, supports an own attack, and guards a centre that an enemy is next to.
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
    FALL_RETREATS,
    FLEET,
    HOLD,
    MOVE,
    NONE,
    POWER,
    RETREAT,
    SPRING_MOVES,
    SPRING_RETREATS,
    SUPPORT_HOLD,
    SUPPORT_MOVE,
    VERBS,
    VIA,
)
from stratkit.games.diplomacy.scored_orders import FAR, ScoredOrders

TEMPERATURE = 0.05  # of the softmax of scores
GUARD = 0.5  # what a centre of one's own is worth that an enemy is next to

# What a centre is worth that is so many moves away when the orders are carried out. Centres change
# hands in the fall: in spring another move comes before.
_FALL = 0.5 ** np.arange(FAR + 1)
_SPRING = np.append([1.0, 0.9], 0.9 * 0.5 ** np.arange(1, FAR))

# Of each verb: what its orders score beside what their places are worth, and whether that counts.
_BASE = np.zeros(len(VERBS))
_BASE[[VIA, RETREAT, BUILD_ARMY, BUILD_FLEET]] = -1, 0.1, 0.2, 0.2
_GOES = np.isin(np.arange(len(VERBS)), [MOVE, RETREAT, BUILD_ARMY, BUILD_FLEET])


class _Sight(NamedTuple):
    """What n views show, of P provinces and their centres.

    own      bool [n, P]           where units of the acting power stand
    enemies  bool [n, P]           where others stand
    near     bool [n, P]           where those may go
    worth    float64 [n, centres]  what each centre is worth to the unit that is asked for
    chance   float64 [n, P]        how likely a move there succeeds
    """

    own: Bools
    enemies: Bools
    near: Bools
    worth: Float64s
    chance: Float64s


class GreedyBlueprint(ScoredOrders):
    """The policy of `game`, Diplomacy on any map: a softmax of the scores of orders."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        map_, n = self.map, len(self.map.locations)
        over_sea = (map_.army | map_.fleet)[: map_.provinces, : map_.provinces]
        land = _distances(np.where(map_.army, 1, np.where(_padded(over_sea, n), 3, FAR)))
        sea = _distances(np.where(map_.fleet, 1, FAR))
        # [type, location, centre]: moves from there to any location of the centre's province
        moves = np.stack([self._to_centres(land), self._to_centres(sea)])
        self.reached = np.stack([_FALL[moves], _SPRING[moves]])  # [spring, type, location, centre]
        self.near = map_.near.astype(np.float32)  # products of floats are the fast ones

    def _to_centres(self, distances: Int64s) -> Int64s:
        found = np.stack([distances[:, self.map.coasts[c]].min(1) for c in self.centres], axis=1)
        return np.asarray(np.minimum(found, FAR))

    def log_weights(self, views: np.ndarray, rows: Int64s, orders: Int64s) -> Float64s:
        return self._scores(views, rows, orders) / TEMPERATURE  # a score is small

    def _scores(self, views: np.ndarray, rows: Int64s, orders: Int64s) -> Float64s:
        """float64 [m]: what each order of the province that its row is asked for is worth."""
        verbs, _, whithers = orders.T
        sight = self._look(views)
        phase, here, each = views["position"]["phase"], views["at"], np.arange(len(views))
        adjusting = phase == ADJUSTMENTS
        retreating = (phase == SPRING_RETREATS) | (phase == FALL_RETREATS)
        unit = np.where(
            retreating,
            views["position"]["dislodged"][each, here],
            views["position"]["unit"][each, here],
        )
        fleet = (unit & FLEET) // FLEET
        coast = np.where(adjusting, 0, (unit & COAST) >> COAST_SHIFT)
        spring = (phase == SPRING_MOVES).astype(int)
        stays = self._value(sight.worth, spring, fleet, self.coasts[here, coast])
        out: Float64s = _BASE[verbs]
        holds, disbands = verbs == HOLD, verbs == DISBAND
        out[holds] = np.where(adjusting, 0.5 * (unit > 0), 1.1 * stays)[rows[holds]]
        out[disbands] = np.where(adjusting, 1 - stays, 0)[rows[disbands]]
        (going,) = np.nonzero(_GOES[verbs])
        row, verb, to = rows[going], verbs[going], whithers[going]
        kind = np.where(verb == BUILD_ARMY, 0, np.where(verb == BUILD_FLEET, 1, fleet[row]))
        value = self._value(sight.worth[row], spring[row], kind, to)
        chance = np.where(verb == MOVE, sight.chance[row, self.parent[to]], 1)
        out[going] += chance * value + (1 - chance) * 0.9 * stays[row]
        (supports,) = np.nonzero((verbs == SUPPORT_HOLD) | (verbs == SUPPORT_MOVE))
        out[supports] = self._supports(views, sight, rows[supports], orders[supports])
        return out

    def _value(self, worth: Float64s, spring: Int64s, kind: Int64s, place: Int64s) -> Float64s:
        """float64 [n]: what it is worth to a unit of this kind to be at a location."""
        reached = self.reached[spring, kind, place] * worth
        return np.asarray(reached.max(1, initial=0) + 0.1 * reached.mean(1))

    def _look(self, views: np.ndarray) -> _Sight:
        provinces = np.arange(self.map.provinces)
        power, here = views["power"][:, None], views["at"][:, None]
        unit = views["position"]["unit"][:, : len(provinces)]
        own = (unit > 0) & (unit & POWER == power)
        enemies = (unit > 0) & ~own
        near = self._beside(enemies)
        later = own & (provinces > here)
        row, before = np.nonzero(own & (provinces < here))  # units that were ordered
        orders = views["own"][row, before]
        goes = (orders[:, 0] == MOVE) | (orders[:, 0] == VIA)
        taken = np.zeros(own.shape, bool)
        taken[row, np.where(goes, self.parent[np.where(goes, orders[:, 2], 0)], before)] = True
        mine = views["position"]["owner"][:, self.map.centre[self.centres]] == 1 + power
        worth = np.where(mine, GUARD * near[:, self.centres], 1.0)
        worth[taken[:, self.centres] | (later[:, self.centres] & ~mine)] = 0  # gone for
        chance = np.where(near, 0.8, 1.0)
        chance = np.where(enemies, np.where(self._beside(later), 0.5, 0.2), chance)
        chance = np.where(taken, 0.02, np.where(later, 0.5, chance))
        return _Sight(own, enemies, near, worth, chance)

    def _beside(self, units: Bools) -> Bools:
        """bool [n, P]: where some of the units in provinces, bool [n, P], may go."""
        return np.asarray(units.astype(np.float32) @ self.near > 0)

    def _supports(self, views: np.ndarray, sight: _Sight, rows: Int64s, orders: Int64s) -> Float64s:
        """What supports are worth: of own attacks, and of own units that guard a centre."""
        verbs, whoms, whithers = orders.T
        holds = verbs == SUPPORT_HOLD
        place = np.where(holds, whoms, self.parent[np.where(holds, 0, whithers)])
        verb, _, whither = views["own"][rows, whoms].T
        goes = verb == MOVE
        goes &= self.parent[np.where(goes, whither, 0)] == place
        centre, attacks = self.map.centre[place] != NONE, sight.enemies[rows, place]
        guards = sight.near[rows, place] & centre
        held = 0.3 * (guards & (verb == HOLD))
        moved = np.where(attacks, np.where(centre, 0.95, 0.4), 0.35 * guards)
        worth = np.where(holds, held, np.where(goes, moved, -0.5))
        return np.where(sight.own[rows, whoms], worth, -0.5)


def _padded(near: np.ndarray, n: int) -> np.ndarray:
    out = np.zeros((n, n), bool)
    out[: len(near), : len(near)] = near
    return out


def _distances(steps: np.ndarray) -> Int64s:
    """int64 [n, n]: the shortest ways (Floyd and Warshall)."""
    out = np.minimum(steps, FAR).astype(np.int64)
    np.fill_diagonal(out, 0)
    for k in range(len(out)):
        out = np.minimum(out, out[:, k : k + 1] + out[k])
    return np.asarray(out)
