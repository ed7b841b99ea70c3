"""Drawn boards of Hex, Dark Hex and phantom tic-tac-toe."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from running import here
from stratkit.engine import Batch, Game
from stratkit.games.stones import cell_text
from stratkit.games.table import kit_of


def seen(game: Game, cells: str) -> str:
    """The board as the side to move has it after these cells, as `b2 a1`."""
    assert game.board
    size, batch = game.board[0], Batch(game, 1)
    for cell in cells.split():
        action = size * (int(cell[1:]) - 1) + "abcdefghijk".index(cell[0])
        batch.apply(np.array([action], np.int32))
    return kit_of(game).turn(int(batch.actors()[0]), batch.observe()[0]).board


@pytest.mark.parametrize(
    ("name", "aim", "taken"),
    [
        ("hex:3", "X joins top and bottom", ""),
        ("dark_hex:3", "X joins top and bottom", "has had the turn"),
        ("dark_hex:3:classical", "X joins top and bottom", "tries again"),
        ("phantom_ttt", "three in a line win", "has had the turn"),
        ("phantom_ttt:classical", "three in a line win", "tries again"),
    ],
)
def test_who_plays_which_stones_is_told(name: str, aim: str, taken: str) -> None:
    """And what comes of a taken cell, by the rule that the engine keeps to."""
    game = Game(name)
    batch = Batch(game, 1)
    told = [kit_of(game).turn(side, batch.observe()[0]).facts.splitlines() for side in (0, 1)]
    assert [lines[0] for lines in told] == ["you are X", "you are O"]
    assert all(lines[1].startswith(aim) for lines in told)
    assert [line.endswith(taken) for line in told[0][2:]] == [True] * bool(taken)
    if taken:
        for _ in range(2):
            batch.apply(np.array([4], np.int32))
        assert batch.actors()[0] == (1 if taken == "tries again" else 0)


def test_a_board_shows_what_its_player_has_seen() -> None:
    """O tried b2 in vain, and knows no other stone of X; in Hex it sees them all."""
    dark = seen(Game("dark_hex:3"), "b2 b2 c1 a3 a1")
    assert dark.splitlines() == [
        "O to move, as it sees the board",
        "    a b c",
        "  1 . . .",
        "   2 . X .",
        "    3 O . .",
    ]
    assert seen(Game("dark_hex:3"), "b2 b2 c1 a3").splitlines()[2:] == [
        "  1 . . X",
        "   2 . X .",
        "    3 . . .",
    ]
    assert seen(Game("phantom_ttt"), "b2 b2 c1 a3 a1").splitlines()[1:] == [
        "    a b c",
        "  1 . . .",
        "  2 . X .",
        "  3 O . .",
    ]
    assert seen(Game("hex:3"), "b2 a3 c1").splitlines()[2:] == [
        "  1 . . X",
        "   2 . X .",
        "    3 O . .",
    ]


def test_the_largest_board_is_a_rhombus() -> None:
    lines = seen(Game("hex:11"), "k11 a10").splitlines()
    assert lines[1] == "    a b c d e f g h i j k" and len(lines) == 13
    assert lines[-2] == f"{'':9} 10 O{' .' * 10}" and lines[-1].endswith(" X")
    assert [line.index(" ." if at != 9 else " O") for at, line in enumerate(lines[2:])] == [
        3 + row for row in range(11)
    ]
    assert len({cell_text(11, cell) for cell in range(121)}) == 121
    assert cell_text(11, 2 * 11 + 1) == "b3"


def test_match_explains_a_search_of_dark_hex(tmp_path: pathlib.Path) -> None:
    log = tmp_path / "log"
    rule = "dark_hex:3:classical"
    words = ["name=s,search=pc-pimc,worlds=2,nodes=8,random", "random", "-n", 2, "--game", rule]
    done = here("match", *words, "--seed", 1, "-q", "-o", tmp_path / "g.jsonl", "--explain", log)
    assert done.status == 0, done.err
    entries = log.read_text().split("\n\n")
    assert entries[0].startswith("s: X to move, as it sees the board\n    a b c\n  1 . . .\n")
    head, first, *rest = entries[0].splitlines()[6:]
    assert head.split() == ["cell", "network", "search"]
    assert first.split()[1:3] == ["11.1", "100.0"] and "q +" in first and len(rest) == 8
