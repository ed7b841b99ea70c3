"""What a network thinks of games: `fenfs replay --explain` and `fenfs show --ply N --explain`."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import zipfile
from typing import Any

import numpy as np
import pytest

from browser import Browser
from fenfs_here import LOGS, fenfs
from stratkit.engine import Batch
from stratkit.engine.stratego import BLUE, MOVED, PIECE, REVEALED, SIDE, TYPE
from stratkit.match.analysis import Analyst
from stratkit.notation.gravon import parse_log
from stratkit.notation.log import Log
from stratkit.notation.play import Played, play_out

GSN = LOGS / "barrage.2003.9.2.7.gsn"
PLIES = 8


@pytest.fixture(scope="module")
def played() -> Played:
    [played] = play_out([("f", parse_log(GSN.read_bytes(), "f"))], boards=True)
    return played


@pytest.fixture(scope="module")
def analyst() -> Analyst:
    return Analyst("barrage-easy")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The first plies of the game, as a record in which it was given up there."""
    path = tmp_path_factory.mktemp("explain") / "games.jsonl"
    header, game = fenfs("convert", "--to", "games", GSN)[1].splitlines()
    short = json.loads(game)
    short |= {
        "moves": " ".join(short["moves"].split()[:PLIES]),
        "plies": PLIES,
        "reason": "forfeit",
    }
    path.write_text(f"{header}\n{json.dumps(short)}\n")
    return path


@pytest.fixture(scope="module")
def page(record: pathlib.Path) -> pathlib.Path:
    path = record.with_suffix(".html")
    assert fenfs("replay", "--explain", "barrage-easy", record, "-o", path) == (0, "", [])
    return path


def opinions(page: pathlib.Path) -> list[dict[str, Any]]:
    [text] = re.findall(r'id="games">(.*)</script>', page.read_text())
    found = json.loads(text)["games"][0]["opinions"]
    assert isinstance(found, list)
    return found


def test_the_page_has_the_analysts_opinions(
    page: pathlib.Path, record: pathlib.Path, analyst: Analyst, played: Played
) -> None:
    found = opinions(page)
    ticks: list[int] = []
    log = shortened(played.log)
    again = analyst.opinions(log, ticks.append)
    assert ticks == [1] * PLIES == [1] * len(found)
    for told, one in zip(found, again, strict=True):
        assert told["moves"] == [[a, b, round(p, 3)] for a, b, p in one.moves]
        assert (told["played"], told["value"], told["loss"]) == (
            pytest.approx((one.played, one.value, one.loss), abs=6e-4)
        )
        shares = [share for *_, share in one.moves]
        assert shares == sorted(shares, reverse=True) and sum(shares) <= 1.0001
        assert -1 <= one.value <= 1 and one.played <= shares[0] + 1e-6
    assert any(one.loss > 0.1 for one in again)


def shortened(log: Log) -> Log:
    return dataclasses.replace(log, moves=log.moves[: 2 * PLIES])


def at(analyst: Analyst, played: Played, ply: int) -> Batch:
    batch = Batch(analyst.game, 1)
    batch.start(0, played.position(ply).to_bytes())
    return batch


def test_a_flag_that_is_left_standing_is_a_large_mistake(analyst: Analyst, played: Played) -> None:
    """Before ply 49 red knows that blue's last hidden piece that never moved is the flag."""
    name = {played.log.move_text(ply): ply for ply in range(played.log.plies)}
    assert name["H4-G4"] == 48
    batch = at(analyst, played, 48)
    capture, quiet = (85, 95), (37, 36)
    loss = analyst._compare(batch, 48, [capture, quiet])
    assert 0.3 < loss <= 2
    assert analyst._compare(batch, 48, [quiet, capture]) == pytest.approx(-loss)
    assert analyst._compare(batch, 48, [quiet, quiet]) == 0
    # At ply 59 red took a miner instead, and won most: what is then left to lose is less than 1.
    assert name["E6-E7"] == 58
    assert 0.2 < analyst._compare(at(analyst, played, 58), 58, [capture, (54, 64)]) < 0.8


def test_opinions_are_a_function_of_what_the_mover_knew(analyst: Analyst, played: Played) -> None:
    """Blue's hidden pieces change places: red's opinion is the same, byte for byte."""
    position = played.position(4)
    cells = position.cells.copy()
    still = [
        square
        for square, cell in enumerate(cells.tolist())
        if cell & PIECE and cell & SIDE and not cell & (REVEALED | MOVED)
    ]
    types = {int(cells[square] & TYPE): square for square in still}
    first, second = list(types.values())[:2]
    assert cells[first] != cells[second] and position.side != BLUE
    batches = []
    for swap in (False, True):
        if swap:
            cells[[first, second]] = cells[[second, first]]
        batch = Batch(analyst.game, 1)
        batch.start(0, dataclasses.replace(position, cells=cells.copy()).to_bytes())
        batches.append(batch)
    assert np.array_equal(batches[0].observe(), batches[1].observe())
    move = played.log.moves[8:10]
    one, other = (analyst._opinion(batch, 4, move) for batch in batches)
    assert one == other and one.loss != 0


def test_a_belief_by_setups_knows_the_game_so_far(played: Played) -> None:
    analyst = Analyst("search=mmd,rollouts=96,depth=0,belief=setups,barrage-easy")
    search = analyst.explanation(played.log, 4).search
    assert search is not None and 1 < search.effective < search.candidates


def test_steps_show_opinions_and_mistakes(browser: Browser, page: pathlib.Path) -> None:
    browser.forget()
    browser.open(page)
    found = opinions(page)
    text = "document.getElementById('opinion').textContent"
    assert browser.evaluate(text) == ""
    for ply in (1, 2, PLIES):
        browser.evaluate(f"go({ply})")
        one = found[ply - 1]
        told = browser.evaluate(text)
        side = ("red", "blue")[(ply - 1) % 2]
        assert told.startswith(f"{side} expected {one['value']:+.2f}; barrage-easy plays ")
        shares = [int(share) for share in re.findall(r"(\d+) %", told)]
        expected = [*(100 * share for *_, share in one["moves"]), 100 * one["played"]]
        assert shares == pytest.approx(expected, abs=0.51)
        assert ("loss" in told) == (one["loss"] > 0)
    worst = sorted((i for i in range(PLIES)), key=lambda i: -found[i]["loss"])
    worst = [i for i in worst if found[i]["loss"] >= 0.1]
    items = browser.evaluate("[...document.querySelectorAll('#mistakes li')].map(e => e.innerText)")
    assert [int(item.split(".")[0]) for item in items] == [i + 1 for i in worst]
    moves = browser.evaluate("[...document.querySelectorAll('#moves li')].map(e => e.textContent)")
    assert [i for i, move in enumerate(moves) if move.endswith(" ?")] == sorted(worst)
    browser.evaluate("document.querySelector('#mistakes button').click()")
    where = browser.evaluate('document.getElementById("where").textContent')
    assert where.startswith(f"ply {worst[0] + 1} of {PLIES}")
    assert browser.errors == []


def test_without_an_analyst_the_page_has_no_opinions(
    browser: Browser, record: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    page = tmp_path / "plain.html"
    assert fenfs("replay", record, "-o", page)[0] == 0
    browser.open(page)
    assert browser.evaluate("document.getElementById('analysis').hidden")
    assert opinions(page) == []


def test_show_explains_a_ply_of_any_file_with_games(
    record: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    archive = tmp_path / "logs.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for log in LOGS.iterdir():
            out.write(log, log.name)
    texts = []
    for source in ([GSN], [record], ["--game", 2, archive]):
        status, text, _ = fenfs("show", "--ply", 2, "--explain", "barrage", *source)
        assert status == 0
        assert "red to move, ply 2, seen by red" in text
        assert re.search(r"\nvalue [+-]\d", text)
        assert " on a hidden piece  " in text
        texts.append(text.split("\n", 1)[1])
    assert texts[0] == texts[1] == texts[2]


def test_what_cannot_be_explained(record: pathlib.Path, tmp_path: pathlib.Path) -> None:
    other = LOGS / "duell.2005.4.1.2.gsn"
    net = ["--explain", "barrage-easy"]
    for arguments, status, what in (
        (["show", *net, GSN], 2, "--explain needs the --ply N of a game"),
        (["show", *net, "--ply", 72, GSN], 3, "over after 71 plies: '--ply 72'"),
        (["show", *net, "--ply", 71, GSN], 3, "over after 71 plies: '--ply 71'"),
        (["show", *net, "--ply", 1, other], 3, "not a game of barrage, which barrage-easy plays"),
        (["show", *net, "--ply", 1, "--view", "red", GSN], 2, "no --view, --last or picture"),
        (["replay", *net, other], 1, f"{other}: not a game of barrage, which barrage-easy plays"),
        (["replay", "--explain", "random", GSN], 2, "only a network's moves can be explained"),
        (["replay", "--explain", tmp_path / "none", GSN], 1, "none: no such file"),
    ):
        got, out, [line] = fenfs(*arguments)
        assert (got, out) == (status, "") and what in line, line
