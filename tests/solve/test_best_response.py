"""Best responses by a walk that keeps no histories, against those of the whole tree."""

from __future__ import annotations

import numpy as np
import pytest

from solve.small_games import tree_of
from stratkit.engine import Game, Tree
from stratkit.engine.best_response import BestResponse
from stratkit.errors import InputError
from stratkit.solve.exploitability import evaluate

GAMES = (
    *("kuhn", "leduc", "liars_dice:1x3", "liars_dice:2x2", "dark_hex:2", "dark_hex:2:classical"),
    *("hex:2", "matrix:formats/samples/modified_rps.matrix"),
)


def drawn(tree: Tree, seed: int) -> np.ndarray:
    """A random policy with some very small probabilities."""
    x = np.random.default_rng(seed).random(len(tree.actions)) ** 6
    return np.asarray(x / tree.sums(x)[tree.owner])


def walked(tree: Tree, player: int, policy: np.ndarray | None) -> BestResponse:
    found = BestResponse(tree.game, player, None if policy is None else tree, policy)
    while not found.step(100):
        assert found.histories < tree.histories
    return found


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", GAMES)
def test_it_is_the_whole_trees(name: str, player: int) -> None:
    tree = tree_of(name)
    sets = Tree(tree.game, sets_only=True)
    assert (len(sets), sets.histories) == (len(tree), tree.histories)
    for policy in (None, drawn(tree, 1), drawn(sets, 2)):
        expected = evaluate(tree, tree.uniform() if policy is None else policy)
        found = walked(sets, player, policy)
        assert found.best == pytest.approx(expected.best[player], abs=1e-9)
        assert (-found.value if player else found.value) == pytest.approx(expected.value, abs=1e-9)
        assert found.histories == tree.histories
        assert found.infosets == (tree.players == player).sum()


@pytest.mark.parametrize("name", GAMES)
def test_what_the_opponent_never_plays_is_left_out(name: str) -> None:
    tree = tree_of(name)
    policy = np.zeros(len(tree.actions))
    policy[tree.first[:-1]] = 1  # the first action everywhere
    found = walked(tree, 0, policy)
    assert found.best == pytest.approx(evaluate(tree, policy).best[0], abs=1e-9)
    assert found.histories < tree.histories


def test_a_fault_in_one_information_set_shows() -> None:
    """Two probabilities of the opponent change places: the value is another one."""
    tree = tree_of("leduc")
    policy = drawn(tree, 3)
    at = tree.first[np.flatnonzero(tree.players == 1)[0]]
    faulty = policy.copy()
    faulty[[at, at + 1]] = policy[[at + 1, at]]
    expected = evaluate(tree, policy).best[0]
    assert walked(tree, 0, policy).best == pytest.approx(expected, abs=1e-9)
    assert abs(walked(tree, 0, faulty).best - expected) > 1e-3


def test_a_tree_of_sets_only_has_no_histories() -> None:
    sets = Tree(Game("kuhn"), sets_only=True)
    assert sets.bytes < tree_of("kuhn").bytes
    with pytest.raises(ValueError, match="the tree has information sets only"):
        sets.payoffs(0, sets.reach(sets.uniform()))


def test_what_does_not_belong_together_is_refused() -> None:
    tree = tree_of("kuhn")
    with pytest.raises(ValueError, match="policy and tree belong together"):
        BestResponse(tree.game, 0, tree)
    with pytest.raises(ValueError, match="tree must be of the same game"):
        BestResponse(Game("leduc"), 0, tree, tree.uniform())
    with pytest.raises(InputError, match="game mini: too large to enumerate"):
        BestResponse(Game("mini"), 0, most_bytes=100_000).step()
