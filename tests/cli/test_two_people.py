"""Two people who play each other: in pages with invitations, watched by others, and at one
terminal."""

from __future__ import annotations

import json
import pathlib
import re
import signal
from typing import Any

import pytest

from browser import Browser
from running import run
from served import Served, records, square
from test_browser_play import no_scrolling, until

JSON = {"Content__Type": "application/json"}
PLAY = ("human", "--game", "nano", "-n", 2, "--seed", 5)


class Hosted(Served):
    """`match human human --browser`: two invitations, and a link for those who watch."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.answered: dict[str, int] = {}  # the versions that seats have answered
        assert self.process.stdout
        lines = [self.address, *(self.process.stdout.readline() for _ in range(2))]
        self.links = dict(line.strip().split(": ") for line in lines)
        first, second, self.watching = self.links.values()
        self.invited = [first, second]
        self.host = first.split("/")[2]

    def take(self, number: int) -> str:
        """The token of the page that an invitation leads to."""
        token = self.invited[number].split("/")[3]
        status, data = self.request("POST", f"/{token}/take", b"{}", **JSON)
        assert status == 200, data
        return str(json.loads(data)).strip("/")

    def at(self, token: str) -> Any:
        """The state of a seat, once it is asked again, or the match is over."""
        self.token = token
        return self.asked(self.answered.get(token, 0))

    def answer(self, token: str, word: str) -> Any:
        """Says a word when the seat is asked; the state before."""
        state = self.at(token)
        assert self.say(state["version"], word) == 204
        self.answered[token] = state["version"]
        return state


def a_move(state: Any) -> str:
    return "".join(square(state, at) for at in state["scene"]["moves"][0])


def test_an_invitation_seats_one_person(tmp_path: pathlib.Path) -> None:
    with Hosted((*PLAY, "-o", tmp_path / "g.jsonl")) as served:
        assert list(served.links) == ["human", "human-2", "to watch"]
        token = served.invited[0].split("/")[3]
        status, page = served.request("GET", f"/{token}/")
        assert status == 200 and b"as human." in page and b"http" not in page
        assert served.request("GET", f"/{token}/state?after=0")[0] == 404
        assert served.request("POST", f"/{token}/say", b"{}", **JSON)[0] == 404
        assert served.request("POST", f"/{token}/take", b"{}")[0] == 415
        seat = served.take(0)
        for method, path in (("GET", ""), ("POST", "take")):
            status, told = served.request(method, f"/{token}/{path}", b"{}", **JSON)
            assert status == 410 and told.startswith(b"This invitation has been used: ")
            assert told.count(b"\n") == 1
        assert served.at(seat)["scene"]["kind"] == "offer"  # and again, as a page that is reloaded
        assert served.take(1) not in (seat, token)


def test_moves_draws_and_a_rematch(tmp_path: pathlib.Path) -> None:
    """Two people play two games, agree to a draw, and go on to two more."""
    games = tmp_path / "g.jsonl"
    with Hosted((*PLAY, "-o", games)) as served:
        one, two = served.take(0), served.take(1)
        served.answer(one, "")
        served.answer(two, "")
        served.answer(one, "undo")
        again = served.at(one)
        assert "there is nothing to take back" in again["messages"][0]
        assert again["match"]["undoes"] is True and again["match"]["hints"] is False
        served.answer(one, "draw")
        offered = served.answer(one, a_move(again))
        assert offered["scene"]["draw"] == "mine"
        assert served.answer(two, "decline")["scene"]["draw"] == "theirs"
        declined = served.at(two)
        served.answer(two, a_move(declined))
        assert declined["scene"]["draw"] == "" and served.at(one)["scene"]["draw"] == "declined"
        served.answer(one, "draw")
        served.answer(one, a_move(served.at(one)))
        served.answer(two, "draw")
        served.answer(two, "")  # who was blue begins
        drawn = served.answer(one, "")
        assert drawn["ended"][0]["result"] == "game 1: you drew (agreed)"
        served.answer(two, "resign")
        ends = [served.at(seat) for seat in (one, two)]
        assert [end["phase"] for end in ends] == ["over", "over"]
        assert [end["rematch"] for end in ends] == ["asked", "asked"]
        served.answer(two, "rematch")
        served.token = one
        wanted = served.state(ends[0]["version"])
        assert (wanted["phase"], wanted["rematch"]) == ("over", "theirs")
        served.answer(one, "rematch")
        begun = served.at(one)
        assert begun["scene"]["kind"] == "offer" and begun["scene"]["game"] == 3
        assert begun["match"]["games"] == 4
        served.answer(one, "save")
        status, told = served.ended()
        assert status == 0 and told.splitlines()[-1].endswith("--browser -n 4 --resume")
    goes_on = run("match", *("human", *PLAY), "-n", 4, "--resume", "-o", games, stdin=b"\nsave\n")
    assert goes_on.status == 0 and "game 3: you play red" in goes_on.out
    one_game, another = (line for line in records(games) if "number" in line)
    assert (one_game["result"], one_game["reason"], one_game["adjudicator"]) == (
        "draw",
        "agreed",
        "player",
    )
    assert another["reason"] == "resigned" and one_game["plies"] == 3
    assert run("fenfs", "check", games).status == 0
    assert run("rate", games, "--check", "--prior", 1).status == 0


def test_who_watches_gets_what_both_know(tmp_path: pathlib.Path) -> None:
    """Nothing hidden, no word, no armies at the end: a sentence each."""
    with Hosted((*PLAY, "-o", tmp_path / "g.jsonl")) as served:
        one, two, watching = served.take(0), served.take(1), served.watching.split("/")[3]
        served.answer(one, "")
        served.answer(two, "")
        served.token = watching
        seen = served.state()
        while (seen.get("scene") or {}).get("kind") != "watch":
            seen = served.state(seen["version"])
        pieces = [on for on in seen["scene"]["board"] if on not in (None, "lake")]
        assert pieces and {on["name"] for on in pieces} == {"a piece"}
        assert seen["scene"]["moves"] == [] and seen["phase"] == "watch"
        assert sum(count for _, count in seen["scene"]["hidden"]["blue"]) == len(pieces) / 2
        for word in ("resign", "A1A2", "?"):
            body = json.dumps({"version": seen["version"], "word": word}).encode()
            status, told = served.ask("POST", "say", body, **JSON)
            assert status == 403 and told.startswith(b"who watches does not play: ")
        served.answer(one, "resign")
        served.at(two)  # who begins the next game
        served.token = watching
        status, told = served.ask("GET", "game/1")
        assert status == 403 and told.startswith(b"hidden pieces are for the players: ")
        assert served.state()["ended"][0]["result"] == "game 1: human-2 won (resigned)"
        assert served.state()["ended"][0]["plies"] is None


@pytest.mark.parametrize("how", ["save", "kill"])
def test_two_people_go_on(tmp_path: pathlib.Path, how: str) -> None:
    """With new invitations, where both had left."""
    games = tmp_path / "g.jsonl"
    with Hosted((*PLAY, "-o", games)) as served:
        one, two = served.take(0), served.take(1)
        served.answer(one, "")
        served.answer(two, "mirror")
        served.answer(two, "")
        served.answer(one, a_move(served.at(one)))
        served.answer(two, a_move(served.at(two)))
        left = served.at(one)
        if how == "save":
            served.answer(one, "save")
            assert served.ended()[0] == 0
        else:
            served.process.kill()
    with Hosted((*PLAY, "-o", games, "--resume")) as again:
        assert set(again.invited).isdisjoint(served.invited)
        assert again.at(again.take(0))["scene"] == left["scene"]


def test_a_move_is_given_back(tmp_path: pathlib.Path) -> None:
    """Either one asks at its turn, and the other one answers; those who watch see nothing of it."""
    games = tmp_path / "g.jsonl"
    with Hosted(("clock=600,human", *PLAY[1:], "-o", games), person="clock=600,human") as served:
        one, two = served.take(0), served.take(1)
        for seat in (one, two):
            served.answer(seat, "")
        turns = [served.answer(seat, a_move(served.at(seat))) for seat in (one, two, one)]
        before = served.at(two)
        for answer, back in (("decline", False), ("give it back", True)):
            served.answer(two, "undo")
            asked = served.at(one)
            assert asked["scene"]["column"] == "answer" and set(asked["scene"]["actions"]) == {
                "give it back",
                "decline",
            }
            assert asked["scene"]["facts"][0].startswith("human-2 asks to take back the last move")
            watching = served.watching.split("/")[3]
            seen = json.loads(served.request("GET", f"/{watching}/state?after=0")[1])
            assert seen["scene"]["kind"] == "watch" and "human-2" not in seen["scene"]
            served.answer(one, answer)
            now = served.at(two)
            served.token = one
            waits, move = served.state(), turns[2]["scene"]["moves"][0]
            assert (waits["phase"], waits["going"]) == ("wait", None if back else move)
            same = turns[1] if back else before
            ignored = {"new"}
            assert {k: v for k, v in now["scene"].items() if k not in ignored} == {
                k: v for k, v in same["scene"].items() if k not in ignored
            }
            assert bool(now["messages"]) is not back
        assert [clock["runs"] for clock in now["clocks"]] == [True, False]  # two is asked
        assert all(0 < clock["left"] <= 600 for clock in now["clocks"])
        served.token = one
        assert served.state(asked["version"])["scene"]["kind"] == "turn"
        served.answer(two, a_move(served.at(two)))
        served.answer(one, "undo")
        served.answer(two, "give it back")
        first = served.at(one)
        assert first["scene"]["ply"] == 0
        served.answer(one, "save")
        assert served.ended()[0] == 0
    with Hosted(
        ("clock=600,human", *PLAY[1:], "-o", games, "--resume"), person="clock=600,human"
    ) as again:
        one, two = again.take(0), again.take(1)
        assert again.at(one)["scene"] == first["scene"]
        again.answer(one, "resign")
        again.at(two)
    assert records(games)[0]["undone"] == 2


def test_a_flag_falls(tmp_path: pathlib.Path) -> None:
    """Pages and who watches know all clocks; whose has run out has lost, whatever it says."""
    games = tmp_path / "g.jsonl"
    play = ("clock=1e-3,name=b,human", "--game", "nano", "-n", 2, "--seed", 5, "-o", games)
    with Hosted(play, person="name=a,clock=600+5,human") as served:
        one, two = served.take(0), served.take(1)
        for seat in (one, two):
            served.answer(seat, "")
        state = served.at(one)
        mine, theirs = state["clocks"]
        assert 0 < mine["left"] <= 600 and mine["runs"] and theirs == {"left": 0.0, "runs": False}
        served.answer(one, a_move(state))
        until_over = served.at(two)
        while not until_over["ended"]:
            until_over = served.at(two)
        assert until_over["ended"][0]["result"] == "game 1: you lost (clock)"
        watching = served.watching.split("/")[3]
        _, data = served.request("GET", f"/{watching}/state?after=0")
        assert [clock["left"] > 0 for clock in json.loads(data)["clocks"]] == [True, False]
    [game] = records(games)
    ended = (game["reason"], game["adjudicator"], game["fault"], game["result"])
    assert ended == ("clock", "referee", None, "red")
    assert run("fenfs", "check", games).status == 0


def test_at_one_terminal_a_screen_is_between(tmp_path: pathlib.Path) -> None:
    games = tmp_path / "g.jsonl"
    words = ["", "", "", "", "", "moves", "resign", "", "save"]
    done = run("match", "name=ann,human", "name=bob,human", *PLAY[1:], "-o", games,
               stdin="".join(f"{word}\n" for word in words).encode())  # fmt: skip
    assert done.status == 0, done.err
    screens = done.out.split("\n" * 60)
    assert [s.split("hand over to ")[1].split(",")[0] for s in screens[1:]][:3] == [
        "ann",
        "bob",
        "ann",
    ]
    for screen in screens[1:]:
        assert "seen by red" not in screen or "seen by blue" not in screen
    assert "ann, Your setup" in screens[1] and "bob, Your setup" in screens[2]
    assert "game 1: bob won (resigned)" in done.err and len(records(games)) == 1


def test_in_two_browsers(browser: Browser, tmp_path: pathlib.Path) -> None:
    """The invitation's button, a draw, a rematch, and the page of who watches, on a phone."""
    browser.forget()
    browser.screen(390, 844)
    with Hosted((*PLAY, "-o", tmp_path / "g.jsonl")) as served:
        two = served.take(1)
        served.token = two
        assert served.state()["phase"] == "wait"  # a page has something to say while others set up
        browser.visit(served.watching)
        until(browser, "at('now').textContent === 'They set up their pieces.'")
        browser.visit(served.invited[0].rstrip("/"))  # as it may have been sent on
        browser.click("take")
        until(browser, "typeof state === 'object' && asked() && scene().kind === 'offer'")
        browser.click("take")
        served.answer(two, "")
        until(browser, "asked() && scene().kind === 'turn'")
        assert no_scrolling(browser) and browser.evaluate(
            "at('undo').disabled && at('hint').hidden"
        )
        assert "human, you (red)" in browser.evaluate("at('title').textContent")
        browser.click("draw")
        until(browser, "asked() && scene().draw === 'mine' && at('draw').disabled")
        standing = "board.squares.map(one => one.textContent).join()"
        before = browser.evaluate(standing)
        browser.evaluate("go(...scene().moves[0])")
        until(browser, "at('now').textContent === 'It is the turn of human-2.'")
        moved = browser.evaluate(standing)
        browser.visit(browser.evaluate("location.href"))  # which shows the move, too
        until(browser, "state.phase === 'wait'")
        assert browser.evaluate(standing) == moved != before
        served.answer(two, "draw")
        until(browser, "!at('end').hidden && state.phase === 'wait'")
        served.answer(two, "")
        until(browser, "state.phase === 'ask'")  # which moves the button
        browser.click("go-on")
        until(browser, "asked() && scene().side === 'blue'")
        browser.click("take")
        served.answer(two, "resign")
        until(browser, "!at('again').hidden")
        browser.click("rematch")
        until(browser, "state.rematch === 'mine'")
        served.answer(two, "rematch")
        until(browser, "asked() && scene().game === 3 && at('end').hidden")
        page = browser.evaluate("location.href")
        browser.visit(served.invited[0])
        assert "has been used" in browser.evaluate("document.body.innerText")
        browser.visit(served.watching)
        until(browser, "state.phase === 'watch'")
        browser.visit(page)
        until(browser, "asked()")
        browser.click("take")
        served.answer(two, "")
        browser.visit(served.watching)
        until(browser, "scene()?.kind === 'watch'")
        assert no_scrolling(browser)
        shown = browser.evaluate("[...document.querySelectorAll('#board .piece text')]"
                                 ".map(text => text.textContent).join('')")  # fmt: skip
        assert shown == "" and browser.evaluate("at('resign').hidden && at('save').hidden")
    assert browser.errors == []


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (("--host", "0.0.0.0"), 2, "--host wants the one address or name by which others reach"),
        (("--host", "192.0.2.1"), 1, "192.0.2.1: port 0: Cannot assign requested address"),
    ],
)
def test_a_host_that_is_none(
    tmp_path: pathlib.Path, options: tuple[str, ...], status: int, said: str
) -> None:
    games = tmp_path / "g.jsonl"
    done = run("match", "human", *PLAY, "--browser", *options, "-o", games)
    assert done.status == status and said in done.error_line and not games.exists()
    done = run("match", "human", *PLAY, *options, "-o", games)
    assert done.error_line == "match: --host is the one of --browser, which is missing"


def test_by_name_and_no_other(tmp_path: pathlib.Path) -> None:
    """A name of this machine is the only host that a request may name."""
    with Hosted((*PLAY, "--host", "localhost", "-o", tmp_path / "g.jsonl")) as served:
        assert re.fullmatch(r"localhost:\d+", served.host)
        path = f"/{served.watching.split('/')[3]}/state?after=0"
        port = served.host.split(":")[1]
        for host in (f"127.0.0.1:{port}", f"evil.example:{port}", "localhost"):
            assert served.request("GET", path, Host=host)[0] == 403
        seat = served.take(0)
        assert served.at(seat)["phase"] == "ask"
        assert served.request("GET", path)[0] == 200


def test_an_interrupt_declines_a_rematch(tmp_path: pathlib.Path) -> None:
    """The match is over, and its table is told as ever."""
    with Hosted((*PLAY, "-o", tmp_path / "g.jsonl")) as served:
        one, two = served.take(0), served.take(1)
        for first, second in ((one, two), (two, one)):
            served.answer(first, "")
            served.answer(second, "")
            served.answer(first, "resign")
        assert served.at(one)["rematch"] == "asked"
        served.process.send_signal(signal.SIGINT)
        status, told = served.ended()
    assert status == 0 and "human - human-2: +1 =0 -1" in told and "to go on" not in told
