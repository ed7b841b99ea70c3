"""What may stand between a network's policy and the board, as keys of a PLAYER.

This module imports neither torch nor numpy. chain.py does what is asked for here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from stratkit.errors import nearest


@dataclass(frozen=True)
class Corrections:
    """Everything that is done to a network's policy; the defaults do nothing.

    threshold, quanta: rare moves are dropped, and probabilities rounded to multiples of 1/quanta;
    deploy_threshold, deploy_quanta: the same in deployment, if not as in play. ties: which of
    equally probable moves come first, `first` (the lower squares) or `random`. eager: the exponent
    of eagerness. memory: `off`, `on`, or `renormalised`. shuttle: whether pointless threats are
    allowed. bounds: the margin of the value bounds, or None.
    """

    threshold: float = 0.0
    quanta: int = 0
    deploy_threshold: float | None = None
    deploy_quanta: int | None = None
    ties: str = "first"
    eager: float = 1.0
    memory: str = "off"
    shuttle: str = "on"
    bounds: float | None = None

    def processing(self, deploying: bool) -> tuple[float, int]:
        """Threshold and quanta of a phase."""
        threshold, quanta = self.threshold, self.quanta
        if deploying and self.deploy_threshold is not None:
            threshold = self.deploy_threshold
        if deploying and self.deploy_quanta is not None:
            quanta = self.deploy_quanta
        return threshold, quanta

    @property
    def by_moves(self) -> bool:
        """Whether whole moves must be looked at, not only one action at a time."""
        return bool(self.threshold or self.quanta or self.shuttle == "off") or (
            self.bounds is not None
        )

    @property
    def watches(self) -> bool:
        """Whether games must be followed from move to move."""
        return self.memory != "off" or self.shuttle == "off"

    @property
    def of_stratego(self) -> bool:
        """Whether something is asked for that only Stratego has."""
        return self != Corrections(self.threshold, self.quanta, ties=self.ties)

    def text(self) -> str:
        """As keys of a PLAYER, each with a comma behind it: what is not as by default."""
        return "".join(
            f"{key_of(field.name)}={_text(getattr(self, field.name))},"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        )


# Perolat et al. 2022, supplement, table 5.
DEEPNASH = {
    "threshold": ".03",
    "quanta": "16",
    "deploy-threshold": ".03",
    "deploy-quanta": "32",
    "eager": "2",
    "memory": "on",
    "shuttle": "off",
    "bounds": ".05",
}
PRESETS: Mapping[str, Mapping[str, str]] = {"deepnash": DEEPNASH}

_WORDS = {
    "ties": ("first", "random"),
    "memory": ("off", "on", "renormalised"),
    "shuttle": ("on", "off"),
    "preset": tuple(PRESETS),
}
_NUMBERS = {
    "threshold": (0.0, 1.0, "a number from 0 to 1"),
    "deploy-threshold": (0.0, 1.0, "a number from 0 to 1"),
    "eager": (0.01, 100.0, "a number from .01 to 100"),
    "bounds": (0.0, 2.0, "off, or a number from 0 to 2"),
}
_WHOLE = ("quanta", "deploy-quanta")
MOST_QUANTA = 10_000

KEYS = (*_NUMBERS, *_WHOLE, *_WORDS)


def key_of(name: str) -> str:
    """A field's key."""
    return name.replace("_", "-")


def fault(key: str, value: str) -> str | None:
    """What is wrong with the value of one of `KEYS`, or None."""
    if key in _WORDS:
        words = _WORDS[key]
        wanted = f"one of {', '.join(words)}" if len(words) > 1 else words[0]
        return None if value in words else f"{wanted} is needed{nearest(value, words)}"
    if key in _WHOLE:
        sound = value.isascii() and value.isdigit() and len(value) < 6
        good = sound and int(value) <= MOST_QUANTA
        return None if good else f"a whole number from 0 to {MOST_QUANTA} is needed"
    if key == "bounds" and value == "off":
        return None
    least, most, wanted = _NUMBERS[key]
    return None if least <= _number(value) <= most else f"{wanted} is needed"


def read(options: Mapping[str, str]) -> Corrections:
    """What a PLAYER's options ask for, which `fault` has found right; a preset speaks first."""
    asked = {**PRESETS.get(options.get("preset", ""), {}), **options}
    values = {name: asked[key_of(name)] for name in _names() if key_of(name) in asked}
    return Corrections(**{name: _value(key_of(name), text) for name, text in values.items()})


def _names() -> list[str]:
    return [field.name for field in fields(Corrections)]


def _value(key: str, text: str) -> Any:
    if key in _WORDS:
        return text
    if key in _WHOLE:
        return int(text)
    return None if key == "bounds" and text == "off" else _number(text)


def _number(text: str) -> float:
    """The number, or NaN."""
    try:
        return float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan


def _text(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)
