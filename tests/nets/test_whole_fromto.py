"""The engine computes a `fromto` as a whole: what torch computes of it."""

from __future__ import annotations

import numpy as np
import pytest

from nets.random_play import views_of_games
from nets.test_onnx import by_torch, weights_of
from stratkit.engine import Game
from stratkit.engine import fromto as module
from stratkit.engine.observation import PHASE, STAGE
from stratkit.nets.evaluator import Evaluator
from stratkit.nets.fromto_backend import FromToBackend
from stratkit.nets.numpy_policy import softmax
from stratkit.search.blueprint import Remembered, remembered


@pytest.mark.parametrize("net", ["fromto:8x1", "fromto:16x2+deployment", "fromto:8x1+mirrored"])
@pytest.mark.parametrize("name", ["barrage", "nano", "classic"])
def test_policies_and_values_are_those_of_torch(name: str, net: str) -> None:
    """Of setups, pieces and destinations, in mirror images, too."""
    game = Game(name)
    views = views_of_games(game, 2, seed=3, longest=100)
    packed, legal = views.observations, views.legal
    assert {0, 1} == set(packed[:, PHASE]) == set(packed[packed[:, PHASE] == 0, STAGE])
    weights = weights_of(net, game)
    logits, values = by_torch(net, game, weights, packed, legal)
    network = FromToBackend(net, game, weights)
    assert network.whole
    found = network.policy(packed, legal, None, True, None)
    for one, other in zip(found, (softmax(logits), values), strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    for rows in (packed[:, PHASE] == 0, packed[:, PHASE] == 1):
        (policy,) = network.policy(packed[rows], legal[rows], None, False, None)
        np.testing.assert_array_equal(policy, found[0][rows])
    np.testing.assert_array_equal(network.values(packed, None, None)[0], found[1])


def test_a_view_does_not_depend_on_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither on those beside it, nor on the positions that are kept."""
    game = Game("nano")
    views = views_of_games(game, 2, seed=3, longest=60)
    packed, legal = views.observations, views.legal
    weights = weights_of("fromto:8x1", game)
    found = []
    for most in (2**25, 4 * 3 * 12 * 8):  # of all positions, of three
        monkeypatch.setattr(module, "MOST_BYTES", most)
        whole = FromToBackend("fromto:8x1", game, weights).whole
        assert whole
        for some in (np.arange(len(packed)), np.random.default_rng(1).permutation(len(packed))):
            policy, values = whole.evaluate(packed[some], legal[some], True)
            assert policy is not None and values is not None
            back = np.argsort(some)
            found.append(np.append(policy[back], values[back, None], 1))
        each = [whole.evaluate(packed[i : i + 1], legal[i : i + 1])[0] for i in range(9)]
        np.testing.assert_array_equal(np.concatenate(each), found[0][:9, :-1])
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
    assert len(np.unique(found[0], axis=0)) > 20


def test_a_search_asks_it_again_for_what_it_knows() -> None:
    """That costs less than to remember it in Python, which all threads wait for."""
    game = Game("nano")
    network = FromToBackend("fromto:8x1", game, weights_of("fromto:8x1", game))
    evaluator = Evaluator("fromto:8x1", network, 8)
    assert remembered(evaluator) is evaluator
    by_library = FromToBackend(network.net, game, network.weights, "onnx")
    assert isinstance(remembered(Evaluator("fromto:8x1", by_library, 8)), Remembered)
