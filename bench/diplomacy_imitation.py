"""Where a network that imitates `dumbbot` loses: its share alone among six `heuristic`, with
`dumbbot` in its place for some kinds of decisions.

    bench/diplomacy_imitation.py CHECKPOINT [--games N] [--seed S] [--temperature T]

The share is that of squares, on the standard map. Each line has its standard error.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from stratkit.arrays import Bools, Bytes, Float32s, Float64s
from stratkit.declared import SEED, number, whole
from stratkit.engine import Batch, Game, sample
from stratkit.engine.diplomacy import ADJUSTMENTS, ASK_VERB, FALL_MOVES, SPRING_MOVES, views_of
from stratkit.games.diplomacy.dumbbot import DumbBot
from stratkit.games.diplomacy.heuristic import GreedyBlueprint
from stratkit.models.open_model import open_model
from stratkit.script import Parser, argument

Policy = Callable[[Bytes, Bytes], Float32s]
Where = Callable[[np.ndarray], Bools]  # of records of `VIEW`


def _phase(*phases: int) -> Where:
    return lambda views: np.isin(views["position"]["phase"], phases)


MOVES = _phase(SPRING_MOVES, FALL_MOVES)
KINDS: dict[str, Where] = {
    "no decisions": _phase(),
    "retreats": lambda views: ~_phase(SPRING_MOVES, FALL_MOVES, ADJUSTMENTS)(views),
    "adjustments": _phase(ADJUSTMENTS),
    "spring moves": _phase(SPRING_MOVES),
    "fall moves": _phase(FALL_MOVES),
    "verbs of moves": lambda views: MOVES(views) & (views["stage"] == ASK_VERB),
    "places of moves": lambda views: MOVES(views) & (views["stage"] != ASK_VERB),
}


def sharper(policy: Policy, temperature: float) -> Policy:
    """The policy to the power 1 / `temperature`."""

    def sharpened(observations: Bytes, legal: Bytes) -> Float32s:
        pi = policy(observations, legal).astype(np.float64)
        pi = (pi / pi.max(1, keepdims=True)) ** (1 / temperature)
        return np.asarray(pi / pi.sum(1, keepdims=True), np.float32)

    return sharpened


def helped(game: Game, policy: Policy, other: Policy, where: Where) -> Policy:
    """The policy, with the other one's decisions there."""

    def decided(observations: Bytes, legal: Bytes) -> Float32s:
        pi = policy(observations, legal)
        there = where(views_of(game, observations))
        if there.any():
            pi[there] = other(observations[there], legal[there])
        return pi

    return decided


def shares(game: Game, one: Policy, others: Policy, games: int, seed: int) -> Float64s:
    """What `one` gets of each game, in each seat by turns: float64 [games]."""
    batch, numbers = Batch(game, games), np.arange(games)
    seat = numbers % game.players
    for step in range(1_000_000):
        actors = batch.actors()
        if (actors < 0).all():
            break
        observations, legal = batch.observe(), batch.legal()
        chosen = np.full(games, -1, np.int32)
        for policy, its in ((one, actors == seat), (others, (actors >= 0) & (actors != seat))):
            (rows,) = np.nonzero(its)
            if len(rows):
                pi = policy(observations[rows], legal[rows])
                steps = np.full(len(rows), step, np.int32)
                chosen[rows] = sample(pi, legal[rows], seed, numbers[rows], steps)[0]
        batch.apply(chosen)
    return np.asarray(batch.returns()[numbers, seat], np.float64)


def main(checkpoint: str, games: int, seed: int, temperature: float) -> None:
    """Prints a line for each kind of decision."""
    game = Game("diplomacy:standard")
    rules, others = DumbBot(game).policy, GreedyBlueprint(game).policy
    network = open_model(checkpoint, "average").evaluator(game, rows=256).policy
    plays = {"all decisions": rules}
    for kind, where in KINDS.items():
        plays[kind] = helped(game, sharper(network, temperature), rules, where)
    for kind, policy in plays.items():
        began = time.process_time()
        won = shares(game, policy, others, games, seed)
        error, cpu = won.std() / games**0.5, time.process_time() - began
        print(f"{kind:16} by dumbbot: {won.mean():.3f} ± {error:.3f}, {cpu:.1f} CPU s", flush=True)


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("checkpoint", metavar="CHECKPOINT")
    parser.add_argument("--games", type=argument(whole(2)), default=203)
    parser.add_argument("--seed", type=argument(SEED), default=1)
    parser.add_argument("--temperature", type=argument(number(above=0, most=1e6)), default=0.4)
    main(**vars(parser.parse_args()))
