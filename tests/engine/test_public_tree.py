"""The public tree: its hands that act are the information sets, one to one, and worth the same."""

from __future__ import annotations

import numpy as np
import pytest

from engine.public import Pair, pair_of
from stratkit.engine import Game, PublicTree, Subgames, Tree
from stratkit.errors import InputError
from stratkit.solve.exploitability import best_response

RPS = "matrix:formats/samples/modified_rps.matrix"
GAMES = [("kuhn", 0), ("leduc", 0), ("liars_dice:1x3", 0), ("liars_dice:2x2", 0), (RPS, 0)]
STRATEGO = [("nano", 4), ("moves:nano", 5)]


def values(pair: Pair, policy: np.ndarray, player: int) -> tuple[float, float]:
    """What `policy` and a best response to it are worth to `player` in the public tree."""
    subgames = Subgames(pair.public, np.array([0], np.int32), 0)
    played = pair.to_public(policy)[subgames.tree_choice]
    other = subgames.begin(1 - player, pair.public.prior(0, 1 - player)[None])
    subgames.reach(1 - player, played, other)
    found, q = np.zeros(subgames.hands[player]), np.zeros(subgames.choices)
    nothing = np.zeros((0, pair.public.game.hands), np.float32)
    subgames.ends(player, other, nothing, found)
    subgames.backup(player, played, found, q)
    value = float(found[0])
    subgames.ends(player, other, nothing, found)
    subgames.best_response(player, played.copy(), found, q)
    return value, float(found[0])


@pytest.mark.parametrize(("name", "plies"), GAMES + STRATEGO)
def test_hands_that_act_are_the_information_sets_and_worth_the_same(name: str, plies: int) -> None:
    pair = pair_of(name, plies)
    assert sorted(pair.sets) == list(range(len(pair.tree)))
    x = np.random.default_rng(1).random(len(pair.tree.actions)) ** 4
    policy = x / pair.tree.sums(x)[pair.tree.owner]
    reach = pair.tree.reach(policy)
    for player in (0, 1):
        value = pair.tree.backup(player, policy, pair.tree.payoffs(player, reach))
        best, _ = best_response(pair.tree, player, reach)
        assert values(pair, policy, player) == pytest.approx((value, best), abs=1e-12)


@pytest.mark.parametrize(
    "name, nodes", [("kuhn", 2 + 9), ("liars_dice:1x4", 2 + 2**9 - 1), ("leduc", 242)]
)
def test_public_states_are_counted(name: str, nodes: int) -> None:
    # Kuhn: 9 sequences of bets. Liar's Dice: every set of bids, each but the empty one with a call.
    assert len(pair_of(name).public) == nodes


def weights(public: PublicTree, node: int) -> np.ndarray:
    """The weights of a node, by the numbers of both players' hands."""
    out = np.zeros((public.game.hands,) * 2)
    begin, end = public.hand[node], public.hand[node + 1]
    rows, columns = (public.number[p][begin[p] : end[p]] for p in (0, 1))
    flat = public.weights[public.weight[node] : public.weight[node + 1]]
    out[np.ix_(rows, columns)] = flat.reshape(end - begin)
    return out


def test_deals_are_correlated_where_cards_are_dealt() -> None:
    kuhn, dice = pair_of("kuhn").public, pair_of("liars_dice:2x2").public
    for public in (kuhn, dice):
        assert public.opening == 2  # chance deals twice before
    assert weights(kuhn, 2) == pytest.approx((1 - np.eye(3)) / 6)
    hands = np.array([1, 2, 1]) / 4  # both 1, 1 and 2, both 2
    assert dice.prior(2, 0) == pytest.approx(hands)
    assert weights(dice, 2) == pytest.approx(np.outer(hands, hands))


def test_a_public_card_excludes_hands() -> None:
    leduc = pair_of("leduc").public
    chance = np.flatnonzero((leduc.actors == -1) & (np.arange(len(leduc)) > 2))
    children = [leduc.child[chance[0]] + i for i in range(3)]
    assert [leduc.parents[child] for child in children] == [chance[0]] * 3
    for child in children:
        (card,) = np.flatnonzero(leduc.seen[leduc.look[child], :3])
        assert weights(leduc, child)[card, card] == 0  # there are but two of a rank
        assert weights(leduc, child).sum() == pytest.approx(1 / 3)


def test_a_row_that_nobody_saw_becomes_a_hand() -> None:
    rps = pair_of(RPS).public
    assert len(rps) == 3
    assert [rps.hand[2, player] - rps.hand[1, player] for player in (0, 1)] == [3, 1]
    assert list(rps.source[0][rps.hand[1, 0] : rps.hand[2, 0]]) == [0, 1, 2]


def test_hands_of_stratego_are_setups_and_battles_show_pieces() -> None:
    """Six setups of three pieces; who deploys shows nothing; a battle excludes hands for good."""
    public = pair_of("moves:nano", 5).public
    assert (np.diff(public.child[:7]) == 1).all()  # one child of each of six placements
    hands = public.hand[1:] - public.hand[:-1]
    assert list(hands[6]) == [6, 6] and hands.max() == 6
    assert weights(public, 6) == pytest.approx(np.ones((6, 6)))
    play = np.arange(7, len(public))
    assert (hands[play] <= hands[public.parents[play]]).all()
    for player in (0, 1):  # a setup keeps its number
        own = public.actors[public.parents[play]] != player
        for node in play[own][::50]:
            here = public.number[player][slice(*public.hand[node : node + 2, player])]
            before = public.hand[public.parents[node] : public.parents[node] + 2, player]
            assert set(here) <= set(public.number[player][slice(*before)])
    seen = public.seen[public.look[play], -6 - 12 * 2 * 7 :].astype(int)
    hidden, pieces = np.split(seen, [6], axis=1)
    kind, origin = np.split(pieces.reshape(-1, 12, 2, 7), [4], axis=3)  # square, side: 3 types, "?"
    assert (kind.sum(3) == origin.sum(3)).all() and kind.sum(3).max() == 1
    assert (origin.sum(1) <= 1).all()  # no two of a side began on one square
    assert (kind[..., 3].sum(1) == hidden.reshape(-1, 2, 3).sum(2)).all()
    with pytest.raises(InputError, match="mini: it has no public belief states"):
        PublicTree(Game("mini"))


@pytest.mark.parametrize(("name", "plies"), GAMES + STRATEGO)
def test_each_look_is_kept_once_and_children_look_different(name: str, plies: int) -> None:
    public = pair_of(name, plies).public
    assert len(np.unique(public.seen, axis=0)) == len(public.seen) == public.look.max() + 1
    family = np.stack([public.parents, public.look], 1)
    assert len(np.unique(family, axis=0)) == len(public)
    if plies > 4:
        assert len(public.seen) < len(public) / 2  # many ways lead to one board


def test_games_without_beliefs_and_large_ones_are_refused() -> None:
    with pytest.raises(InputError, match="dark_hex:3: it has no public belief states"):
        PublicTree(Game("dark_hex:3"))
    with pytest.raises(InputError, match="liars_dice:1x4: too large to enumerate"):
        PublicTree(Game("liars_dice:1x4"), most_nodes=100)
    with pytest.raises(InputError, match="kuhn: too large to enumerate"):
        PublicTree(Game("kuhn"), most_bytes=1000)


def test_trees_of_other_games_do_not_correspond() -> None:
    with pytest.raises(ValueError, match="tree has no information set 0"):
        pair_of("liars_dice:1x3").public.infosets(pair_of("kuhn").tree)
    with pytest.raises(ValueError, match="tree has information sets that are none"):
        pair_of("kuhn").public.infosets(_deeper())


def _deeper() -> object:
    """Kuhn's tree with one information set more."""
    tree = pair_of("kuhn").tree

    class More(Tree):
        def __init__(self) -> None:
            pass

        def __getattr__(self, name: str) -> object:
            return getattr(tree, name)

        def __len__(self) -> int:
            return len(tree) + 1

        def observations(self) -> np.ndarray:
            return tree.observations()

    return More()


def merged_of(name: str) -> PublicTree:
    return PublicTree(Game(name), merged=True)


@pytest.mark.parametrize("name", ["liars_dice:1x4", "liars_dice:2x3"])
def test_subgames_of_a_merged_tree_are_those_of_the_whole(name: str) -> None:
    """From every node to the end: the same parts, hands, looks and values."""
    whole, merged = pair_of(name).public, merged_of(name)
    assert len(merged) < len(whole) / 6 and merged.histories == whole.histories
    begun, nodes = {}, [(whole.opening, merged.opening)]
    sizes = np.bincount(whole.parents[1:], minlength=len(whole))
    for node, like in nodes:
        begun.setdefault(like, node)
        below = range(sizes[node])
        nodes += [(whole.child[node] + i, merged.child[like] + i) for i in below]
    assert len(nodes) == len(whole) - whole.opening
    ours, theirs = (
        Subgames(tree, np.array(list(roots), np.int32), 0)
        for tree, roots in ((merged, begun), (whole, begun.values()))
    )
    for field in ("parents", "child", "hand", "choice", "leaf"):
        assert np.array_equal(getattr(ours, field), getattr(theirs, field))
    assert np.array_equal(ours.output, theirs.output)
    seen = [one.tree.seen[one.tree.look[one.nodes]] for one in (ours, theirs)]
    assert np.array_equal(*seen)
    policy = ours.normalised(np.random.default_rng(1).random(ours.choices))
    for player in (0, 1):
        values = []
        for one in (ours, theirs):
            beliefs = np.stack([one.tree.prior(int(node), 1 - player) for node in one.roots])
            reach = one.begin(1 - player, beliefs)
            one.reach(1 - player, policy, reach)
            values.append(np.zeros(one.hands[player]))
            one.ends(player, reach, np.zeros((0, one.tree.game.hands), np.float32), values[-1])
            one.backup(player, policy, values[-1], np.zeros(one.choices))
        assert np.array_equal(*values) and np.abs(values[0]).max() > 0.1


def test_a_merged_tree_of_two_dice_of_five_faces_is_small() -> None:
    """It has as many histories as the exact walk, and one for all three dice of six faces, too."""
    merged = merged_of("liars_dice:2x5")
    assert merged.histories == 471_858_991 and merged.bytes < 1 << 23
    assert len(merged) < 500
    with pytest.raises(InputError, match="kuhn: its public states do not tell how it goes on"):
        merged_of("kuhn")


def test_a_history_is_a_path() -> None:
    """Of the whole tree it is the one of parents; of a merged one it looks alike."""
    for name, dealt, actions in (
        ("liars_dice:2x3", [2, 5], [0, 4, 7, 12]),
        ("leduc", [1, 0], [1, 1, 2, 2]),
    ):
        whole = pair_of(name).public
        history = np.array(dealt + actions, np.int32)
        nodes, hands = whole.path(history)
        assert np.array_equal(whole.parents[nodes[1:]], nodes[:-1])
        numbers = [whole.number[p][whole.hand[nodes[-1], p] + hands[p]] for p in (0, 1)]
        assert numbers == dealt
        if name != "leduc":
            merged = merged_of(name)
            others, theirs = merged.path(history)
            assert theirs == hands and (others[1:] > others[0]).all()
            looks = [tree.seen[tree.look[at]] for tree, at in ((whole, nodes), (merged, others))]
            assert np.array_equal(*looks)
    for wrong in ([2, 5, 4, 0], [2, 5, 12], [2, 5, -1], [2, 5, 0, 12, 0]):
        with pytest.raises(ValueError, match="actions: no history of the game"):
            pair_of("liars_dice:2x3").public.path(np.array(wrong, np.int32))
