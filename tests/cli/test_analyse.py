"""What a network thinks of games: `analyse`, `fenfs replay --explain`, `fenfs show --explain`, and
the page on which one learns from mistakes."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import pathlib
import re
import signal
import subprocess
import sys
import time
import types
import zipfile
from typing import IO, Any

import numpy as np
import pytest

from browser import Browser
from fenfs_here import LOGS, fenfs
from running import ROOT, here, run
from stratkit.cli.options import read_player
from stratkit.engine import Batch
from stratkit.engine.stratego import MOVED, PIECE, REVEALED, SIDE, TYPE
from stratkit.humans.analysis.analyst import Analyst, Turn, searching
from stratkit.humans.analysis.mistakes import details
from stratkit.humans.analysis.records import GameAnalyst, accuracy, position_record
from stratkit.humans.analysis.turns import Turns
from stratkit.notation.gravon import parse_log
from stratkit.notation.play import Played, play_out
from stratkit.storage.streams import open_output

GSN = LOGS / "barrage.2003.9.2.7.gsn"
FIRST, LAST = 53, 62
EASY = ("--by", "barrage-easy")
QUIET, NO_QUIET = "preset=strong,quiet=3,barrage-easy", "moves are compared at every ply: no quiet="
Records = list[dict[str, Any]]


def analysed(*arguments: Any, status: int = 0) -> Records:
    done = run("analyse", *arguments)
    assert (done.status, done.err) == (status, ""), done.err
    return [json.loads(line) for line in done.out.splitlines()]


def of(kind: str, records: Records) -> Records:
    return [one for one in records if one.get("kind") == kind]


@pytest.fixture(scope="module")
def played() -> Played:
    [played] = play_out([("f", parse_log(GSN.read_bytes(), "f"))], boards=True)
    return played


@pytest.fixture(scope="module")
def analyst() -> Analyst:
    return Analyst(searching(read_player("barrage-easy"), 8))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("page") / "game.html"


@pytest.fixture(scope="module")
def records(page: pathlib.Path) -> Records:
    return analysed(*EASY, "--plies", f"{FIRST}..{LAST}", GSN, "--page", page)


def test_every_ply_has_a_line_and_the_game_its_accuracy(records: Records, played: Played) -> None:
    header, *rest = records
    assert header["stratkit"] == "analysis" and header["file"] == str(GSN)
    plies = of("ply", rest)
    assert [one["ply"] for one in plies] == list(range(FIRST, LAST + 1))
    for one in plies:
        assert one["move"] == played.log.move_text(one["ply"] - 1).replace("-", "")
        assert one["side"] == ("blue", "red")[one["ply"] % 2]
        assert -1 <= one["value"] <= 1 and one["error"] >= 0
        best = one["moves"][0]
        assert best["value"] == one["value"]
        if best["move"] == one["move"]:
            assert (one["loss"], one["loss_error"]) == (0, 0)
    [game] = of("game", rest)
    assert rest[-1] is game and game["plies"] == played.log.plies
    for side in ("red", "blue"):
        own = [one for one in plies if one["side"] == side]
        told = game[side]
        assert told["plies"] == len(own)
        mean = sum(accuracy(one["loss"]) for one in own) / len(own)
        assert told["accuracy"] == pytest.approx(mean, abs=0.06)
        assert told["mistakes"] == [m["ply"] for m in of("mistake", rest) if m["side"] == side]
    assert (
        accuracy(0) == pytest.approx(100, abs=1e-3)
        and accuracy(-1) == accuracy(0)
        and accuracy(2) < 1
    )


def test_the_flag_that_was_left_standing_is_a_mistake(records: Records) -> None:
    """Before ply 59 red knows that blue's last hidden piece that never moved is the flag."""
    one = next(one for one in of("mistake", records) if one["ply"] == 59)
    best, *others = one["moves"]
    assert best["move"] == one["line"][0]["move"] == "F9F10" and best["value"] == 1
    assert best["takes"] == 1 and best["falls"] == 0 and len(one["line"]) == 1
    assert one["instead"][0]["move"] == one["move"] == "E6E7"
    assert one["loss"] > max(0.1, 2 * one["loss_error"])
    losses = [move["loss"] for move in (best, *others)]
    assert losses == sorted(losses) and losses[0] == 0
    flag = next(piece for piece in one["knew"] if piece["square"] == "F10")
    assert flag["could"] == {"F": 1.0}
    assert all(sum(p["could"].values()) == pytest.approx(1, abs=0.02) for p in one["knew"])


def test_the_sample_is_what_todays_code_writes() -> None:
    sample = ROOT / "formats/samples/analysis.jsonl"
    told = [json.loads(line) for line in sample.read_text().splitlines()]
    log = "formats/samples/gravon/barrage.2003.9.2.7.gsn"
    done = run("analyse", *EASY, "--plies", "57..60", log, cwd=ROOT)
    now = [json.loads(line) for line in done.out.splitlines()]
    assert {one.get("kind") for one in told} == {None, "ply", "mistake", "game"}
    assert [list(one) for one in told] == [list(one) for one in now]
    for before, after in zip(told[1:], now[1:], strict=True):  # rounding is a processor's own
        for name in ("value", "error", "loss", "loss_error", "share"):
            assert before.get(name) == pytest.approx(after.get(name), abs=0.01)
        assert before.get("knew") == after.get("knew")
    words = set(re.findall(r"^\| ([\w, ]+) \|", (ROOT / "formats/analysis.md").read_text(), re.M))
    documented = {word for line in words for word in line.split(", ")}
    assert {name for one in now for name in one} <= documented


def test_neither_batches_nor_threads_change_what_is_found(played: Played, analyst: Analyst) -> None:
    turns = Turns(analyst).of(played.log)[2:7]
    together = analyst.judge(turns)
    for turn, judged in zip(turns, together, strict=True):
        [alone] = analyst.judge([turn])
        assert np.array_equal(alone.returns, judged.returns)
        assert np.array_equal(alone.policy, judged.policy)
        assert alone.loss(alone.best) == (0, 0)
    options = (*EASY, "--plies", "3..4", GSN)
    assert analysed(*options) == analysed(*options, "--threads", 2)


def test_a_loss_has_the_error_of_differences_in_the_same_worlds(
    played: Played, analyst: Analyst
) -> None:
    [judged] = analyst.judge(Turns(analyst).of(played.log)[4:5])
    move = next(at for at in range(len(judged.moves)) if at != judged.best)
    less = judged.returns[:, judged.best] - judged.returns[:, move]
    assert judged.loss(move)[0] == pytest.approx(less.mean())
    assert judged.loss(move)[1] == pytest.approx(less.std(ddof=1) / len(less) ** 0.5)


def test_all_that_is_told_is_a_function_of_what_the_mover_knew(
    played: Played, analyst: Analyst
) -> None:
    """Hidden pieces of either enemy change places: what is told of the mover is the same, byte for
    byte; what was known of the pieces, every move, and the lines included."""
    for ply in (4, 5):
        position = played.position(ply)
        cells, enemy = position.cells.copy(), (SIDE, 0)[ply % 2]
        still = [
            square
            for square, cell in enumerate(cells.tolist())
            if cell & PIECE and cell & SIDE == enemy and not cell & (REVEALED | MOVED)
        ]
        types = {int(cells[square] & TYPE): square for square in still}
        first, second = list(types.values())[:2]
        told = []
        for swap in (False, True):
            if swap:
                cells[[first, second]] = cells[[second, first]]
            batch = Batch(analyst.game, 1)
            batch.start(0, dataclasses.replace(position, cells=cells.copy()).to_bytes())
            turn = Turn(batch, 0, ply)
            [judged] = analyst.judge([turn])
            record = position_record(analyst, judged, ply)
            told.append(json.dumps({**record, **details(analyst, turn, judged, 0)}))
        assert told[0] == told[1] and cells[first] & TYPE != cells[second] & TYPE


def test_replay_explains_by_the_same_records(page: pathlib.Path, tmp_path: pathlib.Path) -> None:
    header, game = fenfs("convert", "--to", "games", GSN)[1].splitlines()
    short = json.loads(game)
    short |= {"moves": " ".join(short["moves"].split()[:4]), "plies": 4, "reason": "forfeit"}
    record = tmp_path / "games.jsonl"
    record.write_text(f"{header}\n{json.dumps(short)}\n")
    replayed = tmp_path / "replay.html"
    assert fenfs("replay", "--explain", "barrage-easy", record, "-o", replayed) == (0, "", [])
    assert shown(replayed) == analysed(*EASY, record)[1:]
    plain = tmp_path / "plain.html"
    assert fenfs("replay", record, "-o", plain)[0] == 0 and shown(plain) == []


def shown(page: pathlib.Path) -> Records:
    [text] = re.findall(r'id="games">(.*)</script>', page.read_text())
    found = json.loads(text)["games"][0]["analysis"]
    assert isinstance(found, list)
    return found


def test_an_interruption_leaves_a_file_too(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "part.jsonl"
    command = [sys.executable, "-m", "stratkit.cli.analyse", *EASY, GSN, "-o", out]
    with subprocess.Popen(command, stderr=-1, text=True, cwd=ROOT) as process:
        assert process.stderr
        while not any(part.stat().st_size for part in tmp_path.iterdir()):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        assert process.stderr.read() == "analyse: terminated\n"
    assert process.returncode == 143
    header, *records = [json.loads(line) for line in out.read_text().splitlines()]
    assert header["stratkit"] == "analysis" and len(records) == len(of("ply", records)) < 71


def test_an_interruption_leaves_lines_and_a_page(tmp_path: pathlib.Path) -> None:
    page = tmp_path / "part.html"
    command = [sys.executable, "-m", "stratkit.cli.analyse", *EASY, GSN, "--page", page]
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True, cwd=ROOT) as process:
        assert process.stdout and process.stderr
        lines = [process.stdout.readline() for _ in range(2)]
        process.send_signal(signal.SIGINT)
        lines += process.stdout.readlines()
        error = process.stderr.read()
    assert process.returncode == 130 and error == "analyse: interrupted\n"
    records = [json.loads(line) for line in lines]
    assert shown(page) == records[1:] and of("game", records) == []


class Interrupted(io.StringIO):
    """A stream at which Ctrl-C comes as soon as the third line is written."""

    def write(self, text: str) -> int:
        written = super().write(text)
        if self.getvalue().count("\n") == 3:
            raise KeyboardInterrupt
        return written


@pytest.mark.parametrize("when", ["it is made", "it is written"])
def test_the_page_has_the_lines_that_are_written_whenever_a_signal_comes(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    lines = Interrupted() if when == "it is written" else io.StringIO()
    made: list[str] = []

    def opened(path: str, force: bool) -> contextlib.AbstractContextManager[IO[Any]]:
        return contextlib.nullcontext(lines) if path == "-" else open_output(path, force)

    def dumps(record: object, **how: Any) -> str:
        if when == "it is made" and len(made) == 3:
            raise KeyboardInterrupt
        made.append(json.dumps(record, **how))
        return made[-1]

    monkeypatch.setattr("stratkit.humans.analysis.run.open_output", opened)
    monkeypatch.setattr("stratkit.humans.analysis.run.json", types.SimpleNamespace(dumps=dumps))
    with pytest.raises(KeyboardInterrupt):
        here("analyse", *EASY, GSN, "--page", tmp_path / "part.html")
    records = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert len(records) == 3 and shown(tmp_path / "part.html") == records[1:]


# ---- the page ----


def split(move: str) -> list[str]:
    """Both squares of a move: A4A5, A10A9."""
    return re.findall(r"[A-K]\d+", move)


TOLD = "document.getElementById('told').innerText"


def test_the_page_shows_opinions_graph_and_mistakes(
    browser: Browser, page: pathlib.Path, records: Records
) -> None:
    assert shown(page) == records[1:]
    browser.forget()
    browser.open(page)
    text = "document.getElementById('opinion').textContent"
    assert browser.evaluate(text) == ""
    for one in of("ply", records):
        browser.evaluate(f"go({one['ply']})")
        told = browser.evaluate(text).replace("−", "-")
        value = float(re.sub(f"^{one['side']} expected ", "", told).split()[0].rstrip(";"))
        assert value == pytest.approx(one["value"], abs=0.0051)
        assert ("loss" in told) == (one["loss"] > 0)
        green = browser.evaluate("document.querySelectorAll('#board .arrow .better').length")
        squares = browser.evaluate(
            "[...document.querySelectorAll('#board g.better')].map(one => one.dataset.square)"
        )
        best, wrong = one["moves"][0]["move"], one["loss"] >= 0.1
        assert (green, sorted(squares)) == (wrong, sorted(split(best)) if wrong else [])
    items = browser.evaluate("[...document.querySelectorAll('#mistakes li')].map(e => e.innerText)")
    assert [int(item.split(".")[0]) for item in items] == [m["ply"] for m in of("mistake", records)]
    first = of("mistake", records)[0]
    place = browser.evaluate("(() => { const b = document.querySelector('#mistakes button');"
                             " b.scrollIntoView(); const r = b.getBoundingClientRect();"
                             " return [r.x + 5, r.y + 5]; })()")  # fmt: skip
    browser.mouse("Pressed", *place)
    browser.mouse("Released", *place)
    assert browser.evaluate("ply") == first["ply"] - 1
    move = "better.arrow.map(square => board.name(square)).join('')"
    assert browser.evaluate(move) == first["line"][0]["move"]
    assert browser.evaluate("board.arrow.childElementCount") == 1
    browser.press(" ", 32)
    assert browser.evaluate("at('play').textContent") == "stop"  # and not the button again
    browser.evaluate("stop()")
    points = "[...document.querySelectorAll('#graph polyline')].map(e => e.points.length)"
    assert browser.evaluate(points) == [5, 5]
    accuracies = browser.evaluate("document.getElementById('accuracy').innerText")
    [game] = of("game", records)
    for side in ("red", "blue"):
        assert f"{game[side]['accuracy']:.1f} %" in accuracies
    assert browser.errors == []


@pytest.mark.parametrize(("width", "height", "dark"), [(1280, 720, False), (390, 844, True)])
def test_one_learns_from_mistakes_by_keys(
    browser: Browser, page: pathlib.Path, records: Records, width: int, height: int, dark: bool
) -> None:
    browser.forget()
    browser.screen(width, height, dark)
    browser.open(page)
    mistakes = [one for one in of("mistake", records) if one["side"] == "red"]
    first = mistakes[0]
    browser.evaluate("document.querySelector('#learn button').focus()")
    browser.press("Enter", 13)
    assert browser.evaluate("document.activeElement.id") == "try"
    asked = browser.evaluate("document.getElementById('asked').textContent")
    assert asked.startswith(f"Mistake 1 of {len(mistakes)}: red played ")
    # What red did not know is not shown, and neither is what comes later.
    position = browser.evaluate("boards[ply].map(content).filter(p => p && p.side === 'blue')")
    assert all(piece["known"] or piece["text"] in ("", "•") for piece in position)
    for hidden in ("moves", "steps", "analysis", "settings"):
        assert browser.evaluate(f"document.getElementById('{hidden}').offsetParent === null")
    assert browser.evaluate("document.getElementById('opinion').textContent") == ""
    options = browser.evaluate("[...document.getElementById('try').options].map(o => o.value)")
    assert sorted(options) == sorted(move["move"] for move in first["moves"])
    browser.evaluate(f"document.getElementById('try').value = '{first['move']}'")
    browser.evaluate("document.getElementById('attempt').focus()")
    browser.press("Enter", 13)
    assert "that is the move that was played" in browser.evaluate(TOLD)
    best = first["line"][0]["move"]
    start, end = re.findall(r"[A-Z]\d+", best)
    for square in (start, end):  # the other way: clicks on the board
        where = f"document.querySelector('#board [data-square={square}]')"
        browser.evaluate(f"{where}.dispatchEvent(new Event('click'))")
    told = browser.evaluate(TOLD)
    assert told.startswith(f"{best}: as good as the best move.")
    assert "Probable play: " in told and "After the move played: " in told
    knew = browser.evaluate("[...document.querySelectorAll('#knew li')].map(e => e.textContent)")
    assert [item.split(":")[0] for item in knew] == [piece["square"] for piece in first["knew"]]
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for _ in mistakes:
        browser.evaluate("document.getElementById('next-task').click()")
    learned = browser.evaluate("document.getElementById('learned').textContent")
    assert learned == f"1 of {len(mistakes)} of red's mistakes mended."
    assert browser.evaluate("document.getElementById('task').hidden") and browser.errors == []


def test_keys_alone_mend_mistakes(browser: Browser, page: pathlib.Path, records: Records) -> None:
    """By Tab, arrows, Enter and the space bar; who hears the page is told what is asked, which
    square is picked, and how good the try is."""
    mistakes = [one for one in of("mistake", records) if one["side"] == "blue"]
    browser.forget()
    browser.screen(1280, 720)
    browser.open(page)
    browser.tab_to("at('learn').children[1]")
    browser.press("Enter", 13)
    for one in mistakes:
        assert (
            browser.evaluate("document.activeElement.getAttribute('aria-describedby')") == "asked"
        )
        chosen = browser.evaluate("at('try').value")
        browser.press("ArrowDown", 40)
        assert browser.evaluate("at('try').value") != chosen
        browser.tab_to("at('attempt')")
        browser.press("Enter", 13)
        assert browser.evaluate("document.querySelector('#told[aria-live]').textContent")
        browser.tab_to("board.squares.find(group => group.tabIndex === 0)", shift=True)
        assert browser.evaluate("board.below") == "blue"
        for number, name in enumerate(split(one["line"][0]["move"])):
            square = browser.evaluate(
                f"boards[0].findIndex((_, at) => board.name(at) === '{name}')"
            )
            browser.walk_to(square)
            browser.press(*(("Enter", 13), (" ", 32))[number])
            pressed = "[role=button][aria-pressed=true]"
            picked = f"[...document.querySelectorAll('{pressed}')].map(one => one.dataset.square)"
            assert browser.evaluate(picked) == ([] if number else [name])
        assert browser.evaluate(TOLD).startswith(one["line"][0]["move"] + ": as good as the best")
        browser.tab_to("document.querySelector('#task summary')")
        browser.press("Enter", 13)
        assert browser.evaluate("at('knew').parentElement.open")
        browser.press("Enter", 13)
        browser.tab_to("at('next-task')", shift=True)
        browser.press("Enter", 13)
    told = browser.evaluate("document.querySelector('#learned[aria-live]').textContent")
    assert told == f"{len(mistakes)} of {len(mistakes)} of blue's mistakes mended."
    assert browser.evaluate("document.activeElement === at('learn').children[1]")
    roles = browser.evaluate("[...new Set(board.squares.map(one => one.getAttribute('role')))]")
    assert roles == ["img"] and browser.unnamed() == [] and browser.errors == []


# ---- what cannot be analysed ----


def test_show_explains_a_ply_of_any_file_with_games(tmp_path: pathlib.Path) -> None:
    archive = tmp_path / "logs.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for log in LOGS.iterdir():
            out.write(log, log.name)
    texts = []
    for source in ([GSN], ["--game", 2, archive]):
        status, text, _ = fenfs("show", "--ply", 2, "--explain", "barrage", *source)
        assert status == 0
        assert "red to move, ply 2, seen by red" in text
        assert re.search(r"\nvalue [+-]\d", text)
        assert " on a hidden piece  " in text
        texts.append(text.split("\n", 1)[1])
    assert texts[0] == texts[1]


def test_a_belief_by_setups_knows_the_game_so_far(played: Played) -> None:
    player = read_player("search=mmd,rollouts=96,depth=0,belief=setups,barrage-easy")
    turns = Turns.by(player)
    search = turns.analyst.explain(turns.at(played.log, 4)).search
    assert search is not None and 1 < search.effective < search.candidates


def test_what_cannot_be_explained(tmp_path: pathlib.Path) -> None:
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
        (["replay", "--explain", QUIET, GSN], 2, f"{NO_QUIET}: '{QUIET}'"),
        (["replay", "--explain", tmp_path / "none", GSN], 1, "none: no such file"),
    ):
        got, out, [line] = fenfs(*arguments)
        assert (got, out) == (status, "") and what in line, line


def test_what_cannot_be_analysed(tmp_path: pathlib.Path) -> None:
    duell = LOGS / "duell.2005.4.1.2.gsn"
    kuhn = tmp_path / "kuhn.jsonl"
    assert (
        run("match", "random", "name=r,random", "--game", "kuhn", "-n", 2, "-o", kuhn).status == 0
    )
    trees = "search=pimc,barrage-easy"
    for arguments, status, what in (
        ([duell], 3, f"{duell}: no network for duel comes with stratkit: name one with --by"),
        ([*EASY, duell], 3, f"{duell}: not a game of barrage, which barrage-easy plays"),
        (["--by", "heuristic", GSN], 2, "only a network's moves can be explained: 'heuristic'"),
        (["--by", trees, GSN], 2, "moves are compared by search=mmd, not by search=pimc"),
        (["--by", QUIET, GSN], 2, f"{NO_QUIET}: '{QUIET}'"),
        (["--by", QUIET, "--serve"], 2, f"{NO_QUIET}: '{QUIET}'"),
        (["--game", 2, GSN], 1, "no such game in the input"),
        ([*EASY, "--page", "-", GSN], 2, "the page cannot go where the records go"),
        ([*EASY, tmp_path / "none"], 1, f"{tmp_path}/none: cannot read: No such file or directory"),
        ([kuhn], 3, "kuhn"),
    ):
        done = run("analyse", *arguments)
        lines = done.err.splitlines()
        assert (done.status, done.out) == (status, ""), lines
        assert lines and all(line.startswith("analyse: ") for line in lines)
        assert what in lines[0], lines


def test_a_game_without_a_ply_to_judge_is_told() -> None:
    done = here("analyse", *EASY, "--plies", "900..", GSN)
    assert (done.status, done.error_line) == (
        0,
        f"analyse: {GSN}: no ply is judged: the game has 71",
    )
    game = json.loads(done.out.splitlines()[-1])
    assert game["kind"] == "game" and "accuracy" not in game["red"] and game["red"]["plies"] == 0


def test_other_rules_are_told(tmp_path: pathlib.Path) -> None:
    games = tmp_path / "g.jsonl"
    players = ("random", "name=r,random", "--game", "barrage", "-n", 2, "--seed", 1)
    assert run("match", *players, "--max-plies", 6, "-o", games).status == 0
    done = run("analyse", *EASY, "--game", 1, "--plies", "1..2", games)
    what = "other rules than barrage-easy learned by: max_plies 6, not 2000"
    assert (done.status, done.error_line) == (0, f"analyse: {games}: game 1: {what}")
    other = tmp_path / "other.jsonl"  # another board has other rules, too, but one line says enough
    assert run("match", *players[:2], "--game", "nano", "-n", 2, "-o", other).status == 0
    done = run("analyse", *EASY, "--game", 1, other)
    what = "not a game of barrage, which barrage-easy plays"
    assert (done.status, done.error_line) == (3, f"analyse: {other}: game 1: {what}")


def test_a_game_for_itself(played: Played) -> None:
    """A game is judged alike whatever was judged before."""
    one = GameAnalyst(read_player("barrage-easy"))
    first = list(one.records(played.log, 1, (5, 6)))
    assert list(one.records(played.log, 1, (5, 6))) == first


# ---- for other programs ----


def asked(*requests: Any, options: tuple[str, ...] = EASY) -> Records:
    """What is answered to these lines."""
    lines = [one if isinstance(one, str) else json.dumps(one) for one in requests]
    done = run("analyse", "--serve", *options, stdin="\n".join(lines).encode())
    assert (done.status, done.err) == (0, ""), done.err
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.fixture(scope="module")
def game() -> dict[str, Any]:
    record = json.loads(fenfs("convert", "--to", "games", GSN)[1].splitlines()[1])
    return {"game": "barrage", "setups": record["setups"], "moves": record["moves"]}


def test_requests_get_what_analyse_writes(records: Records, game: dict[str, Any]) -> None:
    plies = {"plies": [FIRST, LAST], "mistakes": True}
    answers = asked({"id": "a", **game, **plies}, {"id": 7, **game, "plies": [1, 2]})
    mine = [one for one in answers if one["id"] == "a"]
    plain = [{k: v for k, v in one.items() if k not in ("game", "id")} for one in mine]
    told = [{k: v for k, v in one.items() if k != "game"} for one in records[1:]]
    for one in (plain[-1], told[-1]):  # a request has no names and no ending
        one.pop("ending")
        for side in ("red", "blue"):
            one[side].pop("player")
    assert plain == told
    assert [one["kind"] for one in answers if one["id"] == 7] == ["ply", "ply", "game"]
    assert answers[-1]["id"] == "a"  # the shorter one did not wait for the longer one


def test_a_position_gets_one_answer(analyst: Analyst) -> None:
    line = (ROOT / "formats/samples/barrage.fenfs").read_text().splitlines()[4]
    [answer] = asked({"id": 1, "game": "barrage", "fenfs": line})
    assert (answer["id"], answer["kind"]) == (1, "ply") and "loss" not in answer
    assert answer["moves"][0]["value"] == answer["value"]


def test_a_faulty_request_is_answered_with_its_id(game: dict[str, Any]) -> None:
    faults = (
        ("{", None, "no JSON: "),
        ('{"id": 1, "x": ' + "[" * 200_000, None, "no JSON: nested too deeply"),
        ("[1]", None, "a request is an object with an id, a text or a whole number"),
        ({"id": 2.5}, None, "a request is an object with an id"),
        ({"id": True}, None, "a request is an object with an id"),
        ({"id": [1]}, None, "a request is an object with an id"),
        ('{"id": NaN}', None, "no JSON: NaN"),
        ('{"id": 1, "x": -Infinity}', None, "no JSON: -Infinity"),
        ('{"id": 1, "x": 1e999}', None, "no JSON: 1e999"),
        ({"id": "x"}, "x", "no game: a request has fenfs, or game, setups and moves"),
        (
            {"id": "x", "game": "mini"},
            "x",
            "no setups: a request has fenfs, or game, setups and moves",
        ),
        ({"id": "x", "game": None}, "x", "game must be a text: 'null'"),
        ({"id": 1, "ply": 4}, 1, "no such field: 'ply'"),
        ({"id": 1, "fenfs": "x"}, 1, "x"),
        ({"id": 1, **game, "setups": ["A"]}, 1, "setups are two texts, red's and blue's"),
        ({"id": 1, **game, "setups": ["A", "B"]}, 1, "'A'"),
        ({"id": 1, **game, "moves": "A4A5 Z9Z8"}, 1, "move 2: not a move: 'Z9Z8'"),
        ({"id": 1, **game, "moves": "A4A5 A4A5"}, 1, "illegal move"),
        ({"id": 1, **game, "plies": [1]}, 1, "plies are two whole numbers"),
        ({"id": 1, **game, "game": "duel"}, 1, "duel"),
        ({"id": 1, **game, "game": "chess"}, 1, "is no variant of Stratego"),
    )
    answers = asked(*(request for request, _, _ in faults))
    assert len(answers) == len(faults)
    for answer, (request, id_, what) in zip(answers, faults, strict=True):
        assert (answer["id"], answer["kind"]) == (id_, "error"), request
        assert what in answer["error"], answer


def test_a_client_that_goes_away_is_no_fault(game: dict[str, Any]) -> None:
    command = [sys.executable, "-m", "stratkit.cli.analyse", "--serve", *EASY]
    pipes = {"stdin": -1, "stdout": -1, "stderr": -1}
    with subprocess.Popen(command, text=True, cwd=ROOT, **pipes) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(json.dumps({"id": 1, **game}) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["ply"] == 1  # at once: stdin is still open
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == -signal.SIGPIPE


def test_serve_needs_no_games() -> None:
    for arguments, what in (
        (["--serve", GSN], "--serve reads stdin and writes stdout: no GAMES, --page or -o"),
        ([], "missing GAMES, or --serve"),
    ):
        done = run("analyse", *arguments)
        assert (done.status, done.error_line) == (2, f"analyse: {what}")


def test_the_example_of_a_client(tmp_path: pathlib.Path) -> None:
    games = tmp_path / "g.jsonl"
    players = ("random", "name=r,random", "--game", "barrage", "-n", 2, "--seed", 1)
    assert run("match", *players, "--max-plies", 6, "-o", games).status == 0
    script = ROOT / "examples/analysis_client.py"
    serving = f"{sys.executable} -m stratkit.cli.analyse {' '.join(EASY)}"
    command = [sys.executable, script, games, "--command", serving]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    found = re.findall(
        r"^game (\d), ply \d: (red|blue) played \w+, rather \w+: ", done.stdout, re.M
    )
    assert sorted(found) == [(n, side) for n in "12" for side in ("blue", "red")]
