"""CSV that a spreadsheet shows and does not run."""

from __future__ import annotations

import csv
import io
import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rating.rating_games import header, record, write
from running import ROOT, run
from stratkit.errors import printable
from stratkit.storage.csv_text import csv_text

MARKS = "=+-@＝＋－＠"
SUM = "=1+1"  # the smallest name that a spreadsheet runs


@pytest.mark.parametrize("mark", MARKS)
def test_no_cell_begins_a_formula(mark: str) -> None:
    for name in (f"{mark}1+1", f" {mark}cmd|' /C calc'!A0", mark):
        [[cell]] = csv.reader(io.StringIO(csv_text([[name]]), newline=""))
        assert cell == "'" + name


def test_numbers_and_other_names_stay_as_they_are() -> None:
    cells = ["-12.34", "+3", "-1e-05", "-.5", "-7", "a=b", "run@7", "A4-A5", "'quoted'", "", " a"]
    assert csv_text([cells, [-1, 0.5, None]]) == ",".join(cells) + "\n-1,0.5,None\n"
    # Control characters begin no cell and end no row.
    assert csv_text([["\t=1", "\r=1", "\n", "a\rb"]]) == r"\t=1,\r=1,\n,a\rb" + "\n"
    # What Python takes for a number, and a spreadsheet for a formula.
    assert csv_text([["-inf", "+nan", "-1_000", "+٣"]]) == "'-inf,'+nan,'-1_000,'+٣\n"


@given(st.lists(st.text(alphabet=MARKS + "\t\r\n 1e.,;\"'a", max_size=6), min_size=1, max_size=4))
def test_cells_are_numbers_or_safe_and_are_read_again(cells: list[str]) -> None:
    [read] = csv.reader(io.StringIO(csv_text([cells]), newline=""))
    for cell, name in zip(read, cells, strict=True):
        assert cell in (printable(name), "'" + printable(name))
        if cell.strip().startswith(tuple(MARKS)):
            float(cell)


def test_every_table_that_rate_writes_is_safe(tmp_path: pathlib.Path) -> None:
    names = (SUM, "-2+3", "@sum", "=c")
    games = [record(2 * i, i % 3, 3, ("red", "draw", "blue")[i % 3]) for i in range(9)]
    path = write(tmp_path / "g", header(*names), games)
    for arguments in (*(["--table", t] for t in ("ratings", "meetings", "superiority")),
                      ["--versus", SUM]):  # fmt: skip
        done = run("rate", "--prior", 1, "--csv", *arguments, path)
        assert done.status == 0
        cells = [cell for row in csv.reader(done.out.splitlines()) for cell in row]
        assert any(cell[1:] in names for cell in cells)
        for cell in cells:
            if cell.startswith(tuple(MARKS)):
                float(cell)
    elo = csv.DictReader(run("rate", "--prior", 1, "--csv", path).out.splitlines())
    assert any(row["Elo"].startswith("-") for row in elo)


def test_the_names_of_files_are_safe(tmp_path: pathlib.Path) -> None:
    (tmp_path / f"{SUM}.eps").write_bytes((ROOT / "formats/samples/searched.eps").read_bytes())
    done = run("fenfs", "convert", "--to", "csv", f"{SUM}.eps", cwd=tmp_path)
    assert done.status == 0
    assert {row["file"] for row in csv.DictReader(done.out.splitlines())} == {f"'{SUM}.eps"}


def test_tables_are_written_in_one_place() -> None:
    writing = [
        path.name
        for folder in ("stratkit", "examples", "bench")
        for path in (ROOT / folder).rglob("*.py")
        if any(word in path.read_text() for word in ("csv.writer", "DictWriter", "to_csv"))
    ]
    assert writing == ["csv_text.py"]
