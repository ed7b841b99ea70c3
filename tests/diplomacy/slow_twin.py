"""Adjudication by trying everything: all vectors of results that agree with the rules.

A result is whether a move succeeds, a support is given, a convoying fleet stays. Nothing is shared
with the engine but the map.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from stratkit.engine.diplomacy import (
    BOUNCE,
    CARRIED_OUT,
    CONVOY,
    CUT,
    DISRUPTED,
    FLEET,
    HOLD,
    MOVE,
    NO_CONVOY,
    NONE,
    POWER,
    SEA,
    SUPPORT_HOLD,
    SUPPORT_MOVE,
    UNIT,
    VIA,
    VOID,
    DiplomacyMap,
)

Results = dict[int, bool]


@dataclass
class Board:
    """Units by province: power and order (verb, whom, whither)."""

    map: DiplomacyMap
    powers: dict[int, int]
    orders: dict[int, tuple[int, int, int]]

    def __post_init__(self) -> None:
        parent = self.map.parent
        self.to = {p: int(parent[o[2]]) for p, o in self.orders.items() if o[0] in (MOVE, VIA)}
        helping = {p: o for p, o in self.orders.items() if o[0] in (SUPPORT_HOLD, SUPPORT_MOVE)}
        self.supports = {p: o[1] for p, o in helping.items() if self._helps(o)}
        self.convoys = {
            p: o[1]
            for p, o in self.orders.items()
            if o[0] == CONVOY and self.orders.get(o[1], (HOLD,))[0] == VIA
            and self.to[o[1]] == o[2]
        }  # fmt: skip
        self.via = {p for p, o in self.orders.items() if o[0] == VIA}
        self.via -= {p for p in self.via if self.map.army[p, self.to[p]] and not self._way(p, {})}

    def _helps(self, order: tuple[int, int, int]) -> bool:
        verb, whom, whither = order
        if verb == SUPPORT_HOLD:
            return whom in self.orders and whom not in self.to
        return self.to.get(whom) == int(self.map.parent[whither])

    def _beside(self, a: int, b: int) -> bool:
        """Whether a fleet goes from one province to the other, by whatever coast."""
        coasts = self.map.coasts
        return any(self.map.fleet[x, y] for x in coasts[a] for y in coasts[b])

    def _way(self, p: int, stays: Results) -> bool:
        """Whether some sequence of convoying fleets leads from p to its destination."""
        fleets = [f for f, army in self.convoys.items() if army == p and stays.get(f, True)]
        reached = [f for f in fleets if self._beside(p, f)]
        for f in reached:
            reached += [g for g in fleets if g not in reached and self._beside(f, g)]
        return any(self._beside(f, self.to[p]) for f in reached)

    def variables(self) -> list[int]:
        return sorted({*self.to, *self.supports, *self.convoys})

    def path(self, p: int, r: Results) -> bool:
        return p not in self.via or self._way(p, r)

    def duel(self, p: int, q: int) -> bool:
        """A head-to-head battle."""
        return self.to.get(p) == q and self.to.get(q) == p and not {p, q} & self.via

    def helpers(self, p: int, r: Results) -> list[int]:
        return [s for s, whom in self.supports.items() if whom == p and r[s]]

    def attack(self, p: int, r: Results) -> int:
        at = self.to[p]
        if not self.path(p, r):
            return 0
        leaves = at not in self.orders or (r.get(at, False) if at in self.to else False)
        if leaves and not self.duel(p, at):
            return 1 + len(self.helpers(p, r))
        if self.powers[at] == self.powers[p]:
            return 0
        return 1 + sum(self.powers[s] != self.powers[at] for s in self.helpers(p, r))

    def hold(self, at: int, r: Results) -> int:
        if at not in self.orders:
            return 0
        if at in self.to:
            return 0 if r[at] else 1
        return 1 + len(self.helpers(at, r))

    def prevent(self, p: int, r: Results) -> int:
        at = self.to[p]
        if not self.path(p, r) or (self.duel(p, at) and r[at]):
            return 0
        return 1 + len(self.helpers(p, r))

    def succeeds(self, p: int, r: Results) -> bool:
        at, attack = self.to[p], self.attack(p, r)
        against = 1 + len(self.helpers(at, r)) if self.duel(p, at) else self.hold(at, r)
        rivals = [q for q, to in self.to.items() if to == at and q != p]
        return attack > against and all(attack > self.prevent(q, r) for q in rivals)

    def given(self, s: int, r: Results) -> bool:
        verb, _, whither = self.orders[s]
        target = int(self.map.parent[whither]) if verb == SUPPORT_MOVE else NONE
        for q, to in self.to.items():
            if to != s:
                continue
            if r[q]:
                return False  # dislodged
            foreign = self.powers[q] != self.powers[s]
            if q != target and foreign and self.path(q, r):
                return False
        return True

    def agrees(self, r: Results) -> bool:
        for p, result in r.items():
            if p in self.to:
                follows = self.succeeds(p, r)
            elif p in self.supports:
                follows = self.given(p, r)
            else:
                follows = not any(to == p and r[q] for q, to in self.to.items())
            if follows != result:
                return False
        return True

    def solutions(self) -> list[Results]:
        names = self.variables()
        vectors = itertools.product((False, True), repeat=len(names))
        each = (dict(zip(names, vector, strict=True)) for vector in vectors)
        return [r for r in each if self.agrees(r)]

    def outcomes(self, r: Results) -> dict[int, int]:
        """What each order comes to in a solution."""
        out = {}
        for p, (verb, *_) in self.orders.items():
            if verb in (MOVE, VIA):
                out[p] = CARRIED_OUT if r[p] else BOUNCE if self.path(p, r) else NO_CONVOY
            elif verb in (SUPPORT_HOLD, SUPPORT_MOVE):
                out[p] = VOID if p not in self.supports else CARRIED_OUT if r[p] else CUT
            elif verb == CONVOY:
                void = p not in self.convoys or not self._way(self.convoys[p], {})
                out[p] = VOID if void else CARRIED_OUT if r[p] else DISRUPTED
            else:
                out[p] = CARRIED_OUT
        return out


def random_board(
    board: DiplomacyMap, rng: np.random.Generator, units: int, powers: int = 3
) -> tuple[np.ndarray, dict[int, tuple[int, int, int]]]:
    """A position with few units near each other, and legal orders that often have to do with each
    other."""
    near = (board.army | board.fleet)[: board.provinces]
    some = [int(rng.integers(board.provinces))]
    while len(some) < min(board.provinces, units + 3):
        rows = near[:, near[some].any(0)].any(1) | near[:, some].any(1)
        rows[some] = False
        if not rows.any():
            break
        some.append(int(rng.choice(np.flatnonzero(rows))))
    position = board.start()
    position["unit"] = 0
    for p in rng.permutation(some)[:units].tolist():
        fleet = board.kind[p] == SEA or (board.kind[p] == 1 and rng.random() < 0.4)
        coast = (
            int(rng.integers(1, len(board.coasts[p]))) if fleet and len(board.coasts[p]) > 1 else 0
        )
        unit = UNIT | FLEET * bool(fleet) | coast << 4 | int(rng.integers(powers))
        position["unit"][0, p] = unit
    orders = {}
    hot = [*np.flatnonzero(position["unit"][0]).tolist(), some[-1]]
    legal = {p: board.legal(position, p) for p in np.flatnonzero(position["unit"][0]).tolist()}
    for p, some_orders in legal.items():
        moves = some_orders[np.isin(some_orders[:, 0], (HOLD, MOVE, VIA))]
        via = moves[moves[:, 0] == VIA]
        pick = via if len(via) and rng.random() < 0.5 else moves
        pick = pick[
            np.isin(board.parent[pick[:, 2] % len(board.parent)], hot) & (pick[:, 2] != NONE)
        ]
        pick = pick if len(pick) and rng.random() < 0.9 else moves
        orders[p] = tuple(int(x) for x in pick[rng.integers(len(pick))])
    for p, some_orders in legal.items():
        helping = [
            tuple(int(x) for x in o)
            for o in some_orders
            if (o[0] == SUPPORT_HOLD and orders[int(o[1])][0] not in (MOVE, VIA))
            or (
                o[0] in (SUPPORT_MOVE, CONVOY)
                and orders[int(o[1])][0] in (MOVE, VIA)
                and board.parent[orders[int(o[1])][2]] == o[2]
            )
        ]
        convoys = [o for o in helping if o[0] == CONVOY]
        if helping and rng.random() < 0.7:
            pick = convoys if convoys and rng.random() < 0.7 else helping
            orders[p] = pick[int(rng.integers(len(pick)))]
    return position, orders


def twin(
    board: DiplomacyMap, position: np.ndarray, orders: dict[int, tuple[int, int, int]]
) -> Board:
    return Board(board, {p: int(position["unit"][0, p]) & POWER for p in orders}, orders)
