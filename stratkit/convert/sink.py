"""Where converted games go: one stream of lines, or a file for each game."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any, Protocol

from stratkit.errors import InputError
from stratkit.storage.streams import check_free, open_output

if TYPE_CHECKING:
    import zipfile


class Sink(Protocol):
    """Where games go."""

    def write(self, text: Any, header: Any, name: str) -> None:
        """Writes a game.

        text: of the game, or its episode
        header: what goes before it, unless it is that of the game before
        name: what a file of the game alone would be called, without a folder
        """


class Lines:
    """All games one after the other."""

    def __init__(self, out: IO[str]) -> None:
        self._out, self._header = out, ""

    def write(self, text: str, header: str, name: str) -> None:
        """Writes a line; its header goes before it, if it is another than the line before has."""
        if header != self._header:
            self._out.write(header)
            self._header = header
        self._out.write(text)


class Single:
    """One game and no more: in these forms a file is one game. `end` writes it: what stdout has
    got could not be taken back when a second one comes."""

    def __init__(self, out: IO[str]) -> None:
        self._out, self._text = out, ""

    def write(self, text: str, header: str, name: str) -> None:
        """Keeps the text until the end. `InputError`: it is a second one."""
        if self._text:
            what = "a file of this form is one game: for several name a folder or a .zip with -o"
            raise InputError(what, text=name)
        self._text = text

    def end(self) -> None:
        """Writes the text."""
        self._out.write(self._text)


class Names:
    """Names of files, each given once."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def fresh(self, name: str) -> str:
        """`name` without what may lead out of a folder, and no longer than file systems allow;
        numbered when it was given before."""
        name = re.sub(r"[^\w .+-]|^[. ]+", "_", name)
        name = name.encode()[-200:].decode(errors="ignore")
        stem, suffix = os.path.splitext(name)
        number, free = 1, name
        while free.casefold() in self._given:
            number += 1
            free = f"{stem}-{number}{suffix}"
        self._given.add(free.casefold())
        return free


@contextlib.contextmanager
def new_file(path: str, force: bool) -> Iterator[IO[bytes]]:
    """A file that appears when it is whole. `InputError`: there is one, and no `force`."""
    from stratkit.storage.atomic import atomic_file

    check_free(path, force)
    with atomic_file(path, overwrite=force, durable=False) as stream:
        yield stream


class Folder:
    """A file for each game in a folder."""

    def __init__(self, path: str, force: bool) -> None:
        self._path, self._force, self._names = path, force, Names()
        os.makedirs(path, exist_ok=True)

    def write(self, text: str, header: str, name: str) -> None:
        """Writes a file of this name, or of one that no file of this call has."""
        path = os.path.join(self._path, self._names.fresh(name))
        with new_file(path, self._force) as stream:
            stream.write((header + text).encode())


class Archive:
    """A member of a zip for each game. No member has a date, so that the same games give the same
    bytes."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive, self._names = archive, Names()

    def write(self, text: str, header: str, name: str) -> None:
        """Writes a member of this name, or of one that no member has."""
        import zipfile

        member = zipfile.ZipInfo(self._names.fresh(name))
        member.compress_type = zipfile.ZIP_DEFLATED
        member.external_attr = 0o644 << 16
        self._archive.writestr(member, header + text)


@contextlib.contextmanager
def open_sink(
    path: str, force: bool, a_file_each: bool, episodes: bool = False, lines: bool = False
) -> Iterator[Sink]:
    """Where games go: one stream, of text or of `episodes`; or, with `a_file_each`, a zip by its
    name, a folder (one that is there, or a name that ends with a slash), or, for a single game, a
    file. With `lines` a file may have several, each a line."""
    if episodes:
        from stratkit.convert.played_episodes import EpisodeSink

        with open_output(path, force, binary=True) as out:
            sink = EpisodeSink(out)
            yield sink
            sink.end()
    elif a_file_each and path.lower().endswith(".zip"):
        import zipfile

        with open_output(path, force, binary=True) as out, zipfile.ZipFile(out, "w") as archive:
            yield Archive(archive)
    elif a_file_each and (path.endswith("/") or os.path.isdir(path)):
        yield Folder(path, force)
    else:
        with open_output(path, force) as out:
            if not a_file_each or lines:
                yield Lines(out)
                return
            single = Single(out)
            yield single
            single.end()  # after an error there is nothing to write
