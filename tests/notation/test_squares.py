import pytest
from hypothesis import given
from hypothesis import strategies as st

from stratkit.engine.stratego import BLUE, BOMB, FLAG, MARSHAL, RED, SPY
from stratkit.errors import InputError
from stratkit.notation.squares import (
    letter,
    move_text,
    parse_move,
    parse_square,
    piece,
    ply_text,
    split_move,
    square_text,
)

boards = st.tuples(st.integers(3, 10), st.integers(4, 10))


@given(boards, st.data())
def test_squares_and_moves_survive_text(board, data):
    width, height = board
    from_, to = (data.draw(st.integers(0, width * height - 1)) for _ in range(2))
    assert parse_square(square_text(from_, width), width, height) == from_
    text = move_text(from_, to, width)
    assert parse_move(text, width, height) == (from_, to)
    for separator in (" ", "-"):
        dressed = square_text(from_, width) + separator + square_text(to, width)
        assert parse_move(dressed, width, height) == (from_, to)


@given(st.one_of(st.text(), st.from_regex("[A-L][0-9]{1,2}[ :-]?[A-L][0-9]{1,2}")))
def test_any_other_text_is_an_input_error(text):
    try:
        from_, to = parse_move(text, 10, 10)
    except InputError:
        return
    assert move_text(from_, to, 10) == text.translate({ord(" "): None, ord("-"): None})


def test_the_squares_of_the_rules():
    assert [parse_square(s, 10, 10) for s in ("A1", "K1", "A10", "C5")] == [0, 9, 90, 42]
    assert square_text(35, 6) == "F6"


@pytest.mark.parametrize("text", ["J4", "A11", "A0", "L1", "", "A", "4A", "a4", "A٣", "A01"])
def test_squares_that_do_not_exist(text):
    with pytest.raises(InputError) as caught:
        parse_square(text, 10, 10)
    assert caught.value.text == text


def test_the_board_bounds_its_squares():
    with pytest.raises(InputError, match="A1 to F6"):
        parse_square("G1", 6, 6)


def test_letters():
    assert [letter(RED, t) for t in (BOMB, SPY, MARSHAL, FLAG)] == ["B", "C", "L", "M"]
    assert [letter(BLUE, t) for t in (BOMB, SPY, MARSHAL, FLAG)] == ["N", "O", "X", "Y"]
    assert [piece(c) for c in "AZ_b"] == [None] * 4
    assert all(piece(letter(side, t)) == (side, t) for side in (RED, BLUE) for t in range(12))


def test_a_rescue_is_told_from_a_move():
    assert split_move("A4:A5") == ("A4", ":", "A5")
    with pytest.raises(InputError):
        parse_move("A4:A5", 10, 10)


@pytest.mark.parametrize(
    ("met", "text"),
    [
        (None, "K4K9"),
        ((2, 3), "K4K9 2<3"),
        ((2, FLAG), "K4K9 2>F"),
        ((3, BOMB), "K4K9 3>B"),
        ((4, BOMB), "K4K9 4<B"),
        ((SPY, MARSHAL), "K4K9 S>10"),
        ((MARSHAL, MARSHAL), "K4K9 10=10"),
    ],
)
def test_a_ply_in_a_list(met, text):
    assert ply_text(39, 89, 10, met) == text
