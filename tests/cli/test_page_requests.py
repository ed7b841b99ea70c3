"""The page of `match human --browser`: who gets it, what it refuses, and that no request, tab or
signal loses a game."""

from __future__ import annotations

import json
import pathlib
import signal
import socket
from collections.abc import Iterator

import pytest

from running import PATIENCE, run
from served import Served, records, square
from stratkit.engine.stratego import VARIANTS

NANO = ("random", "--game", "nano", "-n", 2, "--seed", 5)
JSON = {"Content__Type": "application/json"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    games = tmp_path_factory.mktemp("served") / "g.jsonl"
    with Served((*NANO, "-o", games)) as served:
        yield served


def raw(served: Served, data: bytes) -> bytes:
    """What is answered to these bytes, until the connection is closed."""
    host, _, port = served.host.partition(":")
    with socket.create_connection((host, int(port)), PATIENCE) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def test_the_page_is_whole_and_asks_for_nothing_else(served: Served) -> None:
    status, page = served.ask("GET", "")
    assert status == 200 and page.startswith(b"<!DOCTYPE html>")
    text = page.decode()
    assert "class Board" in text and ".board .land" in text  # what the replay page has, too
    assert (
        "/* board" not in text
        and "src=" not in text
        and "http" not in text.replace("http://www.w3.org/2000/svg", "")
    )
    served.state()


@pytest.mark.parametrize(
    "path", ["/", "/state", "//state", "/x/", "/{half}/state", "/{token}x", "*", "/%00/", "/../"]
)
def test_who_has_no_token_gets_nothing(served: Served, path: str) -> None:
    path = path.format(half=served.token[:-1], token=served.token)
    for method in ("GET", "POST"):
        assert served.request(method, path)[0] == 403


def test_an_address_without_its_last_slash_leads_to_the_page(served: Served) -> None:
    status, told = served.request("GET", f"/{served.token}?x=1")
    assert (status, told) == (308, b"a slash is missing\n")


def test_another_matchs_token_is_none(served: Served, tmp_path: pathlib.Path) -> None:
    with Served((*NANO, "-o", tmp_path / "g.jsonl")) as other:
        assert other.token != served.token
        assert served.request("GET", f"/{other.token}/state?after=0")[0] == 403
        body = json.dumps({"version": served.state()["version"], "word": ""}).encode()
        assert served.request("POST", f"/{other.token}/say", body, **JSON)[0] == 403


def test_other_hosts_and_origins_are_refused(served: Served) -> None:
    port = served.host.split(":")[1]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1", ""):
        assert served.ask("GET", "state?after=0", Host=host)[0] == 403
    for origin in ("https://evil.example", f"http://evil.example:{port}", "null", "http://[",
                   f"https://{served.host}", "http://127.0.0.1", served.host, "",
                   f"http://http://{served.host}", f"http://{served.host}/"):  # fmt: skip
        assert served.ask("GET", "state?after=0", Origin=origin)[0] == 403
        assert served.ask("POST", "say", b"{}", Origin=origin, **JSON)[0] == 403
    for name in ("127.0.0.1", "localhost"):
        here = f"{name}:{port}"
        assert served.ask("GET", "state?after=0", Host=here, Origin=f"http://{here}")[0] == 200
    path = f"/{served.token}/state?after=0"
    assert raw(served, f"GET {path} HTTP/1.0\r\n\r\n".encode()).split()[1] == b"403"
    ours = f"Origin: http://{served.host}\r\n"
    host = f"Host: {served.host}\r\n"
    for more in (host, ours * 2, f"{ours}Origin: http://evil.example\r\n"):
        two = f"GET {path} HTTP/1.1\r\n{host}{more}\r\n"
        assert raw(served, two.encode()).split()[1] == b"403"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"\xff\xfe\x00", 400),
        (b"null", 400),
        (b"[]", 400),
        (b"[" * 4000, 400),
        (b'{"version":1}', 400),
        (b'{"version":true,"word":""}', 400),
        (b'{"version":"1","word":""}', 400),
        (b'{"version":1e9,"word":""}', 400),
        (b'{"version":1,"word":7}', 400),
        (b'{"version":1,"word":null}', 400),
        (b'{"version":99,"word":""}', 409),
        (b'{"version":2,"word":"/etc/passwd"}', 409),
        (b'{"version":2,"word":"save\\nresign"}', 409),
        (b'{"version":2,"word":"\\ud800"}', 409),
        (b" " * 4097, 413),
    ],
)
def test_garbage_is_refused_and_changes_nothing(served: Served, body: bytes, status: int) -> None:
    before = served.state()
    assert before["version"] == 2 and before["phase"] == "ask"
    assert served.ask("POST", "say", body, **JSON)[0] == status
    assert served.state() == before


def test_requests_that_are_none(served: Served) -> None:
    before, head = served.state(), f"Host: {served.host}\r\nContent-Type: application/json\r\n"
    say = f"POST /{served.token}/say HTTP/1.1\r\n{head}"
    for request, status in (
        (say, 411),
        (f"{say}Content-Length: -1\r\n", 400),
        (f"{say}Content-Length: 1e3\r\n", 400),
        (f"{say}Content-Length: 99999999999999\r\n", 400),
        (f"{say}Content-Length: 999999999\r\n", 413),
        (f"{say}Content-Length: 100\r\n\r\n{{", 400),
        (f"{say}Transfer-Encoding: chunked\r\n", 411),
        (f"{say}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{{}}", 411),
        (f"{say}Content-Length: 2\r\nContent-Length: 9\r\n\r\n{{}}", 400),
        (say.replace("application/json", "text/plain") + "Content-Length: 2\r\n\r\n{}", 415),
        (f"GET /{served.token}/{'x' * 70_000} HTTP/1.1\r\n{head}", 414),
        (f"GET /{served.token}/ HTTP/1.1\r\n{head}X: {'x' * 70_000}\r\n", 431),
        (f"GET /{served.token}/ HTTP/1.1\r\n{head}" + "X: x\r\n" * 200, 431),
        (f"GET /{served.token}/ HTTP/9.1\r\n{head}", None),
        ("\x00\x01\x02 garbage \xff", None),
        (f"DELETE /{served.token}/ HTTP/1.1\r\n{head}", 501),
        (f"HEAD /{served.token}/ HTTP/1.1\r\n{head}", 501),
    ):
        answer = raw(served, f"{request}\r\n".encode("latin-1"))
        if status is None:  # not even a request: words without a status
            assert len(answer) < 80 and not answer.startswith(b"HTTP")
        else:
            assert answer.split()[1] == str(status).encode(), (request[:100], answer)
    for place, status in (
        ("nothing", 404), ("state", 400), ("state?after=", 400), ("state?after=-1", 400),
        ("state?after=x&after=1", 400), ("game/1", 404), ("game/x", 400), ("say", 404),
        ("game/../../etc/passwd", 400),
    ):  # fmt: skip
        assert served.ask("GET", place)[0] == status, place
    assert served.ask("POST", "state", b"{}", **JSON)[0] == 404
    host, _, port = served.host.partition(":")
    idle = [socket.create_connection((host, int(port))) for _ in range(40)]
    assert served.state() == before
    for connection in idle:
        connection.close()
    served.process.send_signal(signal.SIGTERM)
    assert served.ended() == (143, served_last(served))


def served_last(served: Served) -> str:
    """All that a match says that is ended: how to go on, and no line of any request."""
    words = " ".join(map(str, ["match", "human", *served.arguments, "--browser", "--resume"]))
    return f"match: to go on: {words}\nmatch: terminated\n"


def test_two_tabs_have_one_game(tmp_path: pathlib.Path) -> None:
    games = tmp_path / "g.jsonl"
    with Served((*NANO, "-o", games)) as served:
        one, two = served.asked(), served.asked()
        assert one == two  # so it is, too, when a page is loaded again
        assert served.say(one["version"], "") == 204
        assert served.say(two["version"], "another") == 409
        turn = served.asked(one["version"])
        assert turn["scene"]["kind"] == "turn" and turn["messages"] == []
        assert served.say(one["version"], "resign") == 409
        start, end = turn["scene"]["moves"][0]
        assert served.say(turn["version"], square(turn, start) + square(turn, start)) == 204
        again = served.asked(turn["version"])
        assert "not a legal move" in again["messages"][0] and again["scene"] == turn["scene"]
        assert served.say(again["version"], square(turn, start) + square(turn, end)) == 204
        assert served.asked(again["version"])["ended"] or True
    said = (tmp_path / "g.jsonl.said").read_text().splitlines()
    assert len([line for line in said if " > " not in line]) == 2


def test_a_closed_tab_loses_nothing(tmp_path: pathlib.Path) -> None:
    with Served((*NANO, "-o", tmp_path / "g.jsonl")) as served:
        version = served.asked()["version"]
        host, _, port = served.host.partition(":")
        for _ in range(3):  # they wait for something new, and go away
            with socket.create_connection((host, int(port))) as tab:
                head = f"GET /{served.token}/state?after={version} HTTP/1.1\r\nHost: {served.host}"
                tab.sendall(f"{head}\r\n\r\n".encode())
        assert served.say(version, "mirror") == 204
        turn = served.asked(version)
        assert turn["scene"]["kind"] == "offer" and turn["phase"] == "ask"


@pytest.mark.parametrize("how", ["save", "kill", "interrupt"])
def test_a_game_goes_on_where_it_was_left(tmp_path: pathlib.Path, how: str) -> None:
    games = tmp_path / "g.jsonl"
    with Served((*NANO, "-o", games)) as served:
        served.say(served.asked()["version"], "")
        turn = served.asked(2)
        start, end = turn["scene"]["moves"][0]
        served.say(turn["version"], square(turn, start) + square(turn, end))
        left = served.asked(turn["version"])
        if how == "save":
            assert served.say(left["version"], "save") == 204
            last = served.asked(left["version"])
        else:
            kind = signal.SIGKILL if how == "kill" else signal.SIGINT
            served.process.send_signal(kind)
            last = served.asked(left["version"]) if how == "interrupt" else {"phase": "killed"}
        status, told = served.ended()
    expected = {"save": ("left", 0), "kill": ("killed", -9), "interrupt": ("stopped", 130)}
    assert (last["phase"], status) == expected[how]
    assert ("match: to go on: match human" in told) == (how != "kill") and "Traceback" not in told
    with Served((*NANO, "-o", games, "--resume")) as again:
        state = again.asked()
        assert state["scene"] == left["scene"] and state["phase"] == left["phase"]


def test_a_match_ends_with_all_its_games(tmp_path: pathlib.Path) -> None:
    games = tmp_path / "g.jsonl"
    with Served((*NANO, "-o", games)) as served:
        state = served.asked()
        while state["phase"] == "ask":
            word = ""
            if state["scene"]["kind"] == "turn":
                word = "".join(square(state, at) for at in state["scene"]["moves"][-1])
            assert served.say(state["version"], word) == 204
            state = served.asked(state["version"])
        pages = [served.ask("GET", f"game/{number}") for number in (1, 2)]
        assert served.say(state["version"], "leave") == 204
        status, told = served.ended()
    assert (state["phase"], status) == ("over", 0)
    assert len(records(games)) == 2 and not (tmp_path / "g.jsonl.said").exists()
    for number, (found, page) in enumerate(pages, 1):
        ended = state["ended"][number - 1]
        assert found == 200 and b'id="viewer"' in page and ended["game"] == number
        assert ended["result"] in told and ended["plies"] == records(games)[number - 1]["plies"]


def test_open_pieces_and_more_lakes_are_shown(tmp_path: pathlib.Path) -> None:
    """The enemy's flag and spy are seen from the start; nothing is offered a lake to stand on."""
    rules = ("--game", "barrage-blocked", "--open", "flag,spy")
    with Served(("random", *rules, "-n", 2, "--seed", 5, "-o", tmp_path / "g.jsonl")) as served:
        offer = served.asked()
        lakes = [at for at, on in enumerate(offer["scene"]["board"]) if on == "lake"]
        assert tuple(lakes) == VARIANTS["barrage-blocked"].lakes
        assert set(offer["scene"]["zone"]) == set(range(40)) - set(lakes)
        own = next(at for at in offer["scene"]["zone"] if offer["scene"]["board"][at])
        taken = f"{'ABCDEFGHIK'[own % 10]}{own // 10 + 1}"
        assert served.say(offer["version"], f"swap {taken} C2") == 204  # C2 is a lake
        again = served.asked(offer["version"])
        assert again["messages"] == ["a setup of barrage-blocked has no pieces on its lakes"]
        assert again["scene"] == offer["scene"]
        assert served.say(again["version"], "") == 204
        board = served.asked(again["version"])["scene"]["board"]
    seen = [on["name"] for on in board if on not in (None, "lake") and on["side"] == "blue"]
    assert sorted(seen) == 6 * ["a piece"] + ["flag", "spy"]


def test_who_leaves_by_a_typed_word_has_left(tmp_path: pathlib.Path) -> None:
    play = ("random", "--game", "diplomacy:tiny", "-n", 2, "--seed", 1)
    with Served((*play, "-o", tmp_path / "g.jsonl")) as served:
        state = served.asked()
        assert served.say(state["version"], " Save") == 204
        assert served.asked(state["version"])["phase"] == "left"
        assert served.ended()[0] == 0


def test_a_port_in_use_is_one_line(tmp_path: pathlib.Path) -> None:
    with Served((*NANO, "-o", tmp_path / "a.jsonl")) as served:
        port = served.host.split(":")[1]
        games = tmp_path / "b.jsonl"
        done = run("match", "human", *NANO, "-o", games, "--browser", "--port", port)
        assert (done.status, done.out) == (1, "") and not games.exists()
        assert done.error_line == f"match: 127.0.0.1: port {port}: Address already in use"
        assert served.asked()["phase"] == "ask"
    with Served((*NANO, "-o", games, "--port", port)) as other:
        assert other.host == f"127.0.0.1:{port}" and other.asked()["phase"] == "ask"


def test_a_refused_record_shows_no_page(tmp_path: pathlib.Path) -> None:
    games = tmp_path / "g.jsonl"
    games.write_text("mine\n")
    done = run("match", "human", *NANO, "-o", games, "--browser")
    assert (done.status, done.out) == (1, "") and "exists already" in done.error_line
    assert games.read_text() == "mine\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("random", "--browser"), "--browser is for human, and no player is one"),
        (("human", "--port", 8000), "--port is the one of --browser, which is missing"),
        (("human", "--browser", "--style", "ascii"), "--style and --colour are the terminal's"),
        (
            ("human", "--browser", "--port", 70000),
            "--port must be a whole number from 1 to 65535: '70000'",
        ),
        (
            ("human", "--browser", "--port", "x"),
            "--port must be a whole number from 1 to 65535: 'x'",
        ),
    ],
)
def test_options_that_do_not_go_together(
    tmp_path: pathlib.Path, options: tuple[str, ...], said: str
) -> None:
    player, *rest = options
    players = (player, "name=other,random", *NANO[1:])
    done = run("match", *players, "-o", tmp_path / "g.jsonl", *rest)
    assert done.status == 2 and said in done.error_line and not (tmp_path / "g.jsonl").exists()


def test_a_level_is_chosen_in_the_page(tmp_path: pathlib.Path) -> None:
    """Before each game, with what the games so far suggest, also when the match is over."""
    games = tmp_path / "g.jsonl"
    play = ("level=any", "--game", "barrage", "-n", 4, "--seed", 5, "-o", games)
    with Served(play) as served:
        state = served.asked()
        for number in range(4):
            assert (state["scene"]["column"], state["scene"]["game"]) == ("level", number + 1)
            told = "you have 0 of 3 against level=3: try level=2"
            assert (told in state["scene"]["facts"]) == (number == 3)
            for wrong in ("0", "9", "resign it", "another"):
                assert served.say(state["version"], wrong) == 409
            for word in ("3", "", "resign"):
                assert served.say(state["version"], word) == 204
                state = served.asked(state["version"])
                assert state["match"]["against"] == "level=3"  # also after a page is reloaded
        assert (state["phase"], state["rematch"]) == ("over", "asked")
        assert state["messages"] == ["you have 0 of 4 against level=3: try level=2"]
        assert served.say(state["version"], "leave") == 204
        assert served.ended()[0] == 0
    assert [level for game in records(games) for level in game["drawn"] if level] == ["level=3"] * 4
