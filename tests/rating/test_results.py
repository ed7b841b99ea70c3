"""Results of other programs, PGN and CSV (formats/results.md)."""

from __future__ import annotations

import csv
import gzip
import io
import json
import pathlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rating_games import header, record, write
from running import ROOT, run
from stratkit.errors import InputError
from stratkit.rating.pool import LOST, WON
from stratkit.rating.reading import PoolReader
from stratkit.storage.records import BLUE, DRAW, RED
from stratkit.storage.results import COLUMNS, OUTCOMES, Result, Results, form_of, outcome

SAMPLES = ROOT / "formats/samples"
PAGE = (ROOT / "formats/results.md").read_text()
RESULTS = {"1-0": RED, "0-1": BLUE, "1/2-1/2": DRAW}


def read(text: str | bytes, name: str = "f") -> tuple[list[Result], dict[str, tuple[int, int]]]:
    data = text.encode() if isinstance(text, str) else text
    form, stream = form_of(io.BytesIO(data), name)
    assert form is not None
    results = Results(form, stream, name)
    return list(results), results.left_out


def games(text: str | bytes, name: str = "f") -> list[tuple[str, str, str]]:
    return [(r.first, r.second, r.result) for r in read(text, name)[0]]


def pgn(white: str, black: str, result: str, *more: str, text: str = "1. e4") -> str:
    tags = [("White", white), ("Black", black), ("Result", result)]
    escaped = [(k, v.replace("\\", r"\\").replace('"', r"\"")) for k, v in tags]
    lines = [*(f'[{k} "{v}"]' for k, v in escaped), *more]
    return "\n".join([*lines, "", text, ""])


# --- the samples and the page ---------------------------------------------------------------------


def test_the_samples_hold_the_same_games() -> None:
    one, other = (read((SAMPLES / f"results.{form}").read_bytes()) for form in ("pgn", "csv"))
    assert one[0] == other[0] == [
        Result("Ann", "Bob, B.", RED, 0),
        Result("Bob, B.", "Ann", DRAW, 0),
        Result("Cleo", "Ann", BLUE, 2),
        Result("Cleo", "Bob, B.", DRAW, 3),
        Result("Bob, B.", "Cleo", RED, 3),
    ]  # fmt: skip
    assert one[1] == {"without a result": (1, 42), "of a player against itself": (1, 48)}
    assert other[1] == {"without a result": (1, 7), "of a player against itself": (1, 8)}


def test_rate_says_the_same_of_both_samples() -> None:
    said = [run("rate", "--prior", 1, SAMPLES / f"results.{form}") for form in ("pgn", "csv")]
    assert said[0].out == said[1].out and said[0].status == 0
    assert said[0].out.startswith("5 games; Elo with 95 % intervals")
    assert said[1].err.splitlines()[:-1] == [
        f"rate: {SAMPLES}/results.csv: left out: 1 game {why}"
        for why in ("without a result, at line 7", "of a player against itself, at line 8")
    ]


def test_the_page_has_all_columns_and_results() -> None:
    section = PAGE.split("## CSV\n")[1]
    columns = re.findall(r"^\| (\w+(?:, \w+)+) \|", section, re.M)
    assert [tuple(row.split(", ")) for row in columns] == list(COLUMNS.values())
    words = {
        word: result
        for row, result in zip(
            re.findall(r"^\| (`.*`) \|", PAGE, re.M), (RED, BLUE, DRAW), strict=True
        )
        for word in re.findall("`(.*?)`", row)
    }
    assert words == OUTCOMES


# --- PGN ------------------------------------------------------------------------------------------

NAMES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=6).filter(
    lambda name: name != "?"
)
COMMENTS = st.text("ab [](;%\n1-0 01/2*\"'", max_size=9).map(lambda text: "{ " + text + "}")
MOVES = st.sampled_from(
    ["1. e4", "e5", "1...", "O-O", "0-0", "$1", "Qxf7#", "; 0-1\n", "\n% 0-1 {\n"]
)
TEXT = st.recursive(
    st.one_of(COMMENTS, MOVES),
    lambda inner: st.lists(st.one_of(inner, st.sampled_from([*RESULTS, "*"])), max_size=3).map(
        lambda parts: f"( {' '.join(parts)} )"
    ),
    max_leaves=5,
)


@given(st.data())
def test_games_come_back_whatever_stands_between_their_moves(data: st.DataObject) -> None:
    expected, parts = [], []
    for _ in range(data.draw(st.integers(1, 4))):
        first, second = data.draw(st.lists(NAMES, min_size=2, max_size=2, unique=True))
        result = data.draw(st.sampled_from(list(RESULTS)))
        said, ending = data.draw(
            st.sampled_from([(result, result), (result, "*"), ("*", result), (result, "")])
        )
        text = " ".join(data.draw(st.lists(TEXT, max_size=4)))
        parts.append(pgn(first, second, said, text=f"{text} {ending}"))
        expected.append((first, second, RESULTS[result]))
    between = data.draw(st.sampled_from(["", "\n", "\n\n", "\nsome words\n"]))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    text = between.join(parts).replace("\n", end)
    assert games(text) == games(gzip.decompress(gzip.compress(text.encode()))) == expected


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        (pgn("a", "b", "1-0", text="0-1"), {"whose tag and text give other results": (1, 1)}),
        (pgn("a", "b", "*") + pgn("a", "b", "0-0"), {"without a result": (2, 1)}),
        (pgn("a", "?", "1-0"), {"without both names": (1, 1)}),
        ('[Result "1-0"]\n[White "a"]\n', {"without both names": (1, 1)}),
        (pgn("a", "a", "1-0"), {"of a player against itself": (1, 1)}),
        ('[Event "x"]\n\n1. e4 1-0 \n\n1. d4 0-1', {"without both names": (2, 1)}),
    ],
)
def test_games_that_cannot_be_rated(text: str, left_out: dict[str, tuple[int, int]]) -> None:
    assert read(text) == ([], left_out)


@pytest.mark.parametrize(
    "text",
    [
        '[White "a"] [Black "b"] [Result "1-0"]',
        '\ufeff\n [ White "a" ]\r\n[Black "b"]\r\n[Result "1-0"]',
        '[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 (1... e5 (1... c5 0-1) 0-1',
        '[White "a"]\n[Black "b"]\n\n1. e4 1-0 {later} ; more\n\n',
        '[White "a"]\n[Black "b"]\n[Result "1/2"]\n[Result "1-0"]'.replace('[Result "1/2"]\n', ""),
    ],
)
def test_forms_of_one_game(text: str) -> None:
    assert games(text) == [("a", "b", RED)]


def test_names_of_old_files() -> None:
    text = pgn('M"uller \\ A', "Möller", "1-0")
    assert games(text) == games(text.encode("latin-1")) == [('M"uller \\ A', "Möller", RED)]
    assert games('[White "a "b" c"]\n[Black "d"]\n[Result "1-0"]') == [('a "b" c', "d", RED)]


def test_a_comment_that_does_not_end() -> None:
    text = pgn("a", "b", "1-0") + pgn("b", "a", "1-0", text="\n{ 1-0")
    with pytest.raises(InputError, match="^f: line 11: a comment that does not end$"):
        games(text + pgn("a", "b", "1-0"))


def test_rounds_make_pairs() -> None:
    def pairs(*rounds: str) -> list[int]:
        text = "".join(
            pgn(*("ab" if i % 2 else "ba"), "1-0", f'[Round "{r}"]') for i, r in enumerate(rounds)
        )
        return [result.pair for result in read(text)[0]]

    assert pairs("1", "1", "1", "1") == [0, 0, 2, 2]
    assert pairs("1", "2", "2", "1") == [0, 1, 1, 0]
    assert pairs("?", "?", "-", "-") == [0, 1, 2, 3]
    assert pairs("1", "?", "1") == [0, 1, 2]  # the same sides


# --- CSV ------------------------------------------------------------------------------------------


@given(st.data())
def test_tables_come_back(data: st.DataObject) -> None:
    names = {kind: data.draw(st.sampled_from(words)) for kind, words in COLUMNS.items()}
    other = data.draw(st.sampled_from(["other", "Event, Site; Date\tNo.", 'the "other"']))
    order = data.draw(st.permutations([*list(names)[:3], other]))
    delimiter = data.draw(st.sampled_from(",;\t"))
    stream, expected = io.StringIO(), []
    writer = csv.writer(stream, delimiter=delimiter, quoting=data.draw(st.sampled_from([0, 1])))
    writer.writerow(data.draw(st.sampled_from([str.upper, str]))(names.get(k, k)) for k in order)
    for _ in range(data.draw(st.integers(0, 4))):
        first, second = data.draw(st.lists(NAMES, min_size=2, max_size=2, unique=True))
        word = data.draw(st.sampled_from(list(OUTCOMES)))
        row = {"first player": first, "second player": second, "result": word, other: "x\ny"}
        writer.writerow([row[kind] for kind in order])
        expected.append((first, second, OUTCOMES[word]))
    assert games(stream.getvalue()) == expected


HEAD = "white,black,result\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (HEAD + "a,b,1-0\na,b,won", "line 3: not a result such as 1-0, 0-1 or 1/2-1/2: 'won'"),
        (HEAD + "a,b,-1", "line 2: not a result such as 1-0, 0-1 or 1/2-1/2: '-1'"),
        (HEAD + "a,b", "line 2: 2 fields, where 3 are needed"),
        (HEAD + 'a,"b,1-0\na,b,1-0\n', "line 4: no CSV: unexpected end of data"),
        ("white,black,first,result\n", "line 1: two columns for the first player: white and first"),
        ("a,b\n", "line 1: no column for the first player: player1, white, red, first"),
        ("white,black\n", "line 1: no column for the result: result, score"),
        ("", "line 1: no column for the first player: player1, white, red, first"),
    ],
)
def test_wrong_tables(text: str, line: str) -> None:
    with pytest.raises(InputError) as caught:
        games(text, "f.csv")
    assert str(caught.value) == f"f.csv: {line}"


def test_words_for_results() -> None:
    for word in ("1", "1.0", "1.", "01", "+1", "1e0", "٠", "0-0", "2", "nan"):
        assert outcome(word) == (RED if word in ("1", "1.0", "1.") else None)
    assert [outcome(word) for word in (".5", "0.50", "0.0", ".0", " 1-0 ")] == [
        DRAW, DRAW, BLUE, BLUE, RED
    ]  # fmt: skip


def test_a_table_of_actions_is_no_table_of_results() -> None:
    done = run("rate", SAMPLES / "searched.csv")
    what = "line 1: no column for the first player: player1, white, red, first"
    assert (done.status, done.error_line) == (1, f"rate: {SAMPLES}/searched.csv: {what}")


# --- anything -------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    ['[White "a"]', '[Black "b"]', '[Result "1-0"]', "[", "]", '"', "\\", "{", "}", "(", ")", ";",
     "%", "\n", "1-0", "*", "white", "black", "result", ",", "\t", "\r", "\0", "\ufeff", "é"]
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=12).map("".join), st.sampled_from(["f", "f.pgn", "f.csv"]))
def test_anything_gives_results_or_an_error(text: str, name: str) -> None:
    for data in (text.encode(), text.encode("latin-1", "replace")):
        reader = PoolReader()
        try:
            reader.read(io.BytesIO(data), name)
            reader.finish()
        except InputError as error:
            assert str(error).startswith(name)


# --- in a pool ------------------------------------------------------------------------------------


def test_files_of_results_and_records_together(tmp_path: pathlib.Path) -> None:
    records = write(tmp_path / "g.jsonl", header("a", "b"), [record(0, 0, 1, "red")])
    table = tmp_path / "t.csv"
    table.write_text(HEAD + "b,c,0\nc,a,1\n")
    chess = tmp_path / "c.pgn.gz"
    chess.write_bytes(gzip.compress(pgn("c", "b", "1-0").encode()))
    done = run("rate", "--prior", 1, "--json", table, records, chess)
    value = json.loads(done.out)
    assert (value["game"], value["games"]) == ("mini", 4)
    assert {p["name"]: p["won"] for p in value["players"]} == {"a": 1, "b": 0, "c": 3}
    assert done.err.splitlines()[:2] == [
        f"rate: {path}: names no game: taken for games of mini" for path in (table, chess)
    ]
    assert json.loads(run("rate", "--prior", 1, "--json", chess, table).out)["game"] is None
    page = tmp_path / "page.html"
    assert run("rate", "--prior", 1, "--html", page, "--games", 1, table).status == 0
    assert "<title>Ratings</title>" in page.read_text()


def test_a_file_that_is_read_twice_counts_once(tmp_path: pathlib.Path) -> None:
    one, copy, longer = (tmp_path / name for name in ("1.csv", "2.csv", "3.csv"))
    one.write_text(HEAD + "a,b,1\na,b,1\n")
    copy.write_bytes(one.read_bytes())
    longer.write_text(one.read_text() + "b,a,1\n")
    reader = PoolReader()
    for path in (one, longer, copy):
        with path.open("rb") as stream:
            reader.read(stream, path.name)
    pool = reader.finish()
    assert (len(pool), reader.repeated) == (5, 2)
    assert pool.names == ["a", "b"] and pool.result.tolist() == [WON] * 5
    assert len(set(pool.pair.tolist())) == 5 and LOST not in pool.result


def test_scores_of_many_players_are_no_results() -> None:
    done = run("rate", "--score", "squares", SAMPLES / "results.pgn")
    what = "results of two players, where shares are rated from game records"
    assert (done.status, done.error_line) == (1, f"rate: {SAMPLES}/results.pgn: {what}")
