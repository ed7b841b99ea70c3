"""What the programs of this folder have in common on their command lines."""

from __future__ import annotations

import argparse
import contextlib
import math
from collections.abc import Callable, Iterator
from typing import NoReturn

from stratkit.errors import StratkitError


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong; its help shows the description as it is written."""

    def __init__(self, description: str | None) -> None:
        raw = argparse.RawDescriptionHelpFormatter
        super().__init__(description=description, formatter_class=raw)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")

    @contextlib.contextmanager
    def telling(self) -> Iterator[None]:
        """Ends the program in one line where words, files or networks are wrong, as commands do."""
        try:
            yield
        except StratkitError as error:
            self.exit(error.status, f"{self.prog}: {error}\n")
        except OSError as error:
            self.exit(1, f"{self.prog}: {error.filename}: {error.strerror}\n")


def at_least(least: int) -> Callable[[str], int]:
    """Reads a whole number that is no smaller."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            what = f"not a whole number of at least {least}: {text!r}"
            raise argparse.ArgumentTypeError(what)
        return int(text)

    return parse


def above(bound: float) -> Callable[[str], float]:
    """Reads a finite number that is larger."""

    def parse(text: str) -> float:
        with contextlib.suppress(ValueError):
            if bound < float(text) < math.inf:
                return float(text)
        raise argparse.ArgumentTypeError(f"not a number above {bound:g}: {text!r}")

    return parse
