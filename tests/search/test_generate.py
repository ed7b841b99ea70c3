"""Self-play at public belief states: walks, examples, and what is learned from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.public import pair_of
from stratkit.engine import PublicTree, Subgames
from stratkit.learn.buffer import BufferedOptimizer
from stratkit.learn.config import ReBeLConfig, RunConfig
from stratkit.learn.rebel import ReBeL
from stratkit.nets.pbs import build_pbs
from stratkit.search.generate import Generator
from stratkit.search.leaves import NetworkLeaves, rows_of
from stratkit.search.safe import Depths, PBSSearch, play_through
from stratkit.search.subgame import CFRD, nothing
from stratkit.solve.exploitability import evaluate


@pytest.mark.parametrize(
    ("name", "depth"), [("kuhn", 2), ("leduc", 3), ("liars_dice:2x2", 3), ("moves:nano", 7)]
)
def test_walks_reach_parts_as_often_as_the_policy_does(name: str, depth: int) -> None:
    """Deals, chance's public cards, both players' choices, and what a battle shows, from a policy
    that is not uniform."""
    public, n = pair_of(name, 5 if name == "moves:nano" else 0).public, 1500
    subgames = Subgames(public, np.full(n, public.opening, np.int32), depth)
    size = subgames.choices // n
    x = np.random.default_rng(1).random(size) ** 3
    policy = subgames.normalised(np.tile(x, n))
    prior = tuple(np.tile(public.prior(public.opening, p), (n, 1)) for p in (0, 1))
    reach = subgames.begin(0, prior[0]), subgames.begin(1, prior[1])
    for player in (0, 1):
        subgames.reach(player, policy, reach[player])
    reached = subgames.walk(policy, reach, 0.0, 5, np.arange(n), np.arange(n), 0)
    assert (subgames.child[reached] == -1).all()
    found = np.bincount(subgames.nodes[reached], minlength=len(public)) / n
    part = np.arange(len(subgames.nodes) // n)
    root = np.arange(public.hand[public.opening + 1, 0] - public.hand[public.opening, 0])
    total = reach[0][root] @ subgames.compatible(0, reach[1])[root]
    for one in part[subgames.child[part] == -1]:
        node = subgames.nodes[one]
        a, b = public.hand[node], public.hand[node + 1]
        if public.actors[node] == -2:
            continue  # there weights are what is paid
        at = [slice(subgames.hand[one, p], subgames.hand[one, p] + b[p] - a[p]) for p in (0, 1)]
        w = public.weights[public.weight[node] : public.weight[node + 1]].reshape(b - a)
        mass = reach[0][at[0]] @ w @ reach[1][at[1]]
        assert found[node] == pytest.approx(mass / total, abs=0.05)


def test_several_games_walk_through_one_subgame_and_none_through_another() -> None:
    public, which = pair_of("liars_dice:1x3").public, np.array([2, 0, 2, 2, 0])
    nodes = public.opening + np.array([0, 1, 2], np.int32)
    subgames = Subgames(public, nodes, 1)
    policy = subgames.uniform()
    prior = [np.full((3, 3), 1 / 3) for _ in (0, 1)]
    reach = subgames.begin(0, prior[0]), subgames.begin(1, prior[1])
    for player in (0, 1):
        subgames.reach(player, policy, reach[player])
    games = np.array([5, 5, 5, 6, 6])
    reached = subgames.walk(policy, reach, 0.0, 1, which, games, 0)
    assert subgames.owner[reached].tolist() == which.tolist()
    assert reached[0] == reached[2]  # the same game


def test_explorers_take_every_action_alike() -> None:
    public, n = pair_of("kuhn").public, 3000
    subgames = Subgames(public, np.full(n, public.opening, np.int32), 1)
    policy = subgames.normalised(np.tile([1.0, 0.0], subgames.choices // 2))  # always pass
    prior = np.tile(public.prior(public.opening, 0), (n, 1))
    reach = subgames.begin(0, prior), subgames.begin(1, prior)
    subgames.reach(0, policy, reach[0])
    reached = subgames.walk(policy, reach, 0.4, 5, np.arange(n), np.arange(n), 0)
    bets = public.seen[public.look[subgames.nodes[reached]], 1]
    assert bets.mean() == pytest.approx(0.5 * 0.4 * 0.5, abs=0.02)  # explorers, of two players
    beliefs = subgames.beliefs(0, reach[0], reached)
    assert beliefs == pytest.approx(1 / 3)  # a bet that nobody makes tells nothing


def test_examples_are_what_search_finds_and_games_go_on() -> None:
    public = pair_of("liars_dice:1x3").public
    generator = Generator(public, PBSSearch(updates=256, depth=0), 8, seed=3)
    first = generator.examples(nothing)
    assert len(first) == 2  # all games share the opening
    assert first.rows.shape == (2, 1 + 6 + 3 + 3) and first.rows[:, 0].tolist() == [1, 0]
    assert first.values.mean(1) == pytest.approx([1 / 9, -1 / 9], abs=0.02)
    assert len(generator.examples(nothing)) == 2  # the whole game is one subgame
    generator = Generator(public, PBSSearch(updates=8, depth=1), 8, seed=3)
    sizes = [len(generator.examples(nothing)) for _ in range(12)]
    assert sizes[0] == 2 and max(sizes) > 8 and max(sizes) <= 16
    again = Generator(public, PBSSearch(updates=8, depth=1), 8, seed=3)
    for _ in range(3):
        one = again.examples(nothing)
    other = Generator(public, PBSSearch(updates=8, depth=1), 8, seed=3)
    for _ in range(3):
        two = other.examples(nothing)
    assert (one.rows == two.rows).all() and (one.values == two.values).all()


def test_games_that_end_in_a_deep_opening_begin_again_in_it() -> None:
    """Few games of 1x4 reach their fifth decision."""
    generator = Generator(pair_of("liars_dice:1x4").public, PBSSearch(updates=16, depth=4), 32, 1)
    assert len(generator.examples(nothing)) == 2
    assert generator.ended > 64  # in the first round
    nodes, beliefs = generator.roots()
    assert len(nodes) > 16 and beliefs[0].sum(1) == pytest.approx(1)
    assert len(generator.examples(nothing)) == 2 * len(nodes) + 2 * (len(nodes) < 32)


def test_games_go_on_after_any_update_of_either_player() -> None:
    """Of four: each leaves other beliefs behind, so these tell after how many a game went on."""
    public, games = pair_of("liars_dice:1x3").public, 128
    torch.set_num_threads(1)
    leaves = NetworkLeaves(build_pbs("pbs:8", public.game, 1))
    generator = Generator(public, PBSSearch(updates=4, depth=2), games, seed=1)
    generator.examples(leaves)
    nodes, (first, second) = generator.roots()
    opening = np.array([public.opening], np.int32)
    prior = public.prior(public.opening, 0)[None], public.prior(public.opening, 1)[None]
    solver = CFRD(Subgames(public, opening, 2), prior, leaves)
    found = np.empty((4, len(nodes)), bool)
    for update in range(4):
        at = solver.subgames.leaf_parts
        some = [solver.subgames.beliefs(player, solver.reach[player], at) for player in (0, 1)]
        row = {int(node): i for i, node in enumerate(solver.subgames.nodes[at])}
        here = [row[node] for node in nodes.tolist()]
        both = np.hstack([some[0][here], some[1][here]])
        found[update] = np.isclose(both, np.hstack([first, second]), atol=1e-9).all(1)
        solver.step()
    assert found.any(0).all() and len(nodes) > games / 2
    told_apart = found.sum(0) == 1
    counts = found[:, told_apart].sum(1)
    assert (counts > told_apart.sum() / 8).all(), counts


@pytest.mark.parametrize("leaves", [2, 4])
def test_each_later_root_gives_so_many_leaves(leaves: int) -> None:
    """All 32 games stand at roots of their own behind the opening of 1x4. Few go on from there, so
    none is dropped. Those that go on by one leaf a root are among them, bit for bit."""
    public, games = pair_of("liars_dice:1x4").public, 32
    searches = [PBSSearch(updates=16, leaves=n) for n in (1, leaves)]
    plain, more = (Generator(public, search, games, seed=3) for search in searches)
    for size in (2, 2 * games):
        begun = len(more.roots()[0]), more.ended
        expected, found = plain.examples(nothing), more.examples(nothing)
        assert len(found) == size and np.array_equal(found.rows, expected.rows)
        assert np.array_equal(found.values, expected.values, equal_nan=True)
    assert begun[0] == games
    nodes = more.roots()[0]
    assert more.ended - begun[1] + len(nodes) == leaves * games
    states = [
        {row.tobytes() for row in np.column_stack([nodes, *beliefs])}
        for nodes, beliefs in (play.roots() for play in (plain, more))
    ]
    assert states[0] and states[0] < states[1] and len(states[1]) == len(nodes)
    assert len(more.examples(nothing)) == 2 * len(nodes) + 2  # and the opening's


def test_all_leaves_of_a_root_are_drawn_alike() -> None:
    """Second leaves are on average where first ones are, and what is believed there is the same."""
    public, counts, means = pair_of("liars_dice:1x3").public, [], []
    for leaves in (1, 4):
        play = Generator(public, PBSSearch(updates=4, depth=1, leaves=leaves), 3000, seed=3)
        for _ in range(2):
            play.examples(nothing)
        nodes, beliefs = play.roots()
        counts.append(np.bincount(nodes, minlength=len(public)))
        means.append([sum(beliefs[0][nodes == n]) / max(1, sum(nodes == n)) for n in set(nodes)])
    share = [count / count.sum() for count in counts]
    assert counts[0].sum() < 2000 and counts[1].sum() == 3000
    assert share[1] == pytest.approx(share[0], abs=0.03)
    assert np.array(means[1]) == pytest.approx(np.array(means[0]), abs=0.06)


def test_examples_of_policies_are_what_search_plays_where_games_go() -> None:
    """The opening of 1x3, whose search does not depend on what it is asked for."""
    public = pair_of("liars_dice:1x3").public
    search, game = PBSSearch(updates=64, depth=2, warm=0), public.game
    found = Generator(public, search, 16, seed=3).examples(nothing)
    plain = Generator(public, replace(search, warm=None), 16, seed=3).examples(nothing)
    assert (found.rows[:2] == plain.rows).all()
    assert np.array_equal(found.values[:2, :3], plain.values, equal_nan=True)
    plays = found.values[:, 3:].reshape(-1, 3, game.actions)
    assert np.isnan(plays[:2]).all() and np.isnan(found.values[2:, :3]).all()
    assert (found.rows[2:, 0] == 1).all()  # who acts is asked
    subgames = Subgames(public, np.array([public.opening], np.int32), 2)
    solver = CFRD(subgames, (public.prior(public.opening, 0)[None],) * 2)
    solver.solve(64)
    begin = solver.averaged()[: subgames.first[3]].reshape(3, -1)
    assert plays[2][:, public.choices[: begin.shape[1]]] == pytest.approx(begin)
    known = ~np.isnan(plays[2:])
    assert known.sum(2).tolist() == [[n] * 3 for n in known[:, 0].sum(1).tolist()]
    assert 1 < len(plays) - 2 <= 7 and np.nansum(plays[2:], 2) == pytest.approx(1)


def test_games_at_several_depths_are_solved_apart() -> None:
    """As many nodes as allowed: from the opening of 1x4 to depth 2, from later roots to the end,
    whose values are those of whole games."""
    public, search = pair_of("liars_dice:1x4").public, PBSSearch(updates=256, depth=None, nodes=100)
    generator = Generator(public, search, 12, seed=1)
    first = generator.examples(nothing)
    nodes, beliefs = generator.roots()
    assert len(first) == 2 and len(nodes) > 6
    depths = Depths(public, search)
    assert {depths.of(node)[0] for node in nodes.tolist()} == {0, 2}
    found = generator.examples(nothing)
    short = np.array([depths.of(node)[0] == 0 for node in nodes.tolist()])
    solver = CFRD(Subgames(public, nodes[short], 0), (beliefs[0][short], beliefs[1][short]))
    solver.solve(256)
    expected = np.concatenate([solver.values(player) for player in (0, 1)])
    of_ends = found.values[: 2 * short.sum()]  # depth 0 comes first
    assert of_ends == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_a_policy_head_says_the_policy_of_subgames() -> None:
    """Of several in one batch as of each alone; a belief follows from what is said above it."""
    torch.set_num_threads(1)
    public = pair_of("liars_dice:1x3").public
    network = build_pbs("pbs:8x8+policy", public.game, 1)
    assert network.policy
    with torch.no_grad():
        network.policy.last.weight.mul_(300)  # far from uniform
    leaves, nodes = NetworkLeaves(network), public.opening + np.array([0, 2], np.int32)
    beliefs = np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0]]), np.full((2, 3), 1 / 3)
    both = Subgames(public, nodes, 3)
    policy = leaves.policy(both, beliefs)
    assert both.normalised(policy) == pytest.approx(policy)
    assert abs(policy - both.uniform()).max() > 0.1
    for i in (0, 1):
        alone = Subgames(public, nodes[i : i + 1], 3)
        part = beliefs[0][i : i + 1], beliefs[1][i : i + 1]
        assert leaves.policy(alone, part) == pytest.approx(policy[both.subgame == i], abs=1e-5)
    reach = [both.begin(player, beliefs[player]) for player in (0, 1)]
    for player in (0, 1):
        both.reach(player, policy, reach[player])
    at = both.part[-1:].astype(np.int32)  # somewhere below a root
    assert both.parents[at[0]] >= 0
    believed = tuple(both.beliefs(player, reach[player], at) for player in (0, 1))
    row = rows_of(public, both.nodes[at], believed, int(public.actors[both.nodes[at[0]]]))
    logits = network.policy(torch.from_numpy(row))[0].double()
    here = both.part == at[0]
    odds = logits.detach().exp().numpy()[both.output[here]]
    hands = both.hand_of_choice[here]
    expected = odds / np.array([odds[hands == hand].sum() for hand in hands])
    assert policy[here] == pytest.approx(expected, abs=1e-5)


def test_a_network_learns_liars_dice() -> None:
    """1x3, 3,000 examples, judged by safe play."""
    torch.set_num_threads(1)
    pair = pair_of("liars_dice:1x3")
    config = ReBeLConfig(average_rate=0.05, buffer=2000)
    algorithm = ReBeL("pbs:48x48", pair.public.game, config, 0)
    learner = BufferedOptimizer(algorithm, RunConfig(batch=128))
    generator = Generator(pair.public, PBSSearch(updates=16), 32, seed=0)

    def exploitability() -> float:
        leaves = NetworkLeaves(algorithm.networks["average"])
        sums = play_through(pair.public, leaves, PBSSearch(updates=64), 16, 0, 1)[0]
        return evaluate(pair.tree, pair.to_tree(pair.public.normalised(sums))).exploitability

    untrained = exploitability()
    while learner.added < 3000:
        learner.add(generator.examples(NetworkLeaves(algorithm.trained)))
        while learner.due:
            metrics = learner.learn()
    assert set(metrics) == {"decisions", "value_loss", "grad_norm", "lr"}
    assert exploitability() < min(0.1, untrained / 2), untrained


@pytest.mark.parametrize("name", ["liars_dice:1x4", "liars_dice:2x3"])
def test_a_merged_tree_teaches_the_same(name: str) -> None:
    """Bit by bit, in games that pass several subgames."""
    whole = pair_of(name).public
    network = NetworkLeaves(build_pbs("pbs:16", whole.game, 1))
    search = PBSSearch(updates=8, depth=None, nodes=40)
    trees = whole, PublicTree(whole.game, merged=True)
    both = [Generator(tree, search, 8, seed=3) for tree in trees]
    for _ in range(6):
        expected, found = (play.examples(network) for play in both)
        assert np.array_equal(found.rows, expected.rows)
        assert np.array_equal(found.values, expected.values, equal_nan=True)
    assert both[0].ended == both[1].ended > 0
