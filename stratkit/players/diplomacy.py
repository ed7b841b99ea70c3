"""Diplomacy by rules of thumb: each power takes the centres that are nearest.

Orders are scored one after the other, in the light of the own orders before. A unit goes where the
nearest centre is that its power does not own, nor another own unit goes for. It stays where it
takes one, supports an own attack, and guards a centre that an enemy is next to.
"""

from __future__ import annotations

import numpy as np

from stratkit.arrays import Bytes, Float32s, Float64s, Int64s
from stratkit.engine import Game
from stratkit.engine.diplomacy import (
    ADJUSTMENTS,
    ASK_VERB,
    ASK_WHOM,
    BUILD_ARMY,
    BUILD_FLEET,
    DISBAND,
    FALL_MOVES,
    FLEET,
    HOLD,
    MOVE,
    NONE,
    POWER,
    RETREAT,
    SPRING_MOVES,
    SUPPORT_HOLD,
    SUPPORT_MOVE,
    VERBS,
    VIA,
    VIEW,
    map_of,
)
from stratkit.players.searching.blueprints import FunctionBlueprint

FAR = 20  # more moves than any way has
TEMPERATURE = 0.05  # of the softmax of scores
GUARD = 0.5  # what a centre of one's own is worth that an enemy is next to

# What a centre is worth that is so many moves away when the orders are carried out. Centres change
# hands in the fall: in spring another move comes before.
_FALL = 0.5 ** np.arange(FAR + 1)
_SPRING = np.append([1.0, 0.9], 0.9 * 0.5 ** np.arange(1, FAR))


class GreedyBlueprint(FunctionBlueprint):
    """The policy of `game`, Diplomacy on any map: a softmax of the scores of orders. A position is
    worth the squares of centres, those counted that a unit stands on."""

    def __init__(self, game: Game) -> None:
        self.game, self.map = game, map_of(game)
        map_, n = self.map, len(self.map.locations)
        self.parent = map_.parent.astype(int)
        self.centres = np.flatnonzero(map_.centre != NONE)
        over_sea = (map_.army | map_.fleet)[: map_.provinces, : map_.provinces]
        land = _distances(np.where(map_.army, 1, np.where(_padded(over_sea, n), 3, FAR)))
        sea = _distances(np.where(map_.fleet, 1, FAR))
        # [type, location, centre]: moves from there to any location of the centre's province
        self.moves = np.stack([self._to_centres(land), self._to_centres(sea)])
        near = np.zeros((map_.provinces, map_.provinces), bool)
        rows, columns = np.nonzero(map_.army | map_.fleet)
        near[self.parent[rows], self.parent[columns]] = True
        self.near = near  # whether some unit goes from one province to the other

    def _to_centres(self, distances: Int64s) -> Int64s:
        found = np.stack([distances[:, self.map.coasts[c]].min(1) for c in self.centres], axis=1)
        return np.asarray(np.minimum(found, FAR))

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
        rest = np.ascontiguousarray(observations[:, self.game.shape[0] :])
        return rest.view(VIEW)[:, 0]

    def _policy(self, observations: Bytes, legal: Bytes) -> Float32s:
        policy, known = np.zeros(legal.shape, np.float32), dict[bytes, int]()
        views = self._views(observations)
        for row in range(len(views)):
            first = known.setdefault(views[row].tobytes(), row)
            if first == row:
                policy[row] = self._of_one(views[row : row + 1], legal[row])
            else:
                policy[row] = policy[first]
        return policy

    def _of_one(self, view: np.ndarray, legal: Bytes) -> Float64s:
        """The policy of the next action, float64 [actions]."""
        asked = view[0]
        orders = self.map.legal(np.ascontiguousarray(view["position"]), int(asked["at"]))
        if asked["position"]["phase"] == ADJUSTMENTS and legal[HOLD] and asked["stage"] == ASK_VERB:
            orders = np.append([[HOLD, NONE, NONE]], orders[orders[:, 0] != HOLD], axis=0)
        scores = self._scores(asked, orders.astype(int))
        weights = np.exp((scores - scores.max()) / TEMPERATURE)
        column, fits = 0, np.ones(len(orders), bool)
        if asked["stage"] != ASK_VERB:
            column = 1 if asked["stage"] == ASK_WHOM else 2
            fits = orders[:, 0] == asked["verb"]
            if column == 2:
                fits &= orders[:, 1] == asked["whom"]
        actions = orders[:, column].astype(int) + (len(VERBS) if column else 0)
        out = np.bincount(actions[fits], weights[fits], minlength=len(legal)) * legal
        chosen = out if out.sum() > 0 else legal
        return np.asarray(chosen / chosen.sum(), np.float64)

    def _scores(self, view: np.void, orders: Int64s) -> Float64s:
        """float64 [n]: what each order of the province that is asked for is worth."""
        position, here = view["position"], int(view["at"])
        phase = int(position["phase"])
        verbs, whithers = orders[:, 0], orders[:, 2]
        retreating = phase not in (SPRING_MOVES, FALL_MOVES, ADJUSTMENTS)
        unit = int(position["dislodged" if retreating else "unit"][here])
        worth = self._worth(view, here)
        steps = _SPRING if phase == SPRING_MOVES else _FALL
        reached = steps[self.moves] * worth
        value = reached.max(2, initial=0) + 0.1 * reached.mean(2)  # [type, location]
        fleet = int(bool(unit & FLEET))
        out = np.zeros(len(orders))
        going = np.where(whithers == NONE, 0, whithers)
        out[verbs == RETREAT] = 0.1 + value[fleet, going[verbs == RETREAT]]
        for verb, kind in ((BUILD_ARMY, 0), (BUILD_FLEET, 1)):
            out[verbs == verb] = 0.2 + value[kind, going[verbs == verb]]
        if phase == ADJUSTMENTS or retreating:
            out[(verbs == DISBAND) & (phase == ADJUSTMENTS)] = 1 - value[fleet, here]
            out[(verbs == HOLD) & (unit > 0)] = 0.5
            return out
        stays = value[fleet, self.map.location(here, unit)]
        out[verbs == HOLD] = 1.1 * stays  # a move may fail
        moves = verbs == MOVE
        chance = self._chances(view, here)[self.parent[going[moves]]]
        out[moves] = chance * value[fleet, going[moves]] + (1 - chance) * 0.9 * stays
        out[verbs == VIA] = -1
        for row in np.flatnonzero((verbs == SUPPORT_HOLD) | (verbs == SUPPORT_MOVE)).tolist():
            out[row] = self._support(view, *orders[row].tolist())
        return out

    def _enemies(self, view: np.void) -> tuple[np.ndarray, np.ndarray]:
        """bool [P] each: where enemies stand, and where they may go."""
        unit = view["position"]["unit"][: self.map.provinces].astype(int)
        there = (unit > 0) & (unit & POWER != view["power"])
        return there, self.near[there].any(0)

    def _own(self, view: np.void, here: int) -> tuple[np.ndarray, np.ndarray]:
        """bool [P] each: where own units stand that are ordered later, and where those that were
        ordered will be."""
        unit = view["position"]["unit"][: self.map.provinces].astype(int)
        own = (unit > 0) & (unit & POWER == view["power"])
        later, orders = own.copy(), view["own"][: self.map.provinces].astype(int)
        later[: here + 1] = False
        goes = (orders[:, 0] == MOVE) | (orders[:, 0] == VIA)
        there = np.where(goes, self.parent[np.where(goes, orders[:, 2], 0)], np.arange(len(own)))
        taken = np.zeros(len(own), bool)
        taken[there[own & (np.arange(len(own)) < here)]] = True
        return later, taken

    def _worth(self, view: np.void, here: int) -> Float64s:
        """What each centre is worth to the unit here, float64 [centres]."""
        later, taken = self._own(view, here)
        owner = view["position"]["owner"][self.map.centre[self.centres]]
        mine = owner == 1 + view["power"]
        _, near = self._enemies(view)
        worth = np.where(mine, GUARD * near[self.centres], 1.0)
        gone_for = taken[self.centres] | (later[self.centres] & ~mine)
        return np.where(gone_for, 0.0, worth)

    def _chances(self, view: np.void, here: int) -> Float64s:
        """How likely a move into each province succeeds, float64 [P]."""
        there, near = self._enemies(view)
        later, taken = self._own(view, here)
        chance = np.where(near, 0.8, 1.0)
        helped = self.near[later].any(0)
        chance = np.where(there, np.where(helped, 0.5, 0.2), chance)
        chance = np.where(later, 0.5, chance)
        return np.where(taken, 0.02, chance)

    def _support(self, view: np.void, verb: int, whom: int, whither: int) -> float:
        """What a support is worth: of an own attack, or of an own unit that guards a centre."""
        unit = int(view["position"]["unit"][whom])
        if unit & POWER != view["power"]:
            return -0.5
        place = whom if verb == SUPPORT_HOLD else int(self.parent[whither])
        there, near = self._enemies(view)
        centre = bool((self.centres == place).any())
        order = view["own"][whom]
        if verb == SUPPORT_HOLD:
            return 0.3 if near[place] and centre and order[0] == HOLD else 0.0
        if order[0] != MOVE or self.parent[order[2]] != place:
            return -0.5
        if there[place]:
            return 0.95 if centre else 0.4
        return 0.35 if near[place] and centre else 0.0


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
