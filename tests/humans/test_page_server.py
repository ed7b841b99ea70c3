"""The page's server among strangers: other processes of the machine, which know its port alone."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from running import PATIENCE
from stratkit.humans import page_connections
from stratkit.humans.page_connections import MAX_ARRIVING, MAX_CONNECTIONS
from stratkit.humans.page_server import HOST, PageModel, PageServer

WORD = {"version": 1, "word": "resign"}


class Counter(PageModel):
    """Its state is there when somebody has said a word, and until then a second is waited."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.word = threading.Event()

    def page(self) -> str:
        return "the page"

    def state(self, after: int) -> str | None:
        return json.dumps(self.said) if self.word.wait(after) else None

    def game(self, number: int) -> str | None:
        return None

    def say(self, version: int, word: str) -> bool:
        self.said.append(word)
        self.word.set()
        return True


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PageServer]:
    """Has all the time that a slow machine may need."""
    monkeypatch.setattr(page_connections, "WHOLE", PATIENCE)
    server = served()
    yield server
    server.close()


def served() -> PageServer:
    """Serves one page, whose token is the first."""
    server = PageServer(0)
    server.add(Counter())
    return server


def place(server: PageServer, rest: str = "") -> str:
    return f"/{next(iter(server._server._places))}/{rest}"


def head(server: PageServer, *more: str, method: str = "GET", rest: str = "") -> bytes:
    lines = [f"{method} {place(server, rest)} HTTP/1.1", f"Host: {HOST}:{server.port}", *more]
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode()


def say(server: PageServer, *more: str) -> bytes:
    length = len(json.dumps(WORD))
    kind = ("Content-Type: application/json", f"Content-Length: {length}")
    return head(server, *kind, *more, method="POST", rest="say")


@contextlib.contextmanager
def connections(server: PageServer, number: int, data: bytes) -> Iterator[list[socket.socket]]:
    """So many, by which these bytes have come and no more."""
    with contextlib.ExitStack() as stack:
        some = []
        for _ in range(number):
            some.append(socket.create_connection((HOST, server.port), PATIENCE))
            stack.enter_context(some[-1])
            with contextlib.suppress(OSError):  # it was ended before it had said anything
                some[-1].sendall(data)
        yield some


def asked(server: PageServer) -> int:
    """The status of the page, for who has its address."""
    connection = http.client.HTTPConnection(HOST, server.port, timeout=PATIENCE)
    connection.request("GET", place(server))
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def received(connection: socket.socket) -> bytes:
    """All that still comes, until the other side ends it."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while more := connection.recv(1 << 16):
            data += more
    return data


@pytest.mark.parametrize("data", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n", b"POST / HTTP/1.1"])
def test_strangers_take_no_room_from_the_player(server: PageServer, data: bytes) -> None:
    before = threading.active_count()
    for number in (MAX_CONNECTIONS + 20, 4 * MAX_CONNECTIONS):
        with connections(server, number, data):
            assert asked(server) == 200
            assert len(server._server._connections) <= MAX_CONNECTIONS
            # Some of those that were sent away may be about to end.
            assert threading.active_count() <= before + 2 * MAX_CONNECTIONS


def test_a_page_that_waits_is_not_sent_away(server: PageServer) -> None:
    with connections(server, 1, head(server, rest="state?after=999")) as (waiting,):
        while not any(server._server._connections.values()):  # it has not been read yet
            time.sleep(0.01)
        with connections(server, 2 * MAX_CONNECTIONS, b"GET"):
            with connections(server, 1, say(server) + json.dumps(WORD).encode()) as (saying,):
                assert saying.recv(1 << 16).split()[1] == b"204"
            assert waiting.recv(1 << 16).split()[1] == b"200"


def test_too_many_pages_are_refused(server: PageServer) -> None:
    """Who has the token cannot take more, either; and those that are there stay."""
    with connections(server, MAX_CONNECTIONS, head(server)) as pages:
        for page in pages:
            assert page.recv(1 << 16).split()[1] == b"200"
        with connections(server, 1, head(server)) as (other,):
            assert received(other) == b""
        for page in pages:
            page.sendall(head(server))
            assert page.recv(1 << 16).split()[1] == b"200"


@pytest.mark.parametrize("what", ["nothing", "line", "header", "body"])
def test_a_request_must_be_whole_in_time(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Also one of which a byte comes now and then."""
    monkeypatch.setattr(page_connections, "WHOLE", 0.3)
    server = served()
    begun = {
        "nothing": b"",
        "line": b"GET /",
        "header": head(server)[:-2] + b"X: ",
        "body": say(server),
    }
    with connections(server, 1, begun[what]) as (slow,):
        slow.settimeout(0.02)
        answer, end = None, time.monotonic() + PATIENCE
        while answer is None and time.monotonic() < end:
            try:
                answer = slow.recv(1 << 16)
            except TimeoutError:
                with contextlib.suppress(ConnectionError):
                    slow.sendall(b" " * (what != "nothing"))
            except ConnectionError:  # ended before it had read all
                answer = b""
    server.close()
    assert answer == b""


def test_a_request_has_an_end(server: PageServer) -> None:
    """Else a stranger's header of a hundred long lines would take six megabytes."""
    line = "X: " + 60_000 * "x"
    with connections(server, 1, head(server, line)) as (long,):
        assert long.recv(1 << 16).split()[1] == b"200"
    with connections(server, 1, head(server, *[line] * (MAX_ARRIVING // 60_000 + 1))) as (longer,):
        assert received(longer) == b""
    assert asked(server) == 200


def test_who_asks_whether_to_send_a_body_is_answered(server: PageServer) -> None:
    with connections(server, 1, say(server, "Expect: 100-continue")) as (asking,):
        assert asking.recv(1 << 16) == b"HTTP/1.1 100 Continue\r\n\r\n"
        asking.sendall(json.dumps(WORD).encode())
        assert asking.recv(1 << 16).split()[1] == b"204"
    wrong = say(server, "Expect: 100-continue").replace(b"/say", b"x/say")
    with connections(server, 1, wrong) as (asking,):
        assert received(asking).split()[1] == b"403"


def test_close_does_not_wait_for_strangers() -> None:
    server = served()
    with connections(server, MAX_CONNECTIONS, b"GET / HT") as strangers:
        began = time.monotonic()
        server.close()
        assert time.monotonic() - began < PATIENCE
    assert len(strangers) == MAX_CONNECTIONS
