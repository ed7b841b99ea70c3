"""The page: complete, alone, and safe whatever players are called."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import pathlib
import re
import threading

import pytest

from rating_games import header, record, write
from running import run

NAMES = (
    "<script>alert(1)</script>",
    "\"x\" onload='y' &amp; <b>",
    "run@1",
    "run@2",
    "esc\x1b[31m\n",
)


class Page(html.parser.HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.said: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


@pytest.fixture
def games(tmp_path: pathlib.Path) -> pathlib.Path:
    pairs = [(i, j) for i in range(5) for j in range(i)] * 12
    results = ["red", "blue", "red", "draw", "blue"]
    records = [record(n, *who, results[n % 5]) for n, who in enumerate(pairs)]
    return write(tmp_path / "games.jsonl", header(*NAMES), records)


def test_the_page(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "rating.html"
    done = run("rate", "--html", path, "--anchor", "run@1", games)
    assert done.status == 0
    text = path.read_text()
    assert text.startswith("<!DOCTYPE html>\n<html") and text.endswith("</html>\n")
    page = Page(text)
    assert page.open == []
    # Ratings, head to head, one for each player, superiority; intervals and the curve.
    assert page.count("table") == 8 and page.count("svg") == 2
    assert page.count("circle") == 5 + 2
    rows = [row.split() for row in done.out.split("\n\n")[1].splitlines()[1:]]
    for name in NAMES:
        shown = name.replace("\x1b", r"\x1b").replace("\n", r"\n")
        assert page.said.count(shown) >= 5, name
    for row in rows:  # the numbers of the table are those that were printed
        assert {row[-8], row[-7], row[-1]} <= set(page.said)
    assert not any(character in text for character in "\x1b\0\r")


def test_it_needs_nothing_else_and_runs_nothing(
    games: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "rating.html"
    assert run("rate", "--html", path, games).status == 0
    page = Page(path.read_text())
    assert {tag for tag, _ in page.tags} <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "div", "table", "tr",
        "th", "td", "details", "summary", "svg", "line", "circle", "text", "polyline", "g", "main",
    }  # fmt: skip
    for tag, attributes in page.tags:
        for name, value in attributes.items():
            assert not name.startswith("on") and name not in ("href", "src", "xlink:href"), tag
            assert "url(" not in (value or "")
    (policy,) = (a["content"] for _, a in page.tags if a.get("http-equiv"))
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"
    assert "://" not in path.read_text() and "@import" not in path.read_text()


def test_the_same_games_give_the_same_page(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "rating.html"
    assert run("rate", "--html", path, games).status == 0
    first = path.read_bytes()
    again = run("rate", "--html", path, games)
    assert again.err.endswith(f"rate: {path}: exists already; -f overwrites it\n")
    assert run("rate", "-f", "--html", path, games).status == 0
    assert path.read_bytes() == first


def test_two_at_the_same_time_harm_nothing(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Whoever looks sees a whole page at any time."""
    path = tmp_path / "pages" / "rating.html"
    path.parent.mkdir()
    done: list[int] = []

    def rate() -> None:
        done.append(run("rate", "-f", "--html", path, games).status)

    threads = [threading.Thread(target=rate) for _ in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            assert path.read_text().endswith("</html>\n")
    for thread in threads:
        thread.join()
    assert done == [0, 0] and [p.name for p in path.parent.iterdir()] == ["rating.html"]


def test_the_sequential_method_has_a_page_too(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "rating.html"
    assert run("rate", "--method", "elo", "--html", path, games).status == 0
    page = Page(path.read_text())
    assert page.count("table") == 7 and page.count("svg") == 2
    value = json.loads(run("rate", "--method", "elo", "--json", games).out)
    assert f"{value['players'][0]['elo']:.0f}" in page.said


def test_a_page_of_many_players_is_folded_and_has_a_way_to_each(tmp_path: pathlib.Path) -> None:
    """Every link of the list leads to a player's results; tables of all pairs are closed."""
    path, names = tmp_path / "r.html", [f"p{k:02}" for k in range(14)]
    some = [record(k, k % 13, k % 13 + 1, ("red", "blue")[k % 2]) for k in range(52)]
    rated = write(tmp_path / "g", header(*names), some)
    assert run("rate", "--html", path, "--prior", 1, rated).status == 0
    text = path.read_text()
    links, places = re.findall(r'href="#([^"]+)"', text), re.findall(r' id="([^"]+)"', text)
    assert sorted(links[:14]) == sorted(places)  # by name, then by rank
    assert links[14:] == places and len(places) == 14
    assert re.findall(r'<a href="[^"]+">(p\d\d)</a>', text)[:14] == names
    assert "<summary>Head to head</summary>" in text and "<h2>Ratings</h2>" in text
    (policy,) = re.findall(r'content="(default-src[^"]+)"', text)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.endswith(f"; script-src 'sha256-{digest}'")
