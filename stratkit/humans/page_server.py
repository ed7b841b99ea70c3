"""Serves pages to few people: who has the address of one, with the token in it, has that page, and
nobody else. An invitation is an address that gives its page's own to the first who takes it.

It is Python's own `http.server`: a few people need neither the speed of other servers nor their
event loop, and every request is checked here before anything is done.
"""

from __future__ import annotations

import hmac
import html
import io
import ipaddress
import json
import pathlib
import re
import secrets
import socket
import socketserver
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol, cast

from stratkit.errors import InputError, one_line, printable
from stratkit.humans.page_connections import Arriving, CappedServer
from stratkit.storage.schema import parse_json

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")  # by which a browser may call this machine
HTTP = 80  # the port of addresses that name none
MAX_BODY = 4096  # of the body of a request
DRAIN_S = 2.0  # seconds for those that are on their way when the server is closed
IDLE_S = 30.0  # seconds until an answer that nobody takes is given up
USED = (
    "This invitation has been used: it seats one person. "
    "The page of that seat has an address of its own, in the browser that took it."
)
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


class Forbidden(Exception):
    """A page may not have or say this; the text says why."""


@dataclass
class _Invitation:
    """Leads the first who takes it to the page of `model`. `name`: who is invited."""

    model: PageModel
    name: str
    taken: bool = False

    def page(self) -> str:
        template = pathlib.Path(__file__).with_name("invitation.html").read_text("utf-8")
        return template.replace("NAME", html.escape(self.name))


@dataclass(frozen=True)
class _Place:
    """What a token leads to; `stays`: its connections make no room for others."""

    model: PageModel | _Invitation
    stays: bool


class PageServer:
    """Serves pages from a thread of its own, at `port` (0: any that is free) of this machine's
    address or name `host`. Raises `InputError` when they cannot be had."""

    def __init__(self, port: int, host: str = HOST) -> None:
        try:
            family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            self._server = _Server(family, address[:2])
        except OSError as error:
            raise InputError(f"port {port}: {error.strerror}", file=host) from None
        self.port = int(self._server.server_address[1])
        names = NAMES if host == HOST else (f"[{host}]" if _is_ipv6(host) else host.lower(),)
        self._server.hosts = {f"{name}:{self.port}" for name in names}
        if self.port == HTTP:  # which a browser leaves out
            self._server.hosts.update(names)
        self._origin = f"http://{names[0]}:{self.port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        )
        self._thread.start()

    def add(self, model: PageModel, stays: bool = True) -> str:
        """The address of a page. Unless it `stays`, its readers make room for others."""
        return f"{self._origin}{self._server.add(_Place(model, stays))}"

    def invite(self, model: PageModel, name: str) -> str:
        """The address at which one person, and no second one, gets that of a page."""
        place = _Place(_Invitation(model, name), False)
        return f"{self._origin}{self._server.add(place)}"

    def close(self) -> None:
        """Serves nobody any more. Answers that have begun go out first."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        with self._server.answered:
            self._server.answered.wait_for(lambda: not self._server.busy, DRAIN_S)


class _Server(CappedServer):
    hosts: set[str]
    busy = 0  # requests that are being answered

    def __init__(self, family: int, address: Any) -> None:
        self.address_family = family
        self.answered, self.taking = threading.Condition(), threading.Lock()
        self._places: dict[str, _Place] = {}
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # without a question to a name server

    def add(self, place: _Place) -> str:
        """The path of a place, with a new token."""
        token = secrets.token_urlsafe(16)
        self._places[token] = place
        return f"/{token}/"

    def place(self, token: str) -> _Place | None:
        """What the token leads to."""
        given, found = token.encode(), None
        for known, place in list(self._places.items()):
            if hmac.compare_digest(given, known.encode()):
                found = place
        return found

    def take(self, invitation: _Invitation) -> str | None:
        """The path of the page that one is invited to; None: somebody has it."""
        with self.taking:
            if invitation.taken:
                return None
            invitation.taken = True
        return self.add(_Place(invitation.model, True))

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away is no error; another one is told in a line, and ends nothing."""
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            print(printable(f"match: the page: {one_line(error)}"), file=sys.stderr)


class _Refused(Exception):
    """A request is not obeyed, with this status; `instead`: the path that it should have."""

    def __init__(self, status: HTTPStatus, why: str, instead: str | None = None) -> None:
        self.status, self.why, self.instead = status, why, instead


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
        self._answer(self._get, self._invite)

    def do_POST(self) -> None:
        self._answer(self._post, self._take)

    def _answer(
        self,
        method: Callable[[PageModel, str, str], None],
        invited: Callable[[_Invitation, str], None],
    ) -> None:
        self._count(1)
        try:
            model, place, query = self._place()
            if isinstance(model, _Invitation):
                invited(model, place)
            else:
                method(model, place, query)
        except _Refused as refused:
            self._refuse(refused)
        except Forbidden as forbidden:
            self._refuse(_Refused(HTTPStatus.FORBIDDEN, str(forbidden)))
        finally:
            self._count(-1)

    def _refuse(self, refused: _Refused) -> None:
        self.close_connection = True  # what else it sent is not read
        self._send(refused.status, f"{refused.why}\n", "text/plain", refused.instead)

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

    def _place(self) -> tuple[PageModel | _Invitation, str, str]:
        """What is asked for by who has a token: whose page, the path behind it, and the query."""
        self._check_sender()
        path, _, query = self.path.partition("?")
        match = re.fullmatch("/([^/]*)(?:/(.*))?", path)
        found = self.here.place(match[1]) if match else None
        if not match or found is None:
            raise _Refused(HTTPStatus.FORBIDDEN, "not the address that match has shown")
        if match[2] is None:  # an address that was sent on without the slash at its end
            raise _Refused(HTTPStatus.PERMANENT_REDIRECT, "a slash is missing", f"{path}/")
        if found.stays:
            self.here.vouch(self.connection)
        return found.model, match[2], query

    def _invite(self, invitation: _Invitation, place: str) -> None:
        if place:
            raise _Refused(HTTPStatus.NOT_FOUND, "nothing is there")
        if invitation.taken:
            raise _Refused(HTTPStatus.GONE, USED)
        self._send(HTTPStatus.OK, invitation.page(), "text/html")

    def _take(self, invitation: _Invitation, place: str) -> None:
        if place != "take":
            raise _Refused(HTTPStatus.NOT_FOUND, "nothing is there")
        self._body()
        if (path := self.here.take(invitation)) is None:
            raise _Refused(HTTPStatus.GONE, USED)
        self._send(HTTPStatus.OK, json.dumps(path), "application/json")

    def _get(self, model: PageModel, place: str, query: str) -> None:
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

    def _post(self, model: PageModel, place: str, query: str) -> None:
        if place != "say":
            raise _Refused(HTTPStatus.NOT_FOUND, "nothing is there")
        try:
            body = parse_json(self._body())
            version, word = body["version"], body["word"]
        except (InputError, KeyError, TypeError):
            raise _Refused(HTTPStatus.BAD_REQUEST, "a version and a word are needed") from None
        if type(version) is not int or not isinstance(word, str):
            raise _Refused(HTTPStatus.BAD_REQUEST, "a version and a word are needed")
        if not model.say(version, word):
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

    def _send(self, status: HTTPStatus, text: str, kind: str, instead: str | None = None) -> None:
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
        if instead is not None:
            self.send_header("Location", instead)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


def _is_ipv6(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).version == 6
    except ValueError:
        return False


def _number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise _Refused(HTTPStatus.BAD_REQUEST, "a number is needed")
    return int(text)
