"""Whole games in the engine and in its slow twin: deployment, moves, endings, every plane.

test_legality.py plays far more games, without the planes.
"""

from __future__ import annotations

import random

import pytest

from slow_players import any_move, shuttle
from stratkit.engine import Game
from stratkit.engine.stratego import FLAG, MARSHAL, VARIANTS
from stratkit.errors import InputError
from twins import Twins


@pytest.mark.parametrize("name", list(VARIANTS))
@pytest.mark.parametrize("two_squares", [3, 5, 0])
def test_random_games_agree(name: str, two_squares: int) -> None:
    rng = random.Random(two_squares)
    endings = set()
    for number in range(8 if VARIANTS[name].squares < 100 else 1):
        twins = Twins(name, {"two_squares": two_squares}, planes=True)
        twins.deploy(rng)
        player = (shuttle, any_move)[(number + two_squares) % 2]
        for _ in range(250):
            if not twins.compare():
                break
            twins.ply(*player(twins.slow, rng))
        endings.add(twins.slow.ending()[0])
    assert endings  # at least one game was compared


@pytest.mark.parametrize("name", ["mini:B2E5", "mini:C3", "mini:A1F3C4", "nano:B2", "duel:-"])
def test_random_games_on_boards_with_other_lakes_agree(name: str) -> None:
    """Some of them meet each side otherwise: nothing turns them into themselves."""
    rng = random.Random(name)
    for _ in range(3 if VARIANTS[name].squares < 100 else 1):
        twins = Twins(name, {}, planes=True)
        twins.deploy(rng)
        for _ in range(120):
            if not twins.compare():
                break
            twins.ply(*any_move(twins.slow, rng))
        assert twins.slow.history


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("barrage:", "lakes are squares in their order"),
        ("barrage:D5C5", "lakes are squares in their order"),
        ("barrage:C5 D5", "lakes are squares in their order"),
        ("barrage:C05", "lakes are squares in their order"),
        ("mini:G1", "lakes are squares in their order"),
        ("mini:-", "its own lakes"),
        ("mini:A1B1C1D1E1F1", "no room for their pieces"),
        ("kuhn:C5", "this game has no parameter"),
        ("moves:nano:A2", "a variant of Stratego"),
    ],
)
def test_names_of_no_board_are_refused(name: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        Game(name)
    assert name not in VARIANTS or what == "no room for their pieces"


def test_games_with_open_pieces_agree() -> None:
    """Flags and marshals are known from the first ply, in the planes of either side."""
    rng = random.Random(4)
    twins = Twins("mini", {"open": 1 << FLAG | 1 << MARSHAL}, planes=True)
    twins.deploy(rng)
    assert sum(piece.revealed for piece in twins.slow.board.values()) == 4
    for _ in range(60):
        if not twins.compare():
            break
        twins.ply(*any_move(twins.slow, rng))
    assert len(twins.slow.history) > 20
