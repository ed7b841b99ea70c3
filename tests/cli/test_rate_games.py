"""`rate --games`: which games are shown, and the page in a real browser."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
from collections.abc import Collection
from typing import Any

import msgspec
import pytest

from browser import Browser
from running import ROOT, run
from stratkit.convert.shown_games import GameChooser
from stratkit.storage.records import GameRecord, RecordHeader, read_records

SAMPLE = ROOT / "formats" / "samples" / "games.jsonl"
SVG = "http://www.w3.org/2000/svg"  # no address: a name, which scripts need for shapes
EVIL = '</script><script>pwned=1</script>"&\x1b'


@pytest.fixture(scope="module")
def sample() -> tuple[RecordHeader, GameRecord]:
    """A game that A, red, won against B."""
    with open(SAMPLE, "rb") as stream:
        return next(read_records(stream, "sample"))


ENDED = {  # for B, who is blue
    "lost": {"returns": (1.0, -1.0), "result": "red"},
    "drawn": {"returns": (0.0, 0.0), "result": "draw"},
    "won": {"returns": (-1.0, 1.0), "result": "blue"},
}


def chosen(
    sample: tuple[RecordHeader, GameRecord],
    most: int,
    outcomes: list[str],
    renames: dict[str, str] | None = None,
    rated: Collection[str] = "AB",
    **changes: Any,
) -> list[int]:
    """Which games are shown of B, whose games end so."""
    header, record = sample
    lost, drawn, won = map(outcomes.count, ("lost", "drawn", "won"))
    counts = dict.fromkeys(rated, (0, 0, 0)) | {"B": (lost, drawn, won)}
    chooser = GameChooser("B", most, renames or {}, counts)
    for number, outcome in enumerate(outcomes):
        values = {"number": 70 + number, **ENDED[outcome], **changes}
        was_full, before = chooser.full, chooser.shown()
        chooser.take(header, msgspec.structs.replace(record, **values), "f", number)
        assert not was_full or chooser.shown() == before
    found = chooser.shown()
    return [int(re.findall(r"game (\d+)", one.result)[0]) for one in found]


def test_losses_come_before_draws_and_wins(sample: tuple[RecordHeader, GameRecord]) -> None:
    outcomes = ["won", "drawn", "lost", "won", "drawn", "lost", "lost"]
    order = [2, 5, 6, 1, 4, 0, 3]
    for most in range(1, 9):
        assert chosen(sample, most, outcomes) == order[:most]


def test_no_more_is_read_than_needed(sample: tuple[RecordHeader, GameRecord]) -> None:
    """Where there are no losses, or one, nobody reads on in the hope of more."""
    header, record = sample
    chooser = GameChooser("B", 3, {}, {"A": (90, 0, 1), "B": (1, 0, 90)})
    full = []
    for number, outcome in enumerate(["won", "won", "won", "won", "lost", "won"]):
        values: dict[str, Any] = {"number": number, **ENDED[outcome]}
        chooser.take(header, msgspec.structs.replace(record, **values), "f", number)
        full.append(chooser.full)
    assert full == [False, False, False, False, True, True]
    assert [one.title.split()[0] for one in chooser.shown()] == ["lost", "won", "won"]


def test_what_is_passed_over(sample: tuple[RecordHeader, GameRecord]) -> None:
    header, record = sample
    words = record.moves.split()
    lost = ["lost"] * 3
    assert chosen(sample, 5, lost) == [0, 1, 2]
    assert chosen(sample, 5, lost, number=7) == [0]  # met again
    assert chosen(sample, 5, lost, moves="") == []
    assert chosen(sample, 5, lost, moves=" ".join([*words[:4], "A1A9"])) == []  # no such square
    assert chosen(sample, 5, lost, moves=" ".join(words[1:])) == []  # illegal
    assert chosen(sample, 5, lost, setups=None) == []
    poker = dataclasses.replace(header, game="kuhn")
    assert chosen((poker, record), 5, lost) == []


def test_only_games_of_the_rated_under_their_new_names(
    sample: tuple[RecordHeader, GameRecord],
) -> None:
    assert chosen(sample, 5, ["lost"], rated="BC") == []  # A is left out
    assert chosen(sample, 5, ["lost"], {"A": "C"}, "BC") == [0]
    assert chosen(sample, 5, ["lost"], {"A": "B"}, "BC") == []  # against itself
    assert chosen(sample, 5, ["lost"], {"A": "B", "B": "A"}) == [0]
    assert chosen(sample, 5, ["lost"], {"B": "C"}, "ABC") == []


def test_games_of_a_day(sample: tuple[RecordHeader, GameRecord]) -> None:
    """Of a player who is another one each day, and of one who met it."""
    header, record = sample
    day = "2026-11-27"
    for player, by_day, shown in ((f"B {day}", "B", 1), ("B", "A", 1), ("B", "B", 0)):
        rated = dict.fromkeys(("A", "B", f"A {day}", f"B {day}"), (1, 0, 0))
        chooser = GameChooser(player, 5, {}, rated, by_day)
        chooser.take(header, msgspec.structs.replace(record, date=f"{day}T23:59:00Z"), "f", 1)
        assert len(chooser.shown()) == shown


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Games of a match, of a player with an ugly name; the second file repeats them."""
    path = tmp_path_factory.mktemp("rated") / "games.jsonl"
    players = ["random", "heuristic", "name=other,random"]
    done = run("match", *players, "-n", 6, "--game", "mini", "--seed", 3, "-o", path)
    assert done.status == 0
    path.write_text(path.read_text().replace('"name":"other"', f'"name":{json.dumps(EVIL)}'))
    (path.parent / "again.jsonl").write_bytes(path.read_bytes())
    return path


def data(page: pathlib.Path) -> dict[str, Any]:
    """What the viewer of a page shows."""
    [text] = re.findall(
        r'<script type="application/json" id="games">(.*)</script>', page.read_text()
    )
    value = json.loads(text)
    assert isinstance(value, dict)
    return value


@pytest.fixture(scope="module")
def page(games: pathlib.Path) -> pathlib.Path:
    path = games.with_name("page.html")
    files = [games, games.with_name("again.jsonl")]
    done = run("rate", "--prior", 1, "--versus", EVIL, "--games", 100, "--html", path, *files)
    assert done.status == 0
    return path


def test_the_games_of_the_page(games: pathlib.Path, page: pathlib.Path) -> None:
    found = data(page)["games"]
    assert len(found) == 12  # all that it played, once each
    order = [one["title"].split()[0] for one in found]
    assert order == sorted(order, key=("lost", "drawn", "won").index) and order[0] == "lost"
    with open(games, "rb") as stream:
        records = dict(enumerate((record for _, record in read_records(stream, "games")), 1))
    for one in found:
        number = int(re.findall(r"game (\d+)\)", one["result"])[0])
        assert len(one["moves"]) == len(one["changes"]) == records[number].plies
        side = one["players"].index(EVIL.replace("\x1b", r"\x1b"))
        won = {"red": 0, "blue": 1, "draw": None}[records[number].result]
        outcome = "drawn" if won is None else "won" if won == side else "lost"
        assert one["title"].startswith(f"{outcome} as {('red', 'blue')[side]} against ")


def test_the_same_games_give_the_same_page(games: pathlib.Path, page: pathlib.Path) -> None:
    again = page.with_name("same.html")
    files = [games, games.with_name("again.jsonl")]
    run("rate", "--prior", 1, "--versus", EVIL, "--games", 100, "--html", again, *files)
    assert again.read_bytes() == page.read_bytes()


def test_names_end_no_script(page: pathlib.Path) -> None:
    text = page.read_text()
    assert text.count("<script") == 4 == text.count("</script>")
    rest = text.replace(SVG, "")
    assert not re.search(r"(?:src|href)\s*=|url\((?!#)|https?:|@import|fetch\(|\x1b", rest)
    assert "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" in text


def test_without_versus_the_best_that_is_no_anchor(
    games: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    for anchors, expected in (
        ([], "heuristic"),
        (["--anchor", "heuristic", "--exclude", EVIL], "random"),
        (["--anchor", "heuristic", "--anchor", "random=-300", "--exclude", EVIL], "heuristic"),
    ):
        path = tmp_path / "page.html"
        done = run("rate", "--prior", 1, *anchors, "--games", 2, "--html", path, "-f", games)
        assert done.status == 0
        assert f"<h2>Games of {expected}</h2>" in path.read_text()
        assert len(data(path)["games"]) == 2


def test_renamed_players(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "page.html"
    renames = ["--rename", "random=dice", "--rename", f"{EVIL}=dice", "--versus", "dice"]
    assert run("rate", "--prior", 1, *renames, "--games", 99, "--html", path, games).status == 0
    found = data(path)["games"]
    assert len(found) == 12
    assert all(sorted(one["players"]) == ["dice", "heuristic"] for one in found)


def test_where_nothing_can_be_replayed(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path, cut = tmp_path / "page.html", tmp_path / "cut.jsonl"
    cut.write_text(re.sub(r'"moves":"[^"]*"', '"moves":""', games.read_text()))
    done = run("rate", "--prior", 1, "--games", 5, "--html", path, cut)
    assert done.status == 0
    assert "rate: no game of heuristic can be replayed: the page has none\n" in done.err
    assert "<script" not in path.read_text() and "script-src" not in path.read_text()


def test_wrong_command_lines(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path, pipe = tmp_path / "page.html", tmp_path / "pipe"
    os.mkfifo(pipe)
    twice = "--games needs a file, which can be read twice"
    for arguments, line in (
        (["--games", 3, games], "--games belongs to --html"),
        (["--games", 3, "--html", path, "-"], f"standard input: {twice}"),
        (
            ["--games", 3, "--html", path, games, pipe],
            f"{pipe}: {twice}",
        ),
    ):
        done = run("rate", *arguments)
        assert (done.status, done.error_line) == (2, f"rate: {line}")
    for number in (0, 101):
        done = run("rate", "--games", number, "--html", path, games)
        assert done.status == 2 and "from 1 to 100" in done.error_line
    assert not path.exists()


def test_games_are_chosen_and_stepped_through(browser: Browser, page: pathlib.Path) -> None:
    browser.forget()
    browser.open(page)
    found = data(page)["games"]
    options = 'document.querySelectorAll("#game option").length'
    assert browser.evaluate(options) == len(found)
    where = 'document.getElementById("where").textContent'
    for number in (3, 0):
        browser.evaluate(f"""(() => {{
            const list = document.getElementById("game");
            list.value = {number};
            list.dispatchEvent(new Event("change"));
        }})()""")
        game = found[number]
        plies = len(game["moves"])
        assert browser.evaluate(where) == f"ply 0 of {plies}, red to move"
        nicks = [
            browser.evaluate(f'document.getElementById("{s}").textContent') for s in ("red", "blue")
        ]
        assert nicks == game["players"]
        assert browser.evaluate('document.querySelectorAll("#moves li").length') == plies
        pieces = 'document.querySelectorAll("#board .piece").length'
        assert browser.evaluate(pieces) == sum(state not in "a_" for state in game["board"])
        browser.click("last")
        assert browser.evaluate(where) == f"ply {plies} of {plies}, the end"
        board = list(game["board"])
        for changes in game["changes"]:
            for square, state in zip(changes[::2], changes[1::2], strict=True):
                board[square] = state
        assert browser.evaluate(pieces) == sum(state not in "a_" for state in board)
    # Keys are the viewer's only while it has the focus: the page has more to scroll through.
    browser.evaluate("document.activeElement.blur()")
    browser.press("Home", 36)
    assert browser.evaluate(where).startswith(f"ply {plies} of")
    browser.evaluate('document.getElementById("viewer").focus()')
    browser.press("Home", 36)
    assert browser.evaluate(where).startswith("ply 0 of")
    assert browser.evaluate("typeof pwned") == "undefined"
    assert browser.requests == [page.as_uri()] and browser.errors == []


def test_tables_of_many_are_sorted_and_unfolded(browser: Browser, tmp_path: pathlib.Path) -> None:
    """By a click or a key on a column's head; a link opens the results of its player."""
    path, rated = tmp_path / "r.html", tmp_path / "r.csv"
    names = [f"p{k:02}" for k in range(14)]
    games = (f"{names[k % 13]},{names[k % 13 + 1]},{('1-0', '0-1')[k % 2]}" for k in range(52))
    rated.write_text("\n".join(["white,black,result", *games, ""]))
    assert run("rate", "--html", path, "--prior", 1, rated).status == 0
    browser.forget()
    browser.screen(390, 844)
    browser.open(path)
    read = (
        "[...document.querySelector('.sorts').rows].slice(1).map(row => row.cells[%d].textContent)"
    )
    click = "document.querySelector('.sorts').rows[0].cells[%d].querySelector('button').click()"
    elo = browser.evaluate(read % 2)
    browser.evaluate(click % 1)
    assert browser.evaluate(read % 1) == names
    browser.evaluate(
        "document.querySelector('.sorts').rows[0].cells[2].querySelector('button').focus()"
    )
    browser.press("Enter", 13)
    assert browser.evaluate(read % 2) == elo and sorted(elo, key=float)[::-1] == elo
    opened = "[...document.querySelectorAll('details[open] > summary')].map(one => one.textContent)"
    assert browser.evaluate(opened) == []
    href = browser.evaluate("document.querySelector('.sorts a').getAttribute('href')")
    browser.open(path, f"?{href}")
    assert len(browser.evaluate(opened)) == 2 and browser.errors == []
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert set(browser.sideways()) == {"stronger than"}  # as many columns as players
