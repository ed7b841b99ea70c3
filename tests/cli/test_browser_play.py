"""Whole games in a real browser, by mouse, keys and fingers, at a desk's and a phone's width."""

from __future__ import annotations

import pathlib
import re
import time
from collections.abc import Callable

from browser import PATIENCE, Browser
from served import Served, records
from stratkit.models.shipped import SHIPPED

MINI = ("heuristic", "--game", "mini", "-n", 2, "--max-plies", 24, "--seed", 7)

# The middle of a square, in the window.
MIDDLE = """(() => {
    const box = board.squares[%d].querySelector("rect").getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
})()"""

Go = Callable[[Browser, int, int], None]


def until(browser: Browser, script: str) -> None:
    """Waits until a script says so."""
    deadline = time.monotonic() + PATIENCE
    while not browser.evaluate(script):
        state = "JSON.stringify([state, document.body.innerText])"
        assert time.monotonic() < deadline, (script, browser.evaluate(state), browser.errors)
        time.sleep(0.02)


def drag(browser: Browser, start: int, end: int) -> None:
    (x, y), (to_x, to_y) = (browser.evaluate(MIDDLE % square) for square in (start, end))
    browser.mouse("Moved", x, y)
    browser.mouse("Pressed", x, y)
    browser.mouse("Moved", (x + to_x) / 2, (y + to_y) / 2)
    assert browser.evaluate("document.querySelectorAll('.dragged').length") == 1
    browser.mouse("Moved", to_x, to_y)
    browser.mouse("Released", to_x, to_y)


def click(browser: Browser, start: int, end: int) -> None:
    for square in (start, end):
        place = browser.evaluate(MIDDLE % square)
        browser.mouse("Pressed", *place)
        browser.mouse("Released", *place)


def finger(browser: Browser, start: int, end: int) -> None:
    (x, y), (to_x, to_y) = (browser.evaluate(MIDDLE % square) for square in (start, end))
    before = browser.evaluate("scrollY")
    browser.touch("Start", (x, y))
    for part in (0.3, 0.6, 1):
        browser.touch("Move", (x + part * (to_x - x), y + part * (to_y - y)))
    browser.touch("End")
    assert browser.evaluate("scrollY") == before  # the piece moved, and not the page


def keys(browser: Browser, start: int, end: int) -> None:
    browser.evaluate("focusOn(board.squares.findIndex(group => group.tabIndex === 0))")
    for square in (start, end):
        browser.walk_to(square)
        browser.press("Enter", 13)
        label = browser.evaluate(f"board.squares[{square}].getAttribute('aria-label')")
        assert square == end or label.endswith(", chosen")


def arrange(browser: Browser, go: Go) -> None:
    """Exchanges two pieces of the setup."""
    until(browser, "asked() && scene().kind === 'offer'")
    version = browser.evaluate("state.version")
    before = browser.evaluate("scene().board")
    zone = browser.evaluate("scene().zone")
    start, end = (at for at in zone if before[at] and before[at]["text"] in ("10", "9"))
    go(browser, start, end)
    until(browser, f"asked() && state.version > {version}")
    after = browser.evaluate("scene().board")
    assert (after[start], after[end]) == (before[end], before[start])


def play(browser: Browser, go: Go) -> None:
    """Plays the game to its end: attacks where it can, else the moves that come last."""
    over = browser.evaluate("state.ended.length")
    while True:
        until(browser, f"state.ended.length > {over} || asked() && scene().kind === 'turn'")
        if browser.evaluate("state.ended.length") > over:
            return
        moves = browser.evaluate("scene().moves")
        squares = browser.evaluate("scene().board")
        attacks = [move for move in moves if squares[move[1]]]
        start, end = (attacks or moves)[-1]
        version = browser.evaluate("state.version")
        go(browser, start, end)
        until(browser, f"state.version > {version}")


def fits(browser: Browser) -> bool:
    return bool(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def no_scrolling(browser: Browser) -> bool:
    """Whether all of the page is seen at once."""
    high = "document.documentElement.scrollHeight <= innerHeight"
    return fits(browser) and bool(browser.evaluate(high))


def look_at_the_end(browser: Browser) -> str:
    """What the page says of the game that has just ended, with its replay."""
    until(browser, "!at('end').hidden && at('replay').src.startsWith('blob:')")
    assert fits(browser)
    return str(browser.evaluate("at('now').textContent"))


def test_games_by_mouse_and_by_keys(browser: Browser, tmp_path: pathlib.Path) -> None:
    games = tmp_path / "g.jsonl"
    browser.forget()
    browser.screen(1280, 900)
    with Served((*MINI, "-o", games)) as served:
        browser.visit(served.address)
        arrange(browser, drag)
        browser.click("another")
        until(browser, "asked() && state.version > 4")
        browser.click("mirror")
        until(browser, "asked() && state.version > 6")
        mine = browser.evaluate("scene().zone.map(at => scene().board[at]?.text || '-').join('')")
        browser.click("take")
        turns = iter(range(100))
        play(browser, lambda *way: (drag if next(turns) % 2 else click)(*way))
        first = look_at_the_end(browser)
        until(browser, "scene()?.game === 2")  # in which sides are swapped
        assert browser.evaluate("at('title').textContent").startswith("you (red)")
        browser.press("Enter", 13)  # "go on" has the focus
        until(browser, "asked() && scene().kind === 'offer'")
        assert browser.evaluate("scene().game") == 2 and no_scrolling(browser)
        browser.evaluate("state.ended = Array(12).fill(state.ended[0]), draw()")  # a long evening
        assert no_scrolling(browser)
        arrange(browser, keys)
        browser.evaluate("at('take').focus()")
        browser.press("Enter", 13)
        until(browser, "asked() && scene().kind === 'turn'")
        assert browser.evaluate("scene().side") == "blue"
        assert browser.evaluate("board.squares[0].getAttribute('aria-label')").startswith(
            "A1 their"
        )
        play(browser, keys)
        last = look_at_the_end(browser)
        assert browser.evaluate("at('replay').src").endswith(f"#{records(games)[1]['plies']},blue")
        until(browser, "at('now').textContent.includes('The match is over.')")
        browser.click("part")
        assert served.ended()[0] == 0
    one, two = records(games)
    letters = {"A": "-", "B": "B", "C": "S", "D": "2", "E": "3", "K": "9", "L": "10", "M": "F"}
    assert "".join(letters[letter] for letter in one["setups"][0]) == mine
    for number, told, game in ((1, first, one), (2, last, two)):
        assert told.startswith(f"game {number}: you ")
        assert f"({game['reason'].replace('_', ' ')})" in told
    assert one["plies"] + two["plies"] > 10 and browser.errors == []
    whole = [address for address in browser.requests if not address.startswith("blob:")]
    assert whole and all(a.startswith((served.address, "data:,")) for a in whole)


# Of a board, who stands where, and the ranks of red.
STANDING = """(squares => squares.map(piece => piece === "lake" ? piece : piece &&
    piece.side + (piece.side === "red" ? piece.text : "")))"""


def look_back(browser: Browser, first: list[str | None]) -> None:
    """Steps back to the first turn by keys, and on by the button; nothing can be played there."""
    now, moves = (browser.evaluate(f"{what}") for what in ("shown()", "scene().log.length"))
    last = browser.evaluate("scene().log.findLastIndex(ply => ply[3])")
    assert not any(browser.takes("ArrowLeft", on) for on in ("document.body", "board.squares[0]"))
    for _ in range(moves):
        browser.press("ArrowLeft", 37)
    assert browser.evaluate(f"{STANDING}(shown())") == first
    assert "•" not in browser.evaluate("shown().map(piece => piece?.text).join()")
    told = browser.evaluate("[at('now').textContent, asked(), at('earlier').disabled]")
    assert told == [f"You look back: after move 0 of {moves}.", False, True]
    browser.evaluate(f"at('log').children[{last}].click()")
    fight = browser.evaluate(f"scene().log[{last}]")
    browser.click("earlier")
    met = [browser.evaluate(f"shown()[{square}]") for square in fight[1:3]]
    assert re.split(" |[<=>]", fight[4])[1:] == [piece["text"] for piece in met]
    assert "You look back" in browser.evaluate("at('now').textContent")
    while not browser.evaluate("at('later').disabled"):
        browser.click("later")
    assert browser.evaluate("shown()") == now and browser.evaluate("asked()")


def press_long(browser: Browser, start: int, enemy: int) -> None:
    """A long press on an enemy that could be attacked notes what it is, and attacks nobody."""
    version = browser.evaluate("state.version")
    browser.evaluate(f"choose({start})")
    browser.touch("Start", tuple(browser.evaluate(MIDDLE % enemy)))
    until(browser, "!at('noting').hidden")
    browser.touch("End")
    time.sleep(0.1)
    assert browser.evaluate("asked() && state.version") == version
    browser.evaluate("release(), document.activeElement.blur()")


def test_fights_and_losses_are_told(browser: Browser, tmp_path: pathlib.Path) -> None:
    browser.screen(1280, 900, dark=True)
    with Served((*MINI, "-o", tmp_path / "g.jsonl")) as served:
        browser.visit(served.address)
        until(browser, "asked()")
        browser.click("take")
        until(browser, "asked() && scene().kind === 'turn'")
        first = browser.evaluate(f"{STANDING}(scene().board)")
        assert "•" not in browser.evaluate("scene().board.map(piece => piece?.text).join()")
        for _ in range(20):
            until(browser, "asked() && scene().kind === 'turn'")
            if browser.evaluate("scene().log.some(ply => ply[3])"):
                break
            moves, squares = (browser.evaluate(f"scene().{name}") for name in ("moves", "board"))
            attacks = [m for m in moves if squares[m[1]]]
            if attacks:
                press_long(browser, *attacks[-1])
            browser.evaluate(f"go(...{attacks or moves}.at(-1))")
        else:
            raise AssertionError("no fight in twenty moves")
        lines = browser.evaluate("[...document.querySelectorAll('#log .fight')].map(x => x.title)")
        assert lines and all(" met " in line and line.endswith("lost") for line in lines)
        noted = browser.evaluate(
            "[...document.querySelectorAll('#log .fight')].map(x => x.innerText)"
        )
        look_back(browser, first)
        fight = r"[A-F][1-6][A-F][1-6] (\d+|S)[<=>](\d+|S|B|F)"
        assert all(re.fullmatch(fight, note) for note in noted)
        counts = browser.evaluate(
            "['lost-own', 'lost-enemy', 'hidden'].map(id => at(id).querySelectorAll('svg').length)"
        )
        scene = browser.evaluate("scene()")
        lost = [len(scene["lost"][side]) or 0 for side in ("red", "blue")]
        assert counts == [*lost, len(scene["hidden"])] and sum(lost) > 0
        shown = browser.evaluate("[...document.querySelectorAll('#board .piece.blue text')]"
                                 ".map(text => text.textContent)")  # fmt: skip
        unknown = [piece for piece in scene["board"] if piece and piece != "lake"]
        hidden = [p for p in unknown if p["side"] == "blue" and p["name"].startswith("a piece")]
        assert sorted(shown) == sorted(p["text"] for p in unknown if p["side"] == "blue") and hidden
        assert {p["text"] for p in hidden} <= {"", "•"}


def test_on_a_phone_with_hints_and_a_reload(browser: Browser, tmp_path: pathlib.Path) -> None:
    """Fingers drag; a page that is loaded again shows the same; saving leaves, and resigning asks
    whether one is sure."""
    games = tmp_path / "g.jsonl"
    barrage = (SHIPPED[0], "--game", "barrage", "-n", 2, "--seed", 7, "-o", games)
    browser.forget()
    browser.screen(390, 844)
    with Served(barrage) as served:
        browser.visit(served.address)
        arrange(browser, finger)
        assert fits(browser)
        browser.click("take")
        until(browser, "asked() && scene().kind === 'turn'")
        start, end = browser.evaluate("scene().moves.at(-1)")
        browser.evaluate("scrollTo(0, 0)")
        finger(browser, start, end)
        until(browser, "asked() && scene().ply === 2")
        for screen in ((740, 360), (667, 375), (360, 560), (844, 390), (390, 844)):  # lying, too
            browser.screen(*screen)
            high = browser.evaluate("at('board').getBoundingClientRect().height")
            assert high >= 224 and no_scrolling(browser), (screen, high)
        browser.click("hint")
        until(browser, "asked() && state.advice !== null")
        advice = browser.evaluate("state.advice")
        worth = [move for move in advice["moves"] if move[3] >= 5]
        assert (
            browser.evaluate("at('advice').rows.length") == len(worth)
            and -1 <= advice["value"] <= 1
        )
        assert re.search(
            r": you win \d+ of 10$", browser.evaluate("at('advice').caption.textContent")
        )
        assert no_scrolling(browser) and browser.dashes_at_ends("at('title')") == 0
        moves = browser.evaluate("scene().moves")
        assert all([start, end] in moves for _, start, end, _ in advice["moves"]) and fits(browser)
        before = browser.evaluate("JSON.stringify(state)")
        browser.visit(served.address)
        until(browser, "asked()")
        assert browser.evaluate("JSON.stringify(state)") == before
        browser.click("resign")
        assert browser.evaluate("asked() && at('resign').textContent") == "sure?"
        browser.click("resign")
        assert look_at_the_end(browser).startswith("game 1: you lost (resigned)")
        browser.click("go-on")
        until(browser, "asked()")
        browser.click("save")
        until(browser, "state.phase === 'left'")
        assert served.ended()[0] == 0
    assert len(records(games)) == 1 and browser.errors == []


def test_a_favourite_setup_is_offered(browser: Browser, tmp_path: pathlib.Path) -> None:
    setups, games = tmp_path / "my.setups", tmp_path / "g.jsonl"
    setups.write_text("MDBAAACDEKLA  the <b>corner\nLKAAADMDBEAC\n")
    with Served((*MINI, "-o", games), person=f"favourites={setups},human") as served:
        browser.visit(served.address)
        until(browser, "asked()")
        listed = browser.evaluate("[...at('favourites').options].map(one => one.text)")
        assert listed == ["favourite ...", "the <b>corner"]
        browser.evaluate("at('favourites').value = 'the <b>corner'")
        browser.evaluate("at('favourites').onchange({target: at('favourites')})")
        until(browser, "asked() && scene().board[0]?.text === 'F'")
        assert fits(browser)
        browser.click("take")
        until(browser, "asked() && scene().kind === 'turn'")
        assert browser.evaluate("at('arrange').hidden")
        browser.click("save")
        until(browser, "state.phase === 'left'")
    assert browser.errors == []


def test_a_match_that_stops_is_told(browser: Browser, tmp_path: pathlib.Path) -> None:
    with Served((*MINI, "-o", tmp_path / "g.jsonl")) as served:
        browser.visit(served.address)
        until(browser, "asked()")
        served.process.kill()
        until(browser, "at('messages').textContent.includes('does not answer')")


def test_a_move_that_was_not_taken_can_be_made_again(
    browser: Browser, tmp_path: pathlib.Path
) -> None:
    """The page says so as long as it is true, and the piece is back on its square."""
    told = "at('messages').textContent"
    with Served((*MINI, "-o", tmp_path / "g.jsonl")) as served:
        browser.visit(served.address)
        until(browser, "asked()")
        browser.click("take")
        until(browser, "asked() && scene().kind === 'turn'")
        browser.evaluate("globalThis.ours = fetch, 0")
        standing = "board.squares.map(one => one.textContent).join()"
        before = browser.evaluate(standing)
        for answer, said in (
            ("Promise.reject(new Error())", "That was not heard"),
            ("Promise.resolve(new Response(null, {status: 409}))", "The match did not take that."),
        ):
            browser.evaluate(
                f"globalThis.fetch = (...what) => what[1] ? {answer} : ours(...what), 0"
            )
            browser.evaluate("go(...scene().moves.at(-1))")
            until(browser, f"asked() && {told}.includes('{said}')")
            assert browser.evaluate(standing) == before
        browser.evaluate("globalThis.fetch = ours, 0")
        browser.evaluate("go(...scene().moves.at(-1))")
        until(browser, "asked() && scene().ply === 2")
        assert browser.evaluate(told) == ""
        browser.evaluate("globalThis.fetch = () => Promise.reject(new Error()), 0")
        assert served.say(browser.evaluate("state.version"), "draw") == 204  # by another page
        until(browser, f"{told}.includes('The match does not answer.')")
        browser.evaluate("""globalThis.fetch = () => new Promise(done => setTimeout(
            () => done(new Response(null, {status: 204})), 20)), 0""")
        until(browser, f"!{told}.includes('The match does not answer.')")
    assert browser.errors == []


def test_notes_stay_with_their_pieces(browser: Browser, tmp_path: pathlib.Path) -> None:
    """When moves are taken back, when a page is loaded again, and in no other match."""
    noted = """board.squares.flatMap((one, at) => one.querySelector(".note") ? at : [])"""
    hidden = "scene().board.flatMap((_, at) => hides(at) ? at : [])"

    def begin(served: Served) -> None:
        browser.visit(served.address)
        until(browser, "asked()")
        if browser.evaluate("scene().kind === 'offer'"):
            browser.click("take")
        until(browser, "asked() && scene().kind === 'turn'")

    games = tmp_path / "g.jsonl"
    with Served((*MINI, "-o", games)) as served:
        begin(served)
        pieces = browser.evaluate(hidden)
        for square in pieces:
            browser.evaluate(f"noteOn({square}), at('notes').firstChild.click()")
        assert browser.evaluate(noted) == pieces
        quiet = "scene().moves.find(([, to]) => !scene().board[to])"
        ply = 0
        while browser.evaluate(hidden) == pieces:  # until a hidden piece has moved, and is not met
            browser.evaluate(f"go(...{quiet})")
            ply += 2
            until(browser, f"asked() && scene().ply === {ply}")
        moved = browser.evaluate(hidden)
        assert browser.evaluate(noted) == moved and len(moved) == len(pieces)
        browser.click("undo")
        until(browser, f"asked() && scene().ply === {ply - 2}")
        assert browser.evaluate(noted) == pieces
        begin(served)
        assert browser.evaluate(noted) == pieces
        served.say(browser.evaluate("state.version"), "save")
        served.ended()
    again = (*MINI, "-o", tmp_path / "h.jsonl", "--port", served.host.split(":")[1])
    with Served(again) as served:
        begin(served)
        assert browser.evaluate(noted) == []
    assert browser.errors == []


def test_moves_are_seen_taken_back_and_noted(browser: Browser, tmp_path: pathlib.Path) -> None:
    """A note goes with its piece, by keys too; the board can be turned; a click on a hint plays."""
    games = tmp_path / "g.jsonl"
    barrage = (SHIPPED[0], "--game", "barrage", "-n", 2, "--seed", 7, "-o", games)
    browser.forget()
    browser.screen(1280, 720)
    with Served(barrage) as served:
        browser.visit(served.address)
        until(browser, "asked()")
        assert no_scrolling(browser)
        browser.click("take")
        until(browser, "asked() && scene().kind === 'turn'")
        assert browser.evaluate("at('undo').disabled && at('title').textContent").startswith(
            "you (red)"
        )
        browser.click("hint")
        until(browser, "asked() && state.advice !== null")
        browser.evaluate("at('advice').querySelector('button').click()")
        until(browser, "asked() && scene().ply === 2")
        assert browser.evaluate("document.getAnimations().length") <= 2 and no_scrolling(browser)
        moved = "board.squares.flatMap((one, at) => one.classList.contains('moved') ? at : [])"
        assert browser.evaluate(moved) == sorted(browser.evaluate("scene().last"))
        apart = """(({bottom}, {top}) => bottom <= top)(
            at("tray-enemy").getBoundingClientRect(), at("counts").getBoundingClientRect())"""
        assert browser.evaluate(apart)
        square = browser.evaluate("scene().board.findIndex((_, at) => hides(at))")
        for fell, flying in (("true", 0), ("false", 1)):  # who holds its square does not come
            browser.evaluate(f"slide(0, {square}, true, {fell})")
            moves = f"board.squares[{square}].querySelector('.piece').getAnimations().length"
            assert browser.evaluate(moves) == flying
        browser.evaluate(f"focusOn({square})")
        browser.press("n", 78)
        browser.evaluate("at('notes').firstChild.click()")
        label = f"board.squares[{square}].getAttribute('aria-label')"
        assert ", you think 10" in browser.evaluate(label)
        browser.click("flip")
        assert browser.evaluate("board.below") == "blue"
        browser.click("undo")
        until(browser, "asked() && scene().ply === 0")
        browser.click("draw")
        until(browser, "at('messages').textContent.includes('a draw is offered')")
        assert no_scrolling(browser)
        browser.click("sound")
        assert browser.evaluate("at('sound').getAttribute('aria-pressed')") == "true"
        for _ in range(2):
            browser.click("resign")
        until(browser, "state.ended.length === 1")
    assert records(games)[0]["undone"] == 1 and browser.errors == []
