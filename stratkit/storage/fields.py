"""What the values of JSON objects may be: a reader believes nothing that it did not check.

A *check* is a function that says whether a value may stand in a field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from stratkit.storage.schema import compact, parse_object

__all__ = [
    "Check",
    "compact",
    "list_of",
    "mapping",
    "optional",
    "parse_object",
    "sha256",
    "text",
    "whole",
    "wrong_field",
]

Check = Callable[[object], bool]


def wrong_field(value: Mapping[str, Any], checks: Mapping[str, Check]) -> str | None:
    """The first key of `checks` whose field is missing in `value` or may not be so."""
    for key, check in checks.items():
        if not check(value.get(key)):
            return key
    return None


def whole(low: int = 0, high: int = 2**63) -> Check:
    """A whole number from `low` to below `high`."""
    return lambda value: type(value) is int and low <= value < high


def text(value: object) -> bool:
    """A string that may be the name of a file or a word of a command."""
    return isinstance(value, str) and "\0" not in value


def sha256(value: object) -> bool:
    """A SHA-256 in hexadecimal."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def optional(check: Check) -> Check:
    """null, or what `check` says."""
    return lambda value: value is None or check(value)


def list_of(check: Check, least: int = 1, most: int = 1 << 20) -> Check:
    """A list of `least` to `most` values that `check` admits."""
    return lambda value: (
        isinstance(value, list) and least <= len(value) <= most and all(map(check, value))
    )


def mapping(check: Check) -> Check:
    """An object whose values `check` admits."""
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))
