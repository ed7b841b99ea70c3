"""A game with its rules: what every other part needs to know about it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any, Self

from stratkit.arguments import checked
from stratkit.engine.library import ffi, lib, text
from stratkit.engine.python_game import PythonGame
from stratkit.errors import InputError, nearest_or_all, printable, shown
from stratkit.python_class import PYTHON, check_python_name
from stratkit.regular import open_regular


def game_names() -> list[str]:
    """The names that `Game` knows; one that ends in a colon wants a parameter, as `hex:3`."""
    return [text(lib.sk_game_name(i)) for i in range(lib.sk_games())]


FILED = ("matrix:", "diplomacy:")  # what follows may be the name of a file
_named: set[str] = set()  # games with a file or a class that the user has named


def _file_of(name: str) -> str | None:
    """The file that a game's name has in it; None: the engine has the whole game."""
    kind, colon, file = name.partition(":")
    if kind + colon not in FILED:
        return None
    known = kind == "diplomacy" and lib.sk_dip_map_text(_bytes(file)) != ffi.NULL
    return None if known else file


def _bytes(name: str) -> bytes:
    """The name as C wants it; there may be a file's in it."""
    try:
        encoded = os.fsencode(name)
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise InputError(f"unknown game {shown(name)}")
    return encoded


def _check_file(name: str) -> None:
    """The user names a game: its file, if it has one, may be opened. `InputError`: it cannot be."""
    file = _file_of(name)
    if file is None:
        return
    try:
        open_regular(os.fsdecode(_bytes(file))).close()
    except InputError as error:
        raise InputError(printable(f"game {name}: {error.what}")) from None
    except OSError as error:
        raise InputError(printable(f"game {name}: {error.strerror}")) from None
    _named.add(name)


def _hash_of(file: str | None) -> str | None:
    """SHA-256 of the file."""
    if file is None:
        return None
    with open_regular(os.fsdecode(_bytes(file))) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _opened_again(name: str, rules: Mapping[str, int], file_hash: str | None) -> Game:
    """A game that was pickled. `InputError`: its file is another one now."""
    game = Game(name, rules)
    if game.file_hash != file_hash:
        raise InputError(f"game {printable(name)}: its file has changed")
    return game


def _meant(kind: str) -> str:
    """What to write instead of a kind of games that there is not. A path is no game by itself."""
    if "/" not in kind:
        return nearest_or_all(kind, game_names())
    lacks = "" if os.path.exists(kind) else "no such file, and "
    return f": {lacks}a file's game is {' or '.join(f'{filed}FILE' for filed in FILED)}"


def _in_c(name: str, rules: Mapping[str, int]) -> Any:
    """A game of the engine's own. `InputError`: there is none of this name and these rules."""
    kind, colon, _ = name.partition(":")
    if not {kind, kind + colon} & set(game_names()):
        raise InputError(f"unknown game {shown(name)}{_meant(kind + colon)}")
    for key in rules:
        if not (key.isascii() and key.isidentifier()):
            raise InputError(f"game {printable(name)}: unknown rule {shown(key)}")
    _check_file(name)
    words = " ".join(f"{key}={int(value)}" for key, value in rules.items())
    error = ffi.new("char[200]")
    handle = lib.sk_game_open(_bytes(name), words.encode(errors="replace"), error, len(error))
    if handle == ffi.NULL:
        wrong = ffi.string(error).decode(errors="replace")
        raise InputError(printable(f"game {name}: {wrong}"))
    return ffi.gc(handle, lib.sk_game_close)


def _in_python(name: str, rules: Mapping[str, int]) -> PythonGame | None:
    """The game `py:MODULE:CLASS`, which the user names; None: the name is another one."""
    if not name.startswith(PYTHON):
        return None
    check_python_name(name, "a game")
    if rules:
        raise InputError(printable(f"game {name}: this game has no rules to set"))
    game = PythonGame(name)
    _named.add(name)
    return game


class Game:
    """A game of the engine, opened by name.

    `rules` maps rule names to integers and overrides the game's defaults; for Stratego these are
    `two_squares` (crossings of one border in consecutive turns), `more_squares` (0 or 1),
    `max_plies` and `max_quiet` (plies without an attack), each 0 for off; `open`, the sum of
    2 ** type over the types that both sides know from the start of play; and `waived`, the sum of
    2 ** side over the sides that `two_squares` and `more_squares` do not bind. `rules` has `open`
    and `waived` only if they are not 0. Raises `InputError` for an unknown name or rule.

    `barrage:C5D5G10` is a board of Stratego with these lakes and no others, `barrage:-` without
    any. A name such as `matrix:FILE` opens that file, a regular one, and `py:MODULE:CLASS` imports
    that module, whose class is a game in Python. Who has the name from a file of data calls
    `stored`.

    A game does not change: a copy is the game itself. `pickle` keeps its name and rules.
    """

    @classmethod
    @checked
    def stored(cls, name: str, rules: Mapping[str, int] | None = None) -> Game:
        """The game that data name: a header, metadata. They name no files or classes, or reading
        them would read others and run code. `InputError`: the name has one in it, and nobody has
        opened that game by `Game` before, as the command line does."""
        if name not in _named and (name.startswith(PYTHON) or _file_of(name) is not None):
            do = "run no code" if name.startswith(PYTHON) else "open no file"
            what = f"unknown, and data {do}: only the command line does, by --game"
            raise InputError(printable(f"game {name}: {what} (fenfs: --allow-game)"))
        return cls(name, rules)

    @checked
    def __init__(self, name: str, rules: Mapping[str, int] | None = None) -> None:
        self._python = _in_python(name, rules or {})
        self.handle = self._python.handle if self._python else _in_c(name, rules or {})
        self.name = name
        self.file_hash = _hash_of(self._python.path if self._python else _file_of(name))
        self.rules = self._rules()
        is_ = ffi.new("sk_description *")
        lib.sk_game_describe(self.handle, is_)
        self.players: int = is_.players
        self.actions: int = is_.actions
        self.max_length: int | None = is_.max_length or None
        self.state_bytes: int = is_.state_bytes
        self.start_bytes: int = is_.start_bytes
        self.observation_bytes: int = is_.observation_bytes
        # Of the expanded observation: planes (C, H, W), or a vector (C,).
        self.shape: tuple[int, ...] = (is_.planes, is_.height, is_.width)[: 3 if is_.height else 1]
        # Rows and columns of the board that people see; None: the game has none.
        self.board: tuple[int, int] | None = (
            (is_.board_height, is_.board_width) if is_.board_height else None
        )
        self.actions_per_ply: int = is_.actions_per_ply
        self.unit: float = is_.unit  # what returns are divided by where games are compared
        self.largest_return: float = is_.largest_return  # values beyond it count as that
        self.hands: int = is_.hands  # in public belief states; 0: the game has none
        self.public_bytes: int = is_.public_bytes
        # Whether what everybody sees, who acts and the hands tell how a game goes on.
        self.recombines = bool(is_.recombines)
        self.pbs_inputs = 1 + self.public_bytes + 2 * self.hands  # of a row of `Subgames.inputs`
        # Whether observations have a place for what the enemy's hidden pieces are (`face_up`).
        self.shows_face_up = bool(lib.sk_shows_face_up(self.handle))
        self.endings = self._endings()

    def check(self) -> None:
        """Raises what was wrong with a game in Python since it was opened: `StratkitError`, or an
        interrupt. What calls its class calls this afterwards."""
        if self._python:
            self._python.check()

    def _rules(self) -> dict[str, int]:
        out = ffi.new("char[400]")
        lib.sk_game_rules(self.handle, out, len(out))
        pairs = (word.split("=") for word in text(out).split())
        return {key: int(value) for key, value in pairs}

    def _endings(self) -> tuple[str, ...]:
        names: list[str] = []
        while (name := lib.sk_game_ending(self.handle, len(names))) != ffi.NULL:
            names.append(text(name))
        return tuple(names)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened_again, (self.name, self._rules(), self.file_hash)

    def __repr__(self) -> str:
        return f"Game({self.name!r}, {self.rules})"
