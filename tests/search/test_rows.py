"""Examples that no state of a game makes are found, and those of self-play are not."""

from __future__ import annotations

import numpy as np
import pytest

from engine.public import pair_of
from stratkit.learn.streams import RowCheck
from stratkit.search.generate import Examples, Generator
from stratkit.search.safe import PBSSearch
from stratkit.search.subgame import nothing

GAMES = [("kuhn", 0), ("leduc", 0), ("leduc:3x1", 0), ("liars_dice:2x2", 0), ("moves:nano", 5)]


def examples_of(name: str, plies: int = 0) -> Examples:
    """Of some games of self-play, from the opening to the end."""
    generator = Generator(pair_of(name, plies).public, PBSSearch(updates=4, depth=2), 64, seed=1)
    found = [generator.examples(nothing) for _ in range(8)]
    rows = np.concatenate([one.rows for one in found])
    return Examples(rows, np.concatenate([one.values for one in found]))


@pytest.mark.parametrize(("name", "plies"), GAMES)
def test_examples_of_self_play_are_of_the_game(name: str, plies: int) -> None:
    found = examples_of(name, plies)
    assert len(found) > 50
    assert RowCheck(pair_of(name, plies).public).fault(found.rows, found.values) is None


def test_a_hand_that_meets_no_other_is_believed_in_and_has_no_value() -> None:
    rows, values = examples_of("leduc:3x1").rows[:1].copy(), np.full((1, 3), np.nan, np.float32)
    rows[0, -6:] = [1, 0, 0, 1, 0, 0]  # both are believed to hold the one card of a rank
    assert RowCheck(pair_of("leduc:3x1").public).fault(rows, values) is None


@pytest.mark.parametrize(("name", "plies"), [("leduc:3x1", 0), ("moves:nano", 5)])
def test_a_hand_that_is_excluded_is_found(name: str, plies: int) -> None:
    found, check = examples_of(name, plies), RowCheck(pair_of(name, plies).public)
    hands = found.values.shape[1]
    absent = np.isnan(found.values) & (found.rows[:, -2 * hands : -hands] == 0)
    at = int(np.flatnonzero(absent.any(1))[-1])
    hand = int(np.flatnonzero(absent[at])[0])
    values = found.values.copy()
    values[at, hand] = 0.5
    what = "a hand that the public state excludes"
    assert check.fault(found.rows, values) == (at, f"a value of {what}")
    rows = found.rows.copy()
    rows[at, -2 * hands : -hands] = np.eye(hands)[hand]
    assert check.fault(rows, found.values) == (at, f"a belief in {what}")


def test_a_hand_of_the_opponent_that_is_excluded_is_found() -> None:
    found, check = examples_of("leduc:3x1"), RowCheck(pair_of("leduc:3x1").public)
    at = int(np.flatnonzero(np.isnan(found.values).any(1))[0])
    hand = int(np.flatnonzero(np.isnan(found.values[at]))[0])
    rows = found.rows.copy()
    rows[at, -3:] = np.eye(3)[hand]
    what = "a belief in a hand that the public state excludes"
    assert check.fault(rows, found.values) == (at, what)


def test_a_state_that_the_game_does_not_have_is_found() -> None:
    found, check = examples_of("leduc:3x1"), RowCheck(pair_of("leduc:3x1").public)
    for column, number in ((0, 2.0), (1, 0.5), (1, -1.0), (2, 257.0), (5, 7.0)):
        rows = found.rows.copy()
        rows[3, column] = number
        what = "a public state that the game does not have"
        assert check.fault(rows, found.values) == (3, what)
