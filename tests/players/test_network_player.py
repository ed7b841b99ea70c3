"""Networks at the board: vectors, the same rows once, and a network that is damaged."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nets.drawn import assert_close, drawn
from stratkit.engine import Batch, Game, distinct_views, sample
from stratkit.errors import InputError, StratkitError
from stratkit.nets import build
from stratkit.nets.evaluator import Evaluator
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.baselines import RandomPlayer
from stratkit.players.network import NetworkPlayer
from stratkit.players.player import Views


def kuhn_views(n: int) -> Views:
    """Views of the first player in n random deals."""
    batch, games = Batch(Game("kuhn"), n), np.arange(n, dtype=np.int64)
    for number in range(2):
        chosen = np.full(n, -1, np.int32)
        numbers = np.full(n, number, np.int32)
        batch.draw_chance(1, games, numbers, chosen)
        batch.apply(chosen)
    return Views(games, batch.actors(), np.full(n, 2, np.int32), batch.legal(), batch.observe())


def test_what_looks_the_same_is_played_the_same() -> None:
    game, views = Game("kuhn"), kuhn_views(50)
    net = build("mlp:32x16", game, 1)
    policy = NetworkPlayer(Evaluator("mlp:32x16", net, 8), game, seed=1).policy(views)
    with torch.inference_mode():
        logits, _ = net(torch.from_numpy(views.observations), torch.from_numpy(views.legal))
    np.testing.assert_allclose(policy, torch.softmax(logits, 1).numpy(), atol=1e-6)
    assert len(np.unique(policy, axis=0)) == 3  # one for each card


def random_views(game: Game, n: int, actions: int) -> Views:
    """Views of n games, `actions` random actions old; among games so young many are the same."""
    batch, games = Batch(game, n), np.arange(n, dtype=np.int64)
    for number in range(actions):
        chosen, _ = sample(None, batch.legal(), 1, games, np.full(n, number, np.int32))
        batch.apply(chosen)
    return Views(
        games, batch.actors(), np.full(n, actions, np.int32), batch.legal(), batch.observe()
    )


def test_more_views_of_a_board_than_rows() -> None:
    game = Game("nano")
    views = random_views(game, 50, 8)
    first, each = distinct_views(views.observations, views.legal)
    assert 8 < len(first) < 50
    np.testing.assert_array_equal(views.observations[first][each], views.observations)
    network = drawn(build("tiny", game, 1))
    told = []
    for rows in (8, 50):
        evaluator = Evaluator("tiny", network, rows)
        told.append(evaluator.evaluate_distinct(views.observations, views.legal, values=True))
    for shared, of_each in zip(*told, strict=True):  # policies, values
        assert_close(shared, of_each)


def test_views_that_look_alike_but_allow_other_moves_are_different() -> None:
    observations, legal = np.ones((3, 5), np.uint8), np.eye(3, 4, dtype=np.uint8)
    legal[2] = legal[0]
    first, each = distinct_views(observations, legal)
    assert (first.tolist(), each.tolist()) == ([0, 1], [0, 1, 0])


def test_a_network_without_numbers_is_an_error_and_no_endless_game() -> None:
    game = Game("mini")
    net = build("plain", game, seed=1)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.fill_(torch.nan)
    games = Seatings(iter([Seating(0, (0, 0))]))
    table = Table(game, [NetworkPlayer(Evaluator("plain", net, 4), game, 1)], games, slots=4)
    with pytest.raises(StratkitError, match="damaged"):
        list(table.rounds())


@pytest.mark.parametrize(("net", "game"), [("tiny", "kuhn"), ("mlp", "mini")])
def test_a_network_for_other_observations(net: str, game: str) -> None:
    with pytest.raises(InputError, match="is for"):
        build(net, Game(game), 1)


def test_chance_is_played_and_nobody_chose_it() -> None:
    seatings = iter(Seating(number, (0, 0)) for number in range(30))
    table = Table(Game("kuhn"), [RandomPlayer(3)], Seatings(seatings), slots=7, seed=5)
    found = [game for games in table.rounds() if games for game in games.episodes]
    assert len(found) == 30
    for game in found:
        assert np.isnan(game.mu[:2]).all() and (game.mu[2:] == 0.5).all()
