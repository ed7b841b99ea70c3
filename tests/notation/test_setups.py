import gzip
import io
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gravon_games import random_setup
from stratkit.compressed import compression
from stratkit.engine.stratego import VARIANTS
from stratkit.errors import InputError
from stratkit.notation.setups import (
    all_setups,
    field_text,
    file_and_name,
    parse_field,
    parse_setup,
    read_setups,
    setup_text,
    variant_of,
)

CLASSIC = VARIANTS["classic"]
GOOD = setup_text(random_setup(CLASSIC, random.Random(1)))

variants = st.sampled_from(list(VARIANTS.values()))
seeds = st.integers(0, 10**6).map(random.Random)


@given(variants, seeds)
def test_setups_survive_text(variant, rng):
    setup = random_setup(variant, rng)
    text = setup_text(setup)
    assert (parse_setup(text, variant) == setup).all()
    assert setup_text(parse_setup(text)) == text
    found = variant_of(setup)  # the first with this army: nano and micro have the same
    assert (found.counts, found.zone) == (variant.counts, variant.zone)


@given(variants, seeds)
def test_fields_survive_text(variant, rng):
    red, blue = random_setup(variant, rng), random_setup(variant, rng)
    text = field_text(variant, red, blue)
    again = parse_field(text, variant)
    assert (again[0] == red).all() and (again[1] == blue).all()
    assert field_text(variant, *again) == text


def test_the_field_of_the_specification():
    """Blue's setup is the last forty letters reversed, each letter twelve further up."""
    rng = random.Random(2)
    red, blue = random_setup(CLASSIC, rng), random_setup(CLASSIC, rng)
    text = field_text(CLASSIC, red, blue)
    assert text[:40] == setup_text(red)
    assert text[40:60] == "AA__AA__AAAA__AA__AA"
    down = "".join("A" if c == "A" else chr(ord(c) - 12) for c in reversed(text[60:]))
    assert down == setup_text(blue)


@given(st.text(), variants)
def test_any_other_text_is_an_input_error(text, variant):
    for parse in (parse_setup, parse_field):
        with pytest.raises(InputError):
            parse(text, variant)


@given(st.binary(max_size=3000))
@example(gzip.compress(b"x")[:-1])
def test_any_bytes_can_be_read_as_setups(data):
    try:
        for number, setup in read_setups(io.BytesIO(data), "f"):
            assert number >= 1
            if isinstance(setup, InputError):
                assert str(setup).startswith(f"f: line {number}: ") and str(setup).isprintable()
    except InputError as error:  # of what only begins as gzip and zstd begin
        assert compression(data) and str(error).startswith("f: ") and str(error).isprintable()


def test_a_wrong_count_is_named():
    text = GOOD.replace("L", "B")
    with pytest.raises(InputError, match="1 of type marshal, not 0"):
        parse_setup(text, CLASSIC)
    [(number, error)] = read_setups(io.BytesIO(text.encode()), "f.setups")
    assert number == 1 and isinstance(error, InputError)
    expected = "f.setups: line 1: a setup of classic has 1 of type marshal, not 0: "
    assert str(error).startswith(expected + "'")


def test_faulty_lines_do_not_stop_the_others():
    lines = [GOOD, "", "x" * 5000, "N" * 40, GOOD[:-1], "\xff", GOOD]
    stream = io.BytesIO("\r\n".join(lines).encode("latin-1"))
    got = list(read_setups(stream, "f"))
    good = [number for number, setup in got if not isinstance(setup, InputError)]
    assert good == [1, 7]
    errors = {number: setup.what for number, setup in got if isinstance(setup, InputError)}
    assert errors == {
        3: "a line of over 1000 bytes",
        4: "letter 1 of a setup is none of A to M",
        5: "a setup of classic has 40 squares, not 39",
        6: "not UTF-8",
    }


NAMED = b"CLM  in the  corner\r\nMCL\tx\nLCM\nLMC x\nMLC 17\t-3.5\n"


def test_lines_have_names(tmp_path):
    """Blanks between the words of a name are one; a file without names reads as ever."""
    lines = [line for _, line in read_setups(io.BytesIO(NAMED), "f", VARIANTS["nano"])]
    assert [line.name for line in lines] == ["in the corner", "x", "", "x", "17 -3.5"]
    assert [line.line for line in lines][:3] == ["CLM in the corner", "MCL x", "LCM"]
    named = all_setups(io.BytesIO(NAMED), "f", VARIANTS["nano"], "x")
    assert list(map(setup_text, named)) == ["MCL", "LMC"]
    with pytest.raises(InputError) as told:
        all_setups(io.BytesIO(NAMED), "f", VARIANTS["nano"], "y")
    assert str(told.value) == "f: no setup is called 'y'; there are 'in the corner', 'x', '17 -3.5'"
    with pytest.raises(InputError, match="there are none with a name"):
        all_setups(io.BytesIO(b"LCM\n"), "f", VARIANTS["nano"], "y")
    many = b"".join(b"LCM %d\n" % number for number in range(25))
    with pytest.raises(InputError, match="'19' and 5 more$"):
        all_setups(io.BytesIO(many), "f", VARIANTS["nano"], "y")


def test_a_file_and_a_name_in_it(tmp_path):
    odd = tmp_path / "a#b"
    odd.write_text("")
    assert file_and_name(str(odd)) == (str(odd), None)
    assert file_and_name("my.setups#x # y") == ("my.setups", "x # y")
    assert file_and_name("my.setups") == ("my.setups", None)


@pytest.mark.parametrize("fault", ["AA_AA", "N"])
def test_pieces_and_lakes_out_of_place(fault):
    red = blue = parse_setup(GOOD, CLASSIC)
    text = field_text(CLASSIC, red, blue)
    with pytest.raises(InputError, match="square"):
        parse_field(fault + text[len(fault) :], CLASSIC)


@pytest.mark.parametrize("name", ["classic", "barrage"])
def test_setups_of_people(name, shared):
    with gzip.open(shared / f"data/human_{name}.setups.gz") as stream:
        lines = stream.readlines()[:2000]
    for line in lines:
        text = line.decode().strip()
        assert setup_text(parse_setup(text, VARIANTS[name])) == text
