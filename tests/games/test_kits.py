"""Kits: what games are called, written and drawn by, and what holds for all of them."""

from __future__ import annotations

import numpy as np
import pytest

from every_game import GAMES
from stratkit.engine import Batch, Game, game_names, uniform
from stratkit.engine.stratego import VARIANTS
from stratkit.games.kit import Kit, Notation
from stratkit.games.table import KITS, kit_class, kit_of


def names(name: str) -> list[list[str]]:
    return [list(row) for row in kit_of(Game(name)).action_names()]


def test_the_table_has_the_engines_games() -> None:
    assert set(KITS) <= set(game_names())
    assert kit_class("nobody's") is kit_class("matrix:x") is Kit
    assert kit_class("barrage:3").notation is Notation.NUMBERS  # no game of that name


@pytest.mark.parametrize("name", GAMES)
def test_a_kit_tells_actions_apart_and_its_rules_are_a_policy(name: str) -> None:
    """At random positions of a game, from its start on."""
    game = Game(name)
    kit, batch = kit_of(game), Batch(game, 1)
    called = kit.action_names()
    assert called.shape == (game.players + 1, game.actions)
    for number in range(60):
        (actor,) = batch.actors()
        if actor < -1:
            break
        key = np.zeros(1, np.int64), np.array([number], np.int32)
        chosen = np.full(1, -1, np.int32)
        batch.draw_chance(3, *key, chosen)
        if actor >= 0:
            legal, packed = batch.legal(), batch.observe()
            (actions,) = np.flatnonzero(legal[0])[None]
            assert len(set(called[actor, actions])) == len(actions)
            turn = kit.turn(int(actor), packed[0])
            assert bool(turn.board) <= kit.draws and turn.column
            assert turn.name((int(actions[0]), int(actions[0])))
            if kit.heuristic:
                policy = kit.heuristic.policy(packed, legal)
                assert policy.sum() == pytest.approx(1, abs=1e-5)
                assert not policy[legal == 0].any()
            chosen[:] = actions[int(uniform(5, *key)[0] * len(actions))]
        batch.apply(chosen)
    assert number > 1


def test_bets_and_bids_have_names() -> None:
    assert names("kuhn") == [["pass", "bet", "2"]] * 2 + [["J", "Q", "K"]]
    assert names("leduc") == [["fold", "call", "raise"]] * 2 + [["J", "Q", "K"]]
    assert names("leduc:6x2")[1][:5] == ["fold", "call", "half pot", "pot", "all in"]
    assert names("leduc:13x4")[2] == list("A23456789TJQK")
    assert names("liars_dice:1x3")[0] == ["1x1", "1x2", "1x3", "2x1", "2x2", "2x3", "liar"]


def test_squares_are_each_sides_own() -> None:
    red, blue, _ = names("barrage")
    assert (red[0], blue[0], red[11]) == ("A1", "K10", "B2")
    assert names("hex:4")[1][5] == "b2" and names("moves:nano")[0][5] == "5"


def test_a_game_of_stratego_is_setups_and_moves_and_others_are_numbers() -> None:
    assert kit_of(Game("kuhn")).transcript(np.array([1, 0, 1], np.int32)) == (None, ["1", "0", "1"])
    assert kit_of(Game("mini")).transcript(np.array([1, 0], np.int32)) == (None, [])
    assert {name: kit_class(name).notation for name in VARIANTS} == dict.fromkeys(
        VARIANTS, Notation.LOG
    )
    seats = kit_of(Game("diplomacy:tiny")).seats
    assert seats and len(seats) == Game("diplomacy:tiny").players
    assert kit_of(Game("barrage")).seats is None
