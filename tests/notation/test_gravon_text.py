"""Writing logs: canonical files survive byte for byte, faulty ones are repaired for good."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gravon_games import MadeUp
from stratkit.engine.stratego import VARIANTS
from stratkit.errors import InputError
from stratkit.notation.gravon import parse_log
from stratkit.notation.gravon_text import gsn_text, losses, xml_text
from stratkit.notation.gravon_words import KINDS
from stratkit.notation.log import Log
from stratkit.notation.play import play_out

WRITERS = {"gsn": gsn_text, "xml": xml_text}

nicks = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)
nicks |= st.sampled_from(["Zoë & Co", '"vs"', "a  b", "<b>", "]]>", "&amp;", "x result 1 winner 0"])


@st.composite
def games(draw):
    game = MadeUp(draw(st.sampled_from(list(KINDS))), draw(st.integers(0, 10**6)), 25)
    game.players = draw(st.tuples(nicks, nicks))
    return game


def read(data):
    """The sound part of a log, and all that is to be said of it."""
    [played] = play_out([("f", parse_log(data, "f"))])
    faults = [*played.remarks, *([played.fault] if played.fault else [])]
    return played.log, [str(fault) for fault in faults]


@settings(max_examples=40)
@given(games())
def test_canonical_files_survive_byte_for_byte(game):
    canonical = {"gsn": game.gsn(), "xml": game.xml()}
    for data in canonical.values():
        log, faults = read(data)
        assert faults == []
        for form, write in WRITERS.items():
            assert write(log).encode() == canonical[form]
            assert losses(log, form) == []


@pytest.mark.parametrize("kind", KINDS)
def test_games_without_setups_survive(kind):
    log = Log(VARIANTS[KINDS[kind]], kind, None, b"", ("A", "B"), "opponent_missing", 0)
    for write in WRITERS.values():
        assert write(read(write(log).encode())[0]) == write(log)


def lines_changed(change):
    return lambda data: "\n".join(change(data.decode().split("\n"))).encode()


@lines_changed
def swapped(lines):
    return [*lines[:-3], lines[-2], lines[-3], ""]


@lines_changed
def twice(lines):
    return [*lines[:-1], *lines]


@lines_changed
def stray(lines):
    return [*lines[:-2], "??", *lines[-2:]]


@lines_changed
def two_ends(lines):
    return [*lines[:-2], "END", *lines[-2:]]


@lines_changed
def rubbish_after(lines):
    return [*lines, "END", "rubbish", ""]


GSN_FAULTS = {
    "the result comes before END": swapped,
    "something after the result, left out": twice,
    "between END and the result, left out: '??'": stray,
    "between END and the result, left out: 'END'": two_ends,
    "something after the result, left out: 'END'": rubbish_after,
}
NO_FAULTS = [
    lambda data: b"\xef\xbb\xbf" + data,
    lambda data: data.replace(b"\n", b"\r\n"),
    lambda data: data.replace(b"\n", b"\r"),
    lambda data: data.replace(b"\n", b" \t\n"),
    lambda data: data + b"\n\n",
]


@settings(max_examples=25)
@given(games(), st.sampled_from(list(GSN_FAULTS)), st.sampled_from([*NO_FAULTS, bytes]))
def test_a_faulty_gsn_is_repaired_once_and_for_all(game, said, change):
    log, faults = read(change(GSN_FAULTS[said](game.gsn())))
    assert len(faults) == 1 and said in faults[0] and faults[0].startswith("f: line ")
    assert gsn_text(log).encode() == game.gsn()


@settings(max_examples=15)
@given(games(), st.sampled_from(NO_FAULTS))
def test_other_line_ends_and_marks_are_no_fault(game, change):
    log, faults = read(change(game.gsn()))
    assert faults == [] and gsn_text(log).encode() == game.gsn()


def test_a_second_record_is_not_looked_at():
    first, second = MadeUp("classic", 1), MadeUp("barrage", 2)
    log, [fault] = read(first.gsn() + second.gsn())
    assert gsn_text(log).encode() == first.gsn()
    assert fault.startswith(f"f: line {len(first.moves) + 6}: something after the result")
    headless = first.gsn().decode().split("END")[0] + "END\n" + second.gsn().decode()
    with pytest.raises(InputError, match="a result like"):
        parse_log(headless.encode(), "f")


def test_moves_after_the_end_are_left_out():
    game = next(g for g in (MadeUp("duell", n, 600) for n in range(200)) if g.ending == 1)
    more = game.gsn().decode().replace("\nEND", "\nA1-A2\nA2-A1\nEND")
    log, [fault] = read(more.encode())
    assert gsn_text(log).encode() == game.gsn()
    number = len(game.moves)
    assert fault == (
        f"f: line {number + 4}, move {number + 1}: 2 moves after the end of the game "
        "(flag_captured), left out: 'A1-A2'"
    )
    log, [fault] = read(more.replace("A1-A2\nA2-A1\nEND", "castles\nEND").encode())
    assert gsn_text(log).encode() == game.gsn() and "'castles'" in fault


def test_what_comes_before_an_illegal_move_is_kept():
    game = MadeUp("classic", 3)
    for wrong, said in (("A1-K10", "illegal move"), ("castles", "a move like A4-A5 or END")):
        lines = game.gsn().decode().split("\n")
        lines[12] = wrong
        log, [fault] = read("\n".join(lines).encode())
        assert fault.startswith("f: line 13") and said in fault
        assert log.plies == 9 and [log.move_text(ply) for ply in range(9)] == game.moves[:9]
        assert read(gsn_text(log).encode()) == (log_like(log), [])


def log_like(log):
    """Equal to `log`, whose setups are arrays and so have no equality of their own."""

    class Like:
        def __eq__(self, other):
            return gsn_text(other) == gsn_text(log)

    return Like()


def test_a_bare_ampersand_is_survived_and_said():
    game = MadeUp("classic", 4)
    log, [fault] = read(game.xml().replace(b"&amp;", b"&"))
    assert xml_text(log).encode() == game.xml()
    assert fault.startswith(f"f: line {len(game.moves) + 6}: & that is not written &amp;: '& Co")


@settings(max_examples=150)
@given(st.sampled_from(list(WRITERS)), st.data())
def test_repairing_is_idempotent_whatever_the_damage(form, data):
    log = {"gsn": DAMAGED.gsn(), "xml": DAMAGED.xml()}[form]
    first, last = sorted(data.draw(st.integers(0, len(log))) for _ in range(2))
    middle = data.draw(st.one_of(st.just(b""), st.binary(max_size=3), st.just(log[first:last] * 2)))
    try:
        repaired = WRITERS[form](read(log[:first] + middle + log[last:])[0])
    except InputError:
        return
    assert WRITERS[form](read(repaired.encode())[0]) == repaired


DAMAGED = MadeUp("ultimate lightning", 9, 12)


def test_rescues_stay_in_a_gsn_and_are_missed_in_an_xml():
    game = MadeUp("ultimate lightning", 6)
    with_rescues = game.gsn().decode().replace(game.moves[3], f"A4:A5\nB4:B5\n{game.moves[3]}")
    log, faults = read(with_rescues.encode())
    assert faults == [] and gsn_text(log) == with_rescues
    assert xml_text(log).encode() == game.xml()
    assert losses(log, "gsn") == [] and len(losses(log, "xml")) == 1


def test_what_a_form_cannot_say_is_told():
    variant = VARIANTS["barrage"]
    log = Log(variant, "barrage", None, b"", ("a vs b", "c\x1b\n"), "max_quiet", None)
    assert len(losses(log, "gsn")) == 3 and len(losses(log, "xml")) == 2
    again, _ = read(xml_text(log).encode())
    assert (again.players, again.reason) == (("a vs b", "c\ufffd\ufffd"), "tie_agreed")
    with pytest.raises(InputError, match="Gravon has no mini"):
        gsn_text(Log(VARIANTS["mini"], "", None, b"", ("a", "b"), "forfeit", 0))
