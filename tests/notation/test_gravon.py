import random
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gravon_games import MadeUp, random_setup
from stratkit.engine.stratego import VARIANTS
from stratkit.errors import InputError
from stratkit.notation.fenfs import parse_fenfs, position
from stratkit.notation.gravon import MAX_LOG, parse_log
from stratkit.notation.gravon_text import gsn_text, xml_text
from stratkit.notation.gravon_words import KINDS
from stratkit.notation.play import breaches, play_out
from stratkit.notation.squares import parse_square

games = st.builds(MadeUp, st.sampled_from(list(KINDS)), st.integers(0, 10**6), st.integers(0, 80))


def play(log):
    [played] = play_out([("f", log)], boards=True)
    return played


def assert_says(log, game):
    assert (log.kind, log.players) == (game.kind, game.players)
    assert (log.reason, log.winner) == (game.reason, game.winner)
    assert [(a == b).all() for a, b in zip(log.setups, game.setups, strict=True)] == [True] * 2
    assert [log.move_text(ply) for ply in range(log.plies)] == game.moves
    played = play(log)
    assert (played.remarks, played.fault) == ([], None)
    assert [bytes(p) for p in played.boards] == [p.cells.tobytes() for p in game.positions]
    assert all(
        (played.position(p.plies).side, p.plies) == (p.side, p.plies) for p in game.positions
    )


@settings(max_examples=40)
@given(games, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.sampled_from([1, 2]))
def test_gsn_says_what_was_written(game, end, bom, version):
    assert_says(parse_log(game.gsn(end, bom, version), "f"), game)


@settings(max_examples=40)
@given(games)
def test_xml_says_what_was_written(game):
    assert_says(parse_log(game.xml(), "f"), game)


GAME = MadeUp("classic", 1)
GSN, XML = GAME.gsn(), GAME.xml()
LINES = GSN.decode().splitlines()


def read_all(data):
    """Reads and plays `data`: what is not a log gives `InputError` and nothing else."""
    played = play(parse_log(data, "f"))
    if played.fault:
        raise played.fault
    return played


@settings(max_examples=300)
@given(st.binary(max_size=400), st.sampled_from([b"", b"#", b"<", b"<stratego>", GSN[:150]]))
def test_any_other_bytes_are_an_input_error(data, start):
    with pytest.raises(InputError) as caught:
        read_all(start + data)
    assert str(caught.value).startswith("f: ") and str(caught.value).isprintable()


@settings(max_examples=300)
@given(st.sampled_from([GSN, XML]), st.data())
def test_a_damaged_log_is_read_or_an_input_error(log, data):
    """Cuts, flipped bytes and repeated parts."""
    first, last = sorted(data.draw(st.integers(0, len(log))) for _ in range(2))
    middle = data.draw(st.one_of(st.just(b""), st.binary(max_size=3), st.just(log[first:last] * 2)))
    try:
        read_all(log[:first] + middle + log[last:])
    except InputError as error:
        assert str(error).startswith("f: ") and str(error).isprintable()


def gsn_with(line, text):
    """The sample with line `line` (from 1) replaced."""
    lines = LINES.copy()
    lines[line - 1 : line] = text
    return "\n".join(lines).encode()


FIELD = LINES[2]
END = len(LINES) - 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "neither a .gsn nor an .xml log"),
        (b"rubbish", "neither a .gsn nor an .xml log: 'rubbish'"),
        (b"\x1b[31m", r"neither a .gsn nor an .xml log: '\x1b[31m'"),
        (gsn_with(1, ["#X Stratego v9"]), "line 1: a header like"),
        (gsn_with(2, ["type 7"]), "line 2: a type from 0 to 4 is needed, like 'type 0': 'type 7'"),
        (gsn_with(3, [FIELD[:-1]]), "line 3: a field has 100 letters, not 99: "),
        (gsn_with(3, ["Z" + FIELD[1:]]), "line 3: square A1 of the field: no letter of a piece"),
        (
            gsn_with(3, [FIELD.replace("C", "D", 1)]),
            "line 3: red: a setup of classic has 1 of type spy",
        ),
        (gsn_with(3, []), "line 3, move 1: moves without setups"),
        (gsn_with(4, ["J4-J5"]), "line 4, move 1: unknown square (A1 to K10): 'J4-J5'"),
        (gsn_with(4, ["A1-B7"]), "line 4, move 1: illegal move: a "),
        (gsn_with(4, ["A4:A5"]), "line 4: a rescue, which classic does not have: 'A4:A5'"),
        (gsn_with(4, ["castles"]), "line 4: a move like A4-A5 or END is needed: 'castles'"),
        ("\n".join(LINES[:20]).encode(), "line 21: the file ends where a move or END should be"),
        ("\n".join(LINES[:-1]).encode(), f"line {END + 1}: the file ends where the result should"),
        (gsn_with(END + 1, ["A beat B"]), f"line {END + 1}: a result like"),
        (gsn_with(END + 1, ["A vs B result 9 winner 0"]), f"line {END + 1}: unknown ending: '9'"),
        (gsn_with(END + 1, ["A vs B result 1 winner 3"]), "the winner is one of 0, 1, 2: '3'"),
        (
            gsn_with(END + 1, ["A vs B result 2 winner 1"]),
            "both unable to move has no winner: '1'",
        ),
        (GSN.replace(b"Red", b"\xff"), f"line {END + 1}: not UTF-8"),
        (XML[:-60], "line 36: not well-formed XML: unclosed token"),
        (XML.replace(b"<move", b"<mvoe", 1), "line 5: unknown element in <game>: 'mvoe'"),
        (
            XML.replace(b"classic", b"clasic"),
            "line 3: unknown type of game 'clasic' (did you mean 'classic'?)",
        ),
        (XML.replace(b' source="', b' from="', 1), "line 5: <move> without source"),
        (XML.replace(b'id="7"', b'id="6"'), "line 11: moves are not numbered upwards: '6'"),
        (XML.replace(b"result", b"field"), "a second field"),
        (XML.replace(b'player id="2"', b'player id="1"'), "players are 1 and 2, each once: '1'"),
        (XML.replace(b'winner="3"', b'winner="0"'), "the winner is one of 1, 2, 3: '0'"),
        (b"<stratego></stratego>", "one game is needed, not 0"),
        (b"<html/>", "line 1: unknown element: 'html'"),
        (
            XML.replace(b"UTF-8", b"klingon"),
            "line 1: not readable as XML: unknown encoding: klingon",
        ),
        (b"#" * (MAX_LOG + 1), "a log of over 1 MiB"),
    ],
)
def test_faults_are_named(data, said):
    with pytest.raises(InputError) as caught:
        read_all(data)
    assert str(caught.value).startswith("f: ")
    assert said in str(caught.value)


BOMB = b"""<?xml version="1.0"?>
<!DOCTYPE stratego [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<stratego><game type="classic"><player id="1">&b;</player></game></stratego>"""


@pytest.mark.parametrize(
    "data", [BOMB, BOMB.replace(b'"aaaaaaaaaa"', b'SYSTEM "file:///etc/passwd"')]
)
def test_entities_are_refused(data):
    with pytest.raises(InputError, match="f: line 2: a document type"):
        parse_log(data, "f")


@pytest.mark.parametrize("kind", KINDS)
def test_empty_games(kind):
    number = list(KINDS).index(kind)
    gsn = f"#X38FA11 Stratego-Notation v2\ntype {number}\nEND\nA vs B result 14 winner 0\n"
    xml = (
        f'<stratego><game type="{kind}"><player id="1">A</player><player id="2">B</player>'
        '<result type="14" winner="1"/></game></stratego>'
    )
    for data in (gsn.encode(), xml.encode()):
        log = parse_log(data, "f")
        assert (log.setups, log.moves, log.winner) == (None, b"", 0)
        assert (play(log).boards, play(log).remarks) == ((), [])


def test_free_setups_need_not_fit_a_variant():
    game = MadeUp("classicfree", 5, plies=0)
    game.setups = (random_setup(game.variant, random.Random(5)),) * 2
    game.setups[0][game.setups[0] == 2] = 3
    assert len(read_all(game.gsn()).boards) == 1
    game.kind = "classic"
    with pytest.raises(InputError, match="red: a setup of classic has"):
        parse_log(game.gsn(), "f")


def test_rescues_are_left_out():
    game = MadeUp("ultimate lightning", 6)
    with_rescues = game.gsn().decode().replace(game.moves[3], f"A4:A5\n{game.moves[3]}")
    log = parse_log(with_rescues.encode(), "f")
    assert log.rescues == ((3, "A4:A5"),)
    assert [log.move_text(ply) for ply in range(log.plies)] == game.moves


def test_j_for_the_tenth_file_is_survived_and_said():
    game = MadeUp("ultimate lightning", 7, plies=60)
    move = next(n for n, text in enumerate(game.moves, 1) if "K" in text)
    faulty = game.xml().replace(b'="K', b'="J')
    played = read_all(faulty)
    assert list(played.boards) == [p.cells.tobytes() for p in game.positions]
    [remark] = played.remarks
    assert str(remark).startswith(f"f: line {move + 4}, move {move}: file J, read as K: ")


def test_a_result_that_the_board_denies_is_said():
    played = read_all(gsn_with(END + 1, ["A vs B result 1 winner 0"]))
    assert [str(r) for r in played.remarks] == [
        "f: the result says so, but no move captures a flag: 'flag captured, red wins'"
    ]


def test_moves_that_repetition_rules_forbid_are_taken():
    game = MadeUp("barrage", 8, plies=2)
    red, blue = ([m.split("-") for m in game.moves])[:2]
    shuttle = [f"{a}-{b}" for a, b in (red, blue, red[::-1], blue[::-1])]
    moves = "\n".join(shuttle * 8)
    gsn = game.gsn().decode().replace("\n".join(game.moves), moves)
    played = read_all(gsn.encode())
    assert (len(played.boards), played.remarks) == (33, [])
    assert breaches([played.log], {"two_squares": 5}) == [10]
    assert breaches([played.log], {"two_squares": 3}) == [6]
    assert breaches([played.log], {"more_squares": 1}) == [None]


@pytest.mark.parametrize("first", ["A5-A6", None])
def test_a_log_is_played_no_longer_than_it_is_legal(first):
    """A megabyte of moves is one call of the engine, not a call a move: 6 s became 0.3 s."""
    made = MadeUp("classic", 1, plies=2)
    lines = made.gsn().decode().splitlines()
    lines[3:5] = [first or made.moves[0]] + ["A5-A6"] * 100_000
    log = parse_log("\n".join(lines).encode(), "long.gsn")
    calls = 0

    def count(*_):
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    [played] = play_out([("long.gsn", log)])
    sys.setprofile(None)
    assert played.log.plies == (0 if first else 1)
    assert str(played.fault).startswith(f"long.gsn: line {4 if first else 5}, move")
    assert calls < 5000


# ---- what Gravon's own archive has ----


def test_free_setups_may_stand_anywhere():
    """Red on rank 10 and blue on rank 1, pieces in the middle, and a side without a flag."""
    field = list("A" * 100)
    for lake in VARIANTS["classic"].lakes:
        field[lake] = "_"
    for square, piece in (("A10", "D"), ("C1", "P"), ("A5", "L"), ("K6", "X"), ("B9", "Y")):
        field[parse_square(square, 10, 10)] = piece
    text = "".join(field)
    lines = ["#X38FA11 Stratego-Notation v1", "type 2", text, "A5-A6", "K6-K5", "A10-A9", "K5-K6"]
    data = "\n".join([*lines, "END", "A vs B result 3 winner 1", ""]).encode()
    played = play(parse_log(data, "f"))
    assert (played.faults, played.log.plies) == ([], 4)
    assert [len(setup) for setup in played.log.setups] == [100, 100]
    assert played.boards[0] == position(parse_fenfs(f"{text} r 0")).cells.tobytes()
    assert gsn_text(played.log).encode() == data
    for form in (gsn_text, xml_text):
        again = parse_log(form(played.log).encode(), "f")
        assert [s.tolist() for s in again.setups] == [s.tolist() for s in played.log.setups]
    with pytest.raises(InputError, match="square C1 of the field is not where its side sets up"):
        parse_log(data.replace(b"type 2", b"type 0"), "f")
    with pytest.raises(InputError, match="lakes are written _"):
        parse_log(data.replace(b"__", b"_E", 1), "f")


@pytest.mark.parametrize("ten", ["0", "X", ":"])
def test_rank_ten_may_be_one_character(ten):
    game = next(
        made
        for made in (MadeUp("classic", seed, plies=60) for seed in range(99))
        if "10-" in "".join(made.moves) and any(m.endswith("10") for m in made.moves)
    )
    data = game.gsn().decode()
    head, moves = data.split("\n")[:3], data.split("\n")[3:]
    short = "\n".join([*head, *(move.replace("10", ten) for move in moves)])
    assert {len(line) for line in short.split("\n")[3:-3]} == {5}
    log = parse_log(short.encode(), "f")
    assert [log.move_text(ply) for ply in range(log.plies)] == game.moves
    assert play(log).faults == []
    assert gsn_text(log) == data


def test_ranks_may_be_counted_from_0():
    """Taken only when that way the moves are legal, and told."""
    for made in (MadeUp("classic", seed, plies=60) for seed in range(5)):
        squares = [move.split("-") for move in made.moves]
        short = ["-".join(f"{s[0]}{int(s[1:]) - 1}" for s in pair) for pair in squares]
        data = made.gsn().decode().split("\n")
        data[3 : 3 + len(short)] = short
        played = play(parse_log("\n".join(data).encode(), "f"))
        assert [str(fault) for fault in played.faults] == [
            f"f: line 4, move 1: ranks that are counted from 0: '{made.moves[0]}'"
        ]
        assert [played.log.move_text(ply) for ply in range(played.log.plies)] == made.moves


def test_a_tie_that_has_a_winner_is_read_and_told():
    for data, winner in ((gsn_with(END + 1, ["A vs B result 4 winner 1"]), 1),
                         (XML.replace(b'winner="3"', b'winner="1"'), 0)):  # fmt: skip
        played = play(parse_log(data, "f"))
        assert (played.log.reason, played.log.winner) == ("tie_agreed", winner)
        assert [fault.what for fault in played.faults] == ["tie agreed has no winner"]


@pytest.mark.parametrize("behind_result", [True, False])
def test_moves_after_an_early_end_belong_to_the_game(behind_result):
    head, moves, result = LINES[:3], LINES[3 : END - 1], LINES[-1]
    late = moves[-5:]
    tail = [result, *late] if behind_result else [*late, result]
    early = [*head, *moves[:-5], "END", *tail]
    played = play(parse_log("\n".join(early).encode(), "f"))
    assert [played.log.move_text(ply) for ply in range(played.log.plies)] == GAME.moves
    [said] = played.faults
    assert said.what == "moves after END go on with the game, and belong to it"
    assert (said.text, played.fault) == (late[0], None)
    assert gsn_text(played.log).encode() == GSN
    repeated = [*LINES, *moves[:5]]  # no moves that go on: the beginning once more
    played = play(parse_log("\n".join(repeated).encode(), "f"))
    assert [played.log.move_text(ply) for ply in range(played.log.plies)] == GAME.moves
    [said] = played.faults
    assert said.what == "moves after END do not go on with the game, left out"
