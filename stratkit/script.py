"""The command line of a script: the programs of examples/ and bench/, and those of users.

A command of the package has `stratkit.cli` instead, which knows more manners.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from stratkit.declared import Kind
from stratkit.errors import StratkitError, printable


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong; its help shows the description as it is written."""

    def __init__(self, description: str | None) -> None:
        raw = argparse.RawDescriptionHelpFormatter
        super().__init__(description=description, formatter_class=raw)

    def error(self, message: str) -> NoReturn:
        """Ends the program with status 2."""
        self.exit(2, f"{self.prog}: {message}\n")

    @contextlib.contextmanager
    def telling(self) -> Iterator[None]:
        """Ends the program in one line where words, files or networks are wrong, as commands do."""
        try:
            yield
        except StratkitError as error:
            self.exit(error.status, f"{self.prog}: {error}\n")
        except OSError as error:
            where = "" if error.filename is None else f"{printable(str(error.filename))}: "
            self.exit(1, f"{self.prog}: {where}{error.strerror or error}\n")


def argument(kind: Kind) -> Callable[[str], Any]:
    """The `type` of an argument: its errors then say what is needed."""

    def read(text: str) -> Any:
        try:
            return kind.read(text)
        except ValueError:
            what = f"{kind.needed} is needed, not {text!r}"
            raise argparse.ArgumentTypeError(what) from None

    return read
