"""What several commands of `fenfs` read: lines of FENfS, and games one at a time."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from stratkit.convert.games import PlayedGame, games
from stratkit.convert.raw import NO_GAMES, Raw, RawLog, form_of, is_text
from stratkit.convert.tally import FaultTally, FileFault, sound
from stratkit.errors import InputError

if TYPE_CHECKING:
    from stratkit.notation.fenfs import Fenfs
    from stratkit.notation.select import Selection
    from stratkit.notation.sources import NamedStream


def texts(
    inputs: Sequence[str], suffixes: Sequence[str], tally: FaultTally
) -> Iterator[NamedStream]:
    """The sources that the arguments name; an argument that is a FENfS is a source of one line."""
    from stratkit.notation.sources import NamedStream, sources

    for text in inputs:
        if " " in text and not os.path.exists(text):
            yield NamedStream("argument", io.BytesIO(text.encode("utf-8", "surrogateescape")))
            continue
        for source in sources([text], suffixes):
            if isinstance(source, InputError):
                tally.fault(source)
            else:
                yield source


def each_position(source: NamedStream, tally: FaultTally, show: Callable[[Fenfs], None]) -> None:
    """Calls `show` with the sound positions of a file of FENfS lines; its `InputError`s are told
    of these lines."""
    from stratkit.notation.fenfs import read_fenfs

    if is_log(source):
        what = "a game log, not FENfS: `fenfs convert --to fenfs` makes FENfS of it"
        tally.fault(InputError(what, file=source.name))
    elif not is_text(source.head):
        tally.fault(InputError("not a text file", file=source.name))
    else:
        for number, fenfs in sound(read_fenfs(source.stream, source.name), tally):
            try:
                show(fenfs)
                tally.passed()
            except InputError as error:
                error.file, error.where = error.file or source.name, error.where or f"line {number}"
                tally.fault(error)


def games_only(chunk: list[Raw | InputError]) -> list[Raw | InputError]:
    """The items; of positions and setups, which are no games, the error of their file."""
    return [
        FileFault("a game is needed", file=item.file) if isinstance(item, NO_GAMES) else item
        for item in chunk
    ]


def sound_games(
    items: Iterable[Raw | InputError], selection: Selection, tally: FaultTally
) -> Iterator[PlayedGame]:
    """The games, with their boards, that can be played to their end, one at a time."""
    for item in items:
        outcome = games([item], selection, boards=True)[0] if isinstance(item, Raw) else item
        if isinstance(outcome, InputError):
            tally.fault(outcome)
        elif outcome is not None:
            for error in outcome.played.faults:
                tally.fault(error)
            if not outcome.played.fault:
                yield outcome


def is_log(source: NamedStream) -> bool:
    """Whether a source is a log of Gravon."""
    try:
        return bool(source.head.strip()) and form_of(source) is RawLog
    except InputError:
        return False
