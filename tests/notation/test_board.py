"""`Board` against batches of the engine, which know its games as actions."""

import doctest
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stratkit
from gravon_games import random_setup
from stratkit import BLUE, RED, Batch, Board, Game, IllegalMove
from stratkit.engine.stratego import VARIANTS, legal_moves
from stratkit.errors import InputError
from stratkit.notation import board as module
from stratkit.notation.fenfs import parse_fenfs, position
from stratkit.notation.setups import setup_text
from stratkit.notation.squares import move_text, parse_move


def begun(name: str, rng: random.Random) -> Board:
    """A game with random setups."""
    variant = VARIANTS[name]
    return Board(name, setups=[setup_text(random_setup(variant, rng)) for _ in (RED, BLUE)])


@settings(max_examples=30)
@given(st.sampled_from(list(VARIANTS)), st.integers(0, 10**6), st.integers(1, 60))
def test_a_board_is_a_batch_in_text(name, seed, plies):
    rng = random.Random(seed)
    board, batch = begun(name, rng), Batch(Game(name), 1)
    size, width = board.variant.squares, board.variant.width
    for action in board.actions:
        batch.apply(np.array([action], np.int32))
    played = []
    while board.legal_moves and len(played) < plies:
        assert board.turn == batch.actors()[0] == len(played) % 2
        assert board.legal_moves == [move_text(*move, width) for move in legal_moves(batch, 0)]
        move = rng.choice(board.legal_moves)
        played.append(move)
        for square in parse_move(move, width, board.variant.height):
            own = size - 1 - square if board.turn == BLUE else square
            batch.apply(np.array([own], np.int32))
        board.push(move)
        position_there = batch.save(0)
        assert board.position().to_bytes() == position_there
        again = position(parse_fenfs(board.fenfs(extended=True)))
        assert again.cells.tobytes() == position_there[:size]
        for view in (RED, BLUE):
            assert str(parse_fenfs(board.fenfs(view))) == board.fenfs(view)
    returns, endings, plies_there = batch.result()
    assert [move_text(*move, width) for move in board.moves] == played
    assert board.plies == plies_there[0] == len(played)
    assert board.ending == board.game.endings[endings[0]]
    assert board.returns.tolist() == returns[0].tolist()
    expected = {1: "red", -1: "blue", 0: "draw"}[int(returns[0, RED])] if board.ending else ""
    assert (board.result, board.turn is None) == (expected, bool(expected))


def test_games_end_as_the_engine_says():
    """Some random games to their end: red's and blue's wins, and draws."""
    met = set()
    for seed in range(40):
        rng = random.Random(seed)
        board = begun("nano" if seed % 2 else "mini", rng)
        while board.turn is not None:
            board.push(rng.choice(board.legal_moves))
        met.add(board.result)
        assert board.winner == {"red": RED, "blue": BLUE, "draw": None}[board.result]
        with pytest.raises(IllegalMove, match=f"the game is over .{board.ending}."):
            board.push("A1A2")
        again = Board(board.variant.name, board.setups)
        for move in board.moves:
            again.push(move_text(*move, board.variant.width))
        assert (again.fenfs(), again.result) == (board.fenfs(), board.result)
    assert met == {"red", "blue", "draw"}


@pytest.mark.parametrize(
    "move, why",
    [
        ("A1A2", "the piece belongs to the other side"),
        ("B2B3", "there is no piece to move"),
        ("C4C3", "a flag cannot move"),
        ("B4A3", "a marshal cannot move like that"),
        ("B4C4", "the destination holds a piece of the same side"),
    ],
)
def test_an_illegal_move_says_why_and_changes_nothing(move, why):
    board = Board("nano", setups=("MCL", "MLC"))
    board.push("C1C2")
    before = board.fenfs(extended=True), board.actions.copy()
    with pytest.raises(IllegalMove, match=f"^{move}: {why}$"):
        board.push(move)
    assert (board.fenfs(extended=True), board.actions) == before
    board.push("B4B3")


def test_a_repetition_rule_is_told_from_other_rules():
    board = Board("nano", setups=("MCL", "MCL"))
    for move in ("C1C2", "A4A3", "C2C1", "A3A4", "C1C2", "A4A3"):
        board.push(move)
    with pytest.raises(IllegalMove, match="^C2C1: the two-squares rule forbids it$"):
        board.push("C2C1")
    free = Board("nano", board.setups, rules={"two_squares": 0})
    for _ in range(2):
        for move in ("C1C2", "A4A3", "C2C1", "A3A4"):
            free.push(move)


def test_setups_are_placed_one_by_one():
    board = Board("nano")
    assert (board.turn, board.setups) == (RED, None)
    with pytest.raises(IllegalMove, match="^C1C2: the setups are not complete$"):
        board.push("C1C2")
    board.place("LCM")
    assert board.turn == BLUE
    with pytest.raises(InputError, match="1 of type flag, not 2"):
        board.place("MML")
    with pytest.raises(InputError, match="none of A to M"):
        board.place("XYZ")
    board.place("MLC")
    assert (board.turn, board.setups) == (RED, ("LCM", "MLC"))
    assert {s: board.piece_at(s) for s in ("A1", "C1", "A2", "A4", "C4")} == {
        "A1": "L", "C1": "M", "A2": None, "A4": "O", "C4": "Y",
    }  # fmt: skip
    with pytest.raises(ValueError, match="setup"):
        board.place("MLC")


def test_a_copy_is_another_game():
    board = Board("nano", setups=("MCL", "MLC"))
    other = board.copy()
    board.push("C1C2")
    assert (other.fenfs(), other.plies, other.moves) == ("MCLaaaaaaOXY r 0", 0, [])
    other.push("B1B2")
    assert (board.fenfs(), other.fenfs()) == ("MCaaaLaaaOXY b 1", "MaLaCaaaaOXY b 1")


def test_a_game_from_a_position():
    """A view is enough for the side whose turn it is; the squares of blue's moves are absolute."""
    board = Board("nano", setups=("MCL", "MLC"))
    board.push("C1C2")
    later = Board.from_fenfs(board.fenfs(BLUE))
    assert (later.setups, later.plies, later.turn) == (None, 1, BLUE)
    assert later.legal_moves == board.legal_moves
    later.push("B4B3")
    board.push("B4B3")
    assert later.moves == board.moves[1:] == [(10, 7)]
    assert later.fenfs(BLUE) == board.fenfs(BLUE)
    with pytest.raises(InputError, match="hidden"):
        Board.from_fenfs(later.fenfs(BLUE))


def test_what_is_no_game_of_stratego():
    for wrong in ("kuhn", "barage"):
        with pytest.raises(InputError, match=wrong):
            Board(wrong)
    with pytest.raises(AttributeError, match="has no attribute 'Bord'"):
        stratkit.Bord  # noqa: B018


def test_the_example_is_true():
    assert doctest.testmod(module).attempted >= 4
    assert doctest.testmod(module).failed == 0


def test_names_are_imported_when_they_are_asked_for():
    code = "import stratkit, sys; assert 'numpy' not in sys.modules; print(stratkit.Board.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "Board\n"
    for name in stratkit.__all__:
        assert getattr(stratkit, name) is not None


def test_a_board_says_how_to_set_up_and_is_drawn_in_notebooks() -> None:
    board = Board("nano")
    for _ in range(2):
        with pytest.raises(InputError, match="before both have set up: board.place"):
            _ = board.legal_moves
        assert board._repr_svg_() is None
        board.place("MCL")
    drawn = board._repr_svg_()
    assert drawn is not None and drawn.startswith("<svg") and board.legal_moves
