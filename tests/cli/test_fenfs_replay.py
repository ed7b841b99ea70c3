"""`fenfs replay`: the page, and what it does in a real browser."""

from __future__ import annotations

import pathlib
import re

import pytest

from browser import Browser
from running import ROOT, run
from stratkit.engine.stratego import BLUE, RED, TYPES
from stratkit.notation.drawing import RANKS
from stratkit.notation.fenfs import OBSERVER, fenfs_of
from stratkit.notation.gravon import parse_log
from stratkit.notation.play import Played, play_out
from stratkit.notation.squares import piece

LOG = ROOT / "formats" / "samples" / "gravon" / "barrage.2003.9.2.7.gsn"
NICK = b'<script>pwned=1</script><img src=x onerror=pwned=2>\x1b[31m\xe2\x80\xae&"'
PLIES = 71


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("replay") / "evil.gsn"
    data = LOG.read_bytes()
    assert b"Nine Lives" in data
    path.write_bytes(data.replace(b"Nine Lives", NICK))
    return path


@pytest.fixture(scope="module")
def page(log: pathlib.Path) -> pathlib.Path:
    path = log.with_suffix(".html")
    done = run("fenfs", "replay", log, "-o", path)
    assert (done.status, done.out, done.err) == (0, "", "")
    return path


@pytest.fixture(scope="module")
def played(log: pathlib.Path) -> Played:
    [played] = play_out([("f", parse_log(log.read_bytes(), "f"))], boards=True)
    return played


def test_a_page_asks_for_nothing_and_escapes_nicks(page: pathlib.Path) -> None:
    text = page.read_text()
    rest = text.replace("img src=x", "")  # the nick, twice, as text
    assert not re.search(r"(?:src|href)\s*=|url\((?!#)|https?:|@import|fetch\(|\x1b|\u202e", rest)
    assert text.count("<script") == 2 == text.count("</script>")  # the game's data, and the code
    assert "default-src 'none'" in text
    assert "&lt;script&gt;pwned=1&lt;/script&gt;" in text.split("</title>")[0]


def test_which_game(log: pathlib.Path) -> None:
    assert run("fenfs", "replay", log).out == log.with_suffix(".html").read_text()
    done = run("fenfs", "replay", LOG.parent)
    assert (done.status, done.out) == (1, "")
    assert done.error_line == "fenfs: there are more games than one: choose one with --game N"
    second = run("fenfs", "replay", "--game", 2, "--variant", "barrage", LOG.parent)
    assert second.out == run("fenfs", "replay", LOG).out
    assert run("fenfs", "replay", "--game", 3, "--variant", "barrage", LOG.parent).status == 1


SQUARES = """Object.fromEntries([...document.querySelectorAll("#board div")].map(cell => {
    const piece = cell.querySelector("span");
    return [cell.dataset.square, cell.className || (piece && [piece.className, piece.textContent])];
}))"""


# Left, right, top and bottom of the arrow, and of the middles of the squares of the last move.
ARROW = """(() => {
    const box = document.getElementById("arrow").getBoundingClientRect();
    const ends = document.querySelector("#moves .now").textContent.split(" ")[1].split("-");
    const middles = ends.map(name => {
        const square = document.querySelector(`[data-square=${name}]`).getBoundingClientRect();
        return [square.x + square.width / 2, square.y + square.height / 2];
    });
    const x = middles.map(middle => middle[0]), y = middles.map(middle => middle[1]);
    return [[box.left, box.right, box.top, box.bottom],
            [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)]];
})()"""


def expected(played: Played, ply: int, view: int | None) -> dict[str, object]:
    """What the squares must show to `view`."""
    texts = fenfs_of(played.position(ply), view).board
    observed = fenfs_of(played.position(ply)).board
    squares: dict[str, object] = {}
    for square, (seen, known) in enumerate(zip(texts, observed, strict=True)):
        name = "ABCDEFGHIK"[square % 10] + str(square // 10 + 1)
        owner = piece(known.upper())
        if known == "_" or owner is None or known == "a":
            squares[name] = "lake" if known == "_" else None
            continue
        side, type_ = owner
        text = {"?": "", "!": "•"}.get(seen, RANKS[type_])
        squares[name] = [("red", "blue")[side] + " known" * known.islower(), text]
    assert len(TYPES) == len(RANKS)
    return squares


def test_it_loads_steps_and_switches_views(
    browser: Browser, page: pathlib.Path, played: Played
) -> None:
    browser.open(page)
    where = 'document.getElementById("where").textContent'
    assert browser.evaluate(where) == f"ply 0 of {PLIES}, red to move"
    assert browser.evaluate(SQUARES) == expected(played, 0, OBSERVER)
    browser.press("ArrowRight", 39)
    assert browser.evaluate(where) == f"ply 1 of {PLIES}, blue to move"
    assert browser.evaluate(SQUARES) == expected(played, 1, OBSERVER)
    browser.click("next")
    browser.click("next")
    browser.press("ArrowLeft", 37)
    assert browser.evaluate(where).startswith("ply 2 of")
    browser.evaluate("document.querySelectorAll('#moves li')[29].click()")
    for ply in (30, PLIES):
        assert browser.evaluate(SQUARES) == expected(played, ply, OBSERVER)
        browser.click("knows-blue")
        assert browser.evaluate(SQUARES) == expected(played, ply, RED)
        browser.click("knows-red")
        both = browser.evaluate(SQUARES)
        browser.click("knows-blue")
        assert browser.evaluate(SQUARES) == expected(played, ply, BLUE)
        browser.click("knows-red")
        hidden = [v for v in both.values() if v and "known" not in v[0] and v != "lake"]
        assert hidden and {text for _, text in hidden} <= {"", "•"}
        browser.press("End", 35)
    assert browser.evaluate(where) == f"ply {PLIES} of {PLIES}, the end"
    browser.click("flip")
    assert browser.evaluate("document.querySelector('#board div').dataset.square") == "K1"
    browser.press("Home", 36)
    assert browser.evaluate(where).startswith("ply 0 of")
    shown = 'getComputedStyle(document.getElementById("arrow")).display'
    assert browser.evaluate(shown) == "none"
    browser.press("ArrowRight", 39)
    assert browser.evaluate(shown) != "none"
    arrow, squares = browser.evaluate(ARROW)
    assert arrow == pytest.approx(squares, abs=1)


def test_nicks_are_text_and_nothing_is_fetched(browser: Browser, page: pathlib.Path) -> None:
    browser.requests.clear()
    browser.open(page)
    red = browser.evaluate('document.getElementById("red").textContent')
    assert red == r"<script>pwned=1</script><img src=x onerror=pwned=2>\x1b[31m\u202e&" + '"'
    assert browser.evaluate("typeof pwned") == "undefined"
    assert browser.evaluate("document.images.length") == 0
    assert browser.requests == [page.as_uri()]
    assert browser.errors == []
