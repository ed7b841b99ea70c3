"""Whatever bytes a parser gets, it reads them or tells what is wrong. fuzz_parsers.py asks the same
with more patience, tests/cli/test_fenfs_any_bytes.py of all that `fenfs` does with a file."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers import PARSERS, parse

NAMES = [name for name in PARSERS if name != "anything"]


@st.composite
def damaged(draw: st.DrawFn, samples: list[bytes]) -> bytes:
    """A sample with bytes cut out, put in or repeated."""
    whole = draw(st.sampled_from(samples))[:5000]
    first, last = sorted(draw(st.integers(0, len(whole))) for _ in range(2))
    last = draw(st.sampled_from([last, min(last, first + 3)]))
    middle = draw(st.one_of(st.binary(max_size=4), st.just(whole[first:last] * 2)))
    return whole[:first] + middle + whole[last:]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60)
@given(data=st.data())
def test_damaged_bytes_are_read_or_told(name: str, data: st.DataObject) -> None:
    parse(name, data.draw(damaged(PARSERS[name][1])))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40)
@given(data=st.binary(max_size=60))
def test_any_bytes_are_read_or_told(name: str, data: bytes) -> None:
    parse(name, data)


@pytest.mark.parametrize("name", PARSERS)
def test_samples_are_read(name: str) -> None:
    parser, samples = PARSERS[name]
    assert samples
    parser(samples[0])
