"""Best responses by a walk that keeps no histories, against those of the whole tree."""

from __future__ import annotations

import gc
import pathlib

import numpy as np
import pytest

from solve.slow_tree import best_value, gain_of_a_turn, grow, spelt_out, value
from solve.small_games import tree_of
from stratkit.engine import Game, Tree
from stratkit.engine.best_response import BestResponse
from stratkit.errors import InputError
from stratkit.solve.exploitability import evaluate, walk

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


def test_kuhn_poker_by_hand() -> None:
    """All cards and bets alike. Player 0 gains 3/8 by betting anew at once, and 5/6 behind a bet,
    to which a quarter of its games come: (3/8 + 5/24) / (5/4). Player 1 gains 1/4 behind a pass and
    5/6 behind a bet, half of the games each."""
    tree = tree_of("kuhn")
    local = walk(tree, tree.uniform()).local
    assert local == pytest.approx((7 / 15, 13 / 24), abs=1e-12)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_three_players_are_those_of_a_slow_tree(seed: int) -> None:
    """Of which every pure policy is tried."""
    game = Game("py:solve.three_bids:ThreeBids")
    tree, root = Tree(game, sets_only=True), grow(game)
    policy = drawn(tree, seed)
    slow, found = spelt_out(tree, policy), evaluate(tree, policy)
    for player in range(3):
        assert found.values[player] == pytest.approx(value(root, slow, player=player), abs=1e-9)
        assert found.best[player] == pytest.approx(best_value(root, slow, player), abs=1e-9)
        expected = gain_of_a_turn(root, slow, player)
        assert found.local and found.local[player] == pytest.approx(expected, abs=1e-9)
    assert found.nash_conv == pytest.approx(sum(found.best) - sum(found.values))


def test_walks_have_the_room_of_their_tree_one_after_another() -> None:
    """A walk of leduc takes less than its tree did, unless the tree says that it may not."""
    alive: set[int] = set()

    def count(histories: int) -> None:
        alive.add(sum(type(one) is BestResponse for one in gc.get_objects()))

    gc.collect()
    tree = Tree(Game("leduc"), sets_only=True, most_bytes=200_000)
    walk(tree, tree.uniform(), count)
    assert alive == {1}
    tree.most_bytes = 30_000
    for judge in (walk, evaluate):
        with pytest.raises(InputError, match="leduc is too large to enumerate: it takes more than"):
            judge(tree, tree.uniform())


TWO_UNITS = """
year 1901
years 1
win 5
inland AAA * army DDD
inland BBB * army DDD
inland CCC * army EEE
inland DDD * army AAA BBB
inland EEE army CCC
power RED home AAA BBB units A AAA A BBB
power BLUE home CCC units A CCC
"""


def test_a_turn_of_several_units_is_chosen_anew_as_one(tmp_path: pathlib.Path) -> None:
    """Two armies that go to one centre gain nothing, and one that the other supports does."""
    file = tmp_path / "two.map"
    file.write_text(TWO_UNITS)
    tree = Tree(Game(f"diplomacy:{file}"))
    root, policy = grow(tree.game), drawn(tree, 4)
    local, slow = walk(tree, policy).local, spelt_out(tree, policy)
    for player in (0, 1):
        expected = gain_of_a_turn(root, slow, player)
        assert local and expected > 1e-3 and local[player] == pytest.approx(expected, abs=1e-9)


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
    with pytest.raises(ValueError, match="player must be below 2"):
        BestResponse(tree.game, 2)
    with pytest.raises(InputError, match="mini is too large to enumerate: it takes more than"):
        BestResponse(Game("mini"), 0, most_bytes=100_000).step()
