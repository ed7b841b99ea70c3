"""Serves one page to one person on this machine: who has its address, with the token in it, has the
page, and nobody else.

It is Python's own `http.server`: one person on the loopback interface needs neither the speed of
other servers nor their event loop, and every request is checked here before anything is done.
"""

from __future__ import annotations

import hmac
import io
import json
import re
import secrets
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol, cast

from stratkit.errors import InputError, one_line, printable
from stratkit.humans.page_connections import Arriving, CappedServer

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")  # by which a browser may call this machine
MAX_BODY = 4096  # of the body of a request
DRAIN_S = 2.0  # seconds for those that are on their way when the server is closed
IDLE_S = 30.0  # seconds until an answer that nobody takes is given up
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; frame-src blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


class PageModel(Protocol):
    """What the page is about. Its methods are called in the server's threads."""

    def page(self) -> str:
        """The page, HTML."""

    def state(self, after: int) -> str | None:
        """The state, JSON, once its version is above `after`; None: it is not for a while."""

    def game(self, number: int) -> str | None:
        """The page of a game that is over, HTML; None: there is none."""

    def say(self, version: int, word: str) -> bool:
        """Says a word to the state of this version; False: it is no word, or the state is another
        one by now."""


class PageServer:
    """Serves the page of `model` from a thread of its own, at `port` (0: any that is free). Raises
    `InputError` when the port cannot be had."""

    def __init__(self, model: PageModel, port: int) -> None:
        try:
            self._server = _Server((HOST, port), _Handler)
        except OSError as error:
            raise InputError(f"port {port}: {error.strerror}", file=HOST) from None
        self._server.model, self._server.token = model, secrets.token_urlsafe(16)
        self.port = int(self._server.server_address[1])
        self.address = f"http://{HOST}:{self.port}/{self._server.token}/"
        self._server.hosts = {f"{name}:{self.port}" for name in NAMES}
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Serves nobody any more. Answers that have begun go out first."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        with self._server.answered:
            self._server.answered.wait_for(lambda: not self._server.busy, DRAIN_S)


class _Server(CappedServer):
    model: PageModel
    token: str
    hosts: set[str]
    busy = 0  # requests that are being answered

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.answered = threading.Condition()

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away is no error; another one is told in a line, and ends nothing."""
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            print(printable(f"match: the page: {one_line(error)}"), file=sys.stderr)


class _Refused(Exception):
    """A request is not obeyed, with this status."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        self.status, self.why = status, why


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "stratkit", ""
    timeout, wbufsize = IDLE_S, 1 << 16  # an answer goes out whole
    error_message_format, error_content_type = "%(message)s\n", "text/plain; charset=utf-8"

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._arriving = Arriving(self.connection)
        self.rfile = io.BufferedReader(self._arriving)

    def handle_one_request(self) -> None:
        self._arriving.expect()
        super().handle_one_request()

    @property
    def here(self) -> _Server:
        return cast(_Server, self.server)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the terminal is for the match."""

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, method: Callable[[str, str], None]) -> None:
        self._count(1)
        try:
            method(*self._place())
        except _Refused as refused:
            self._refuse(refused)
        finally:
            self._count(-1)

    def _refuse(self, refused: _Refused) -> None:
        self.close_connection = True  # what else it sent is not read
        self._send(refused.status, f"{refused.why}\n", "text/plain")

    def handle_expect_100(self) -> bool:
        """Whether a sender that asks first may send the body."""
        try:
            self._place()
        except _Refused as refused:
            self._refuse(refused)
            return False
        super().handle_expect_100()
        self.wfile.flush()
        return True

    def _count(self, more: int) -> None:
        with self.here.answered:
            self.here.busy += more
            self.here.answered.notify_all()

    def _check_sender(self) -> None:
        """Refuses other sites' pages: their requests name another host or origin."""
        hosts, origins = (self.headers.get_all(name, []) for name in ("Host", "Origin"))
        if len(hosts) != 1 or hosts[0] not in self.here.hosts:
            raise _Refused(HTTPStatus.FORBIDDEN, "another host")
        ours = {f"http://{host}" for host in self.here.hosts}
        if len(origins) > 1 or not ours.issuperset(origins):
            raise _Refused(HTTPStatus.FORBIDDEN, "another origin")

    def _place(self) -> tuple[str, str]:
        """What is asked for by who has the token: the path behind it, and the query."""
        self._check_sender()
        path, _, query = self.path.partition("?")
        match = re.fullmatch("/([^/]*)/(.*)", path)
        token = match[1] if match else ""
        if not match or not hmac.compare_digest(token.encode(), self.here.token.encode()):
            raise _Refused(HTTPStatus.FORBIDDEN, "not the address that match has shown")
        self.here.vouch(self.connection)
        return match[2], query

    def _get(self, place: str, query: str) -> None:
        model = self.here.model
        if place == "":
            self._send(HTTPStatus.OK, model.page(), "text/html")
        elif place == "state":
            state = model.state(_number(query.removeprefix("after=")))
            if state is None:
                self._send(HTTPStatus.NO_CONTENT, "", "application/json")
            else:
                self._send(HTTPStatus.OK, state, "application/json")
        elif place.startswith("game/"):
            game = model.game(_number(place.removeprefix("game/")))
            if game is None:
                raise _Refused(HTTPStatus.NOT_FOUND, "no such game")
            self._send(HTTPStatus.OK, game, "text/html")
        else:
            raise _Refused(HTTPStatus.NOT_FOUND, "nothing is there")

    def _post(self, place: str, query: str) -> None:
        if place != "say":
            raise _Refused(HTTPStatus.NOT_FOUND, "nothing is there")
        try:
            body = json.loads(self._body())
            version, word = body["version"], body["word"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise _Refused(HTTPStatus.BAD_REQUEST, "a version and a word are needed") from None
        if type(version) is not int or not isinstance(word, str):
            raise _Refused(HTTPStatus.BAD_REQUEST, "a version and a word are needed")
        if not self.here.model.say(version, word):
            raise _Refused(HTTPStatus.CONFLICT, "not now")
        self._send(HTTPStatus.NO_CONTENT, "", "application/json")

    def _body(self) -> bytes:
        # A form of another site cannot have this type.
        if self.headers.get_content_type() != "application/json":
            raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "application/json is needed")
        lengths = self.headers.get_all("Content-Length", [])
        if not lengths or "Transfer-Encoding" in self.headers:
            raise _Refused(HTTPStatus.LENGTH_REQUIRED, "Content-Length is needed")
        if len(lengths) > 1:
            raise _Refused(HTTPStatus.BAD_REQUEST, "one Content-Length is needed")
        if _number(lengths[0]) > MAX_BODY:
            raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"over {MAX_BODY} bytes")
        return self.rfile.read(int(lengths[0]))

    def _send(self, status: HTTPStatus, text: str, kind: str) -> None:
        data = text.encode()
        self.connection.settimeout(IDLE_S)
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        if status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(data)))
        for name, value in (
            ("Content-Security-Policy", POLICY),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
        ):
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


def _number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise _Refused(HTTPStatus.BAD_REQUEST, "a number is needed")
    return int(text)
