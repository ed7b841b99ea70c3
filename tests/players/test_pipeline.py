"""The policy that plays: whole moves, and what reaches the board."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from players.positions import Scene
from players.sharp import deepnash, post_processed, sharp_player
from stratkit.engine import Batch, Game, observation_dtype, uniform_rows
from stratkit.engine.random_streams import Stream
from stratkit.engine.stratego import variant
from stratkit.games.heuristic import UniformBlueprint
from stratkit.nets import build, process
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.network import NetworkPlayer
from stratkit.players.player import Decision, Explanation, Games, Player, Sides, Views
from stratkit.players.testtime.inputs import eager
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.pipeline import PostprocessedPlayer
from stratkit.players.testtime.plans import split
from stratkit.players.testtime.stages import Quanta, Turns
from stratkit.storage.columns import Episode


def play(game: Game, *players: object, games: int = 4, slots: int = 4) -> list[Episode]:
    seats = tuple(range(len(players))) if len(players) > 1 else (0, 0)
    seatings: Iterator[Seating] = (Seating(number, seats) for number in range(games))
    table = Table(game, players, Seatings(seatings), slots, max_actions=80)  # type: ignore[arg-type]
    return [episode for ended in table.rounds() if ended for episode, _, _ in ended]


class Audit(Player):
    """Asks both the network and the corrected player, and keeps what they say."""

    def __init__(self, raw: NetworkPlayer, chain: PostprocessedPlayer) -> None:
        self.raw, self.chain = raw, chain
        self.plays: list[tuple[Views, np.ndarray, np.ndarray, list[list[tuple[int, int]]]]] = []

    def begin(self, games: Games, sides: Sides) -> None:
        self.chain.begin(games, sides)

    def end(self, games: Games, sides: Sides) -> None:
        self.chain.end(games, sides)

    def act(self, views: Views) -> Decision:
        moves = [views.state(row).moves() for row in range(len(views))]
        self.plays.append((views, self.raw.policy(views), self.chain.policy(views), moves))
        return self.chain.act(views)


def test_values_come_with_decisions_where_they_are_asked_for() -> None:
    game = Game("mini")
    raw = sharp_player(game)
    chain = post_processed(raw, PostProcessing(quanta=8))
    views = Views.of_one(Batch(game, 1), 0, 0)
    assert chain.act(views).values is None and raw.act(views).values is None
    values = raw.evaluator.values(views.observations)
    assert values[0] != 0
    for player in (chain, raw):
        np.testing.assert_allclose(player.act_with_values(views).values, values)


def test_deployment_and_play_have_values_of_their_own() -> None:
    game = Game("mini")
    raw = sharp_player(game)
    asked = PostProcessing(threshold=0.05, quanta=16, deploy_threshold=0.0, deploy_quanta=4)
    audit = Audit(raw, post_processed(raw, asked))
    play(game, audit)
    deployed = 0
    for views, before, after, moves in audit.plays:
        for row in range(len(views)):
            if views.numbers[row] < 2 * variant("mini").pieces:
                wanted = process(torch.from_numpy(before[row : row + 1]), 0, 4)[0]
                np.testing.assert_allclose(after[row], wanted, atol=1e-6)
                deployed += 1
            elif moves[row]:
                units = after[row] * 16
                np.testing.assert_allclose(units, units.round(), atol=1e-4)
    assert deployed == 4 * 16


def test_a_move_is_played_with_the_probability_that_was_decided_on() -> None:
    """Select, then choose the destination: together, the processed policy of whole moves."""
    game = Game("mini")
    raw = sharp_player(game)
    audit = Audit(raw, post_processed(raw, PostProcessing(threshold=0.03, quanta=16)))
    finished = play(game, audit)
    products = []
    for played in finished:
        mu = played.mu[2 * variant("mini").pieces :]
        products.append(mu[0::2] * mu[1::2])
    units = np.concatenate(products) * 16
    np.testing.assert_allclose(units, units.round(), atol=1e-3)
    assert (units > 0.5).all() and len(np.unique(units.round())) > 4
    dropped = 0
    for views, before, after, _ in audit.plays:
        assert (after.sum(1) > 0.999).all() and (after[views.legal == 0] == 0).all()
        dropped += int(((before > 0.03) & (after == 0)).sum())
    assert dropped  # a piece that the network likes, but none of its moves


def test_the_policy_of_moves_is_the_product_of_both_actions() -> None:
    game = Game("mini")
    raw = sharp_player(game)
    audit = Audit(raw, post_processed(raw, PostProcessing(threshold=1e-9)))
    play(game, audit, games=2)
    for views, before, after, _ in audit.plays:
        if views.numbers[0] >= 2 * variant("mini").pieces:
            np.testing.assert_allclose(after, before, atol=1e-5)


def test_temperature_is_of_whole_moves_and_setups_have_none() -> None:
    """The policy of moves is in squares of the network's, before rare ones are dropped."""
    game = Game("mini")
    raw = sharp_player(game)
    seen: list[Explanation] = []
    chain = post_processed(raw, PostProcessing(temperature=0.5, threshold=0.1), seen.append)
    play(game, chain, games=2)
    hotter = 0
    for explanation in seen:
        stages = dict(explanation.stages)
        if explanation.moves[0][0] == explanation.moves[0][1]:
            assert list(stages) == ["network", "threshold"]
            continue
        assert list(stages) == ["network", "temperature", "threshold"]
        squares = stages["network"].astype(float) ** 2
        np.testing.assert_allclose(stages["temperature"], squares / squares.sum(), atol=1e-5)
        hotter += ((stages["network"] > 0.1) & (stages["threshold"] == 0)).any()
    assert hotter  # it comes first


def test_stages_of_single_actions_are_of_the_piece_and_then_of_its_destination() -> None:
    """And those that need whole moves come behind them."""
    game = Game("mini")
    raw = sharp_player(game)
    seen: list[Explanation] = []
    asked = deepnash(per="action", eager="1", memory="off", bounds="0")
    play(game, post_processed(raw, asked, seen.append), games=2)
    kept = 0
    for turn in seen:
        (network, threshold, quanta, *behind), moves = turn.stages, turn.moves
        if moves[0][0] == moves[0][1]:
            continue
        assert [name for name, _ in behind] == ["threats", "bounds"]
        policy = network[1].astype(float)
        pieces = {start: policy[[a == start for a, _ in moves]].sum() for start, _ in moves}
        for at, (start, _) in enumerate(moves):
            rare = min(pieces[start], policy[at] / pieces[start]) < 0.03
            assert (threshold[1][at] == 0) == rare
            kept += not rare and policy[at] < 0.03
        parts = {
            a: sum(p for p, (b, _) in zip(quanta[1], moves, strict=True) if b == a) * 16
            for a in pieces
        }
        np.testing.assert_allclose(list(parts.values()), np.round(list(parts.values())), atol=1e-3)
    assert kept  # a move that is rare, of actions that are not


@pytest.mark.parametrize("slots", [2, 5])
@pytest.mark.parametrize(("tied", "per"), [(False, "move"), (True, "move"), (True, "action")])
def test_games_do_not_depend_on_their_company(slots: int, tied: bool, per: str) -> None:
    """Nor which moves are kept of those that are equally likely, where others have more moves."""
    game = Game("mini")
    asked = PostProcessing(threshold=0.03, quanta=16, ties="random", per=per)
    uniform = PostprocessedPlayer(UniformBlueprint(), game, 1, replace(asked, threshold=0))
    player = uniform if tied else post_processed(sharp_player(game), asked)
    games = play(game, player, games=5, slots=slots)
    same = play(game, player, games=5, slots=3)
    for one in games:
        (other,) = (g for g in same if g.number == one.number)
        np.testing.assert_array_equal(one.actions, other.actions)


def test_chance_decides_in_the_longest_games() -> None:
    """Whose actions have more numbers than 32 bits count ties of."""
    stage, policy = Quanta(2, ties_seed=1), np.full((3, 9), 1 / 9, np.float32)
    numbers = np.array([536_869, 536_870, 2**31 - 1], np.int32)
    legal, nothing = np.ones((3, 9), np.uint8), np.empty((3, 0), np.uint8)
    views = Views(np.arange(3), np.zeros(3, np.int8), numbers, legal, nothing)
    kept = stage(Turns(views), policy).policy
    np.testing.assert_array_equal(np.sort(kept)[:, -2:], 0.5)
    (ties,) = uniform_rows(1, views.games[:1], numbers[:1], 9, Stream.TIES, 4000)  # the last
    assert np.flatnonzero(kept[0]).tolist() == sorted(ties.argsort()[:2].tolist())


def test_who_has_selected_a_piece_need_not_be_the_player() -> None:
    """Asked for a destination only, it answers from the policy of this one action."""
    game = Game("mini")
    raw = sharp_player(game)
    audit = Audit(raw, post_processed(raw, PostProcessing(threshold=0.2)))
    play(game, audit, games=2)
    fresh = post_processed(raw, PostProcessing(threshold=0.2))
    seen = 0
    for views, before, _, _ in audit.plays:
        choosing = np.flatnonzero(views.observations[:, 9] == 1)
        if len(choosing):
            after = fresh.policy(views)[choosing]
            wanted = process(torch.from_numpy(before[choosing]), 0.2)
            np.testing.assert_allclose(after, wanted, atol=1e-6)
            seen += 1
    assert seen


def test_small_games_have_actions_only() -> None:
    game = Game("kuhn")
    raw = sharp_player(game, "mlp:16")
    finished = play(game, post_processed(raw, PostProcessing(quanta=4)), games=50)
    mu = np.concatenate([played.mu for played in finished])
    units = mu[~np.isnan(mu)] * 4
    np.testing.assert_allclose(units, units.round(), atol=1e-5)


def test_eagerness_is_in_the_plane_and_in_what_the_heads_read() -> None:
    """r' = 1 - (1 - r)^alpha, for all that reads the no-attack ratio."""
    game = Game("mini")
    packed = np.tile(Scene("M:A1 E:C3 Y:F6 P:C5").batch.observe(), (61, 1))
    dtype = observation_dtype(36)
    packed.view(dtype)["no_attack"][:, 0] = np.arange(61)
    for alpha in (2.0, 0.5, 3.7):
        shown = eager(packed, alpha, dtype)
        wanted = 1 - (1 - np.arange(61) / 60) ** alpha
        unet = build("tiny", game, 1)
        inputs = unet.prepare(torch.from_numpy(shown))
        plane = inputs.planes[:, 78, 0, 0]
        for seen in (plane, inputs.no_attack[:, 0, 0, 0]):
            np.testing.assert_allclose(seen, wanted, atol=1 / 131070 + 1e-7)
        assert plane[0] == 0 and plane[-1] == 1
        length = torch.from_numpy(packed.view(dtype)["plies"][:, 0] / 200)
        np.testing.assert_allclose(inputs.planes[:, 77, 0, 0], length)
    assert eager(packed, 1.0, dtype) is packed
    free = packed.copy()
    free.view(dtype)["max_no_attack"] = 0
    np.testing.assert_array_equal(eager(free, 2.0, dtype), free)


def test_eagerness_changes_what_is_played() -> None:
    scene = Scene("M:A1 E:C3 D:E2 Y:F6 P:C5")
    raw = sharp_player(scene.game)
    player = post_processed(raw, PostProcessing(eager=2.0))
    before = raw.policy(scene.views())
    np.testing.assert_allclose(player.policy(scene.views()), before, atol=1e-6)  # r is 0
    scene.play("C3C2", "C5C6")
    assert not np.allclose(player.policy(scene.views()), raw.policy(scene.views()), atol=1e-7)


def test_a_legal_move_always_remains() -> None:
    """Under the whole chain games are played on, each link only takes away from the one before."""
    game = Game("mini")
    raw = sharp_player(game)
    seen: list[Explanation] = []
    chain = post_processed(raw, deepnash(bounds="0"), seen.append)
    play(game, chain, games=2, slots=2)
    assert len(seen) > 50
    acted = set()
    for explanation in seen:
        names = [link for link, _ in explanation.stages]
        deploying = explanation.moves[0][0] == explanation.moves[0][1]
        links = ["network", "threshold", "quanta", "threats", "bounds"]
        assert names == (links[:3] if deploying else links)
        for (_, before), (link, after) in itertools.pairwise(explanation.stages):
            assert after.sum() == pytest.approx(1, abs=1e-4)
            assert (before[after > 0] > 0).all()
            if ((before > 0) & (after == 0)).any():
                acted.add(link)
        assert len(explanation.moves) == len(explanation.stages[-1][1])
    assert {"threshold", "bounds"} <= acted


def test_a_move_too_rare_for_float32_is_never_played() -> None:
    with np.errstate(invalid="raise"):
        first, ends = split([(1, 2), (3, 4), (3, 0)], np.array([1.0, 1e-60, 0.0]), 5)
    assert first.tolist() == [0, 1, 0, 0, 0]
    assert {start: squares for start, (squares, _) in ends.items()} == {1: [2]}


def test_destinations_of_a_plan_are_not_evaluated_again() -> None:
    """But for their values, where these are wanted."""
    game = Game("mini")
    player = post_processed(sharp_player(game, "fromto+deployment"), PostProcessing(quanta=8))
    asked: list[int] = []
    evaluate = player.evaluator.evaluate

    def noted(*arguments: Any) -> Any:
        asked.append(len(arguments[0]))
        return evaluate(*arguments)

    player.evaluator.evaluate = noted  # type: ignore[method-assign]
    scene = Scene("M:A1 S:B1 F:F1 c:F6 d:E6 f:A6")
    first = player.act(Views.of_one(scene.batch, 0, 0))
    assert asked == [1]
    scene.batch.apply(first.actions)
    player.act(Views.of_one(scene.batch, 0, 1))
    assert asked == [1]
    assert player.act_with_values(Views.of_one(scene.batch, 0, 1)).values is not None
    assert asked == [1, 1]


def test_a_plan_is_of_one_move() -> None:
    """Somebody else selects the piece later, on the square of the plan: it is evaluated then."""
    raw = sharp_player(Game("mini"), "fromto+deployment")
    player = post_processed(raw, PostProcessing(quanta=8))
    scene = Scene("M:A1 L:F1 X:F6 Y:A6")  # flags, and a piece each
    player.act(Views.of_one(scene.batch, 0, 0))
    (plan,) = filter(None, player.turns.plans.values())
    assert list(plan.destinations) == [5]
    for action in (5, 4, 0, 1, 4, 5, 1, 0, 5):  # to and fro, and once more
        scene.batch.apply(np.array([action], np.int32))
    view = Views.of_one(scene.batch, 0, 9)
    assert player.turns.planned(view, np.array([0])) == {}
    plan.plies = 4
    assert player.turns.planned(view, np.array([0])) == {0: (plan, 5)}
