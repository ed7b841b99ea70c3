"""Why does a player attack pieces that it knows to be stronger? By its policy, and by what follows.

    python examples/players/attacks.py barrage-easy [GAMES [SEED]]

It plays GAMES (100) against itself. At each turn the probabilities of all moves are summed, so the
share of attacks on known pieces that lose the attacker alone is expected, not counted. Each such
attack of a probability of .05 or more is looked at: from its position the player goes on against
itself 64 times by this move, and by each of the five other moves that it likes most. One line each:
value, probability, what the attack brings, and what the best of the others does, which is chosen
by one half of its games and judged by the other. *Lost* is where neither brings more than -.9.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import stratkit
from stratkit.declared import SEED, whole
from stratkit.engine import Batch, sample
from stratkit.engine.observation import CELLS, PHASE, SELECTED, STAGE
from stratkit.engine.stratego import (
    BOMB,
    FLAG,
    LOSES,
    PIECE,
    REVEALED,
    SIDE,
    TYPE,
    TYPES,
    fight,
    variant,
)
from stratkit.models.trained_network import TrainedNetwork
from stratkit.script import Parser, argument

LEAST, OTHERS, TIMES = 0.05, 5, 64
HOPELESS, DIFFERENCE = -0.9, 0.1  # returns

LOSING = np.zeros((16, 16), bool)  # by attacker and defender
for attacker in set(range(len(TYPES))) - {FLAG, BOMB}:
    for defender in range(len(TYPES)):
        LOSING[attacker, defender] = fight(attacker, defender) == LOSES


class Turn(NamedTuple):
    """A turn of `side` after these actions: the `moves` with their `policy` [m], which of them
    attack a `known` piece, and which of these are `lost` [m]; the network's value."""

    actions: npt.NDArray[np.int32]
    side: int
    moves: list[tuple[int, int]]
    policy: npt.NDArray[np.float32]
    known: npt.NDArray[np.bool_]
    lost: npt.NDArray[np.bool_]
    value: float


def turns(network: TrainedNetwork, games: int, seed: int) -> Iterator[Turn]:
    """The turns of games against itself at which a known piece can be attacked."""
    batch, everyone = Batch(network.game, games), np.arange(games)
    played: list[npt.NDArray[np.int32]] = []
    while (batch.endings() == 0).any():
        legal, seen, sides = batch.legal(), batch.observe(), batch.actors()
        policy, values = network.evaluator.evaluate(seen, legal, values=True)
        begins = (sides >= 0) & (seen[:, PHASE] != 1) & (seen[:, STAGE] == 0)
        cells = seen[:, CELLS:]
        known = (cells & (PIECE | SIDE | REVEALED)) == PIECE | SIDE | REVEALED
        for row in np.flatnonzero(begins & known.any(1)):
            side, moves = int(sides[row]), batch.moves(int(row), int(sides[row]))
            start, end = np.array(moves).T
            if known[row, end].any():
                losing = LOSING[cells[row, start] & TYPE, cells[row, end] & TYPE]
                whole = policy[row, start] * destinations(network, seen[row], start, end)
                actions = np.array([each[row] for each in played], np.int32)
                attack = known[row, end]
                yield Turn(actions, side, moves, whole, attack, attack & losing, float(values[row]))
        numbers = np.full(games, len(played), np.int32)
        played.append(sample(policy, legal, seed, everyone, numbers)[0])
        batch.apply(played[-1])


def destinations(
    network: TrainedNetwork,
    seen: npt.NDArray[np.uint8],
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
) -> npt.NDArray[np.float32]:
    """The probability of each move's destination [m], once its piece is selected."""
    pieces, piece = np.unique(start, return_inverse=True)
    views = np.repeat(seen[None], len(pieces), 0)
    views[:, STAGE], views[:, SELECTED] = 1, pieces
    legal = np.zeros((len(pieces), network.game.actions), np.uint8)
    legal[piece, end] = 1
    return network.policy(views, legal)[piece, end]


def results(
    network: TrainedNetwork, turn: Turn, moves: list[int], seed: int
) -> npt.NDArray[np.float32]:
    """What these moves bring the side, float32 [moves, TIMES], if the network goes on."""
    one = Batch(network.game, 1)
    for action in turn.actions:
        one.apply(np.array([action], np.int32))
    n = len(moves) * TIMES
    batch, rows = Batch.gathered([(one, np.zeros(n, np.int32))]), np.arange(n)
    out = np.zeros(n, np.float32)
    for part in np.repeat(np.array(turn.moves, np.int32)[moves], TIMES, 0).T:
        batch.apply(np.ascontiguousarray(part))
    number = 0
    while True:
        returns, endings, _ = batch.result()
        out[rows] = returns[:, turn.side]
        if endings.all():
            return out.reshape(len(moves), TIMES)
        live = np.flatnonzero(endings == 0)
        batch, rows = Batch.gathered([(batch, live)]), rows[live]
        legal = batch.legal()
        policy = network.policy(batch.observe(), legal)
        numbers = np.full(len(rows), number, np.int32)
        batch.apply(sample(policy, legal, seed, rows, numbers)[0])
        number += 1


def judged(attack: npt.NDArray[np.float32], others: npt.NDArray[np.float32]) -> tuple[str, float]:
    """What kind of attack it is, from its results [TIMES] and those of others [k, TIMES]; and what
    the best of the others brings."""
    half = TIMES // 2
    best = others[others[:, :half].mean(1).argmax(), half:]
    gain, error = best.mean() - attack.mean(), np.hypot(best.std() / half**0.5, attack.std() / 8)
    if max(best.mean(), attack.mean()) <= HOPELESS:
        kind = "lost"
    elif abs(gain) > max(DIFFERENCE, 2 * error):
        kind = "mistake" if gain > 0 else "sacrifice"
    else:
        kind = "no difference"
    return kind, float(best.mean())


def looked_at(network: TrainedNetwork, turn: Turn, seed: int) -> tuple[str, str]:
    """What kind of attack the likeliest losing one is, and the line that says so."""
    likely = np.argsort(-turn.policy, kind="stable")
    attack = next(int(k) for k in likely if turn.lost[k])
    others = [int(k) for k in likely if not turn.lost[k]][:OTHERS]
    told = f"value {turn.value:+.2f}, probability {turn.policy[turn.lost].sum():.3f}"
    if not others:
        return "forced", f"{told}: forced"
    found = results(network, turn, [attack, *others], seed)
    kind, best = judged(found[0], found[1:])
    brings = f"the attack {found[0].mean():+.2f}, another move {best:+.2f}"
    return kind, f"{told}: {brings}: {kind}"


def main(player: str, games: int, seed: int) -> None:
    network = stratkit.load(player, rows=256)
    variant(network.game.name)
    known, kinds = 0.0, defaultdict[str, float](float)
    for turn in turns(network, games, seed):
        known += float(turn.policy[turn.known].sum())
        probability = float(turn.policy[turn.lost].sum())
        kind = f"below {LEAST}"
        if probability >= LEAST:
            kind, line = looked_at(network, turn, seed)
            print(line, flush=True)
        kinds[kind] += probability
    print(f"{known:.1f} attacks on known pieces expected in {games} games; of these lose")
    for kind in sorted(kinds, key=lambda kind: -kinds[kind]):
        print(f"  {kind:<14}{kinds[kind]:7.2f}  {kinds[kind] / max(known, 1e-9):.2%}")


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("player", metavar="PLAYER")
    parser.add_argument("games", metavar="GAMES", nargs="?", default=100, type=argument(whole(1)))
    parser.add_argument("seed", metavar="SEED", nargs="?", default=1, type=argument(SEED))
    asked = parser.parse_args()
    with parser.telling():
        main(**vars(asked))
