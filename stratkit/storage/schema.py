"""JSON in files and streams: the types of its fields, and how a line becomes an object of them.

A dataclass or `msgspec.Struct` whose fields have these types is the schema of a JSON object. A
reader believes nothing that its schema did not check, and skips fields that the schema does not
have: a newer writer may add some.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from stratkit.errors import InputError

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Positive = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Seed = Annotated[int, Meta(ge=0)]  # below 2^64, which `check_seed` ensures: msgspec's ints have 63
_TEXT, _SHA256, _LETTERS = r"\A[^\0]*\Z", r"\A[0-9a-f]{64}\Z", r"\A[A-M]+\Z"
Text = Annotated[str, Meta(pattern=_TEXT)]  # may be the name of a file or a word of a command
Sha256 = Annotated[str, Meta(pattern=_SHA256)]
Letters = Annotated[str, Meta(pattern=_LETTERS)]  # of a setup
_WORDS = {
    _TEXT: "text without NUL",
    _SHA256: "64 hexadecimal digits",
    _LETTERS: "letters from A to M",
}

# What msgspec's decoder raises for bytes that are no JSON, or not of the wanted type.
UNSOUND = (msgspec.MsgspecError, ValueError, RecursionError)

Object = TypeVar("Object")

# Readers of pipes are threads. msgspec looks at the fields of a class when it first meets it, and
# ends the interpreter where two threads do so at once (0.22).
_converting = threading.Lock()


def check_seed(seed: int) -> None:
    """Raises `ValueError` when a seed has over 64 bits."""
    if seed >= 2**64:
        raise ValueError("Expected a seed below 2^64")


def compact(value: Mapping[str, object]) -> bytes:
    """`value` as one line of JSON without its end: the same value gives the same bytes."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def parse_json(text: bytes | str) -> Any:
    """The JSON value in `text`, of whoever wrote it. `InputError`: it is none, as Infinity."""
    try:
        return json.loads(text, parse_constant=_finite, parse_float=_finite)
    except RecursionError:
        raise InputError("no JSON: nested too deeply") from None
    except ValueError as error:  # also of bytes that are no text
        raise InputError(f"no JSON: {error}") from None


def parse_object(text: bytes | str) -> dict[str, Any] | None:
    """The JSON object in `text`, or None when it is something else. Infinity is no JSON."""
    try:
        value = parse_json(text)
    except InputError:
        return None
    return value if isinstance(value, dict) else None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def check_format(
    value: Mapping[str, Any], name: str, version: int, what: str, *others: int
) -> None:
    """Raises `InputError` unless `value` begins the format `name` of this version, or of one of the
    others; `what` says what another format is not."""
    if value.get("stratkit") != name:
        raise InputError(f"not {what}", text=value.get("stratkit"))
    versions = (version, *others)
    if value.get("version") not in versions:
        what = f"a version that is not {' or '.join(map(str, versions))}"
        raise InputError(what, text=value.get("version"))


def convert(value: Mapping[str, Any], type_: type[Object], noun: str = "field") -> Object:
    """The object of `type_` with the fields of `value`. Raises `InputError`, which names the first
    field that is missing or wrong, and shows it; `noun` is what messages call a field."""
    try:
        with _converting:
            return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        raise _wrong_field(value, str(error), noun) from None
    except UnicodeEncodeError as error:  # half of a surrogate pair, in the name of a field
        raise InputError("a name that is no text", text=error.object) from None


def _wrong_field(value: Mapping[str, Any], message: str, noun: str) -> InputError:
    """msgspec's `message`, e.g. "Expected `int`, got `str` - at `$.players[0].name`", as ours."""
    what, found_at, place = message.rpartition(" - at ")
    what, place = (what, place) if found_at else (message, "")
    for pattern, words in _WORDS.items():
        what = what.replace(f"str` matching regex {pattern!r}", f"{words}`")
    what = re.sub("(?s)^Invalid enum value.*", "unknown value", what)  # which is shown below
    what = what[:1].lower() + what[1:].replace("`", "")
    at = re.search(r"\$[^`]*", place)
    path = at[0].removeprefix("$").removesuffix("[...]").removeprefix(".") if at else ""
    if missing := re.fullmatch(r"object missing required field (\w+)", what):
        return InputError(f"{noun} {f'{path}.{missing[1]}'.removeprefix('.')!r} is missing")
    if not path:
        return InputError(what)
    wrong: Any = value
    for key in re.findall(r"\w+", path):
        wrong = wrong[int(key)] if isinstance(wrong, list) else wrong[key]
    return InputError(f"{noun} {path!r}: {what}", text=wrong)
