"""Games of single actions in a real browser."""

from __future__ import annotations

import pathlib

import pytest

from browser import Browser
from served import Served, records
from test_browser_play import until


def resign(browser: Browser, button: str) -> None:
    """By a second click, after the first has asked whether one is sure."""
    browser.click(button)
    assert browser.evaluate(f"asked() && at('{button}').textContent") == "sure?"
    browser.click(button)


def test_cells_and_bets_are_clicked(browser: Browser, tmp_path: pathlib.Path) -> None:
    """By mouse and keys; at the end the page tells what was hidden."""
    browser.screen(1280, 720)
    games = tmp_path / "h.jsonl"
    with Served(("random", "--game", "dark_hex:3", "-n", 2, "--seed", 1, "-o", games)) as served:
        browser.visit(served.address)
        until(browser, "asked() && scene().kind === 'choice'")
        place = browser.evaluate("""(() => {
            const box = document.querySelector('[data-cell="4"]').getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; })()""")
        browser.mouse("Pressed", *place)
        browser.mouse("Released", *place)
        until(browser, "asked() && scene().cells.stones[4] === 'X'")
        assert browser.evaluate("document.querySelectorAll('#cells .can').length") < 9
        resign(browser, "give-up")
        until(browser, "state.ended.length === 1 && asked()")
        assert "you: b2" in browser.evaluate("at('told').textContent")
        browser.evaluate("document.querySelector('#cells .can').focus()")
        browser.press("Enter", 13)
        until(browser, "asked() && /[XO]/.test(scene().cells.stones)")
        browser.click("leave")
        assert served.ended()[0] == 0
    assert [game["reason"] for game in records(games)] == ["resigned"]
    games = tmp_path / "l.jsonl"
    with Served(("random", "--game", "leduc", "-n", 2, "--seed", 1, "-o", games)) as served:
        browser.visit(served.address)
        until(browser, "asked() && scene().kind === 'choice'")
        assert "your card: Q" in browser.evaluate("at('facts').textContent")
        assert served.say(browser.evaluate("state.version"), "fold") == 409  # not legal here
        while not browser.evaluate("state.phase === 'over'"):
            browser.evaluate("[...document.querySelectorAll('#actions button')].at(0)?.click()")
            until(browser, "asked() || state.phase === 'over'")
        told = browser.evaluate("at('told').textContent")
        browser.click("part")
        assert served.ended()[0] == 0
        assert "your card: " in told and "their card: " in told
    assert len(records(games)) == 2 and browser.errors == []


@pytest.mark.parametrize("other", ["random", "fva-v1"])
def test_orders_are_typed_chosen_and_sent(
    other: str, browser: Browser, tmp_path: pathlib.Path
) -> None:
    """A wrong order is told, an order is an arrow on the map; at the end there are all maps."""
    browser.screen(1280, 800)
    games = tmp_path / "d.jsonl"
    play = (other, "--game", "diplomacy:fva", "--seats", f"FRANCE=human,AUSTRIA={other}")
    with Served((*play, "-n", 1, "--seed", 1, "-o", games)) as served:
        browser.visit(served.address)
        until(browser, "asked() && scene().kind === 'phase'")
        arrows = "document.querySelectorAll('#map line[marker-end]').length"
        assert browser.evaluate(arrows) == 0
        browser.evaluate("at('order').value = 'par-bur'")
        browser.evaluate("at('ordering').requestSubmit()")
        until(browser, "asked() && scene().orders.length === 1")
        assert browser.evaluate(arrows) == 1
        for wrong, told in (
            ("A VIE H", "FRANCE has no A VIE"),
            ("A Mar → Bur.", "no place is called 'BUR.'"),
            ("A MAR – BÜR", "no place is called 'BÜR'"),
            ("../x.svg", "an order is written like"),
        ):  # of which each is told, and can be mended
            browser.evaluate(f"at('order').value = '{wrong}'")
            browser.evaluate("at('ordering').requestSubmit()")
            until(browser, f'asked() && at("messages").textContent.includes("{told}")')
            assert browser.evaluate("at('order').value") == wrong
            browser.evaluate("at('order').value = ''")
        browser.tab_to("document.querySelectorAll('#units select')[1]")
        for orders in ("F BRE H", "F BRE - ENG"):  # an arrow takes the next one, and stays there
            browser.press("ArrowDown", 40)
            until(browser, f"asked() && scene().orders.includes('{orders}')")
        assert browser.evaluate("document.activeElement.dataset.unit") == "F BRE"
        sends = "at('send-orders').textContent"
        assert browser.evaluate(sends) == "send, 1 without an order"
        browser.evaluate("say('A MAR H')")
        until(browser, f"asked() && {sends} === 'send'")
        assert served.say(browser.evaluate("state.version"), "A" * 1001) == 409
        browser.click("send-orders")
        until(browser, "asked() && scene().phase === 'F1901M'")
        assert "FRANCE: A PAR - BUR" in browser.evaluate("at('past').textContent")
        browser.evaluate("at('past').querySelector('summary').click()")
        browser.evaluate("at('clear-orders').focus(), say('orders')")
        until(browser, "asked() && word === 'orders'")
        assert not browser.evaluate("at('past').querySelector('details').open")
        resign(browser, "resign-orders")
        until(browser, "state.ended.length === 1")
        assert not browser.evaluate("at('end').hidden") and "F1901M" in browser.evaluate(
            "replays.get(1)"
        )
        browser.click("part")
        assert served.ended()[0] == 0
    assert [game["reason"] for game in records(games)] == ["resigned"] and browser.errors == []
