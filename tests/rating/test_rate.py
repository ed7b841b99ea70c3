"""The command `rate`."""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
import random
import re

import pytest

from rating_games import changed, header, record, write
from running import ROOT, click_command, here, run
from stratkit.pictures import COLOURS
from stratkit.rating import runner
from stratkit.rating.plot import plot_curve
from stratkit.rating.report import RatingOptions, RatingReport, Standing
from stratkit.rating.svg import curve, curves_of, step_of

SAMPLES = ROOT / "formats/samples"

MIN_PAIRS = "fewer than 10 pairs of games, which say little of the strength"


@pytest.fixture
def games(tmp_path: pathlib.Path) -> pathlib.Path:
    rng = random.Random(5)
    three = header("random", "heuristic", "run@7")
    records = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        for swap in [False, True] * 20:
            result = rng.choices(("red", "draw", "blue"), (6, 1, 3) if swap else (3, 1, 6))[0]
            records.append(record(len(records), *((b, a) if swap else (a, b)), result))
    return write(tmp_path / "games.jsonl", three, records)


def test_the_tables(games: pathlib.Path) -> None:
    done = run("rate", "--anchor", "random", games)
    assert (done.status, done.err) == (0, "")
    head, ratings, meetings = (block.splitlines() for block in done.out.split("\n\n"))
    assert head == [
        "120 games of mini; Elo with 95 % intervals of differences from the anchors;"
        " given: random 0"
    ]
    assert [line.split()[1] for line in ratings[1:]] == ["run@7", "heuristic", "random"]
    assert ratings[3].split()[2:5] == ["0", "0", "0"]
    assert len(meetings) == 4
    done = run("rate", "--first-move", "fit", "--draws", "fit", games)
    assert re.match(
        r"120 games .* the mean; the mean is 0; first move: -?[\d.]+ \(-?[\d.]+ to -?[\d.]+\) Elo;"
        r" draws between equals: [\d.]+ \([\d.]+ to [\d.]+\) %\n",
        done.out,
    )


def test_head_to_head_as_the_paper_has_it(tmp_path: pathlib.Path) -> None:
    """Table 2 of the DeepNash paper, with its 800 games against Demon of Ignorance."""
    results = ["red"] * 777 + ["draw"] * 14 + ["blue"] * 9
    path = write(
        tmp_path / "g", header("deep", "demon"), [record(i, 0, 1, r) for i, r in enumerate(results)]
    )
    done = run("rate", "--versus", "deep", path)
    assert done.out.splitlines()[2:] == [
        "against  games   wins  draws  losses",
        "demon      800  97.1%   1.8%    1.1%",
    ]
    turned = run("rate", "--versus", "demon", "--csv", path)
    assert turned.out == "against,games,wins,draws,losses\ndeep,800,0.01125,0.01750,0.97125\n"


def test_csv(games: pathlib.Path) -> None:
    for table in ("ratings", "meetings", "superiority"):
        text = run("rate", "--csv", "--table", table, games).out
        rows = list(csv.DictReader(text.splitlines()))
        assert len(rows) == 3 and text.count("\n") == 4
    assert [row["stronger than"] for row in rows] == ["run@7", "heuristic", "random"]
    assert rows[0]["run@7"] == "" and float(rows[0]["random"]) > 0.9
    assert run("rate", "--csv", games).out.startswith("rank,player,Elo,from,to,games,won,drawn,")


def test_the_golden_sample_and_its_page() -> None:
    arguments = ["--json", "--prior", "1", "--anchor", "B", SAMPLES / "games.jsonl"]
    golden = (SAMPLES / "rating.json").read_text()
    assert run("rate", *arguments).out == golden
    page = (ROOT / "formats/rating.md").read_text().partition("\n## ")[0]  # of two players
    described = re.findall(r"^\| ([\w, ]+) \|", page.replace("| field |", ""), re.M)
    value = json.loads(golden)
    parts = (value["anchors"][0], value["first_move"], value["players"][0], value["meetings"][0])
    fields = [name for part in (value, *parts) for name in part]
    assert ", ".join(described).split(", ") == fields
    assert "| version | whole number | 2 |" in page


def test_the_sequential_method(games: pathlib.Path) -> None:
    value = json.loads(run("rate", "--method", "elo", "--json", games).out)
    assert value["method"] == "elo" and value["k"] == 1
    assert value["superiority"] is value["intervals"] is value["players"][0]["low"] is None
    assert sum(player["elo"] for player in value["players"]) == pytest.approx(0, abs=0.02)
    text = run("rate", "--method", "elo", "--k", 8, "--anchor", "random=100", games).out
    assert text.startswith("120 games of mini; Elo game by game with K = 8; given: random 100\n")
    (row,) = (line.split() for line in text.splitlines()[3:6] if " random " in line)
    assert row[2:5] == ["100", "-", "-"]


def test_an_anchor_with_a_rating(games: pathlib.Path) -> None:
    plain = json.loads(run("rate", "--json", "--anchor", "heuristic", games).out)
    moved = json.loads(run("rate", "--json", "--anchor", "heuristic=-12.5", games).out)
    for one, other in zip(plain["players"], moved["players"], strict=True):
        assert other["elo"] == pytest.approx(one["elo"] - 12.5, abs=0.011)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--anchor", "randon"], "--anchor: no player is called 'randon' (did you mean 'random'?)"),
        (["--anchor", "random=x"], "--anchor: not a rating from -4000 to 4000: 'x'"),
        (["--anchor", "random=inf"], "--anchor: not a rating from -4000 to 4000: 'inf'"),
        (["--anchor", "random=1~0"], "--anchor: not a SIGMA from 0.01 to 4000: '0'"),
        (["--anchor", "randon=1~2"], "--anchor: no player is called 'randon' (did you mean 'rando"),
        (["--anchor", "random", "--anchor", "random=5"], "--anchor: 'random' is given twice"),
        (["--versus", "heuristics"], "--versus: no player is called 'heuristics' (did you mean 'h"),
        (["--exclude", "x"], "--exclude: no player is called 'x'"),
        (["--rename", "x=y"], "--rename: OLD=NEW, but no player is called 'x'"),
        (["--draws", "1"], "--draws must be fit, or a number from 0, below 1: '1'"),
        (["--first-move", "fot"], "--first-move must be fit, or a number from -1000, below 1000"),
        (["--method", "elo", "--prior", "1"], "--prior belongs to --method ml"),
        (["--method", "elo", "--first-move", "fit"], "--first-move belongs to --method ml"),
        (["--method", "elo", "--anchor", "random~9"], "--method elo takes one --anchor, without S"),
        (["--method", "elo", "--table", "superiority"], "--method elo does not know who is likely"),
        (["--method", "elo", "--k", "nan"], "--k must be a number above 0, at most 1000: 'nan'"),
        (["--confidence", "nan"], "--confidence must be a number above 0, at most .99: 'nan'"),
        (["--confidence", ".991"], "--confidence must be a number above 0, at most .99: '.991'"),
        (["--intervals", "anchors"], "--intervals anchors needs an --anchor"),
        (["--k", "2"], "--k belongs to --method elo"),
        (["--json", "--csv"], "--json prints everything: --csv, --table and --versus do not go"),
        (["--csv", "--table", "ratings", "--table", "meetings"], "--csv prints one table: give"),
        (["--versus", "random", "--table", "ratings"], "--versus prints a table of its own"),
        (
            ["--table", "rating"],
            "--table must be one of ratings, meetings, superiority (did you mean",
        ),
        (["-", "-"], "standard input can be read only once: give - once"),
        (["--plot", "-"], "a picture or page cannot go where the tables go: name a file"),
        (["--curve", "x.JPG"], "pictures are .png or .svg, not .jpg: 'x.JPG'"),
        (["--html", "-"], "a picture or page cannot go where the tables go: name a file"),
        (["--anchr", "x"], "no such option: --anchr (did you mean '--anchor'?)"),
    ],
)
def test_wrong_command_lines(games: pathlib.Path, arguments: list[str], line: str) -> None:
    done = run("rate", *arguments, games)
    assert (done.status, done.data) == (2, b"")
    assert done.error_line.startswith(f"rate: {line}") or line in done.error_line


def test_several_anchors_and_loose_ones(games: pathlib.Path) -> None:
    """A name may look like one with a rating; the longest name counts."""
    anchors = ("--anchor", "random=100", "--anchor", "run@7=400~30")
    value = json.loads(run("rate", *anchors, "--json", games).out)
    assert value["anchors"] == [
        {"name": "random", "elo": 100, "sigma": None},
        {"name": "run@7", "elo": 400, "sigma": 30},
    ]
    elo = {player["name"]: player["elo"] for player in value["players"]}
    assert elo["random"] == 100 and 200 < elo["run@7"] < 400
    changed(
        games, 0, players=[{"name": n, "spec": "x", "sha256": None} for n in ("a", "a=5", "a~2")]
    )
    for text, name, given, sigma in (
        ("a=5", "a=5", 0, None),
        ("a=5=7", "a=5", 7, None),
        ("a=6", "a", 6, None),
        ("a~2", "a~2", 0, None),
        ("a~2=3~4", "a~2", 3, 4),
        ("a~3", "a", 0, 3),
    ):
        (anchor,) = json.loads(run("rate", "--json", "--anchor", text, games).out)["anchors"]
        assert anchor == {"name": name, "elo": given, "sigma": sigma}, text


def test_intervals_from_the_mean(games: pathlib.Path) -> None:
    value = json.loads(
        run("rate", "--json", "--anchor", "random", "--intervals", "mean", "--confidence", ".5",
            games).out
    )  # fmt: skip
    assert value["intervals"] == "mean" and value["confidence"] == 0.5
    assert all(player["low"] < player["elo"] < player["high"] for player in value["players"])
    done = run("rate", "--anchor", "random", "--intervals", "mean", games)
    assert " 95 % intervals of differences from the mean; given: random 0\n" in done.out


def test_a_pool_of_many_is_told_before_it_is_rated(
    games: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Intervals of thousands take hours, in which nothing is printed."""
    told = "rate: 3 players are compared with each other: their intervals take minutes or hours"
    monkeypatch.setattr(runner, "MANY", 2)
    assert told in here("rate", "--prior", 1, games).err
    apart = write(tmp_path / "1", header("a", "b"), [record(0, 0, 1, "draw")])
    other = write(tmp_path / "2", header("c", "d"), [record(0, 0, 1, "draw")])
    for words in ((games, "-q"), (games, "--method", "elo"), (apart, other)):
        alone = () if "elo" in words else ("--prior", 1)
        done = here("rate", *alone, *words)
        assert done.status == 0 and "compared with each other" not in done.err


def test_groups_that_never_met(tmp_path: pathlib.Path) -> None:
    one = write(tmp_path / "1", header("a", "b"), [record(0, 0, 1, "draw")])
    two = write(tmp_path / "2", header("c", "d"), [record(0, 0, 1, "draw")])
    for more, remedy in (
        ((), "--prior 1 makes it up"),
        (("--method", "elo"), "--include rates some players alone"),  # which takes no prior
    ):
        done = run("rate", *more, one, two)
        assert (done.status, done.data) == (3, b"")
        what = "groups that never met cannot be compared: a, b; c, d"
        assert done.error_line == f"rate: {what} ({remedy})"
    done = run("rate", "--prior", 1, one, two)
    assert (done.status, done.error_line) == (0, f"rate: {MIN_PAIRS}: a, b, c, d")
    head, *blocks = done.out.split("\n\n")
    assert head.endswith("; 2 groups never met: compare Elo only within a group")
    assert [blocks[0], blocks[3]] == ["group 1", "group 2"] and len(blocks) == 6
    for block, names in ((blocks[1], "ab"), (blocks[4], "cd")):
        rows = [line.split()[:2] for line in block.splitlines()[1:]]
        assert rows == [["1", names[0]], ["2", names[1]]]
    # Whoever met somebody of both is the link.
    link = write(tmp_path / "3", header("a", "d"), [record(0, 0, 1, "draw")])
    done = run("rate", "--prior", 1, one, two, link)
    assert "never met" not in done.out and "group" not in done.out
    # So are ratings that are given to both.
    done = run("rate", "--prior", 1, "--anchor", "a", "--anchor", "d=5", one, two)
    assert "never met" not in done.out and "group" not in done.out
    assert run("rate", "--include", "a", "--include", "b", one, two).status == 0


def test_groups_that_never_met_for_programs_and_in_the_page(tmp_path: pathlib.Path) -> None:
    one = write(tmp_path / "1", header("a", "b"), [record(0, 0, 1, "red")])
    two = write(tmp_path / "2", header("c", "d"), [record(0, 0, 1, "blue")])
    value = json.loads(run("rate", "--prior", 1, "--json", one, two).out)
    names = [player["name"] for player in value["players"]]
    groups = {player["name"]: player["group"] for player in value["players"]}
    assert groups == {"a": 1, "b": 1, "c": 2, "d": 2}
    for name, row in zip(names, value["superiority"], strict=True):
        for other, likely in zip(names, row, strict=True):
            assert (likely is None) == (groups[name] != groups[other])
    rows = list(csv.DictReader(run("rate", "--prior", 1, "--csv", one, two).out.splitlines()))
    assert [(row["group"], row["rank"], row["player"]) for row in rows] == [
        ("1", "1", "a"), ("1", "2", "b"), ("2", "1", "d"), ("2", "2", "c")
    ]  # fmt: skip
    files = ["--html", tmp_path / "page.html", "--plot", tmp_path / "ratings.png"]
    assert run("rate", "--prior", 1, *files, one, two).status == 0
    page = (tmp_path / "page.html").read_text()
    first, second = page.split("<h2>Group 1 of 2</h2>")[1].split("<h2>Group 2 of 2</h2>")
    for part, inside, away in ((first, "ab", "cd"), (second, "cd", "ab")):
        for name in inside:
            assert f">{name}</td>" in part
        for name in away:
            assert f">{name}</td>" not in part
    assert (tmp_path / "ratings.png").read_bytes().startswith(b"\x89PNG")


def test_only_wins_need_a_prior(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "g", header("a", "b"), [record(0, 0, 1, "red")])
    done = run("rate", path)
    assert (done.status, done.data) == (3, b"")
    assert done.error_line.startswith("rate: a won every game; b lost every game: no rating is fin")
    told = run("rate", "--prior", 1, path)
    assert (told.status, told.error_line) == (0, f"rate: {MIN_PAIRS}: a, b")
    assert "; each player has 1 more draw with one player made up\n" in told.out
    assert run("rate", "--method", "elo", path).status == 0


def test_include_exclude_and_rename(games: pathlib.Path) -> None:
    done = run("rate", "--exclude", "run@*", games)
    assert done.out.startswith("40 games of mini")
    done = run("rate", "--rename", "run@7=new", "--rename", "random=heuristic", games)
    assert done.error_line == "rate: left out: 40 games between players who are one now"
    assert done.out.startswith("80 games of mini") and " new " in done.out
    done = run("rate", "--least-games", 81, games)
    assert done.status == 1 and done.err.endswith("rate: no games are left to rate\n")
    assert done.err.startswith("left out, with fewer than 81 games: ")


def test_a_circle_is_warned_of(tmp_path: pathlib.Path) -> None:
    beats = [(0, 1), (1, 2), (2, 0)] * 30
    games = [record(2 * i, *who, "blue" if i % 10 > 7 else "red") for i, who in enumerate(beats)]
    done = run("rate", write(tmp_path / "g", header("rock", "scissors", "paper"), games))
    assert done.status == 0 and len(done.err.splitlines()) == 3
    assert (
        "rate: rock scored 80.0% against scissors in 30 games where 50.0% was expected" in done.err
    )


def test_nothing_to_read(tmp_path: pathlib.Path) -> None:
    done = run("rate", "-", stdin=b"")
    assert done.status == 1
    assert done.error_line == (
        "rate: standard input: empty, or its first line is torn: no game record"
    )
    path = write(tmp_path / "g", header("a", "b"), [])
    assert run("rate", path).error_line == f"rate: {path}: no games to rate"


def test_from_a_pipe_and_repeated(games: pathlib.Path) -> None:
    done = run("rate", games, "-", stdin=games.read_bytes())
    assert done.status == 0
    assert done.error_line == "rate: 120 games met again, counted once"
    assert done.out == run("rate", "-", stdin=games.read_bytes()).out


def test_other_games_of_one_number_are_told(games: pathlib.Path) -> None:
    """Of a match whose players are not reproducible, say: no game is called met again that is
    not."""
    first = games.read_text().splitlines(keepends=True)[1]
    changed(games, 4, **{**json.loads(first), "moves": "B1B2"})
    changed(games, 5, number=1)
    games.write_text(games.read_text() + first)
    done = run("rate", games)
    assert done.status == 0 and done.out.startswith("118 games of mini")
    what = "2 games with the number of another game of the match, such as 0"
    again = "rate: 1 game met again, counted once"
    assert done.err.splitlines() == [again, f"rate: left out: {what}"]


def test_a_torn_last_line_is_left_out(games: pathlib.Path) -> None:
    whole = games.read_bytes()
    games.write_bytes(whole[:-9])
    done = run("rate", games)
    assert done.status == 0 and done.out.startswith("119 games of mini")
    assert done.error_line == f"rate: {games}: line 121: torn, left out"
    games.write_bytes(whole[:-1])  # only its line feed is missing
    done = run("rate", games)
    assert (done.status, done.err) == (0, "") and done.out.startswith("120 games of mini")


def test_a_picture_does_not_replace_the_games(games: pathlib.Path) -> None:
    before = games.read_bytes()
    for arguments in (("--html", games), ("--plot", "x", "--html", games.parent / "." / "x")):
        done = run("rate", games, "-f", *arguments, cwd=games.parent)
        assert (
            done.status == 2
            and "a result cannot go where another file of this command is" in done.error_line
        )
    assert games.read_bytes() == before


def test_names_cannot_harm_the_terminal(tmp_path: pathlib.Path) -> None:
    names = header("a\x1b[31m", "b\n$_{")
    path = write(tmp_path / "g", names, [record(0, 0, 1, "red"), record(1, 0, 1, "blue")])
    for more in ((), ("--csv",), ("--csv", "--table", "superiority")):
        done = run("rate", "-f", "--plot", tmp_path / "g.png", *more, path)
        assert done.status == 0
        assert r"a\x1b[31m" in done.out and r"b\n$_{" in done.out and "\x1b" not in done.out


def broken_files(path: pathlib.Path) -> dict[str, bytes]:
    """What is wrong -> the file's bytes."""
    good = path.read_bytes()

    def edited(line: int, **fields: object) -> bytes:
        path.write_bytes(good)
        changed(path, line, **fields)
        return path.read_bytes()

    return {
        "empty": b"",
        "no header": b"\n".join(good.splitlines()[1:]) + b"\n",
        "not JSON": good.replace(b'"pair":3', b'"pair":3,,', 1),
        "not text": good[:400] + b"\xff\xfe\x00" + good[403:],
        "a binary": b"\x7fELF" + bytes(range(256)) * 40 + b"\n",
        "another format": edited(0, stratkit="episodes"),
        "a later version": edited(0, version=2),
        "an unknown player": edited(5, players=[0, 9]),
        "a result that is none": edited(5, result="\x1b[2Jred"),
        "a number that is none": edited(5, number=-1),
        "a missing field": edited(5, plies=None),
        "endless": b"[" * 5_000_000,
    }


def test_broken_files_get_one_line(games: pathlib.Path) -> None:
    for wrong, data in broken_files(games).items():
        path = games.with_name("broken.jsonl")
        path.write_bytes(data)
        done = run("rate", path)
        assert (done.status, done.data) == (1, b""), wrong
        assert re.match(
            r"rate: \S+/broken\.jsonl: (line \d+: |game \d+: |empty)", done.error_line
        ), wrong
        assert done.error_line.isprintable(), wrong


def test_the_picture(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    picture = tmp_path / "out.png"
    done = run("rate", "--plot", picture, games)
    assert (done.status, done.err) == (0, "")
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) > 5000

    again = run("rate", "--plot", picture, games)
    assert (again.status, again.data) == (1, b"")
    assert again.error_line == f"rate: {picture}: exists already; -f overwrites it"
    assert run("rate", "-f", "--plot", picture, games).status == 0
    assert picture.read_bytes() == data


def test_names_that_the_font_lacks_are_no_warnings(tmp_path: pathlib.Path) -> None:
    names = header("軍棋", "run\U0001f600@1")
    path = write(tmp_path / "g", names, [record(0, 0, 1, "red"), record(1, 0, 1, "blue")])
    for option in ("--plot", "--curve"):
        for picture in ("a.png", "a.svg"):
            done = run("rate", "-f", option, tmp_path / picture, path)
            assert (done.status, done.error_line[:11]) == (0, "rate: fewer")


def test_the_curve(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    picture = tmp_path / "curve.png"
    assert run("rate", "--curve", picture, games).status == 0  # one player is run@7
    assert picture.read_bytes().startswith(b"\x89PNG")
    changed(games, 0, players=[{"name": n, "spec": "x", "sha256": None} for n in ("a", "b", "c@")])
    done = run("rate", "-f", "--curve", picture, games)
    assert done.status == 1 and "no player's name ends with a step" in done.error_line
    assert [step_of(n) for n in ("run@12", "d/step-00000300.safetensors", "step", "x@y", "v2")] == [
        12,
        300,
        None,
        None,
        None,
    ]


def test_each_run_has_a_line_and_a_colour(tmp_path: pathlib.Path) -> None:
    """Two seeds are no one curve: the rating of one does not go on at that of the other."""
    names = (
        "a@100",
        "a@200",
        "b/checkpoints/step-00000100.safetensors",
        "b@300",
        "random",
        "c@100",
    )
    report = RatingReport(
        RatingOptions("mini"),
        [Standing(n, 9.0 * k, None, None, 1, 0, 1) for k, n in enumerate(names)],
        [],
    )
    curves, others = curves_of(report)
    assert {run: [step for step, _ in points] for run, points in curves.items()} == {
        "a": [100, 200], "b": [100, 300], "c": [100],
    }  # fmt: skip
    assert [s.name for s in others] == ["random"]
    picture = curve(report)
    assert picture is not None
    lines = {g.get("class"): g.findall("polyline") for g in picture.findall("g")}
    assert [len(line[0].get("points", "").split()) for line in lines.values()] == [2, 2, 1]
    assert list(lines) == ["run0", "run1", "run2"]
    said = [text.findtext("title") for text in picture.findall("text")]
    assert [name for name in said if name] == ["random", "a", "b", "c"]  # the legend
    stream = io.BytesIO()
    plot_curve(report, stream, "svg")
    drawn = stream.getvalue().decode()
    for colour in COLOURS[:3]:
        assert f"stroke: {colour}" in drawn
    assert f"stroke: {COLOURS[3]}" not in drawn
    assert [f"<!-- {name} -->" in drawn for name in ("a", "b", "c", "Elo")] == [True] * 4
    again = io.BytesIO()
    plot_curve(report, again, "svg")
    assert again.getvalue() == stream.getvalue()


def test_a_picture_is_whole_or_absent(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    done = run("rate", "--plot", folder / "out.png", games, largest_file=2000)
    assert (done.status, done.error_line) == (1, f"rate: {folder}/out.png: File too large")
    assert list(folder.iterdir()) == []
    full = run("rate", "--plot", "/dev/full", games)
    assert (full.status, full.error_line) == (1, "rate: /dev/full: No space left on device")


def test_pictures_need_the_extra(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "matplotlib.py").write_text("raise ImportError\n")
    picture = ("--plot", tmp_path / "g.png")
    done = run("rate", *picture, games, fresh=True, PYTHONPATH=str(tmp_path))
    assert done.status == 1
    assert done.error_line == "rate: pictures need matplotlib: pip install 'stratkit[plot]'"
    assert not (tmp_path / "g.png").exists()


def test_a_full_disk(games: pathlib.Path) -> None:
    descriptor = os.open("/dev/full", os.O_WRONLY)
    done = run("rate", games, stdout=descriptor)
    os.close(descriptor)
    assert (done.status, done.error_line) == (1, "rate: standard output: No space left on device")


def test_the_manual_has_every_option() -> None:
    manual = (ROOT / "man/rate.1").read_text().replace("\\-", "-")
    for option in click_command("rate").params:
        if option.opts[0].startswith("-"):
            assert all(f"{text}" in manual for text in option.opts), option.opts
