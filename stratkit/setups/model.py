"""A log-linear model of the setups of a file, to draw new setups like them.

It places the pieces one by one, type by type. The probability that the next piece of type t goes to
square a is proportional to exp of

    own[t, j, a] + guard[t, j, m, k] if a is beside the flag
        + the sum over all pieces that stand already, of type u on square b, of
          near[u, t, a - b] + pair[u, b, t, a]

where j pieces of type t stand already, and m squares beside the flag have a bomb and k have not.
`own` models the heat maps, `guard` the flag's neighbourhood, `near` relative positions of two
pieces and `pair` their absolute ones. The weights are fitted by maximum likelihood over all orders
of equal pieces, with a Gaussian prior. The problem is convex; Adam solves it on batches of the
file.

Limits: patterns of three pieces are modelled for the flag and its bombs only. A piece depends on
those that stand already, not on a plan.
"""

from __future__ import annotations

import numpy as np

from stratkit.arrays import Float32s, Int64s
from stratkit.engine import sample
from stratkit.engine.stratego import BOMB, FLAG, MARSHAL, MINER, SCOUT, SPY, Variant
from stratkit.setups.placing import Legal, Squares
from stratkit.setups.source import Setups

# Whatever stands close to others comes early; the last are put where there is room.
ORDER = (FLAG, BOMB, MARSHAL, 9, SPY, 8, MINER, 7, 6, 5, 4, SCOUT)

STEPS, BATCH, RATE = 600, 128, 0.04
OWN_COST, GUARD_COST, NEAR_COST, PAIR_COST = 0.5, 0.5, 1.0, 10.0  # of w^2 / 2, in setups
NOWHERE = -1e9  # the logit of a square that is taken, or a lake


class SetupModel:
    """The weights of the model, for T types and Z squares.

    own    float32 [T, most, Z]
    guard  float32 [T, most, 5, 5]
    near   float32 [steps, T * T]
    pair   float32 [T, T, Z, Z], of type u for type t, from square b to a
    """

    def __init__(self, variant: Variant) -> None:
        self.types = [type_ for type_ in ORDER if variant.counts[type_]]
        self.counts = [variant.counts[type_] for type_ in self.types]
        self.bomb = self.types.index(BOMB) if BOMB in self.types else None
        kinds, most, z = len(self.types), max(self.counts), variant.zone
        rank, file = np.divmod(np.arange(z), variant.width)
        up, right = rank[None] - rank[:, None], file[None] - file[:, None]
        self.lakes = ~variant.places
        self.beside = (abs(up) + abs(right) == 1).astype(np.float32)
        across = 2 * variant.width - 1
        steps = (up + variant.ranks - 1) * across + right + variant.width - 1
        self.steps = np.zeros(((2 * variant.ranks - 1) * across, z * z), np.float32)
        self.steps[steps.reshape(-1), np.arange(z * z)] = 1  # by which step b leads to a
        self.own = np.zeros((kinds, most, z), np.float32)
        self.guard = np.zeros((kinds, most, 5, 5), np.float32)
        self.near = np.zeros((len(self.steps), kinds * kinds), np.float32)
        self.pair = np.zeros((kinds, kinds, z, z), np.float32)

    def weights(self) -> list[Float32s]:
        """All of them: `own`, `guard`, `near`, `pair`."""
        return [self.own, self.guard, self.near, self.pair]

    def both(self) -> Float32s:
        """near + pair, as `pair`."""
        return np.asarray((self.near.T @ self.steps).reshape(self.pair.shape) + self.pair)

    def bombs(self, stand: Float32s) -> Float32s:
        """float32 [n, Z]: 1 where a bomb stands, of the pieces `stand` [n, T, Z]."""
        return stand[:, 0] * 0 if self.bomb is None else stand[:, self.bomb]

    def flag(self, stand: Float32s, bombs: Float32s) -> tuple[Float32s, Int64s]:
        """The squares beside the flag, float32 [n, Z], and m and k, int64 [2, n, ...], of the
        pieces `stand` [n, T, Z] and the `bombs` [n, ..., Z]."""
        around = stand[:, 0] @ self.beside
        m = np.einsum("nz,n...z->n...", around, bombs)
        k = around.sum(1).reshape(-1, *[1] * (m.ndim - 1)) - m
        return around, np.stack([m, k]).astype(int)


def fit(variant: Variant, setups: Setups) -> SetupModel:
    """The model of `setups` uint8 [m, zone]. Equal setups give equal weights."""
    random = np.random.default_rng(0)
    model = SetupModel(variant)
    weights = model.weights()
    costs = [cost / len(setups) for cost in (OWN_COST, GUARD_COST, NEAR_COST, PAIR_COST)]
    means, squares = ([np.zeros_like(part) for part in weights] for _ in range(2))
    order = random.permutation(len(setups))
    for step in range(STEPS):
        at = np.arange(step * BATCH, (step + 1) * BATCH) % len(setups)
        slopes = _slopes(model, setups[order[at]], random)
        rate = RATE * (1 - step / STEPS) / (1 - 0.9 ** (step + 1))
        spread = 1 - 0.99 ** (step + 1)
        for part, slope, cost, mean, square in zip(
            weights, slopes, costs, means, squares, strict=True
        ):
            slope += cost * part
            mean += 0.1 * (slope - mean)
            square += 0.01 * (slope * slope - square)
            part -= rate * mean / (np.sqrt(square / spread) + 1e-8)
    return model


def _slopes(model: SetupModel, setups: Setups, random: np.random.Generator) -> list[Float32s]:
    """The gradient of the mean of -log p in the order of `SetupModel.weights`, for one random order
    of equal pieces."""
    n, z = setups.shape
    both = model.both()
    own, guard, _, pair = (np.zeros_like(part) for part in model.weights())
    stand = np.zeros((n, len(model.types), z), np.float32)
    for t, (type_, count) in enumerate(zip(model.types, model.counts, strict=True)):
        where = setups == type_
        order = np.argsort(np.where(where, random.random((n, z)), 2.0), axis=1)[:, :count]
        before = np.zeros((n, count, z), np.float32)  # equal pieces that stand before the j-th
        for j in range(1, count):
            before[:, j] = before[:, j - 1]
            before[np.arange(n), j, order[:, j - 1]] = 1
        earlier = stand[:, :t].reshape(n, t * z)
        logits = (earlier @ both[:t, t].reshape(t * z, z))[:, None] + model.own[t, :count]
        logits += (before.reshape(-1, z) @ both[t, t]).reshape(n, count, z)
        bombs = before if t == model.bomb else np.repeat(model.bombs(stand)[:, None], count, axis=1)
        around, (m, k) = model.flag(stand, bombs)
        js = np.arange(count)
        logits += model.guard[t, js, m, k][:, :, None] * around[:, None]
        taken = stand[:, :t].sum(1)[:, None] + before
        slope = _softmax(np.where((taken > 0) | model.lakes, NOWHERE, logits))
        # Any of the equal pieces that are still to come could be the next.
        slope -= (where[:, None] - before) / (count - js).astype(np.float32)[:, None]
        slope /= n
        own[t, :count] = slope.sum(0)
        np.add.at(guard[t], (js, m, k), np.einsum("njz,nz->nj", slope, around))
        pair[:t, t] = (earlier.T @ slope.sum(1)).reshape(t, z, z)
        pair[t, t] = before.reshape(-1, z).T @ slope.reshape(-1, z)
        stand[:, t] = where
    near = model.steps @ pair.reshape(len(model.types) ** 2, z * z).T
    return [own, guard, near, pair]


def _softmax(logits: Float32s) -> Float32s:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True), np.float32)


class ModelPlacer:
    """Places pieces by the model's probabilities."""

    def __init__(self, model: SetupModel, seed: int) -> None:
        self.model, self.seed, self.types = model, seed, model.types
        self.both = model.both()
        self.order = np.repeat(np.arange(len(model.types)), model.counts)

    def choose(self, games: Int64s, placed: Squares, legal: Legal) -> Squares:
        """Squares drawn from the model's policy."""
        numbers = np.full(len(games), placed.shape[1], np.int32)
        return sample(self.policy(placed, legal), legal, self.seed, games, numbers)[0]

    def policy(self, placed: Squares, legal: Legal) -> Float32s:
        """The model's policy over the legal squares."""
        n, k = placed.shape
        t, z = int(self.order[k]), legal.shape[1]
        stand = np.zeros((n, len(self.types), z), np.float32)
        stand[np.arange(n)[:, None], self.order[:k], placed] = 1
        logits = stand[:, : t + 1].reshape(n, -1) @ self.both[: t + 1, t].reshape(-1, z)
        j = k - int(np.searchsorted(self.order, t))
        around, (m, open_) = self.model.flag(stand, self.model.bombs(stand))
        logits += self.model.own[t, j] + self.model.guard[t, j, m, open_][:, None] * around
        return _softmax(np.where(legal > 0, logits, NOWHERE)) * legal
