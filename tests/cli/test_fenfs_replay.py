"""`fenfs replay`: the page, and what it does in a real browser."""

from __future__ import annotations

import json
import pathlib
import re
import shlex

import pytest

from browser import Browser
from running import ROOT, run
from stratkit.engine.stratego import BLUE, BOTH_FALL, LOSES, RED, TYPES, WINS, fight
from stratkit.notation.fenfs import OBSERVER, fenfs_of
from stratkit.notation.gravon import parse_log
from stratkit.notation.play import Played, play_out
from stratkit.notation.squares import RANKS, piece

LOG = ROOT / "formats" / "samples" / "gravon" / "barrage.2003.9.2.7.gsn"
SVG = "http://www.w3.org/2000/svg"  # no address: a name, which scripts need for shapes
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
    rest = text.replace("img src=x", "").replace(SVG, "")  # the nick, twice, as text
    assert not re.search(r"(?:src|href)\s*=|url\((?!#)|https?:|@import|fetch\(|\x1b|\u202e", rest)
    assert text.count("<script") == 4 == text.count("</script>")  # data, board, analysis, viewer
    assert "default-src 'none'" in text
    assert "&lt;script&gt;pwned=1&lt;/script&gt;" in text.split("</title>")[0]


def test_which_game(log: pathlib.Path) -> None:
    assert run("fenfs", "replay", log).out == log.with_suffix(".html").read_text()
    done = run("fenfs", "replay", LOG.parent)
    assert (done.status, done.out) == (1, "")
    assert (
        done.error_line
        == "fenfs: there are more games than one: choose one with --game N (see `fenfs list`)"
    )
    second = run("fenfs", "replay", "--game", 2, LOG.parent)
    assert second.out == run("fenfs", "replay", LOG).out
    assert (
        run("fenfs", "replay", "--game", 3, "--variant", "barrage", LOG.parent).status == 1
    )  # classic


def test_every_font_has_its_characters(page: pathlib.Path) -> None:
    assert set(re.findall(r"[^\n -~]", page.read_text().replace("®", ""))) == set("•–×±−")


SQUARES = """Object.fromEntries([...document.querySelectorAll("#board [data-square]")].map(cell => {
    const piece = cell.querySelector(".piece");
    return [cell.dataset.square, cell.getAttribute("class") === "lake" ? "lake" :
            piece && [piece.getAttribute("class").replace("piece ", ""), piece.textContent]];
}))"""

# Left, top, right and bottom of what a selector finds first.
BOX = """(() => {
    const box = document.querySelector('%s').getBoundingClientRect();
    return [box.left, box.top, box.right, box.bottom];
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
    assert not browser.unnamed()
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
    first, last = (browser.evaluate(BOX % f"[data-square={name}] rect") for name in ("K1", "A10"))
    assert first[0] < last[0] and first[1] < last[1]  # K1 is left above A10
    browser.press("Home", 36)
    assert browser.evaluate(where).startswith("ply 0 of")
    assert browser.evaluate("document.querySelector('#board .arrow').childNodes.length") == 0


def test_the_arrow_leads_to_the_piece_and_leaves_its_rank_free(
    browser: Browser, page: pathlib.Path, played: Played
) -> None:
    browser.open(page)
    for ply in (1, 2, 15, 24):  # near and far, up and down, left and right
        for _ in range(2):
            browser.evaluate(f"go({ply})")
            browser.click("flip")
            move = played.log.move_text(ply - 1).split("-")
            start, end = (browser.evaluate(BOX % f"[data-square={name}]") for name in move)
            piece = browser.evaluate(BOX % f"[data-square={move[1]}] .piece text")
            arrow = browser.evaluate(BOX % "#board .arrow")
            assert start[0] < arrow[2] and arrow[0] < start[2]
            assert start[1] < arrow[3] and arrow[1] < start[3]
            near = 2  # pixels between the arrow's box and the square that it leads to
            assert end[0] - near < arrow[2] and arrow[0] < end[2] + near
            assert end[1] - near < arrow[3] and arrow[1] < end[3] + near
            apart = arrow[2] <= piece[0] or piece[2] <= arrow[0]
            assert apart or arrow[3] <= piece[1] or piece[3] <= arrow[1]


def test_fights_are_in_the_list_and_what_is_lost_is_counted(
    browser: Browser, page: pathlib.Path, played: Played
) -> None:
    browser.open(page)
    items = browser.evaluate("[...document.querySelectorAll('#moves li')].map(e => e.textContent)")
    before = [fenfs_of(played.position(ply)).board.upper() for ply in range(PLIES + 1)]
    signs = set()
    for ply, item in enumerate(items):
        start, end = played.log.moves[2 * ply : 2 * ply + 2]
        met = [piece(before[ply][square]) for square in (start, end)]
        text = played.log.move_text(ply).replace("-", "")
        if met[1] is not None:
            outcome = fight(met[0][1], met[1][1])
            signs.add(outcome)
            ranks = [RANKS[type_] for _, type_ in met]
            text += f" {ranks[0]}{'=><'[outcome]}{ranks[1]}"
        assert item == f"{ply + 1}. {text}"
    assert signs == {WINS, LOSES, BOTH_FALL}
    event = 'document.getElementById("event").textContent'
    assert browser.evaluate(event) == ""
    for ply, words in (
        (15, "red's 2 attacks blue's 9: red's 2 falls"),
        (21, "red's 2 attacks blue's 2: both fall"),
        (27, "red's spy attacks blue's 10: blue's 10 falls"),
        (28, ""),
    ):
        browser.evaluate(f"go({ply})")
        assert browser.evaluate(event) == words
    lost = "['red', 'blue'].map(side => document.getElementById('lost-' + side).textContent)"
    assert [text.split() for text in browser.evaluate(lost)] == [
        ["9", "2", "×", "2"],
        ["10", "2", "×", "2"],
    ]


def test_a_page_of_a_record_says_how_to_go_on(browser: Browser, tmp_path: pathlib.Path) -> None:
    """The command of the ply that is shown, which works as it stands; none at the end."""
    record, page = ROOT / "formats" / "samples" / "games.jsonl", tmp_path / "p.html"
    assert run("fenfs", "replay", record, "--game", 2, "-o", page).status == 0
    browser.open(page, "#3")
    shown = "at('go-on-from').hidden ? '' : at('go-on-by').textContent"
    name, *words = shlex.split(browser.evaluate(shown))
    assert words[-1] == f"{record}:2:3"
    words[words.index("-o") + 1] = str(tmp_path / "mine.jsonl")
    words.remove("--browser")
    done = run(name, *words, stdin=b"resign\nresign\n")
    assert done.status == 0, done.err
    led = [json.loads(line)["led"] for line in (tmp_path / "mine.jsonl").open().readlines()[1:]]
    assert led == [3, 3]
    browser.evaluate("go(Infinity)")
    assert browser.evaluate(shown) == ""


def test_an_address_names_the_ply(
    browser: Browser, page: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    where = 'document.getElementById("where").textContent'
    copy = tmp_path / "copy.html"  # where only what follows # is new, nothing is loaded
    copy.write_bytes(page.read_bytes())
    browser.open(copy, "#40")
    assert browser.evaluate(where).startswith(f"ply 40 of {PLIES}, ")
    for name, ply in (("9999", PLIES), ("-3", 0), ("7", 7), ("nonsense", 0)):
        browser.evaluate(f"location.hash = '{name}'; dispatchEvent(new Event('hashchange'))")
        assert browser.evaluate(where).startswith(f"ply {ply} of {PLIES}, ")


def test_every_square_is_named(browser: Browser, page: pathlib.Path) -> None:
    """For who hears the board; the address may turn it. The title says who is red."""
    browser.forget()  # another fragment of the page that is shown loads nothing
    browser.open(page, "#71,blue")
    assert browser.evaluate("at('flip').checked && board.below") == "blue"
    assert " (red) – " in browser.evaluate("document.querySelector('h2').textContent")
    names = "board.squares.map(group => group.getAttribute('aria-label'))"
    labels = browser.evaluate(names)
    assert labels[42] == "C5 lake" and {name.split()[1] for name in labels} == {
        *("empty", "lake", "red", "blue")
    }
    assert any(re.fullmatch(r"[A-K]\d+ red \d+, known to both", name) for name in labels)
    browser.evaluate("at('knows-red').click()")
    hidden = [name for name in browser.evaluate(names) if "red a piece" in name]
    assert hidden and not any(", known" in name for name in hidden)


def test_all_can_be_reached_with_the_keyboard(browser: Browser, page: pathlib.Path) -> None:
    browser.open(page)
    reached = []
    for _ in range(13):
        browser.press("Tab", 9)
        name = "document.activeElement.id || document.activeElement.dataset.square"
        reached.append(browser.evaluate(name))
    controls = ["viewer", "A1", "first", "back", "play", "next", "last", "ply"]
    assert reached[: len(controls)] == controls
    assert {"knows-red", "knows-blue", "flip"} <= set(reached)


def test_the_board_can_be_walked_and_is_told(
    browser: Browser, page: pathlib.Path, played: Played
) -> None:
    """Every square has a name with what stands on it, as far as it is shown; arrows go from square
    to square, and the plies stay."""
    browser.open(page)
    label = "document.activeElement.getAttribute('aria-label')"
    browser.evaluate("board.squares[0].focus()")
    names = ["A1"]
    keys = (
        ("ArrowRight", 39),
        ("ArrowUp", 38),
        ("ArrowLeft", 37),
        ("ArrowLeft", 37),
        ("ArrowDown", 40),
    )
    for key, code in keys:
        browser.press(key, code)
        names.append(browser.evaluate("document.activeElement.dataset.square"))
    assert names == ["A1", "B1", "B2", "A2", "A2", "A1"]
    for element in ("document.body", "document.activeElement"):
        assert not browser.takes("ArrowLeft", element)  # which goes to the page before
    assert browser.evaluate("ply") == 0
    told = browser.evaluate("board.squares.map(one => one.getAttribute('aria-label'))")
    for square, text in enumerate(fenfs_of(played.position(0)).board):
        owner = piece(text)
        said = "lake" if text == "_" else "empty" if owner is None else ("red", "blue")[owner[0]]
        assert told[square].split()[1] == said
    assert sum(text.endswith(" flag") for text in told) == 2
    browser.click("knows-blue")
    browser.evaluate("board.squares[0].focus()")
    assert browser.evaluate(label) == told[0]
    hidden = browser.evaluate("board.squares.map(one => one.getAttribute('aria-label'))")
    assert sum(text.endswith("blue a piece") for text in hidden) == 8
    title = browser.evaluate("document.querySelector('h2').innerText.replace(/\\s+/g, ' ')")
    assert "(red) – " in title and title.endswith("(blue)")


def test_space_plays_after_a_click(browser: Browser, page: pathlib.Path) -> None:
    """The key does what its button says, whichever of the steps was clicked before."""
    browser.open(page)
    browser.click("next")
    browser.press(" ", 32)
    assert browser.evaluate("[ply, timer !== null]") == [1, True]
    browser.press(" ", 32)
    assert browser.evaluate("[ply, timer]") == [1, None]
    browser.evaluate("at('flip').focus()")
    browser.press(" ", 32)
    assert browser.evaluate("timer") is None  # a box is a box


# Text and what is behind it, of every element with text of its own: luminances as WCAG defines.
CONTRASTS = """(() => {
    const parse = text => text.match(/[0-9.]+/g).map(Number);
    const light = colour => {
        const [r, g, b] = parse(colour).map(c => c / 255)
            .map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b;
    };
    const behind = e => {
        const own = e.closest(".piece, .land");
        if (own && own !== e) return getComputedStyle(own.querySelector("rect")).fill;
        for (; e; e = e.parentElement) {
            const colour = getComputedStyle(e).backgroundColor;
            if (parse(colour)[3] !== 0) return colour;
        }
        throw "nothing is behind";
    };
    const all = [...document.querySelectorAll("body *")].filter(e => e.getClientRects().length &&
        [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) && !e.closest("script"));
    return all.map(e => {
        const svg = e.namespaceURI.endsWith("svg"), look = getComputedStyle(e);
        const [a, b] = [light(svg ? look.fill : look.color), light(behind(e))];
        return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), b, e.tagName, e.textContent];
    });
})()"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_and_can_be_read_on_every_screen(
    browser: Browser, page: pathlib.Path, width: int, dark: bool
) -> None:
    browser.screen(width, dark=dark)
    browser.open(page)
    browser.press("End", 35)
    root = "document.documentElement"
    assert browser.evaluate(f"{root}.scrollWidth - {root}.clientWidth") == 0
    assert browser.dashes_at_ends("document.getElementById('viewer')") == 0
    board, steps = browser.evaluate(BOX % "#board"), browser.evaluate(BOX % "#steps")
    assert board[2] - board[0] > 330
    assert (steps[1] > board[3]) == (width == 390)  # below the board, or beside it
    found = browser.evaluate(CONTRASTS)
    assert len(found) > 100
    assert min(found)[0] > 4.5, min(found)
    pieces = [behind for _, behind, tag, _ in found if tag == "text"]
    page_behind = [behind for _, behind, tag, _ in found if tag == "P"]
    assert pieces and all((behind < 0.05) == dark for behind in page_behind)


def test_nicks_are_text_and_nothing_is_fetched(browser: Browser, page: pathlib.Path) -> None:
    browser.forget()
    browser.open(page)
    red = browser.evaluate('document.getElementById("red").textContent')
    assert red == r"<script>pwned=1</script><img src=x onerror=pwned=2>\x1b[31m\u202e&" + '"'
    assert browser.evaluate("typeof pwned") == "undefined"
    assert browser.evaluate("document.images.length") == 0
    assert browser.requests == [page.as_uri()]
    assert browser.errors == []
