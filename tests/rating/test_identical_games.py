"""Identical games: what of them counts."""

from __future__ import annotations

import pathlib
import random

import msgspec
import numpy as np
import pytest

from rating_games import header, record, write
from running import run
from stratkit.match.schedule import Schedule
from stratkit.match.scoreboard import Scoreboard
from stratkit.rating.distinct import Distinct, repeated
from stratkit.rating.sprt import Sprt
from stratkit.storage.records import GameRecord


def played(number: int, setups: int, moves: object, result: str) -> GameRecord:
    one = record(number, number % 2, 1 - number % 2, result)
    return msgspec.structs.replace(
        one, setups=(f"R{setups}", f"B{setups}"), moves=str(moves), plies=len(str(moves).split())
    )


def fixed(pairs: int) -> list[GameRecord]:
    """Two players without chance from two setups; the first one wins one pair and a half."""
    games = []
    for number in range(2 * pairs):
        setups = number // 2 % 2
        first_wins = setups == 0 or number % 2 == 0
        result = "red" if first_wins == (number % 2 == 0) else "blue"
        games.append(played(number, setups, f"moves {setups}{number % 2}", result))
    return games


def board_of(games: list[GameRecord], sprt: Sprt | None = None) -> Scoreboard:
    board = Scoreboard(["a", "b"], Schedule(2, 2 * len(games)), sprt)
    for one in games:
        board.add(one)
    return board


def test_a_match_of_players_without_chance_decides_nothing(tmp_path: pathlib.Path) -> None:
    sprt = Sprt(0, 100)
    board, few = board_of(fixed(100), sprt), board_of(fixed(2), sprt)
    assert few.decision is None and board.decision is None
    assert board.rows()[0][0] == "a - b: +150 =0 -50"
    assert board.rows()[0][2:] == few.rows()[0][2:]  # Elo and LOS
    said = "4 of 200 games distinct; 196 repetitions left out, as nothing is left to chance"
    assert board.rows()[1] == [said]
    done = run("rate", write(tmp_path / "g", header("a", "b"), fixed(100)), "--json")
    assert said in done.err and '"games": 4,' in done.out


def test_where_chance_decides_all_games_count(tmp_path: pathlib.Path) -> None:
    """A small game repeats itself by chance, and its frequencies are what is measured."""
    rng = random.Random(4)
    games = [played(n, 0, kind := rng.randrange(4), "red" if kind else "blue") for n in range(200)]
    board = board_of(games, Sprt(0, 100))
    assert sum(board.tallies[0].pairs.whole) == 100
    assert board.rows()[1] == ["8 of 200 games distinct; all count, as chance decides"]
    done = run("rate", write(tmp_path / "g", header("a", "b"), games), "--json")
    assert "8 of 200 games distinct; all count" in done.err and '"games": 200,' in done.out


def test_games_without_moves_are_like_no_other(tmp_path: pathlib.Path) -> None:
    games = [played(n, 0, "", "draw") for n in range(20)]
    assert len(board_of(games).rows()) == 1 and sum(board_of(games).tallies[0].pairs.whole) == 10
    assert "distinct" not in run("rate", write(tmp_path / "g", header("a", "b"), games)).err


@pytest.mark.parametrize("seed", range(5))
def test_files_and_matches_count_alike(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = 1 + seed % 2  # games from one beginning
    games = [
        played(n, int(rng.integers(3)), 0, "red" if rng.integers(kinds) else "blue")
        for n in range(40)
    ]
    games += [played(40, 0, "", "red")] * 2
    found = Distinct()
    new = [found.add(one.players, one) for one in games]
    red, blue = np.array([one.players for one in games]).T
    from stratkit.rating.distinct import beginning_and_game

    hashes = np.array([beginning_and_game(one) for one in games]).T
    again, left_out = repeated(red, blue, *hashes)
    assert (~again).tolist() == new and found.games == (~again).sum()
    assert found.by_chance == (kinds > 1) and (left_out == (again & (kinds == 1))).all()
