"""The page that needs no match, in a real browser, from a plain server of files."""

from __future__ import annotations

import functools
import http.server
import pathlib
import threading
from collections.abc import Iterator

import pytest

from browser import Browser
from running import run
from test_browser_play import click, until

GO = "go(...scene().moves[state.version % scene().moves.length])"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[pathlib.Path, str]]:
    """A folder, and where a server has it."""
    folder = tmp_path_factory.mktemp("site")
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


def written(folder: pathlib.Path, *more: str) -> None:
    done = run("match", "human", "barrage-easy", "--game", "barrage", "--page", *more, cwd=folder)
    assert done.status == 0 and "open it in a browser" in done.err, done.err


def to_the_end(browser: Browser) -> None:
    """Plays any moves until the game has ended, or 40."""
    for _ in range(40):
        if browser.evaluate("state.ended.length"):
            break
        now = browser.evaluate("state.version")
        browser.evaluate(GO)
        until(browser, f"state.version > {now}")


def test_games_are_played_in_the_page(browser: Browser, folder: tuple[pathlib.Path, str]) -> None:
    """From the setup to the end, with a click, a hint, an undo, the replay, and a game as blue."""
    files, address = folder
    written(files, "index.html", "--seed", "5", "--max-plies", "30")
    browser.forget()
    browser.screen(1280, 720)
    browser.visit(address)
    until(browser, "state.phase === 'ask' && scene().kind === 'offer'")
    assert "lies in its memory" in browser.evaluate("at('messages').textContent")
    assert browser.evaluate("getComputedStyle(at('save')).display") == "none"
    first = browser.evaluate("JSON.stringify(scene().board)")
    browser.click("mirror")
    until(browser, "state.version === 2")
    start, end = browser.evaluate(
        "[scene().zone.find(s => scene().board[s]), scene().zone.find(s => !scene().board[s])]"
    )
    click(browser, start, end)
    until(browser, "state.version === 3")
    assert browser.evaluate(f"scene().board[{end}] && !scene().board[{start}]")
    assert browser.evaluate("JSON.stringify(scene().board)") != first
    browser.click("take")
    until(browser, "scene().kind === 'turn'")
    assert browser.evaluate("scene().board.filter(p => p?.side === 'blue' && p.text).length") == 0
    browser.click("hint")
    until(browser, "state.advice !== null")
    assert browser.evaluate("state.advice.moves.length > 0 && state.advice.moves[0][3] <= 100")
    click(browser, *browser.evaluate("scene().moves[0]"))
    until(browser, "scene().ply === 2")
    assert browser.evaluate("scene().log.length === 2 && scene().log[1][0].startsWith('their')")
    browser.click("undo")
    until(browser, "scene().ply === 0 && scene().log.length === 0")
    to_the_end(browser)
    result = browser.evaluate("state.ended[0].result")
    assert result.startswith("game 1: you ") and result.endswith(")")
    until(browser, "!at('end').hidden && at('replay').src.startsWith('blob:')")
    browser.click("go-on")
    until(browser, "scene()?.side === 'blue' && !at('play').hidden")
    browser.click("take")
    until(browser, "scene().kind === 'turn' && scene().ply === 1")
    browser.evaluate("say('resign')")
    until(browser, "state.ended.length === 2")
    assert browser.evaluate("state.ended[1].result") == "game 2: you lost (resigned)"
    until(browser, "!at('end').hidden")
    browser.click("go-on")
    until(browser, "!at('play').hidden")
    browser.click("take")
    until(browser, "scene().kind === 'turn'")
    browser.evaluate(GO)
    until(browser, "scene().ply === 2")
    before = browser.evaluate("JSON.stringify(scene())")
    browser.visit(address)  # a tab that is loaded again goes on
    until(browser, "state.phase === 'ask'")
    assert browser.evaluate("JSON.stringify(scene())") == before
    assert browser.errors == []
    asked = [request for request in browser.requests if not request.startswith("blob:")]
    assert {request.removeprefix(address) for request in asked} <= {"", "about:blank"}


def test_the_replay_shows_what_was_hidden(
    browser: Browser, folder: tuple[pathlib.Path, str]
) -> None:
    files, _ = folder
    written(files, "replay.html", "--seed", "6")
    browser.forget()
    browser.open(files / "replay.html")  # and no server is needed
    until(browser, "state.phase === 'ask'")
    browser.click("take")
    until(browser, "scene().kind === 'turn'")
    browser.evaluate(GO)
    until(browser, "scene().ply === 2")
    browser.evaluate("say('resign')")
    until(browser, "replays.size === 1")
    (files / "shown.html").write_text(browser.evaluate("replays.get(1)"), "utf-8")
    browser.open(files / "shown.html")
    shown = browser.evaluate("JSON.stringify([boards.length, lost('red'), lost('blue')])")
    assert shown == "[3,[],[]]" and browser.evaluate("game.players.join()") == "you,barrage-easy"
    ranks = browser.evaluate(
        "boards[0].map(piece).filter(Boolean).map(p => p.side + p.rank).sort().join(' ')"
    )
    army = ["10", "2", "2", "3", "9", "B", "F", "S"]
    assert ranks == " ".join(side + rank for side in ("blue", "red") for rank in army)
    assert browser.errors == []


def test_a_level_is_chosen_before_each_game(
    browser: Browser, folder: tuple[pathlib.Path, str]
) -> None:
    files, _ = folder
    done = run("match", "human", "level=any", "--game", "barrage", "--page", "any.html", cwd=files)
    assert done.status == 0, done.err
    browser.forget()
    browser.open(files / "any.html")
    until(browser, "state.phase === 'ask' && scene().column === 'level'")
    now, names = "at('now').textContent", "[...at('actions').children].map(b => b.textContent)"
    assert browser.evaluate(now) == "Choose the level of your opponent."
    assert browser.evaluate(names) == ["5", "6", "7"]
    assert browser.evaluate("getComputedStyle(at('leave')).display") == "none"
    title = "at('title').textContent"
    for game, level in ((1, 5), (2, 7)):
        browser.evaluate(f"at('actions').children[{level - 5}].click()")
        until(browser, "scene().kind === 'offer'")
        assert f"level={level} " in browser.evaluate(title)
        browser.click("take")
        until(browser, "scene().kind === 'turn'")
        browser.evaluate(GO)
        until(browser, "asked() && scene().log.length > 1")
        before = browser.evaluate("JSON.stringify(scene())")
        browser.open(files / "any.html")  # what is loaded again meets the same level
        until(browser, "state.phase === 'ask'")
        assert browser.evaluate("JSON.stringify(scene())") == before
        assert browser.evaluate("state.match.against") == f"level={level}"
        browser.evaluate("say('resign')")
        until(browser, "scene().column === 'level' && !at('end').hidden")
        assert browser.evaluate(f"state.ended.at(-1).result.startsWith('game {game}: you lost')")
        assert browser.evaluate("replays.get(scene().game - 1)").count(f'"level={level}"') == 1
        browser.click("go-on")
        until(browser, "!at('choice').hidden")
        assert "level=any" in browser.evaluate(title)
        scores = browser.evaluate("scene().facts.slice(1).join()")
        assert scores == f"you have 0 of 1 against level={level}"
    assert browser.errors == []


def test_a_browser_without_webassembly_is_told(
    browser: Browser, folder: tuple[pathlib.Path, str]
) -> None:
    files, address = folder
    written(files, "other.html")
    gone = browser._call(
        "Page.addScriptToEvaluateOnNewDocument", source="delete globalThis.WebAssembly"
    )
    try:
        browser.visit(f"{address}other.html")
        until(browser, "document.body.textContent.startsWith('This page cannot play')")
        said = browser.evaluate("document.body.textContent")
    finally:
        browser._call("Page.removeScriptToEvaluateOnNewDocument", **gone)
    assert said == "This page cannot play: this browser has no WebAssembly."


def test_what_goes_with_a_page() -> None:
    for more, why in (
        (("-n", "2"), "--page takes only two PLAYERs"),
        (("--browser",), "--page takes only two PLAYERs"),
        (("--serve", "barrage"), "--page takes only two PLAYERs"),
    ):
        done = run("match", "human", "barrage", "--game", "barrage", "--page", "x.html", *more)
        assert done.status == 2 and why in done.err
    done = run("match", "human", "heuristic", "--page", "x.html")
    assert done.status == 2 and "missing option --game" in done.err
