"""Classes of the user's own, `py:MODULE:CLASS`: of networks, algorithms, games and players.

Who imports one has made sure that the user has named it: data never name code. This module imports
neither torch nor numpy.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import threading

from stratkit.errors import InputError, nearest_or_all, one_line

PYTHON = "py:"  # begins such a name


class PrintingAside:
    """A context in which `print` goes to stderr: records may go to stdout. Games with programs are
    played in threads: the last one to leave puts stdout back."""

    def __init__(self) -> None:
        self._lock, self._inside, self._stdout = threading.Lock(), 0, sys.stdout

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._stdout, sys.stdout = sys.stdout, sys.stderr
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                sys.stdout = self._stdout


printing_aside = PrintingAside()


def check_python_name(name: str, what: str) -> None:
    """`InputError`: `what` the class is, such as a network, has another name than
    `py:MODULE:CLASS`."""
    module, _, cls = name.removeprefix(PYTHON).partition(":")
    if not all(word.isidentifier() for word in (*module.split("."), cls)):
        raise InputError(f"{what} of one's own is named py:MODULE:CLASS", text=name)


def python_class(name: str, text: str | None = None) -> type:
    """The class `py:MODULE:CLASS`; the folder at work is searched for MODULE, too. What its code
    prints goes to stderr. `InputError`, which quotes `text` or the name: there is none, or its
    module fails."""
    text = text or name
    module, _, cls = name.removeprefix(PYTHON).partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        with printing_aside:
            found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in (module, module.partition(".")[0]):
            raise InputError(f"module {module}: {one_line(error)}", text=text) from error
        raise InputError(f"no such module: {module}", text=text) from None
    except (Exception, SystemExit) as error:
        raise InputError(f"module {module}: {one_line(error)}", text=text) from error
    kind = getattr(found, cls, None)
    if not inspect.isclass(kind):
        classes = {word: one for word, one in vars(found).items() if inspect.isclass(one)}
        own = [word for word, one in classes.items() if one.__module__ == found.__name__]
        choices = own or classes  # a package may only pass on those of its modules
        raise InputError(f"no class {cls} in {module}{nearest_or_all(cls, choices)}", text=text)
    return kind
