"""What beliefs know of the enemy's hidden pieces, in nats, ply by ply:

    python bench/beliefs.py BELIEF [PLAYER [GAMES [SEED [PICTURE]]]]

A PLAYER plays GAMES against itself. Printed are the nats that each belief needs for the true world
at each of the first PLIES plies: - log of its probability. `setups` is the exact probability of the
enemy's setup among those that agree with what is public, `both` its product with the network's.
Both need a sum over all these setups. DRAWN setups stand for it, the true one among them: so the
sum is too large rather than too small, and the two are not flattered. `both` is for networks that
have learned from games in which a setup's pieces stood on its squares in any order alike.

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

from stratkit.declared import SEED, whole
from stratkit.engine import Batch, Game, hidden_types
from stratkit.engine.stratego import BOMB, FLAG, NO_PIECE, Variant, placements, variant
from stratkit.models.open_model import BeliefModel, open_model
from stratkit.models.trained_network import load
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.network import NetworkPlayer
from stratkit.script import Parser, argument

DRAWN = 64
PLIES = 100
LEAST = 20
BELIEFS = ("uniform", "setups", "network", "both")
PAIRS = (("network", "uniform"), ("both", "uniform"), ("both", "setups"))
Array = np.ndarray
Random = np.random.Generator


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


class Deployment:
    """Setups of the enemy as a network deploys them, on the squares that it took."""

    def __init__(self, game: Game, evaluator: object, enemy: Enemy) -> None:
        self.game, self.evaluator, self.enemy = game, evaluator, enemy
        self.order = order(enemy.kind)
        self.first = enemy.kind.pieces * (1 - enemy.side)

    def draw(self, must: Array, may: Array, forced: Array, random: Random) -> tuple[Array, Array]:
        """Setups that agree with what is public, types [n, pieces] by square, and the log of
        their weights [n]: the expected weight is the probability of all setups that agree. must
        [pieces]: the type of a piece that is known, or NO_PIECE. may: whether it can be a bomb or
        the flag. forced [n, pieces]: the order of squares in which the first rows place, or -1."""
        n, squares = len(forced), self.enemy.squares
        types, logs = np.full((n, len(squares)), NO_PIECE, np.uint8), np.zeros(n)
        batch = Batch(self.game, n)
        for action in self.enemy.actions[: self.first]:
            batch.apply(np.full(n, action, np.int32))
        for number, type_ in enumerate(self.order):
            seen, legal = batch.observe(), batch.legal()
            policy = self.evaluator.evaluate(seen, legal)[0][:, squares]  # type: ignore
            free = types == NO_PIECE
            known = free & (must == type_)
            allowed = known | free & (must == NO_PIECE) & (may | (type_ not in (FLAG, BOMB)))
            left = (self.order[number:] == type_).sum()
            allowed = np.where((known.sum(1) == left)[:, None], known, allowed)
            p = policy * allowed
            mass = p.sum(1).astype(np.float64)
            with np.errstate(divide="ignore"):
                logs += np.log(mass)
            p = np.where(mass[:, None] > 0, p, free)
            sums = np.cumsum(p, 1)
            at = (sums > random.random(n)[:, None] * sums[:, -1:]).argmax(1)
            at = np.where(forced[:, number] >= 0, forced[:, number], at)
            types[np.arange(n), at] = type_
            batch.apply(squares[at].astype(np.int32))
        return types, logs

    def probability(self, true: Array) -> float:
        """The log probability of a setup: of all orders in which equal pieces can be placed."""
        places = [np.flatnonzero(true == t) for t in dict.fromkeys(self.order.tolist())]
        orders = itertools.product(*(itertools.permutations(place) for place in places))
        rows = np.array([[at for place in one for at in place] for one in orders])
        n, squares, logs = len(rows), self.enemy.squares, np.zeros(len(rows))
        batch = Batch(self.game, n)
        for action in self.enemy.actions[: self.first]:
            batch.apply(np.full(n, action, np.int32))
        for at in rows.T:
            policy = self.evaluator.evaluate(batch.observe(), batch.legal())[0]  # type: ignore
            logs += np.log(policy[np.arange(n), squares[at]].astype(np.float64))
            batch.apply(squares[at].astype(np.int32))
        return float(np.logaddexp.reduce(logs))


def measure(game: Game, evaluator: object, network: object, actions: Array, side: int,
            found: dict[int, list[Array]], random: Random) -> None:  # fmt: skip
    """Adds to `found`, by ply, the nats of `BELIEFS` [4] at the plies of a side of a game."""
    kind = variant(game.name)
    enemy, truth, start = Enemy(kind, actions, side), Batch(game, 1), 2 * kind.pieces
    for action in actions[:start]:
        truth.apply(np.array([action], np.int32))
    types, deployment = all_types(kind), Deployment(game, evaluator, enemy)
    placed = actions[kind.pieces * (1 - side) :][: kind.pieces]
    true = order(kind)[np.argsort(placed)]
    forced = np.full((DRAWN, kind.pieces), -1)
    forced[0] = np.searchsorted(enemy.squares, placed)
    real = deployment.probability(true)
    agree, told = np.ones(len(types), bool), b""
    for ply in range(min(PLIES, (len(actions) - start) // 2)):
        if ply % 2 == side:
            agree, hidden, at = enemy.told(truth, types, true, agree)
        if ply % 2 == side and hidden.any():
            if told != hidden.tobytes() + enemy.moved.tobytes():
                told = hidden.tobytes() + enemy.moved.tobytes()
                must = np.where(hidden, NO_PIECE, true)
                worlds, logs = deployment.draw(must, ~enemy.moved, forced, random)
                some = np.isfinite(logs)  # the others have met a dead end
            boards = np.full((some.sum(), kind.squares), NO_PIECE, np.uint8)
            boards[:, at[hidden]] = worlds[some][:, hidden]
            views = np.repeat(truth.observe(), len(boards), 0)
            said = network.log_probabilities(views, boards)  # type: ignore[attr-defined]
            mean = np.logaddexp.reduce(logs[some]) - np.log(DRAWN)
            both = np.logaddexp.reduce(logs[some] + said) - np.log(DRAWN)
            uniform = np.log(agree.sum())
            found[ply].append(np.array([uniform, mean - real, -said[0], both - real - said[0]]))
        for action in actions[start + 2 * ply : start + 2 * ply + 2]:
            truth.apply(np.array([action], np.int32))
        if ply % 2 != side:
            enemy.move(*actions[start + 2 * ply : start + 2 * ply + 2].tolist())
        if truth.actors()[0] < 0:
            break
        cells = np.frombuffer(truth.save(0), np.uint8, kind.squares)
        mine = (cells & 0xC0) == (0x80 | (1 - side) * 0x40)
        enemy.clear(mine if side else mine[::-1])


def order(kind: Variant) -> Array:
    """The types in the order in which they are placed."""
    setup = np.full(kind.zone, NO_PIECE, np.uint8)
    pieces = [t for t, n in enumerate(kind.counts) for _ in range(n)]
    setup[: kind.pieces] = pieces
    return setup[placements(kind, setup)]


def main(belief: str, player: str, games: int, seed: int, picture: str) -> None:
    torch.set_num_threads(1)
    trained = load(player, net="online", rows=256)
    trained.evaluator.elastic = True  # faster: worlds become fewer, and rows are not padded
    game = Game(trained.game.name)
    network = open_model(belief).must_be(BeliefModel).evaluator(game)
    seatings = Seatings(Seating(number, (0, 0)) for number in range(games))
    table = Table(game, [NetworkPlayer(trained.evaluator, game, seed)], seatings, games)
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
    plies = sorted(ply for ply in found if len(found[ply]) >= min(LEAST, games))
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
        below.plot(plies, means[:, k] - means[:, 1], label=name)
    above.set_ylabel("nats")
    below.set_ylabel("nats above the setups")
    below.set_xlabel("plies played")
    above.legend(ncols=3)
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("belief", metavar="BELIEF")
    parser.add_argument("player", metavar="PLAYER", nargs="?", default="barrage-easy")
    parser.add_argument("games", metavar="GAMES", nargs="?", default=12, type=argument(whole(2)))
    parser.add_argument("seed", metavar="SEED", nargs="?", default=977, type=argument(SEED))
    parser.add_argument("picture", metavar="PICTURE", nargs="?", default="")
    main(**vars(parser.parse_args()))
