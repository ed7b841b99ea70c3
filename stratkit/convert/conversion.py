"""Games, positions and setups from one form to another."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stratkit.compressed import plain_name
from stratkit.convert.games import Game, games, in_order
from stratkit.convert.options import EPISODES, FILES, GAMES, NO_GAME, VIEWS, ConvertOptions
from stratkit.convert.raw import (
    Raw,
    RawEpisode,
    RawPosition,
    RawPositions,
    RawRecord,
    RawSetup,
    chunks,
    is_of_orders,
)
from stratkit.convert.sink import open_sink
from stratkit.convert.tally import NothingSound, Tally
from stratkit.errors import InputError, Say, error_context

if TYPE_CHECKING:
    from stratkit.storage.episodes import Episode, Header


def run_conversion(options: ConvertOptions, warn: Say, note: Say) -> int:
    """Converts the inputs; the exit status. Faults go to `warn`, remarks to `note`."""
    tally = Tally(warn, options.strict)
    task = functools.partial(convert_chunk, options=options)
    with (
        contextlib.suppress(NothingSound),
        open_sink(
            options.output, options.force, options.to in FILES, options.to == EPISODES
        ) as sink,
    ):
        raws = chunks(options.inputs, options.to in GAMES, options.selection.game)
        with in_order(task, raws, options.jobs) as answers:
            for piece in itertools.chain.from_iterable(answers):
                piece.report(tally, note)
                if piece.text:
                    sink.write(piece.text, piece.header, piece.name)
        note(f"{tally.sound} converted, {tally.faults} faults")
        if tally.faults and not tally.sound:
            raise NothingSound
        if not tally.sound and options.selects:
            raise InputError(NO_GAME)
    return tally.status


@dataclass
class Piece:
    """What became of one item: its text, or episode, with what goes before it, if it was sound and
    wanted; and what is to be said."""

    faults: list[InputError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sound: bool = False
    text: str | Episode = ""
    header: str | Header = ""
    name: str = ""

    def report(self, tally: Tally, note: Say) -> None:
        """Counts the item as sound or not; its notes go to `note`."""
        for fault in self.faults:
            tally.fault(fault)
        for text in self.notes:
            note(text)
        if self.sound:
            tally.passed()


def convert_chunk(chunk: list[Raw | InputError], options: ConvertOptions) -> list[Piece]:
    """What becomes of each item."""
    pieces = [Piece() for _ in chunk]
    played: list[tuple[Piece, Raw]] = []
    for piece, item in zip(pieces, chunk, strict=True):
        if isinstance(item, InputError):
            piece.faults.append(item)
        elif is_of_orders(item) and options.to in ("json", "games"):
            _guarded(piece, _diplomacy, item, options)
        elif isinstance(item, RawPosition):
            _guarded(piece, _position, item, options)
        elif isinstance(item, RawSetup):
            _guarded(piece, _setup, item, options)
        elif options.to == "csv" and isinstance(item, RawEpisode) and _has_no_log(item):
            _guarded(piece, _bare_episode, item, options)
        else:
            played.append((piece, item))
    found = games(
        [raw for _, raw in played], options.selection, boards=options.to in ("fenfs", "csv")
    )
    for (piece, _), game in zip(played, found, strict=True):
        if isinstance(game, InputError):
            piece.faults.append(game)
        elif game is not None:
            _guarded(piece, _game, game, options)
    return pieces


def _guarded(
    piece: Piece, write: Callable[..., None], item: Raw | Game, options: ConvertOptions
) -> None:
    """`write`, whose `InputError` is the piece's fault."""
    try:
        with error_context(item.raw.name if isinstance(item, Game) else item.name):
            write(piece, item, options)
    except InputError as error:
        piece.faults.append(error)
        piece.text, piece.sound = "", False


def _game(piece: Piece, game: Game, options: ConvertOptions) -> None:
    """Enters a game that was played out into the piece."""
    played, raw = game.played, game.raw
    piece.faults += played.faults
    if played.fault and not options.salvage:
        return
    piece.sound = True
    stays = options.to in FILES or (options.to == "games" and isinstance(raw, RawRecord))
    if played.log.setups is None and not stays:
        piece.notes.append(f"{raw.name}: ended before the setups were complete: left out")
        return
    piece.name = _file_name(game, options.to)
    _WRITERS[options.to](piece, game, options)


def _diplomacy(piece: Piece, raw: Raw, options: ConvertOptions) -> None:
    """Enters a game of Diplomacy into the piece."""
    from stratkit.convert.diplomacy import file_name, json_text, play, record_of
    from stratkit.storage.records import header_line, record_line

    if options.selection.by_log:
        return
    played = play(raw)
    piece.notes += map(str, played.notes)
    if played.fault:
        piece.faults.append(played.fault)
        if not options.salvage:
            return
    piece.sound = True
    if options.to == "json":
        piece.name, piece.text = file_name(raw, played), json_text(played)
    else:
        header, record = record_of(raw, played)
        piece.header, piece.text = header_line(header).decode(), record_line(record).decode()


def _write_fenfs(piece: Piece, game: Game, options: ConvertOptions) -> None:
    from stratkit.notation.fenfs import fenfs_lines

    first, last = options.ply or (0, len(game.played.boards))
    boards, view = game.played.boards[first : last + 1], VIEWS[options.view or "observer"]
    piece.text = fenfs_lines(boards, game.log.variant.width, first, view, options.moved)


def _write_setups(piece: Piece, game: Game, options: ConvertOptions) -> None:
    from stratkit.notation.setups import setup_text

    both = game.log.setups or ()
    setups = [both[side] for side in options.selection.sides(game.log)] if both else []
    if any(len(setup) > game.log.variant.zone for setup in setups):
        piece.notes.append(f"{game.raw.name}: free setups beyond their own ranks: left out")
    else:
        piece.text = "".join(f"{setup_text(setup)}\n" for setup in setups)


def _write_log(piece: Piece, game: Game, options: ConvertOptions) -> None:
    from stratkit.notation.gravon_text import gsn_text, losses, xml_text

    piece.text = (gsn_text if options.to == "gsn" else xml_text)(game.log)
    piece.notes += [f"{game.raw.name}: {lost}" for lost in losses(game.log, options.to)]


def _write_record(piece: Piece, game: Game, options: ConvertOptions) -> None:
    from stratkit.convert.records import record_of
    from stratkit.storage.records import header_line, record_line

    header, record = record_of(game)
    piece.header, piece.text = header_line(header).decode(), record_line(record).decode()


def _write_episode(piece: Piece, game: Game, options: ConvertOptions) -> None:
    from stratkit.convert.played_episodes import episode_of

    piece.header, piece.text = episode_of(game)


def _write_json(piece: Piece, game: Game, options: ConvertOptions) -> None:
    raise InputError("JSON is for games of Diplomacy")


def _has_no_log(raw: RawEpisode) -> bool:
    """Whether an episode is of a game that is written otherwise, or begins within a game."""
    from stratkit.games.kit import Notation
    from stratkit.games.table import kit_class

    notation = kit_class(raw.header.game).notation
    return notation is not Notation.LOG or bool(raw.episode.start)


def _bare_episode(piece: Piece, raw: RawEpisode, options: ConvertOptions) -> None:
    from stratkit.convert.actions_csv import HEAD, bare_csv

    piece.header, piece.text, piece.sound = HEAD, bare_csv(raw, options.selection), True


def _write_csv(piece: Piece, game: Game, options: ConvertOptions) -> None:
    from stratkit.convert.actions_csv import HEAD, game_csv

    piece.header, piece.text = HEAD, game_csv(game)


_WRITERS: dict[str, Callable[[Piece, Game, ConvertOptions], None]] = {
    "fenfs": _write_fenfs,
    "setups": _write_setups,
    "games": _write_record,
    "csv": _write_csv,
    EPISODES: _write_episode,
    "gsn": _write_log,
    "xml": _write_log,
    "json": _write_json,
}


def _file_name(game: Game, suffix: str) -> str:
    """What a file of this game alone would be called."""
    raw, kind = game.raw, game.log.kind or game.log.variant.name
    if isinstance(raw, RawPositions):
        stem = f"{_stem(raw.file)}-{raw.lines[0][0]}"
    elif isinstance(raw, RawRecord):
        stem = f"{kind}-{raw.record.number}"
    elif isinstance(raw, RawEpisode):
        stem = f"{kind}-{raw.episode.number}"
    else:
        stem = _stem(raw.file)
    return f"{stem}.{suffix}"


def _stem(path: str) -> str:
    return os.path.splitext(plain_name(os.path.basename(path)))[0]


def _position(piece: Piece, raw: RawPosition, options: ConvertOptions) -> None:
    """Enters a FENfS into the piece: again as one, or the setups of a start."""
    from dataclasses import replace

    from stratkit.notation.fenfs import seen_by, start_setups
    from stratkit.notation.setups import setup_text

    fenfs = raw.fenfs
    if options.to == "fenfs":
        if options.moved and fenfs.moved is None:
            raise InputError("this FENfS does not say which pieces have moved")
        seen = seen_by(fenfs, VIEWS[options.view] if options.view else fenfs.view)
        if not options.ply or options.ply[0] <= fenfs.ply <= options.ply[1]:
            piece.text = f"{seen if options.moved else replace(seen, moved=None)}\n"
    elif options.to == "setups":
        if fenfs.ply == 0:
            wanted = filter(options.selection.takes_setup, start_setups(fenfs))
            piece.text = "".join(f"{setup_text(setup)}\n" for setup in wanted)
    else:
        raise InputError(f"a position is no game: --to {options.to} needs games")
    piece.sound = True


def _setup(piece: Piece, raw: RawSetup, options: ConvertOptions) -> None:
    """Enters a setup, which stays one."""
    from stratkit.notation.setups import setup_text

    if options.to != "setups":
        raise InputError(f"a setup is no game: --to {options.to} needs games")
    piece.sound = True
    if options.selection.takes_setup(raw.setup):
        piece.text = f"{setup_text(raw.setup)}\n"
