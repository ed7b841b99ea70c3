"""`fenfs stats --html`: setups and habits as a page, also in a real browser."""

from __future__ import annotations

import pathlib
import re
import time

import pytest

from browser import Browser
from fenfs_here import LOGS, fenfs
from running import run


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Games of players, one with a name that a page must escape."""
    path = tmp_path_factory.mktemp("page") / "g.jsonl"
    evil = "name=<b>evil,heuristic"
    done = run("match", evil, "random", "--game", "barrage", "-n", 12, "--seed", 3, "-o", path)
    assert done.status == 0
    return path


def test_the_page_of_a_player_and_its_opponents(
    games: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    page = tmp_path / "page.html"
    status, out, said = fenfs("stats", "--html", page, "--player", "<b>evil", games)
    assert (status, said) == (0, []) and out == fenfs("stats", "--player", "<b>evil", games)[1]
    text = page.read_text()
    assert "<b>" not in text and "&lt;b&gt;evil: 12 games</h2>" in text
    assert "opponents of &lt;b&gt;evil: 12 games</h2>" in text
    assert not re.search(r"src=|https?:(?!//www.w3.org/2000/svg)|url\(|@import|\bstyle=", text)
    assert (
        text.count("Where the flag stands")
        == 2
        == text.count("group of similar setups") + text.count("groups of similar setups")
    )
    share = r"flag on the back rank</td>\s*<td>([\d.]+) % \(([\d.]+) % to ([\d.]+) %\)"
    back = [[float(one) for one in found] for found in re.findall(share, text)]
    assert len(back) == 2 and all(low <= among <= high and low < high for among, low, high in back)
    scores = re.findall(r"12 setups, 12 games, score ([\d.]+) %", text)
    assert len(scores) == 2 and float(scores[0]) + float(scores[1]) == pytest.approx(100)
    again = fenfs("stats", "--jobs", 2, "-f", "--html", page, "--player", "<b>evil", games)
    assert again[0] == 0 and page.read_text() == text
    for options, what in (
        (("--html", "-"), "name a file"),
        (("--html", page, "--versus", games), "no --versus"),
        (("--title", "x"), "--title is a page's: it goes with --html"),
        (("--html", page), "exists already"),
    ):
        assert what in fenfs("stats", *options, games)[2][-1]
    path = tmp_path / "a.setups"
    path.write_text("MCL\n")
    assert "no games to show" in fenfs("stats", "--html", tmp_path / "b.html", path)[2][-1]


def test_a_page_has_the_title_that_it_is_given(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for number, (words, title) in enumerate(
        [(["--title", "<Mine>"], "&lt;Mine&gt;"), (["--title", ""], "Setups and habits")]
    ):
        page = tmp_path / f"{number}.html"
        assert fenfs("stats", "--html", page, *words, games)[0] == 0
        assert f"<title>{title}" in page.read_text()


def test_all_variants_stand_on_one_page(tmp_path: pathlib.Path) -> None:
    page = tmp_path / "page.html"
    assert fenfs("stats", "--html", page, LOGS)[0] == 0
    found = re.findall(r"<h3>Setups of (\w+): ", page.read_text())
    assert found == sorted(found) and {"barrage", "classic", "duel"} <= set(found)


def test_in_a_browser(browser: Browser, games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Links open positions; a click sorts a table; the page fits a phone."""
    page = tmp_path / "page.html"
    assert fenfs("stats", "--html", page, games)[0] == 0
    browser.forget()
    browser.screen(390, 844, dark=True)
    browser.open(page)
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    href = browser.evaluate("document.querySelector('a[href*=\".\"]').getAttribute('href')")
    number, ply = href[1:].split(".")
    browser.evaluate("document.querySelector('a[href*=\".\"]').click()")
    for _ in range(600):  # the address changes before those who listen to it hear
        where = browser.evaluate("document.getElementById('where').textContent")
        if where.startswith(f"ply {ply} of "):
            break
        time.sleep(0.05)
    assert where.startswith(f"ply {ply} of ")
    assert browser.evaluate("document.getElementById('game').value") == str(int(number) - 1)
    column = "[...document.querySelectorAll('.sorts')][1].rows"
    read = f"[...{column}].slice(1).map(row => row.cells[2].textContent)"
    browser.evaluate(f"{column}[0].cells[2].querySelector('button').click()")
    scores = [float(text.removesuffix(" %")) for text in browser.evaluate(read)]
    assert scores == sorted(scores, reverse=True) and len(scores) > 1
    browser.evaluate(f"{column}[0].cells[2].querySelector('button').click()")
    assert browser.evaluate(f"{column}[0].cells[2].getAttribute('aria-sort')") == "ascending"
    again = [float(text.removesuffix(" %")) for text in browser.evaluate(read)]
    assert again == sorted(scores)
    for width in (1200, 390):  # cards of several columns, and of one
        browser.screen(width, 844)
        assert browser.sideways() == []
    theirs = tmp_path / "theirs.html"
    assert fenfs("stats", "--html", theirs, "--player", "<b>evil", games)[0] == 0
    browser.open(theirs)
    seen = "[...document.querySelectorAll('h3')].filter(one => one.checkVisibility()).length"
    folded = browser.evaluate(seen)
    browser.sideways()
    assert browser.evaluate(seen) > 1.8 * folded  # opponents, and all but the largest groups
    assert browser.errors == [] and all(one.startswith("file:") for one in browser.requests)
