"""What beliefs know of the enemy's hidden pieces, in nats, ply by ply:

    python bench/beliefs.py BELIEF [PLAYER [GAMES [SEED [PICTURE]]]]

A PLAYER plays GAMES against itself. At each of the first PLIES plies all worlds are weighed by the
exact probability of the enemy's setup and of all that it has played: that is the posterior, the
best belief there is. Printed are the nats that each belief is expected to need for the true world;
the least, the posterior's, is its entropy. Where more than MOST worlds agree with what is public,
MOST of them stand for all. `both` is the product of setups and network: the best belief, if the
network has learned from games in which a setup's pieces stood on its squares in any order alike.

Then come differences of two beliefs with their standard errors, paired by moments, which are one
of each game at a ply. Plies of fewer than LEAST games are left out. An interrupt (Ctrl-C) ends the
measurement early, with the games that are done.
"""

from __future__ import annotations

import itertools
import sys
from collections import defaultdict

import numpy as np
import torch

from stratkit.engine import Batch, Game, hidden_types
from stratkit.engine.history import placing_actions
from stratkit.engine.stratego import BOMB, FLAG, NO_PIECE, Variant, placements, variant
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.load import load
from stratkit.players.network import NetworkPlayer
from stratkit.players.searching.stage import load_belief
from stratkit.search.beliefs import FLOOR, LAST

MOST = 80
PLIES = 100
LEAST = 20
BELIEFS = ("uniform", "setups", "policy", "network", "both", "posterior")
PAIRS = (("network", "uniform"), ("both", "uniform"), ("both", "setups"), ("policy", "uniform"))
Array = np.ndarray


def all_types(kind: Variant) -> Array:
    """All orders of an army: uint8 [k, pieces]."""
    pieces = [t for t, n in enumerate(kind.counts) for _ in range(n)]
    return np.array(sorted(set(itertools.permutations(pieces))), np.uint8)


class Enemy:
    """The enemy of `side` in a game of these actions: where its pieces began, by square in its own
    frame, and what is public of them before each ply."""

    def __init__(self, kind: Variant, actions: Array, side: int) -> None:
        self.kind, self.actions, self.side = kind, actions, side
        first = kind.pieces * (1 - side)
        placed = actions[first : first + kind.pieces]
        self.squares = np.sort(placed)
        self.at = list(self.squares)  # where they stand now; NO_PIECE: nowhere
        self.moved = np.zeros(kind.pieces, bool)

    def see(self, truth: Batch) -> tuple[Array, Array]:
        """Which pieces are hidden, bool [pieces], and where they stand in the side's frame."""
        seen = np.array([self.kind.flip(square) for square in self.at])
        types = hidden_types(truth)[0]
        there = np.array([square != NO_PIECE for square in self.at])
        hidden = there & (types[np.where(there, seen, 0)] != NO_PIECE)
        return hidden, np.where(hidden, seen, 0)

    def told(
        self, truth: Batch, types: Array, true: Array, agree: Array
    ) -> tuple[Array, Array, Array]:
        """Which `types` agree with what is public, of those that did before, and `see`."""
        hidden, at = self.see(truth)
        for piece in range(self.kind.pieces):
            if not hidden[piece]:
                agree = agree & (types[:, piece] == true[piece])
            elif self.moved[piece]:
                agree = agree & (types[:, piece] != FLAG) & (types[:, piece] != BOMB)
        return agree, hidden, at

    def move(self, start: int, end: int) -> None:
        """A ply of the enemy, in its frame."""
        piece = self.at.index(start)
        self.at[piece], self.moved[piece] = end, True

    def clear(self, standing: Array) -> None:
        """`standing`: bool by square, in the enemy's frame, where it has pieces."""
        self.at = [s if s != NO_PIECE and standing[s] else NO_PIECE for s in self.at]


def odds(game: Game, evaluator: object, enemy: Enemy, types: Array) -> tuple[Array, Array, Array]:
    """Of worlds in which the enemy's pieces had these types, [n, pieces] by square: log p of the
    setup [n], and of each of its plies [n, plies], as it is and with the floor. A world in which
    a ply is illegal has -inf from there on."""
    kind, actions, n = enemy.kind, enemy.actions, len(types)
    setups = np.full((n, kind.zone), NO_PIECE, np.uint8)
    setups[:, enemy.squares] = types
    placing = placing_actions(kind, setups)
    first, start = kind.pieces * (1 - enemy.side), 2 * kind.pieces
    batch, alive = Batch(game, n), np.ones(n, bool)
    setup, plies, floored = np.zeros(n), [], []
    for number, known in enumerate(actions.tolist()):
        now = np.full(n, known, np.int32)
        if first <= number < first + kind.pieces:
            now = np.ascontiguousarray(placing[:, number - first])
        theirs = number < start and first <= number < first + kind.pieces
        theirs |= number >= start and (number - start) // 2 % 2 != enemy.side
        legal = batch.legal()
        alive &= legal[np.arange(n), now] > 0
        if theirs:
            rows = np.flatnonzero(alive)
            p = np.zeros(n)
            if len(rows):
                policy = evaluator.evaluate_distinct(batch.observe()[rows], legal[rows])[0]  # type: ignore
                p[rows] = policy[np.arange(len(rows)), now[rows]]
            low = (1 - FLOOR) * p + FLOOR / np.maximum(legal.sum(1), 1) * alive
            with np.errstate(divide="ignore"):
                one, two = np.log(p), np.log(low)
            if number < start:
                setup += one
            elif (number - start) % 2 == 0:
                plies.append(one)
                floored.append(two)
            else:
                plies[-1] += one
                floored[-1] += two
        batch.apply(np.where(alive, now, -1).astype(np.int32))
    return setup, np.array(plies).reshape(-1, n).T, np.array(floored).reshape(-1, n).T


def normalised(log_weights: Array) -> Array:
    weights = np.exp(log_weights - log_weights.max())
    return weights / weights.sum()


def measure(game: Game, evaluator: object, network: object, actions: Array, side: int,
            found: dict[int, list[Array]], random: np.random.Generator) -> None:  # fmt: skip
    """Adds to `found`, by ply, the nats of `BELIEFS` [6] at the plies of a side of a game."""
    kind = variant(game.name)
    enemy, truth, start = Enemy(kind, actions, side), Batch(game, 1), 2 * kind.pieces
    for action in actions[:start]:
        truth.apply(np.array([action], np.int32))
    types = all_types(kind)
    first = kind.pieces * (1 - side)
    setup = np.full(kind.zone, NO_PIECE, np.uint8)
    order = np.argsort(actions[first : first + kind.pieces])
    setup[enemy.squares] = _order(kind)[order]
    true = setup[enemy.squares]
    agree, some, done = np.ones(len(types), bool), np.empty(0, np.int64), 0
    for ply in range(min(PLIES, (len(actions) - start) // 2)):
        if ply % 2 == side:
            agree, hidden, at = enemy.told(truth, types, true, agree)
        if ply % 2 == side and hidden.any():
            some = some[agree[some]]
            if len(some) < MOST // 3 and len(some) < agree.sum():
                some = np.flatnonzero(agree)
                some = random.permutation(some)[:MOST]
                known = odds(game, evaluator, enemy, types[some])
                index = dict(zip(some.tolist(), range(len(some)), strict=True))
            rows = [index[one] for one in some.tolist()]
            placed, played, floored = (x[rows] for x in known)
            boards = np.full((len(some), kind.squares), NO_PIECE, np.uint8)
            boards[:, at[hidden]] = types[some][:, hidden]
            views = np.repeat(truth.observe(), len(some), 0)
            told = network.log_probabilities(views, boards)  # type: ignore[attr-defined]
            logs = {
                "uniform": np.zeros(len(some)),
                "setups": placed,
                "policy": floored[:, max(0, done - LAST) : done].sum(1),
                "network": told,
                "both": placed + told,
                "posterior": placed + played[:, :done].sum(1),
            }
            p = normalised(logs["posterior"])
            with np.errstate(divide="ignore", invalid="ignore"):
                far = {
                    name: np.where(p > 0, p * (np.log(p) - np.log(normalised(x))), 0).sum()
                    for name, x in logs.items()
                }
            least = np.log(agree.sum()) - far["uniform"]
            found[ply].append(np.array([least + far[name] for name in BELIEFS]))
        for action in actions[start + 2 * ply : start + 2 * ply + 2]:
            truth.apply(np.array([action], np.int32))
        if ply % 2 != side:
            enemy.move(*actions[start + 2 * ply : start + 2 * ply + 2].tolist())
            done += 1
        if truth.actors()[0] < 0:
            break
        cells = np.frombuffer(truth.save(0), np.uint8, kind.squares)
        mine = (cells & 0xC0) == (0x80 | (1 - side) * 0x40)
        enemy.clear(mine if side else mine[::-1])


def _order(kind: Variant) -> Array:
    """The types in the order in which they are placed."""
    setup = np.full(kind.zone, NO_PIECE, np.uint8)
    pieces = [t for t, n in enumerate(kind.counts) for _ in range(n)]
    setup[: kind.pieces] = pieces
    return setup[placements(kind, setup)]


def main(belief: str, player: str = "barrage-v0", games: str = "12", seed: str = "977",
         picture: str = "") -> None:  # fmt: skip
    torch.set_num_threads(1)
    trained = load(player, net="online", rows=256)
    trained.evaluator.elastic = True  # faster: worlds become fewer, and rows are not padded
    game = Game(trained.game.name)
    network = load_belief(belief, game)
    seatings = Seatings(Seating(number, (0, 0)) for number in range(int(games)))
    table = Table(game, [NetworkPlayer(trained.evaluator, game, int(seed))], seatings, int(games))
    episodes = [e for ended in table.rounds() if ended for e, _, _ in ended]
    found: dict[int, list[Array]] = defaultdict(list)
    try:
        for number, episode in enumerate(sorted(episodes, key=lambda e: e.number)):
            actions = episode.actions[: 2 * (variant(game.name).pieces + PLIES)]
            for side in (0, 1):
                random = np.random.default_rng(2 * number + side)
                measure(game, trained.evaluator, network, actions, side, found, random)
            print(number + 1, "games", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    plies = sorted(ply for ply in found if len(found[ply]) >= min(LEAST, int(games)))
    if not plies:
        sys.exit(f"no ply of {LEAST} games")
    means = np.array([np.mean(found[ply], axis=0) for ply in plies])
    print("ply games " + " ".join(f"{name:>9}" for name in BELIEFS))
    for ply, row in zip(plies, means, strict=True):
        print(f"{ply:3} {len(found[ply]):5} " + " ".join(f"{x:9.3f}" for x in row))
    for one, other in PAIRS:
        compare(one, other, plies, found)
    if picture:
        draw(np.array(plies), means, picture)


def compare(one: str, other: str, plies: list[int], found: dict[int, list[Array]]) -> None:
    """Prints by how much a belief is below another one, ply by ply."""
    first, second = BELIEFS.index(one), BELIEFS.index(other)
    gains = [np.array(found[ply])[:, second] - np.array(found[ply])[:, first] for ply in plies]
    means = np.array([gain.mean() for gain in gains])
    errors = np.array([gain.std(ddof=1) / len(gain) ** 0.5 for gain in gains])
    sure = (means > 2 * errors).sum()
    print(f"\n{one} below {other} at {(means > 0).sum()} of {len(plies)} plies, by more than two")
    print(f"standard errors at {sure}; least {means.min():+.3f} at ply {plies[means.argmin()]}")
    for ply, gain, error in zip(plies, means, errors, strict=True):
        print(f"{ply:3} {gain:+.3f} +- {error:.3f}")


def draw(plies: Array, means: Array, picture: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1.4))
    for k, name in enumerate(BELIEFS):
        above.plot(plies, means[:, k], label=name)
        below.plot(plies, means[:, k] - means[:, -1], label=name)
    above.set_ylabel("nats")
    below.set_ylabel("nats above the posterior")
    below.set_xlabel("plies played")
    above.legend(ncols=3)
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:])
