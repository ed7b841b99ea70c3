"""`analyse --serve`: requests in, answers out, a line each (formats/analysis.md). Plies of several
requests share the calls of the network, so that answers come in any order."""

from __future__ import annotations

import json
import os
import select
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from stratkit.engine.stratego import variant
from stratkit.errors import InputError, StratkitError, error_context
from stratkit.humans.analysis.analyst import Turn
from stratkit.humans.analysis.records import TOGETHER, GameAnalyst, Record
from stratkit.humans.analysis.run import Analysts
from stratkit.notation.fenfs import parse_fenfs
from stratkit.notation.log import Log
from stratkit.notation.play import play_out
from stratkit.notation.setups import parse_setup
from stratkit.notation.squares import move_bytes
from stratkit.storage.schema import parse_json
from stratkit.storage.streams import STDOUT

MOST_WAITING = 256  # requests that are read before their answers are written
MOST_BYTES = 1 << 20  # of a line
FIELDS = {"id", "game", "fenfs", "setups", "moves", "plies", "mistakes"}


@dataclass
class Request:
    """What is asked for.

    id        of the request, which its answers have
    analyst   who answers
    turns     that are still to be judged
    log       the game; None: a position
    all       turns of the game
    mistakes  whether they are wanted, too
    found     records of plies so far
    """

    id: str | int
    analyst: GameAnalyst
    turns: deque[Turn]
    log: Log | None = None
    all: list[Turn] = field(default_factory=list)
    mistakes: bool = False
    found: list[Record] = field(default_factory=list)


def serve(analysts: Analysts) -> int:
    """Answers what comes on stdin until it ends; the exit status."""
    waiting: list[Request] = []
    lines = Lines(0)
    while waiting or not lines.ended:
        if len(waiting) < MOST_WAITING:
            for line in lines.ready(wait=not waiting):
                request = _request(line, analysts)
                if request is not None:
                    waiting.append(request)
        if waiting:
            _judge_some(waiting)
        done = [request for request in waiting if not request.turns]
        for request in done:
            waiting.remove(request)
            _end(request)
    return 0


class Lines:
    """The lines of a descriptor, as they come."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor, self.ended, self._rest = descriptor, False, b""

    def ready(self, wait: bool) -> Iterator[bytes]:
        """Those that are there; `wait`: until there is something."""
        if self.ended or not (wait or select.select([self.descriptor], [], [], 0)[0]):
            return
        read = os.read(self.descriptor, 1 << 16)
        *whole, self._rest = (self._rest + read).split(b"\n")
        if not read:
            self.ended = True
            whole, self._rest = [self._rest], b""
        elif len(self._rest) > MOST_BYTES:
            raise InputError(f"a line of more than {MOST_BYTES} bytes", file="standard input")
        yield from (line for line in whole if line.strip())


def _request(line: bytes, analysts: Analysts) -> Request | None:
    """The request of a line; None: it is none, and that was answered."""
    asked: Any = None
    try:
        asked = parse_json(line)
        if _id(asked) is None:
            raise InputError("a request is an object with an id, a text or a whole number")
        return _understood(asked, analysts)
    except StratkitError as error:
        _answer(_id(asked), _fault(error))
        return None


def _id(asked: Any) -> str | int | None:
    """A request's own; None: it has none that an answer can have."""
    own = asked.get("id") if isinstance(asked, dict) else None
    return own if type(own) in (str, int) else None


def _fault(error: StratkitError) -> Record:
    return {"kind": "error", "error": str(error)}


def _understood(asked: dict[str, Any], analysts: Analysts) -> Request:
    """What a request asks for. `InputError`: nobody knows."""
    if unknown := sorted(set(asked) - FIELDS):
        raise InputError("no such field", text=unknown[0])
    name = asked.get("game")
    if "fenfs" in asked:
        fenfs = parse_fenfs(_typed(asked, "fenfs", str))
        analyst = analysts.of(fenfs.variant.name if name is None else _typed(asked, "game", str))
        return Request(asked["id"], analyst, deque([analyst.analyst.turn_of(fenfs)]))
    log = _log(asked)
    analyst = analysts.of(log.variant.name)
    turns = analyst.turns.of(log)
    first, last = 1, len(turns)
    if "plies" in asked:
        bounds = _typed(asked, "plies", list)
        if len(bounds) != 2 or not all(type(bound) is int and bound > 0 for bound in bounds):
            raise InputError("plies are two whole numbers, the first and the last", text=bounds)
        first, last = bounds
    chosen, mistakes = deque(turns[first - 1 : last]), asked.get("mistakes", False) is True
    return Request(asked["id"], analyst, chosen, log, turns, mistakes)


def _typed(asked: dict[str, Any], name: str, kind: type) -> Any:
    """A field of a request, which must be of that type."""
    if name not in asked:
        raise InputError(f"no {name}: a request has fenfs, or game, setups and moves")
    if not isinstance(asked[name], kind):
        needed = "a text" if kind is str else "a list"
        raise InputError(f"{name} must be {needed}", text=json.dumps(asked[name]))
    return asked[name]


def _log(asked: dict[str, Any]) -> Log:
    """The game of a request. `InputError`: it is none."""
    kind, setups = variant(_typed(asked, "game", str)), _typed(asked, "setups", list)
    if len(setups) != 2 or not all(isinstance(text, str) for text in setups):
        raise InputError("setups are two texts, red's and blue's")
    red, blue = (parse_setup(text, kind) for text in setups)
    known, words = move_bytes(kind.width, kind.height), _typed(asked, "moves", str).split()
    for number, word in enumerate(words, 1):
        if word not in known:
            raise InputError("not a move", where=f"move {number}", text=word)
    moves = b"".join(known[word] for word in words)
    log = Log(kind, "", (red, blue), moves, ("red", "blue"), "cut", None)
    [played] = play_out([("", log)])
    if played.fault:
        played.fault.file = None
        raise played.fault
    return played.log


def _judge_some(waiting: list[Request]) -> None:
    """Judges plies of the first request and of others with the same analyst, in turn, and answers
    them."""
    analyst = waiting[0].analyst
    sharing = [request for request in waiting if request.analyst is analyst]
    some: list[tuple[Request, Turn]] = []
    while len(some) < TOGETHER and (left := [one for one in sharing if one.turns]):
        some += [(one, one.turns.popleft()) for one in left[: TOGETHER - len(some)]]
    judged = analyst.analyst.judge([turn for _, turn in some])
    for (request, turn), judgement in zip(some, judged, strict=True):
        record = analyst.record(judgement, turn.ply, request.log)
        request.found.append(record)
        _answer(request.id, record)
    waiting.append(waiting.pop(0))  # who waits with another analyst is next


def _end(request: Request) -> None:
    """Answers what comes last of a game."""
    if request.log is None:
        return
    found = sorted(request.found, key=lambda record: int(record["ply"]))
    for record in request.analyst.ending(request.log, request.all, found, request.mistakes):
        _answer(request.id, record)


def _answer(id_: str | int | None, record: Record) -> None:
    with error_context(STDOUT, only=OSError):
        sys.stdout.write(json.dumps({"id": id_, **record}, separators=(",", ":")) + "\n")
        sys.stdout.flush()
