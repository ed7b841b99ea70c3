"""What a search plays, and says of it, does not depend on what is hidden.

Games are played a second time with the enemy's hidden ranks exchanged, in a way that fits all that
became known: worlds, values, policies and explanations are the same to the last bit. For 10^5
positions:

    STRATKIT_TEST_SCALE=1250 python -m pytest -s tests/engine/test_search_leaks.py
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from scale import scaled
from stratkit.engine import Batch, Game, hidden_types
from stratkit.engine.stratego import variant
from stratkit.nets.belief import BeliefEvaluator, BeliefNet
from stratkit.players.options import read_options
from stratkit.players.player import Explanation, Views
from stratkit.players.searching.blueprints import HeuristicBlueprint
from stratkit.players.searching.options import SearchOptions
from stratkit.players.searching.stage import SearchStage
from stratkit.players.testtime.explain import text
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.pipeline import PostprocessedPlayer
from stratkit.search.beliefs import NetworkBelief, Weighed
from test_hidden_information import exchanged, play

GAME, KIND = Game("mini"), variant("mini")
POSITIONS = 80


def state(actions: list[int]) -> Batch:
    batch = Batch(GAME, 1)
    for action in actions:
        batch.apply(np.array([action], np.int32))
    return batch


@pytest.mark.parametrize("belief", ["uniform", "setups", "policy", "setups+network"])
def test_a_search_never_knows_what_is_hidden(belief: str) -> None:
    rng, compared, changed = random.Random(3), 0, 0
    words = {"search": "mmd", "rollouts": "12", "depth": "1"}
    words["belief"] = "uniform" if belief == "setups+network" else belief
    blueprint = HeuristicBlueprint(GAME, KIND.counts)
    stage = SearchStage(GAME, blueprint, read_options(SearchOptions, words), 1)
    if belief == "setups+network":
        net = BeliefNet("plain:4x1", GAME.shape, 1)
        net.last.weight.data.normal_(std=0.5)
        drawn = NetworkBelief(BeliefEvaluator(net))
        product = Weighed(deployment=True, last=0, drawn=drawn)
        stage.search = type(stage.search)(**{**vars(stage.search), "belief": product})
    told: list[Explanation] = []
    player = PostprocessedPlayer(blueprint, GAME, 1, PostProcessing(), told.append, stage)
    for seed in range(scaled(POSITIONS // 80)):
        for game, line in enumerate(play(GAME, seed).T):
            actions = line[line >= 0].tolist()
            if len(actions) < 2 * KIND.pieces + 8:
                continue
            at = rng.randrange(2 * KIND.pieces, len(actions), 2)
            side = (at - 2 * KIND.pieces) // 2 % 2
            begun = actions[:at]
            others = exchanged("mini", begun, 1 - side, rng)
            both = [state(begun), state(others)]
            changed += (hidden_types(both[0]) != hidden_types(both[1])).any()
            said = []
            for batch, known in zip(both, (begun, others), strict=True):
                told.clear()
                policy = player.policy(Views.of_one(batch, game, at, known))
                found = told[0].search
                values = b"" if found is None else found.q.tobytes() + found.policy.tobytes()
                said.append((policy.tobytes(), values, text(told[0], KIND)))
            assert said[0] == said[1]
            compared += 1
    assert changed > compared / 2
    print(f"{belief}: {compared:,} positions")
