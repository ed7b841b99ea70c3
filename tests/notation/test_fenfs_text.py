import dataclasses
import gzip
import itertools
import json
import random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gravon_games import MadeUp, free_arbiter, random_setup
from stratkit.engine.arbiter import Arbiter
from stratkit.engine.stratego import (
    BLUE,
    MOVED,
    PIECE,
    RED,
    REVEALED,
    SIDE,
    TYPE,
    VARIANTS,
    free_game,
)
from stratkit.errors import InputError
from stratkit.humans.observed_game import played_ply
from stratkit.notation.attacks import count_attacks
from stratkit.notation.fenfs import (
    OBSERVER,
    check_last,
    fenfs_lines,
    fenfs_of,
    legal_moves,
    parse_fenfs,
    position,
    seen_by,
    start_position,
    start_setups,
)
from stratkit.notation.log import Log
from stratkit.notation.play import move_texts, play_out
from stratkit.notation.replay_page import Shown, replay_page
from stratkit.notation.squares import move_text, parse_move

# The paper's first example, letter for letter as StraDoS2 has them.
BARRAGE = (
    "BKaaaaaaaaaaaaaaaaaaaDaDaaaaaaaaMLCEaaaaaa__aa__aa"
    "aa__aa__aaQaaOaXaPaaaaaaPaaaaaNaaaaaaaaaYWaaaaaaaa r 0"
)


def some_position(variant_name, seed, plies):
    """A position within a game of random moves."""
    variant, rng = VARIANTS[variant_name], random.Random(seed)
    game = free_arbiter(variant, random_setup(variant, rng), random_setup(variant, rng))
    for _ in range(plies):
        if game.ending:
            break
        game.move(*rng.choice(game.legal()))
    return game.position()


names = st.sampled_from(list(VARIANTS))
positions = st.builds(some_position, names, st.integers(0, 10**6), st.integers(0, 60))
views = st.sampled_from([OBSERVER, RED, BLUE])


@settings(max_examples=60)
@given(positions, views)
def test_positions_survive_text(before, view):
    fenfs = fenfs_of(before, view)
    text = str(fenfs)
    again = parse_fenfs(text)
    # Boards of one size and the same lakes are told apart by nothing but the pieces.
    assert str(again) == text and again.view == fenfs.view
    assert str(fenfs_of(position(again), again.view)) == text
    assert str(parse_fenfs(text.replace("a", "A"))) == text
    if view is OBSERVER:
        known = PIECE | SIDE | TYPE | REVEALED
        assert (position(again).cells & known == before.cells & known).all()
        assert (again.side, again.ply) == (before.side, before.plies)


@settings(max_examples=60)
@given(positions, views)
def test_the_extension_keeps_what_has_moved(before, view):
    plain, extended = (str(fenfs_of(before, view, extended)) for extended in (False, True))
    assert extended.rsplit(" ", 1)[0] == plain
    again = parse_fenfs(extended)
    assert str(again) == extended
    if view is OBSERVER:
        assert (position(again).cells == before.cells).all()
        for other in (RED, BLUE):
            assert str(seen_by(again, other)) == str(fenfs_of(before, other, True))
    if again.view in (OBSERVER, again.side):
        assert legal_moves(again) == legal_moves(parse_fenfs(plain))


@pytest.mark.parametrize(
    ("word", "what"),
    [
        ("", "are their squares, or -"),
        ("J4", "are their squares, or -"),
        ("A11", "are their squares, or -"),
        ("a1", "are their squares, or -"),
        ("D3B3", "must ascend"),
        ("D3D3", "must ascend"),
        ("A2", "square A2: a and the fourth word disagree"),
        ("A1", "square A1: B and the fourth word disagree"),
        ("C5", "square C5: _ and the fourth word disagree"),
    ],
)
def test_an_extension_that_cannot_be(word, what):
    with pytest.raises(InputError, match=what):
        parse_fenfs(f"{BARRAGE} {word}")


def test_what_the_extension_and_a_view_say_must_agree():
    game = MadeUp("classic", 3, plies=4)
    text = str(fenfs_of(game.positions[-1], RED, True))
    assert "!" in text and parse_fenfs(text).moved
    with pytest.raises(InputError, match="! and the fourth word disagree"):
        parse_fenfs(text.rsplit(" ", 1)[0] + " -")


@settings(max_examples=20)
@given(st.sampled_from(["classic", "duell"]), st.integers(0, 10**6), views, st.booleans())
def test_whole_games_are_written_as_their_positions(kind, seed, view, extended):
    game = MadeUp(kind, seed, 40)
    boards = [p.cells.tobytes() for p in game.positions]
    expected = [f"{fenfs_of(p, view, extended)}\n" for p in game.positions]
    assert fenfs_lines(boards, 10, 0, view, extended) == "".join(expected)
    assert fenfs_lines(boards[7:], 10, 7, view, extended) == "".join(expected[7:])
    assert fenfs_lines([], 10, 0, view, extended) == ""


def test_the_setups_of_a_start():
    game = MadeUp("barrage", 1, plies=1)
    start = fenfs_of(game.positions[0])
    for view, setups in ((OBSERVER, game.setups), (RED, game.setups[:1]), (BLUE, game.setups[1:])):
        found = start_setups(seen_by(start, view))
        assert len(found) == len(setups)
        assert all((a == b).all() for a, b in zip(found, setups, strict=True))
    with pytest.raises(InputError, match="not the start of a game"):
        start_setups(parse_fenfs(BARRAGE.replace("aaaa r 0", "aaaC r 0")))


@settings(max_examples=60)
@given(positions, st.sampled_from([RED, BLUE]))
def test_a_view_tells_no_hidden_rank(before, view):
    """The text from a view does not change when the other side's hidden pieces change ranks."""
    hidden = (before.cells & PIECE != 0) & (before.cells & REVEALED == 0)
    hidden &= (before.cells & SIDE != 0) == (view == RED)
    text = str(fenfs_of(before, view))
    changed = before.cells.copy()
    changed[hidden] = (changed[hidden] & ~np.uint8(TYPE)) | 4
    other = type(before)(before.variant, changed, before.side, before.plies)
    assert str(fenfs_of(other, view)) == text
    still = hidden & (before.cells & MOVED == 0)
    assert [text[i] for i in np.flatnonzero(hidden)] == ["!?"[int(s)] for s in still[hidden]]


@settings(max_examples=40)
@given(positions)
def test_legal_moves_are_the_engines(before):
    expected = [move_text(*move, before.variant.width) for move in before.legal()]
    flags = {int(c) & SIDE for c in before.cells if c & PIECE and c & TYPE == 0}
    if len(flags) < 2:
        expected = []
    for view in (OBSERVER, before.side):
        assert legal_moves(parse_fenfs(str(fenfs_of(before, view)))) == expected


letters = st.text(alphabet="ABMNYabmny_?!JZz ", min_size=90, max_size=110)


@settings(max_examples=30)
@given(names, st.integers(0, 10**6), st.integers(0, 60))
def test_a_game_goes_on_from_a_position_as_it_would_have(name, seed, plies):
    """With the same legal moves, and the same ending; its log has the same boards, by the side that
    moves."""
    rng, before = random.Random(seed), some_position(name, seed, plies)
    fenfs = parse_fenfs(str(fenfs_of(before, extended=True)))
    assume(legal_moves(fenfs))
    start = start_position(fenfs, before.variant)
    whole, other = (Arbiter(free_game(name), one) for one in (before, start))
    boards = [start.cells.tobytes()]
    for _ in range(30):
        assert whole.legal() == other.legal() and whole.turn == other.turn
        if whole.ending:
            break
        move = rng.choice(whole.legal())
        whole.move(*move)
        other.move(*move)
        boards.append(whole.position().cells.tobytes())
    assert (whole.ending, whole.winner, whole.plies) == (other.ending, other.winner, other.plies)
    moves = bytes(itertools.chain.from_iterable(other.moves))
    log = Log(before.variant, "", None, moves, ("red", "blue"), other.ending or "cut", other.winner)
    [played] = play_out([("", dataclasses.replace(log, start=start))], boards=True)
    assert not played.faults and list(played.boards) == boards
    last = played.position(len(boards) - 1)
    assert (last.side, last.plies) == (other.position().side, other.plies)


MINI = "aKaBMaCaaaaDaaaLaaaaaaEaaOaXQNaaWaPY"


def test_blue_may_make_the_first_move():
    """It is told as blue's on the page to step through, and counted as blue's."""
    start = start_position(parse_fenfs(f"{MINI} b 7"), VARIANTS["mini"])
    moves = bytes((28, 22, 1, 7))  # E5E4, where both fall, and B1B2
    log = Log(start.variant, "", None, moves, ("red", "blue"), "cut", None, start=start)
    [played] = play_out([("", log)], boards=True)
    assert not played.faults and move_texts(played) == ["E5E4 3=3", "B1B2"]
    assert '"first":1' in replay_page([Shown(played, "", "")])
    assert [counts["attacks"] for counts in count_attacks(played)] == [0, 1]
    assert [played_ply(played, ply).side for ply in (0, 1)] == [BLUE, RED]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (f"{MINI} b 8", "red moves at even plies, and blue at odd ones"),
        (f"{MINI} b 65537", "plies: a number from 0 to 65535 is needed, not 65537"),
        (f"{MINI.replace('C', 'L')} b 7", "red has more of type marshal than mini has"),
        (f"{MINI.replace('Y', 'a')} b 7", "blue has no flag"),
        (
            f"{MINI.translate(dict.fromkeys(b'BCDEKLM', '?'))} b 7",
            "hidden pieces, where a game begins",
        ),
        (BARRAGE, "not a board of mini"),
    ],
)
def test_positions_that_no_game_begins_at(text, what):
    with pytest.raises(InputError, match=what):
        start_position(parse_fenfs(text), VARIANTS["mini"])


@given(st.one_of(st.text(), letters, st.builds("{} {} {}".format, letters, st.text(), st.text())))
def test_any_other_text_is_an_input_error(text):
    try:
        fenfs = parse_fenfs(text)
    except InputError as error:
        assert str(error).isprintable()
    else:
        assert str(fenfs) == text.replace("A", "a")


def test_the_paper_s_first_example():
    fenfs = parse_fenfs(BARRAGE)
    assert str(fenfs) == BARRAGE and fenfs.view is OBSERVER and fenfs.variant.squares == 100
    red = "".join("?" if c in "NOPQRSTUVWXY" else c for c in BARRAGE)
    assert str(seen_by(fenfs, RED)) == red
    assert parse_fenfs(red).view == RED
    with pytest.raises(InputError, match="as red sees it: it hides N to Y, which are blue's"):
        seen_by(parse_fenfs(red), BLUE)


def test_the_paper_s_second_example_is_not_what_red_sees():
    blue = "".join("?" if c in "BCDEFGHIJKLM" else c for c in BARRAGE)
    assert blue.startswith("??aaaaaaaaaaaaaaaaaaa?a?aaaaaaaa????aaaaaa__aa__aa")
    fenfs = parse_fenfs(blue)
    assert str(fenfs) == blue and (fenfs.view, fenfs.side) == (BLUE, RED)
    with pytest.raises(InputError, match="as blue sees it: it hides B to M, which are red's"):
        seen_by(fenfs, RED)


boards = st.sampled_from([v for v in VARIANTS.values() if v.name in ("mini", "nano", "barrage")])


@settings(max_examples=40)
@given(boards, st.data())
def test_any_fields_may_be_blocked(variant, data):
    """Positions are read, printed, and played on, by the rules of that board."""
    places = st.sets(st.integers(0, variant.squares - 1), max_size=variant.squares // 4)
    lakes = data.draw(places)
    board = [
        "_" if square in lakes else data.draw(st.sampled_from("aaaaBDbNPn"))
        for square in range(variant.squares)
    ]
    free = [square for square in range(variant.squares) if square not in lakes]
    for square, flag in zip(data.draw(st.permutations(free))[:4], "MYDP", strict=True):
        board[square] = flag
    text = f"{''.join(board)} {data.draw(st.sampled_from('rb'))} 7"
    fenfs = parse_fenfs(text)
    assert str(fenfs) == text and fenfs.variant.lakes == tuple(sorted(lakes))
    assert VARIANTS[fenfs.variant.name] == fenfs.variant
    here = position(fenfs)
    assert str(fenfs_of(here)) == text
    if not has_room(fenfs.variant):
        with pytest.raises(InputError, match="leave the sides no room"):
            here.legal()
        return
    width = fenfs.variant.width
    for move in legal_moves(fenfs):
        start, end = parse_move(move, width, fenfs.variant.height)
        step = 1 if start // width == end // width else width
        way = range(min(start, end), max(start, end) + 1, step)
        assert not lakes & set(way) and (len(way) == 2 or board[start] in "DPdp")


def has_room(variant):
    """Whether both sides could deploy."""
    return variant.places.sum() >= variant.pieces


def test_hidden_pieces_that_have_moved():
    game = MadeUp("classic", 3, plies=4)
    seen = str(fenfs_of(game.positions[-1], RED))
    assert "!" in seen and "?" in seen
    assert "!" not in str(fenfs_of(game.positions[-1]))


def test_whose_the_hidden_pieces_are_when_nothing_is_hidden_from_the_other():
    """Only the loser of a flag can have nothing hidden, and the loser is to move."""
    board = "?" + "c" + BARRAGE.split(" ")[0][2:].replace("a", "A")
    board = "".join("A" if c not in "?c_" else c for c in board)
    assert parse_fenfs(f"{board} r 9").view == RED
    assert legal_moves(parse_fenfs(f"{board} r 9")) == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (BARRAGE[:-2], "a board, a side and a ply number"),
        (BARRAGE + " - 1", "a board, a side and a ply number"),
        ("B" + BARRAGE, "no board has 101 squares"),
        ("Z" + BARRAGE[1:], "square A1: unknown letter"),
        ("ı" + BARRAGE[1:], "square A1: unknown letter"),
        ("?" + BARRAGE[1:], "nobody sees that"),
        (BARRAGE.replace("r 0", "rb 0"), "the side to move is r or b"),
        (BARRAGE.replace("r 0", "r -1"), "whole number"),
        (BARRAGE.replace("r 0", "r 00"), "whole number"),
        (BARRAGE.replace("r 0", "r 1e9"), "whole number"),
    ],
)
def test_faults_are_named(text, what):
    with pytest.raises(InputError, match=what):
        parse_fenfs(text)


def test_legal_refuses_the_view_of_the_other_side():
    fenfs = seen_by(parse_fenfs(BARRAGE), BLUE)
    with pytest.raises(InputError, match="red is to move and its pieces are hidden"):
        legal_moves(fenfs)


def test_legal_on_the_smaller_board():
    mini = fenfs_of(some_position("mini", 1, 0))
    assert len(mini.board) == 36
    assert all(len(move) == 4 for move in legal_moves(mini))


def test_positions_and_moves_of_another_program(shared):
    """Every position of games from another program: same text, same legal moves."""
    seen = 0
    with gzip.open(shared / "data/openspiel_stratego_games.jsonl.gz") as stream:
        for line in stream:
            for text, moves, *_ in json.loads(line)["plies"][::291]:
                fenfs = parse_fenfs(text)
                assert str(fenfs) == text
                assert legal_moves(fenfs) == [move_text(a, b, 10) for a, b in moves]
                seen += 1
    assert seen > 150


# ---- the last move ----


@settings(max_examples=60)
@given(names, st.integers(0, 10**6), views, st.booleans())
def test_a_move_that_was_played_can_have_led_to_the_position(name, seed, view, extended):
    variant, rng = VARIANTS[name], random.Random(seed)
    game = free_arbiter(variant, random_setup(variant, rng), random_setup(variant, rng))
    for _ in range(60):
        if game.ending:
            break
        before, move = fenfs_of(game.position()), rng.choice(game.legal())
        game.move(*move)
        after = fenfs_of(game.position(), view, extended)
        check_last(parse_fenfs(str(after)), *move)
        with pytest.raises(InputError):  # the position is the one after the move
            check_last(before, *move)


# Red has moved: C1 miner, A3 captain, B3 flag, C3 scout. Blue: D4 bomb and F4 flag, both known,
# and E4 lieutenant.
MOVED_BY_RED = "aaEaaaaaaaaaHMDaaaaaanSyaaaaaaaaaaaa b 9"


@pytest.mark.parametrize("move", ["A2A3", "F3C3", "D3D4", "D3E3", "F1F3"])
def test_the_last_piece_may_have_moved_or_fallen(move):
    fenfs = parse_fenfs(MOVED_BY_RED)
    check_last(fenfs, *parse_move(move, 6, 6))


@pytest.mark.parametrize(
    "move, why",
    [
        ("A1B2", "a piece moves along a file or a rank"),
        ("D1D1", "a piece moves along a file or a rank"),
        ("A3A4", "the position is the one after the move, and a piece stands on A3"),
        ("E1A1", "the way from E1 to A1 is not free"),
        ("B2B3", "the flag on B3 cannot move like that"),
        ("A1A3", "the captain on A3 cannot move like that"),
        ("E3E4", "blue, whose piece on E4 met no attack, is to move"),
        ("F3F4", "blue, whose piece on F4 met no attack, is to move"),
    ],
)
def test_moves_that_cannot_have_led_to_a_position(move, why):
    fenfs = parse_fenfs(MOVED_BY_RED)
    with pytest.raises(InputError) as error:
        check_last(fenfs, *parse_move(move, 6, 6))
    assert str(error.value) == f"{why}: '{move}'"


def test_what_else_tells_that_a_move_was_not_the_last():
    for move, lake in (("C4C5", "C5"), ("D6D7", "D6")):
        with pytest.raises(InputError, match=f"^{lake} is a lake"):
            check_last(parse_fenfs(BARRAGE), *parse_move(move, 10, 10))
    with pytest.raises(InputError, match="^the piece on A3 has not moved"):
        check_last(parse_fenfs(f"{MOVED_BY_RED} C3"), *parse_move("A2A3", 6, 6))
