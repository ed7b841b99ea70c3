"""A match whose person plays in a browser, as the tests start it and talk to its page."""

from __future__ import annotations

import http.client
import json
import pathlib
import subprocess
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from running import PATIENCE, command_line


@dataclass
class Served:
    """`match PERSON ... --browser` in a process of its own; as a context it is ended."""

    arguments: tuple[object, ...]
    sent: list[bytes] = field(default_factory=list)  # all bodies that its answers had
    person: str = "human"

    def __post_init__(self) -> None:
        self.process = subprocess.Popen(
            command_line("match", self.person, *self.arguments, "--browser"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise AssertionError(self.process.communicate(timeout=PATIENCE)[1])
        self.host, self.token = self.address.removeprefix("http://").split("/")[:2]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=PATIENCE)

    def ended(self) -> tuple[int, str]:
        """Waits for the end of the match: its status, and what it said."""
        told = self.process.communicate(timeout=PATIENCE)[1]
        return self.process.returncode, told

    # ---- as a page does ----

    def ask(
        self, method: str, place: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes]:
        """The status and the body of an answer; `place` is behind the token."""
        return self.request(method, f"/{self.token}/{place}", body, **headers)

    def request(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes]:
        """The status and the body of an answer. `__` in a header's name is a dash."""
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        named = {name.replace("__", "-"): text for name, text in headers.items()}
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        data = answer.read()
        self.sent.append(data)
        connection.close()
        return answer.status, data

    def state(self, after: int = 0) -> Any:
        """The state, once it is later."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            status, data = self.ask("GET", f"state?after={after}")
            if status == 200:
                return json.loads(data)
            assert status == 204, data
        raise TimeoutError(f"no state after {after}")

    def asked(self, after: int = 0) -> Any:
        """The state in which the person is asked, or the match is over."""
        state = self.state(after)
        while state["phase"] == "wait":
            state = self.state(state["version"])
        return state

    def say(self, version: int, word: str) -> int:
        """Says a word; the status."""
        body = json.dumps({"version": version, "word": word}).encode()
        return self.ask("POST", "say", body, Content__Type="application/json")[0]


def square(state: Any, number: int) -> str:
    """The name of a square of the state's board."""
    width = state["scene"]["width"]
    return "ABCDEFGHIK"[number % width] + str(number // width + 1)


def records(games: pathlib.Path) -> list[Any]:
    """The games of a record."""
    return [json.loads(line) for line in games.read_text().splitlines()[1:]]
