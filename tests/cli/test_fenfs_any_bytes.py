"""Whatever stands in a file, `fenfs` tells it in one line each and goes on."""

from __future__ import annotations

import pathlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fenfs_here import LOGS, SAMPLES
from stratkit.convert.check import check_chunk
from stratkit.convert.conversion import convert_chunk
from stratkit.convert.lines import games_only
from stratkit.convert.listing import list_chunk
from stratkit.convert.options import GAMES, ConvertOptions
from stratkit.convert.raw import chunks
from stratkit.convert.stats import stats_chunk
from stratkit.errors import InputError
from stratkit.notation.select import Selection

FILES = [
    LOGS / "barrage-2010.11-204.xml",
    LOGS / "barrage.2003.9.2.7.gsn",
    SAMPLES / "games.jsonl",
    SAMPLES / "episodes.eps",
    SAMPLES / "barrage.moved.fenfs",
    SAMPLES / "gravon.setups",
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("any") / "file"


@settings(max_examples=120)
@given(st.sampled_from(FILES), st.data())
def test_damaged_files_are_read_or_told(
    path: pathlib.Path, file: pathlib.Path, data: st.DataObject
) -> None:
    """Cuts, flipped bytes and repeated parts, of files of every form."""
    whole = file.read_bytes()[:3000]
    first, last = sorted(data.draw(st.integers(0, len(whole))) for _ in range(2))
    middle = data.draw(st.one_of(st.binary(max_size=3), st.just(whole[first:last] * 2)))
    path.write_bytes(whole[:first] + middle + whole[last:])
    told: list[InputError] = []
    for form in ("fenfs", "setups", "games", "csv", "gsn", "xml"):
        wanted = ConvertOptions(to=form, selection=Selection(), salvage=True)
        for chunk in chunks([str(path)], together=form in GAMES):
            for piece in convert_chunk(list(chunk), wanted):
                told += piece.faults
    for chunk in chunks([str(path)]):
        for finding in check_chunk(list(chunk), Selection(), two_squares=5, keep=True):
            told += [*finding.faults, *finding.notes]
        told += stats_chunk(list(chunk), Selection())[1]
        told += list_chunk(games_only(list(chunk)), Selection())[1]
    for fault in told:
        assert str(fault).startswith(str(path))
