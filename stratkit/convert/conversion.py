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
from stratkit.convert.games import PlayedGame, games, in_order
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
from stratkit.convert.tally import FaultTally, NothingSound
from stratkit.errors import InputError, Say, error_context

if TYPE_CHECKING:
    from stratkit.storage.episodes import Episode, Header


def run_conversion(options: ConvertOptions, warn: Say, note: Say) -> int:
    """Converts the inputs; the exit status. Faults go to `warn`, remarks to `note`."""
    tally = FaultTally(warn, options.strict)
    task = functools.partial(convert_chunk, options=options)
    a_file_each, episodes = options.to in FILES, options.to == EPISODES
    with (
        contextlib.suppress(NothingSound),
        open_sink(
            options.output, options.force, a_file_each, episodes, options.to == "json"
        ) as sink,
    ):
        raws = chunks(options.inputs, options.to in GAMES, options.selection.game)
        with in_order(task, raws, options.jobs) as answers:
            for out in itertools.chain.from_iterable(answers):
                out.report(tally, note)
                if out.text:
                    sink.write(out.text, out.header, out.name)
        note(f"{tally.sound} converted, {tally.faults} faults")
        if tally.faults and not tally.sound:
            raise NothingSound
        if not tally.sound and options.selection:
            raise InputError(NO_GAME)
    return tally.status


@dataclass
class Conversion:
    """What became of one item.

    faults   why it was not converted, or not wholly
    notes    what else is to be said
    sound    whether it was sound, and wanted
    text     of the game, or its episode
    header   what goes before `text`, if it is not that of the item before
    name     what a file of the game alone would be called
    """

    faults: list[InputError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sound: bool = False
    text: str | Episode = ""
    header: str | Header = ""
    name: str = ""

    def report(self, tally: FaultTally, note: Say) -> None:
        """Counts the item as sound or not; its notes go to `note`."""
        for fault in self.faults:
            tally.fault(fault)
        for text in self.notes:
            note(text)
        if self.sound:
            tally.passed()


def convert_chunk(chunk: list[Raw | InputError], options: ConvertOptions) -> list[Conversion]:
    """What becomes of each item."""
    conversions = [Conversion() for _ in chunk]
    played: list[tuple[Conversion, Raw]] = []
    for out, item in zip(conversions, chunk, strict=True):
        if isinstance(item, InputError):
            out.faults.append(item)
        elif is_of_orders(item) and options.to in ("json", "games"):
            _guarded(out, _diplomacy, item, options)
        elif isinstance(item, RawPosition):
            _guarded(out, _position, item, options)
        elif isinstance(item, RawSetup):
            _guarded(out, _setup, item, options)
        elif options.to == "csv" and isinstance(item, RawEpisode) and _has_no_log(item):
            _guarded(out, _bare_episode, item, options)
        else:
            played.append((out, item))
    outcomes = games(
        [raw for _, raw in played], options.selection, boards=options.to in ("fenfs", "csv")
    )
    for (out, _), game in zip(played, outcomes, strict=True):
        if isinstance(game, InputError):
            out.faults.append(game)
        elif game is not None:
            _guarded(out, _game, game, options)
    return conversions


def _guarded(
    out: Conversion, write: Callable[..., None], item: Raw | PlayedGame, options: ConvertOptions
) -> None:
    """`write`, whose `InputError` is the conversion's fault."""
    try:
        with error_context(item.raw.name if isinstance(item, PlayedGame) else item.name):
            write(out, item, options)
    except InputError as error:
        out.faults.append(error)
        out.text, out.sound = "", False


def _game(out: Conversion, game: PlayedGame, options: ConvertOptions) -> None:
    """Enters a game that was played out into the conversion."""
    played, raw = game.played, game.raw
    out.faults += played.faults
    if played.fault and not options.salvage:
        return
    out.sound = True
    stays = options.to in FILES or (options.to == "games" and isinstance(raw, RawRecord))
    if not played.log.has_board and not stays:
        out.notes.append(f"{raw.name}: ended before the setups were complete: left out")
        return
    out.name = _file_name(game, options.to)
    _WRITERS[options.to](out, game, options)


def _diplomacy(out: Conversion, raw: Raw, options: ConvertOptions) -> None:
    """Enters a game of Diplomacy into the conversion."""
    from stratkit.convert.diplomacy import file_name, json_text, play, record_of
    from stratkit.storage.records import header_line, record_line

    if options.selection.by_log:
        return
    played = play(raw)
    out.notes += map(str, played.notes)
    if played.fault:
        out.faults.append(played.fault)
        if not options.salvage:
            return
    out.sound = True
    if options.to == "json":
        out.name, out.text = file_name(raw, played), json_text(played)
    else:
        header, record = record_of(raw, played)
        out.header, out.text = header_line(header).decode(), record_line(record).decode()


def _write_fenfs(out: Conversion, game: PlayedGame, options: ConvertOptions) -> None:
    from stratkit.notation.fenfs import fenfs_lines

    first, last = options.ply or (0, len(game.played.boards))
    boards, view = game.played.boards[first : last + 1], VIEWS[options.view or "observer"]
    first += game.log.start.plies if game.log.start else 0
    out.text = fenfs_lines(boards, game.log.variant.width, first, view, options.moved)


def _write_setups(out: Conversion, game: PlayedGame, options: ConvertOptions) -> None:
    from stratkit.notation.setups import setup_text

    if game.log.start:
        raise InputError("it began at a position, and not with setups")
    both = game.log.setups or ()
    setups = [both[side] for side in options.selection.sides(game.log)] if both else []
    if any(len(setup) > game.log.variant.zone for setup in setups):
        out.notes.append(f"{game.raw.name}: free setups beyond their own ranks: left out")
    else:
        out.text = "".join(f"{setup_text(setup)}\n" for setup in setups)


def _write_log(out: Conversion, game: PlayedGame, options: ConvertOptions) -> None:
    from stratkit.notation.gravon_text import gsn_text, losses, xml_text

    if game.log.start:
        raise InputError(f"it began at a position, which no {options.to} tells")
    out.text = (gsn_text if options.to == "gsn" else xml_text)(game.log)
    out.notes += [f"{game.raw.name}: {lost}" for lost in losses(game.log, options.to)]


def _write_record(out: Conversion, game: PlayedGame, options: ConvertOptions) -> None:
    from stratkit.convert.records import record_of
    from stratkit.storage.records import header_line, record_line

    header, record = record_of(game)
    out.header, out.text = header_line(header).decode(), record_line(record).decode()


def _write_episode(out: Conversion, game: PlayedGame, options: ConvertOptions) -> None:
    from stratkit.convert.played_episodes import episode_of

    out.header, out.text = episode_of(game)


def _write_json(out: Conversion, game: PlayedGame, options: ConvertOptions) -> None:
    raise InputError("JSON is for games of Diplomacy")


def _has_no_log(raw: RawEpisode) -> bool:
    """Whether an episode is of a game that is written otherwise, or begins within a game."""
    from stratkit.games.kit import Notation
    from stratkit.games.table import kit_class

    notation = kit_class(raw.header.game).notation
    return notation is not Notation.LOG or bool(raw.episode.start)


def _bare_episode(out: Conversion, raw: RawEpisode, options: ConvertOptions) -> None:
    from stratkit.convert.actions_csv import HEAD, bare_csv

    out.header, out.text, out.sound = HEAD, bare_csv(raw, options.selection), True


def _write_csv(out: Conversion, game: PlayedGame, options: ConvertOptions) -> None:
    from stratkit.convert.actions_csv import HEAD, game_csv

    out.header, out.text = HEAD, game_csv(game)


_WRITERS: dict[str, Callable[[Conversion, PlayedGame, ConvertOptions], None]] = {
    "fenfs": _write_fenfs,
    "setups": _write_setups,
    "games": _write_record,
    "csv": _write_csv,
    EPISODES: _write_episode,
    "gsn": _write_log,
    "xml": _write_log,
    "json": _write_json,
}


def _file_name(game: PlayedGame, suffix: str) -> str:
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


def _position(out: Conversion, raw: RawPosition, options: ConvertOptions) -> None:
    """Enters a FENfS into the conversion: again as one, or the setups of a start."""
    from dataclasses import replace

    from stratkit.notation.fenfs import seen_by, start_setups
    from stratkit.notation.setups import setup_text

    fenfs = raw.fenfs
    if options.to == "fenfs":
        if options.moved and fenfs.moved is None:
            raise InputError("this FENfS does not say which pieces have moved")
        seen = seen_by(fenfs, VIEWS[options.view] if options.view else fenfs.view)
        if not options.ply or options.ply[0] <= fenfs.ply <= options.ply[1]:
            out.text = f"{seen if options.moved else replace(seen, moved=None)}\n"
    elif options.to == "setups":
        if fenfs.ply == 0:
            takes, setups = options.selection.takes_setup, start_setups(fenfs)
            wanted = [setup for setup in setups if takes(setup, fenfs.variant)]
            out.text = "".join(f"{setup_text(setup)}\n" for setup in wanted)
    else:
        raise InputError(f"a position is no game: --to {options.to} needs games")
    out.sound = True


def _setup(out: Conversion, raw: RawSetup, options: ConvertOptions) -> None:
    """Enters a setup, which stays one."""
    if options.to != "setups":
        raise InputError(f"a setup is no game: --to {options.to} needs games")
    out.sound = True
    if options.selection.takes_setup(raw.setup):
        out.text = f"{raw.line.line}\n"
