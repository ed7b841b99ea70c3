"""Players that search public belief states: what they play, what they may know, what is refused."""

from __future__ import annotations

import json
import pathlib
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.public import Pair, pair_of
from running import run
from stratkit.engine import Batch, Game, Subgames
from stratkit.errors import InputError, UsageError
from stratkit.nets.pbs import build_pbs
from stratkit.play.selfplay import SelfplayGames
from stratkit.play.table import Table
from stratkit.players.baselines import RandomPlayer
from stratkit.players.factory import open_player, place
from stratkit.players.mixture import mixed
from stratkit.players.player import Views
from stratkit.players.registry import parse_player
from stratkit.players.searching import pbs
from stratkit.players.searching.pbs import PBSPlayer
from stratkit.search.leaves import ExactLeaves, NetworkLeaves
from stratkit.search.safe import PBSSearch, play_through
from stratkit.solve.cfr import from_reach
from stratkit.solve.exploitability import evaluate, jackknife_of_sums
from stratkit.solve.sets import asked

RPS = "matrix:formats/samples/modified_rps.matrix"


def opened(text: str, game: str, seed: int = 0) -> PBSPlayer:
    player = open_player(parse_player(text), Game(game), seed, 8).player
    assert isinstance(player, PBSPlayer)
    return player


def views_of(pair: Pair, game: int) -> Views:
    """All information sets, as they are seen in one game. There are no worlds to look into."""
    tree = pair.tree
    n = len(tree)
    return Views(
        np.full(n, game, np.int64),
        tree.players,
        np.zeros(n, np.int32),
        tree.legal(),
        tree.observations(),
    )


def test_what_is_played_is_what_exploit_counts() -> None:
    """Kuhn to depth 1: the mixture over games, by the probabilities of each player's own play."""
    pair, games = pair_of("kuhn"), 64
    player = opened("search=cfr,iterations=4,depth=1,random", "kuhn")
    player.leaves = ExactLeaves(2)
    sums = np.zeros(len(pair.tree.actions))
    for game in range(games):
        sums += pair.tree.reach(pair.tree.flat(player.policy(views_of(pair, game))))[1:]
    counted = play_through(player.tree, player.leaves, player.search, games, 1, 1)[0]
    expected = pair.to_tree(player.tree.normalised(counted))
    assert from_reach(pair.tree, sums) == pytest.approx(expected, abs=0.1)


def test_the_number_of_nodes_says_how_deep_a_search_goes() -> None:
    """Two decisions into 1x3, and from there to the end; exploit searches as the player does."""
    pair = pair_of("liars_dice:1x3")
    player = opened("search=cfr,iterations=32,mode=average,random", "liars_dice:1x3")
    player.leaves = ExactLeaves(4)
    whole = player.policy(views_of(pair, 0))
    assert {roots.subgames.depth for roots in player._cache._seats[0].values()} == {0}
    player = PBSPlayer(player.game, replace(player.search, nodes=40), ExactLeaves(4), 0)
    found = player.policy(views_of(pair, 0))
    depths = {root: one.subgames.depth for root, one in player._cache._seats[0].items()}
    assert depths.pop((player.tree.opening,)) == 2 and set(depths.values()) == {0}
    counted = play_through(player.tree, player.leaves, player.search, 1, 1, 1)[0]
    expected = pair.to_tree(player.tree.normalised(counted))
    reached = pair.tree.reach(pair.tree.flat(found))[1:] > 1e-6
    assert pair.tree.flat(found)[reached] == pytest.approx(expected[reached], abs=1e-6)
    assert abs(found - whole).max() > 0.01


def test_each_game_and_side_has_its_own_iterations_and_keeps_to_them() -> None:
    pair = pair_of("liars_dice:1x3")
    player = opened("search=cfr,iterations=16,depth=2,random", "liars_dice:1x3")
    first, second = (player.policy(views_of(pair, game)) for game in (1, 2))
    assert abs(first - second)[pair.tree.players == 0].max() > 0.01
    assert abs(first - second)[pair.tree.players == 1].max() > 0.01
    player.end(np.array([1, 1]), np.array([0, 1], np.int8))  # what it keeps does not matter
    one_by_one = [player.policy(views_of(pair, 1).take(np.array([i]))) for i in (50, 7, 100)]
    assert (np.concatenate(one_by_one) == first[[50, 7, 100]]).all()
    other = opened("search=cfr,iterations=16,depth=2,random", "liars_dice:1x3", seed=1)
    assert abs(other.policy(views_of(pair, 1)) - first).max() > 0.01


def test_it_keeps_nothing_of_games_that_are_over() -> None:
    """While it plays, a hundred games take no more than the few that are played at a time."""
    game, most = Game("liars_dice:1x3"), 0
    player = opened("search=cfr,iterations=2,depth=1,random", game.name)
    assert isinstance(player.leaves, ExactLeaves)
    for _ in Table(game, [player], SelfplayGames(game, iter(range(100)), None), 4, seed=3).rounds():
        most = max(most, player._cache.bytes)
        solved = [one for roots in player._cache._seats.values() for one in roots.values()]
        assert len(player._cache._seats) <= 2 * 4
        assert len({id(one.subgames) for one in solved}) == len(player._cut)  # games share them
        assert not len(player.leaves._solvers)
    assert most and not player._cache.bytes and not player._cut


def test_it_keeps_so_many_bytes_of_games_that_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    pair, text = pair_of("liars_dice:1x3"), "search=cfr,iterations=2,depth=1,random"
    player = opened(text, "liars_dice:1x3")
    free = [player.policy(views_of(pair, game)) for game in range(8)]
    all_of_them = player._cache.bytes
    monkeypatch.setattr(pbs, "CACHE_BYTES", all_of_them // 2)
    player = opened(text, "liars_dice:1x3")
    for game, found in enumerate(free):
        assert (player.policy(views_of(pair, game)) == found).all()
        assert player._cache.bytes <= all_of_them // 2
    assert player._cache.bytes > all_of_them // 4
    assert (player.policy(views_of(pair, 0)) == free[0]).all()  # solved anew


@pytest.mark.parametrize(
    ("name", "hands", "after", "merged"),  # bids; bets; bets and the public card
    [
        ("liars_dice:1x4", 4, (1, 4), False),
        ("liars_dice:1x4", 4, (1, 4), True),
        ("leduc", 3, (1, 2), False),
        ("leduc", 3, (1, 1, 0), False),
    ],
)
def test_what_the_opponent_has_changes_nothing(
    name: str, hands: int, after: tuple[int, ...], merged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal public histories, seeds and own hands; the opponent has anything."""
    game, n = Game(name), 8
    if merged:
        monkeypatch.setattr(pbs, "MAX_HISTORIES", 0)
    player = opened("search=cfr,iterations=16,depth=2,random", game.name)
    games = np.repeat(np.arange(n), hands)
    batch, zeros = Batch(game, n * hands), np.zeros(n * hands, np.int32)
    for actions in (zeros + 2, np.tile(np.arange(hands), n), *(zeros + a for a in after)):
        batch.apply(actions.astype(np.int32))
    seen = batch.actors(), batch.legal(), batch.observe()
    views = Views.of_batch(batch, np.arange(n * hands), games, zeros, seen)
    found = player.policy(views).reshape(n, hands, -1)
    assert (found == found[:, :1]).all() and len(np.unique(found[:, 0], axis=0)) > 1
    chosen = player.act(views).actions.reshape(n, hands)
    assert (chosen == chosen[:, :1]).all()


def test_in_a_merged_tree_it_plays_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """At every information set of a game, by the average and by its own random iterations."""
    pair = pair_of("liars_dice:1x4")
    batch, numbers = pair.tree.states()
    rows = np.arange(batch.size)
    seen = batch.actors(), batch.legal(), batch.observe()
    views = Views.of_batch(batch, rows, np.zeros_like(rows), numbers, seen)
    text = "search=cfr,iterations=16,depth=2,random"
    found = []
    for most in (pbs.MAX_HISTORIES, 1000):
        monkeypatch.setattr(pbs, "MAX_HISTORIES", most)
        player = opened(f"mode=average,{text}", "liars_dice:1x4")
        player.leaves = ExactLeaves(2)
        found.append(player.policy(views))
        assert player.tree.merged is (most == 1000)
    assert np.array_equal(*found)
    player = opened(text, "liars_dice:1x4")
    player.leaves = ExactLeaves(2)
    drawn = player.policy(views)
    assert np.array_equal(opened_again(player).policy(views.take(rows[::-1]))[::-1], drawn)
    assert abs(drawn - found[0]).max() > 0.01


def test_a_merged_tree_needs_views_of_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others, as the policy for OpenSpiel has them, do not tell which way led to a node."""
    monkeypatch.setattr(pbs, "MAX_HISTORIES", 0)
    player = opened("search=cfr,iterations=16,depth=2,random", "liars_dice:1x4")
    seen, legal, _ = pair_of("liars_dice:1x4").tree.distinct_views()
    with pytest.raises(InputError, match="no position of liars_dice:1x4 that can be searched"):
        asked(player, seen[:1], legal[:1])


def opened_again(player: PBSPlayer) -> PBSPlayer:
    return PBSPlayer(player.game, player.search, player.leaves, player.seed)


def test_average_play_is_the_same_in_all_games() -> None:
    pair = pair_of("kuhn")
    player = opened("search=cfr-avg,iterations=32,depth=0,mode=average,random", "kuhn")
    first, second = (player.policy(views_of(pair, game)) for game in (1, 2))
    assert (first == second).all()
    assert evaluate(pair.tree, pair.tree.flat(first)).exploitability < 0.05


@pytest.mark.parametrize(
    ("text", "game", "what"),
    [
        ("search=cfr,random", "dark_hex:3", "search=cfr: dark_hex:3: it has no public belief"),
        ("search=cfr,random", "barrage", "search=cfr: barrage: it has no public belief states"),
        ("search=flop,heuristic", "barrage", "search=flop values what it does not search by a net"),
        (
            "search=cfr,iterations=7,random",
            "kuhn",
            "iterations=7: an even number from 2 to 1000000",
        ),
        ("search=cfr,mode=sfe,random", "kuhn", r"safe, average is needed \(did you mean 'safe'\?"),
        ("iterations=8,random", "kuhn", r"iterations= needs search=cfr\|cfr-avg\|fp"),
        ("search=cfr,worlds=8,random", "kuhn", "worlds= needs search=mmd"),
    ],
)
def test_what_cannot_be_searched_is_refused(text: str, game: str, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        opened(text, game)


def test_a_position_of_another_game_is_refused() -> None:
    player = opened("search=cfr,iterations=2,depth=0,random", "kuhn")
    views = views_of(pair_of("kuhn"), 0)
    views.observations[0] = 7
    with pytest.raises(InputError, match="no position of kuhn that can be searched"):
        player.policy(views)


def test_exploit_says_how_it_was_searched() -> None:
    words = ["search=cfr,iterations=512,depth=1", "search=cfr,iterations=512,depth=1,mode=average"]
    done = run("exploit", RPS, *(f"{word},random" for word in words), "--json", "--repeats", 80)
    safe, average = json.loads(done.out)["policies"]
    assert [safe[key] for key in ("iterations", "depth", "games")] == [512, 1, 80]
    assert [average[key] for key in ("iterations", "depth", "games")] == [512, 1, 1]
    assert safe["estimator"] == average["estimator"] == "average" and "nodes" not in safe
    assert 0 < safe["nash_conv_error"] < 0.5
    assert safe["nash_conv"] < average["nash_conv"] - 0.2
    assert "nash_conv_error" not in average
    words = ["search=flop,depth=0,random", "search=fp,random", "uniform", "--repeats", 2]
    table = run("exploit", "kuhn", *words, "--estimator", "iterate").out
    how = ["+-", "iterations", "depth", "games", "estimator", "nodes"]
    assert table.splitlines()[2].split()[-6:] == how
    assert table.splitlines()[3].split()[-5:] == ["1024", "0", "2", "iterate", "-"]
    assert table.splitlines()[4].split()[-5:] == ["1024", "0", "2", "iterate", "5000"]
    assert table.splitlines()[5].split()[-5:] == ["-", "-", "-", "-", "-"]


def test_the_jackknife_knows_what_differs() -> None:
    tree = pair_of("kuhn").tree
    reach = tree.reach(tree.uniform())[1:]
    assert jackknife_of_sums(tree, [reach, 2 * reach, reach]) == pytest.approx(0, abs=1e-12)
    first = np.zeros_like(reach)
    first[tree.first[:-1]] = 1
    assert jackknife_of_sums(tree, [reach, first, reach]) > 0.1


def test_it_plays_matches(tmp_path: pathlib.Path) -> None:
    words = ["match", "name=deep,search=cfr,iterations=16,random", "random", "-n", 6, "--seed", 3]
    for name in ("one", "two"):
        assert run(*words, "--game", "liars_dice:1x3", "-o", tmp_path / name).status == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    header = json.loads((tmp_path / "one").read_text().splitlines()[0])
    assert header["players"][0]["spec"] == "search=cfr,iterations=16,random"


def test_it_says_what_it_believes(tmp_path: pathlib.Path) -> None:
    words = ["match", "name=deep,search=cfr,iterations=16,random", "random", "-n", 4, "--seed", 3]
    words += ["--game", "liars_dice:1x3", "-o", tmp_path / "games.jsonl"]
    done = run(*words, "--explain", tmp_path / "log")
    assert done.status == 0, done.err
    entries = [text.splitlines() for text in (tmp_path / "log").read_text().split("\n\n")[:-1]]
    assert len(entries) >= 4
    for heading, own, other, *actions in entries:
        assert re.fullmatch(r"deep: game \d, side [01], hand [0-2]: iteration \d of 8", heading)
        for line, name in ((own, "own hands"), (other, "opponent hands")):
            assert line.strip().startswith(name)
            assert sum(map(float, line.split()[2:])) == pytest.approx(1, abs=0.003)
        assert all(re.fullmatch(r"[12]x[123]|liar", line.split()[0]) for line in actions)
        assert sum(float(line.split()[1]) for line in actions) == pytest.approx(1, abs=0.004)
    first = next(entry for entry in entries if " side 0," in entry[0])
    assert first[1].split()[2:] == first[2].split()[2:] == ["0.333"] * 3
    plain = tmp_path / "plain.jsonl"
    assert run(*words[:-1], plain).status == 0
    assert plain.read_bytes() == (tmp_path / "games.jsonl").read_bytes()


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_its_network_computes_where_a_mixture_is_placed(device: str) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    game = Game("liars_dice:1x3")
    rows = np.random.default_rng(1).random((4, game.pbs_inputs), np.float32)
    leaves = NetworkLeaves(build_pbs("pbs:8+policy", game, 1))
    player = PBSPlayer(game, PBSSearch("cfr", 4, 1), leaves, 1)
    exact = leaves.values(rows)
    place(mixed([RandomPlayer(1), player], [0.5, 0.5], 1), device, torch.bfloat16)
    rounded = leaves.values(rows)
    assert (rounded != exact).any()
    np.testing.assert_allclose(rounded, exact, rtol=0.05, atol=1e-3)
    subgames = Subgames(player.tree, np.array([player.tree.opening], np.int32), 0)
    prior = np.full((1, game.hands), 1 / game.hands)
    assert {p.device.type for p in leaves.network.parameters()} == {device}
    assert leaves.policy(subgames, (prior, prior)).sum() == pytest.approx(
        subgames.uniform().sum(), rel=1e-6
    )
