"""What a search plays, and says of it, does not depend on what is hidden.

Games are played a second time with the enemy's hidden ranks exchanged, in a way that fits all that
became known: worlds, values, policies and explanations are the same to the last bit. For 10^5
positions:

    STRATKIT_TEST_SCALE=1250 python -m pytest -s tests/engine/test_search_leaks.py
"""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np
import pytest

from scale import scaled
from stratkit.declared import read_options
from stratkit.engine import Batch, Game, hidden_types
from stratkit.engine.stratego import variant
from stratkit.nets.belief import BeliefEvaluator, BeliefNet
from stratkit.nets.builder import build
from stratkit.nets.evaluator import Evaluator
from stratkit.players.player import Explanation, Views
from stratkit.players.searching.options import SearchOptions
from stratkit.players.searching.stage import SearchStage
from stratkit.players.testtime.explain import text
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.pipeline import PostprocessedPlayer
from stratkit.search.beliefs import ImportanceResampling, NetworkBelief
from test_hidden_information import exchanged, play

GAME, KIND = Game("mini"), variant("mini")


class Position(NamedTuple):
    """The actions that led to it, and those of its double, where the enemy has other ranks."""

    game: int
    begun: list[int]
    double: list[int]


def positions(seed: int, rng: random.Random) -> list[Position]:
    """One of each of some games, where a move begins."""
    found = []
    for game, line in enumerate(play(GAME, seed).T):
        actions = line[line >= 0].tolist()
        if len(actions) < 2 * KIND.pieces + 8:
            continue
        at = rng.randrange(2 * KIND.pieces, len(actions), 2)
        side = (at - 2 * KIND.pieces) // 2 % 2
        begun = actions[:at]
        found.append(Position(game, begun, exchanged("mini", begun, 1 - side, rng)))
    return found


def state(actions: list[int]) -> Batch:
    batch = Batch(GAME, 1)
    for action in actions:
        batch.apply(np.array([action], np.int32))
    return batch


def states(lines: list[list[int]]) -> Batch:
    return Batch.gathered([(state(actions), [0]) for actions in lines])


def said(
    player: PostprocessedPlayer, told: list[Explanation], batch: Batch, lines: list[list[int]]
) -> list[tuple[bytes, bytes, str]]:
    """Of each row: the policy, the search's values and policy, and what is explained."""
    numbers = np.array([len(actions) for actions in lines], np.int32)
    seen = batch.actors(), batch.legal(), batch.observe()
    rows = np.arange(len(lines))
    told.clear()
    views = Views.of_batch(
        batch, rows, rows, numbers, seen, lambda row: np.array(lines[row], np.int32)
    )
    policy = player.policy(views)
    assert [one.game for one in told] == rows.tolist()
    out = []
    for row, one in enumerate(told):
        found = one.search
        values = b"" if found is None else found.q.tobytes() + found.policy.tobytes()
        out.append((policy[row].tobytes(), values, text(one, GAME)))
    return out


MMD = {"search": "mmd", "rollouts": "12", "depth": "1"}
SEARCHES = [
    *({**MMD, "belief": word} for word in ("uniform", "setups", "policy", "setups+network")),
    {"search": "endgame", "hands": "1000", "belief": "setups"},
]


@pytest.mark.parametrize(
    "words", SEARCHES, ids=lambda words: f"{words['search']} {words['belief']}"
)
def test_a_search_never_knows_what_is_hidden(words: dict[str, str]) -> None:
    rng, compared, changed, acted = random.Random(3), 0, 0, 0
    belief = words["belief"]
    if belief == "setups+network":
        words = {**words, "belief": "uniform"}  # a network of its own, below
    network = build("plain:4x1", GAME, 2)
    for weight in network.parameters():
        weight.data.normal_(std=0.5)  # policies and values that differ from move to move
    blueprint = Evaluator("plain:4x1", network, 64)
    stage = SearchStage(GAME, blueprint, read_options(SearchOptions, words), 1)
    if belief == "setups+network":
        net = BeliefNet("plain:4x1", GAME, 1)
        net.last.weight.data.normal_(std=0.5)
        drawn = NetworkBelief(BeliefEvaluator(net))
        product = ImportanceResampling(deployment=True, last=0, base=drawn)
        stage.search = type(stage.search)(**{**vars(stage.search), "belief": product})
    told: list[Explanation] = []
    player = PostprocessedPlayer(blueprint, GAME, 1, PostProcessing(), told.append, stage)
    for seed in range(scaled(1)):
        some = positions(seed, rng)
        truths = [[one.begun for one in some], [one.double for one in some]]
        both = [states(lines) for lines in truths]
        first, second = (
            said(player, told, batch, lines) for batch, lines in zip(both, truths, strict=True)
        )
        assert first == second
        changed += int((hidden_types(both[0]) != hidden_types(both[1])).any(1).sum())
        compared += len(some)
        acted += sum(one.search is not None and one.search.worlds > 1 for one in told)
    assert words["search"] == "mmd" or acted > compared / 4
    assert changed > compared / 2
    said_of = f"{words['search']}, {belief}: {compared:,} positions"
    print(f"{said_of}, {changed:,} of them with other ranks")
