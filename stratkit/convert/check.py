"""`fenfs check`: is everything sound?"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from dataclasses import dataclass, field
from typing import IO, Any

import click

from stratkit.cli.fenfs.options import jobs_option, strict_option
from stratkit.cli.fenfs.tally import Tally
from stratkit.cli.messages import say, warn
from stratkit.cli.options import option
from stratkit.cli.tool import Tool
from stratkit.convert.games import Game, NotFromTheStart, games, in_order
from stratkit.convert.headers import header_faults
from stratkit.convert.raw import LOG, POSITION, RECORD, SETUP, Raw, chunks
from stratkit.convert.sink import Names, new_file
from stratkit.errors import InputError


@click.command(cls=Tool)
@option(
    "--two-squares N",
    "How often a piece of a log may cross one border in a row; 0: any number (default: 5).",
    click.IntRange(0, 100),
    default=5,
)
@option("--salvage FOLDER", "Write the sound part of every file into FOLDER.")
@option("-f, --force", "Overwrite files in FOLDER.")
@strict_option
@jobs_option
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
def check(
    two_squares: int,
    salvage: str | None,
    force: bool,
    strict: bool,
    jobs: int,
    inputs: tuple[str, ...],
) -> int:
    """Check files: exit status 0 only if all are sound, 3 otherwise.

    INPUT is a .gsn or .xml log, a file of game records, episodes, FENfS or setups, a zip or folder
    of such files, or - (stdin). Moves that only a repetition rule forbids are told, and no fault.
    """
    tally = Tally(strict)
    task = functools.partial(check_chunk, two_squares=two_squares, keep=salvage is not None)
    file, before = "", 0
    with Salvage(salvage, force) as kept, in_order(task, chunks(inputs), jobs) as answers:
        for finding in itertools.chain.from_iterable(answers):
            if finding.file != file:
                _say_sound(file, tally.faults == before)
                file, before = finding.file, tally.faults
            finding.report(tally)
            kept.write(finding)
        _say_sound(file, tally.faults == before)
    return tally.status


def _say_sound(file: str, sound: bool) -> None:
    if file and sound:
        say(f"{file}: sound", level=1)


@dataclass
class Finding:
    """What was found in one item of `file`: faults, breaches of repetition rules, and the text of
    its sound part; `header` goes before it if it is not that of the item before."""

    file: str
    faults: list[InputError] = field(default_factory=list)
    breaches: list[InputError] = field(default_factory=list)
    header: str = ""
    text: str = ""

    def report(self, tally: Tally) -> None:
        for breach in self.breaches:
            warn(str(breach))
        for fault in self.faults:
            tally.fault(fault)
        if not self.faults:
            tally.passed()


def check_chunk(chunk: list[Raw | InputError], two_squares: int, keep: bool) -> list[Finding]:
    """What is found in each item; with `keep`, also its sound part."""
    from stratkit.notation.select import Selection

    findings = [Finding(item.file or "") for item in chunk]
    played: list[tuple[Finding, Raw]] = []
    for finding, item in zip(findings, chunk, strict=True):
        if isinstance(item, InputError):
            finding.faults.append(item)
        elif item.form in (POSITION, SETUP):
            finding.text = _line(item)
        else:
            played.append((finding, item))
    sound: list[tuple[Finding, Game]] = []
    found = games([raw for _, raw in played], Selection())
    for (finding, item), game in zip(played, found, strict=True):
        if item.form != LOG:
            finding.faults += header_faults(item)
        if isinstance(game, NotFromTheStart):
            finding.faults += _replay_faults(item)
        elif isinstance(game, InputError):
            finding.faults.append(game)
        elif game is not None:
            finding.faults += game.played.faults
            finding.header, finding.text = _sound_part(game) if keep else ("", "")
            sound.append((finding, game))
    _tell_breaches(sound, two_squares)
    return findings


def _replay_faults(raw: Raw) -> list[InputError]:
    """What is wrong with an episode that begins within a game, repetition rules aside."""
    from stratkit.engine import Game as Rules
    from stratkit.engine import IllegalAction, replay

    header, episode = raw.data
    game = Rules(header.game, dict.fromkeys(Rules(header.game).rules, 0))
    try:
        played = replay(game, episode.actions, episode.start)
    except IllegalAction as error:
        what = "its start is no position of the game"
        if error.action is not None and error.index is not None:
            what = f"action {error.index + 1}, {error.action}, is not legal"
        return [InputError(what, file=raw.name)]
    said, seen = header.endings[episode.ending], game.endings[played.endings[0]]
    captured = "flag_captured" in (said, seen)
    if captured and (said != seen or episode.returns.tolist() != played.returns[0].tolist()):
        what = f"the result is not that of the board ({seen or 'not ended'})"
        return [InputError(what, file=raw.name, text=said)]
    return []


def _tell_breaches(sound: list[tuple[Finding, Game]], two_squares: int) -> None:
    """Enters the first breach of each repetition rule: of the rules of its own header in a record
    or episode, of Gravon's in a log. Rules that the engine does not take are faults."""
    from stratkit.notation.play import breaches

    by_rule: dict[tuple[str, int], list[tuple[Finding, Game]]] = {}
    for finding, game in sound:
        own = {"two_squares": two_squares, "more_squares": 1}
        rules = own if game.raw.form == LOG else game.raw.data[0].rules
        for rule in own:
            if rules.get(rule):
                by_rule.setdefault((rule, rules[rule]), []).append((finding, game))
    for (rule, number), some in by_rule.items():
        try:
            first = breaches([game.log for _, game in some], {rule: number})
        except InputError:
            continue  # a fault of the header
        for (finding, game), ply in zip(some, first, strict=True):
            if ply is not None:
                name = (
                    f"two-squares rule ({number})" if rule == "two_squares" else "more-squares rule"
                )
                what = f"the {name} forbids this move, and perhaps later ones: no fault here"
                where, text = game.log.where(ply), game.log.move_text(ply)
                finding.breaches.append(
                    InputError(what, file=game.raw.name, where=where, text=text)
                )


def _sound_part(game: Game) -> tuple[str, str]:
    """Header and text of a game as far as it is sound, in the form that it came in."""
    from stratkit.convert.records import record_of
    from stratkit.notation.gravon import is_xml
    from stratkit.notation.gravon_text import gsn_text, xml_text
    from stratkit.storage.records import header_line, record_line

    if game.raw.form == LOG:
        return "", (xml_text if is_xml(game.raw.data) else gsn_text)(game.log)
    if game.raw.form == RECORD:
        header, record = record_of(game)
        return header_line(header).decode(), record_line(record).decode()
    return "", ""  # of episodes `train` itself keeps what is whole


def _line(item: Raw) -> str:
    from stratkit.notation.setups import setup_text

    return f"{item.data if item.form == POSITION else setup_text(item.data)}\n"


class Salvage(contextlib.AbstractContextManager["Salvage"]):
    """Writes what is sound of each file into a folder, under the file's own name."""

    def __init__(self, folder: str | None, force: bool) -> None:
        self._folder, self._force = folder, force
        self._names = Names()
        self._file = self._header = ""
        self._open = contextlib.ExitStack()
        self._out: IO[Any] | None = None
        if folder is not None:
            os.makedirs(folder, exist_ok=True)

    def write(self, finding: Finding) -> None:
        if self._folder is None or not finding.text:
            return
        if finding.file != self._file or self._out is None:
            self._open.close()
            name = self._names.fresh(os.path.basename(finding.file))
            path = os.path.join(self._folder, name)
            self._out = self._open.enter_context(new_file(path, self._force))
            self._file, self._header = finding.file, ""
        text = finding.text if finding.header == self._header else finding.header + finding.text
        self._header = finding.header
        self._out.write(text.encode())

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)
