"""How many rows a network is asked for, and that they change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nets.drawn import assert_close, drawn
from nets.random_play import views_of_games
from stratkit.engine import Game, observation_dtype
from stratkit.nets import build
from stratkit.nets.evaluator import Evaluator

GAME = Game("mini")
VIEWS = views_of_games(GAME, 1, seed=5, longest=60)


def counting(rows: int, elastic: bool) -> tuple[Evaluator, list[int]]:
    """An evaluator, and the rows of each call of its network."""
    network = drawn(build("plain", GAME, seed=1))
    asked: list[int] = []
    embed, logits = network.embed, network.logits

    def noted(inputs: Any) -> Any:
        embedding = embed(inputs)
        asked.append(len(network.value(embedding, inputs)))
        return embedding

    def checked(embedding: Any, inputs: Any, legal: Any) -> Any:
        assert len(legal) == asked[-1]
        return logits(embedding, inputs, legal)

    network.embed, network.logits = noted, checked  # type: ignore[method-assign]
    return Evaluator("plain", network, rows, elastic), asked


@pytest.mark.parametrize("elastic", [False, True])
def test_rows_are_those_of_the_slots_or_follow_what_is_live(elastic: bool) -> None:
    """To a multiple of 8: in self-play that follows a learner few games of many slots are live."""
    evaluator, asked = counting(32, elastic)
    live = {1: [8], 7: [8], 8: [8], 9: [16], 30: [32], 32: [32], 35: [32, 8]}
    for views, rows in live.items():
        packed, legal, u = VIEWS.observations[:views], VIEWS.legal[:views], np.full(views, 0.5)
        policy, values = evaluator.evaluate(packed, legal, values=True)
        actions = evaluator.draw(packed, legal, u, lambda policy: policy)[0]
        found = (policy, values, evaluator.values(packed), actions)
        assert [len(x) for x in found if x is not None] == [views] * 4
        # Threads may ask for blocks in any order.
        assert sorted(asked) == sorted((rows if elastic else [32] * len(rows)) * 3)
        asked.clear()


def test_padding_changes_nothing() -> None:
    packed, legal = VIEWS.observations[-9:], VIEWS.legal[-9:]
    (fixed, _), (elastic, _) = counting(32, False), counting(32, True)
    for one, other in zip(
        fixed.evaluate(packed, legal, values=True),
        elastic.evaluate(packed, legal, values=True),
        strict=True,
    ):
        assert_close(other, one)


@pytest.mark.parametrize(
    ("net", "positions"),
    [("fromto", True), ("fromto+deployment", True), ("fromto+mirrored", True), ("plain", False)],
)
def test_pieces_of_a_position_are_looked_at_together(net: str, positions: bool) -> None:
    """As many positions as there are rows at a time, where the network can; the policy is that of
    each piece alone."""
    network = drawn(build(net, GAME, seed=1))
    evaluator = Evaluator(net, network, 4)
    seen = VIEWS.observations.view(observation_dtype(GAME.shape[1] * GAME.shape[2]))[:, 0]
    begun = np.flatnonzero((seen["phase"] == 0) & (seen["stage"] == 0))[:9]
    turn, piece = np.nonzero(VIEWS.legal[begun])
    assert len(turn) > 2 * len(begun)
    observations = VIEWS.observations[begun][turn]
    after = observations.view(seen.dtype)[:, 0]
    after["stage"], after["selected"] = 1, piece
    legal = np.ones((len(turn), GAME.actions), np.uint8)
    wanted = evaluator.policy(observations, legal)
    rows: list[int] = []
    torso = network.play if "+" in net else network
    embed = torso.embed

    def noted(inputs: Any) -> Any:
        rows.append(len(inputs.packed if positions else inputs))
        return embed(inputs)

    torso.embed = noted  # type: ignore[method-assign]
    assert_close(evaluator.evaluate_pieces(observations, legal, turn), wanted)
    assert rows == ([4, 4, 4] if positions else [4] * -(-len(turn) // 4))
