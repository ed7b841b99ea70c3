"""The command `match`: players meet at the board, and every game is recorded."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import click
from click.core import ParameterSource

from stratkit.cli.messages import is_live, is_talkative, say, warn
from stratkit.cli.options import GameName, OneOf, Text, seed_option
from stratkit.cli.tool import Tool, run
from stratkit.errors import InputError, UsageError, in_file, named
from stratkit.storage.streams import STDOUT
from stratkit.ucc.kind import PLAYERS, PROGRAM

if TYPE_CHECKING:
    from stratkit.engine import Game
    from stratkit.match.runner import Match
    from stratkit.match.scoreboard import Scoreboard
    from stratkit.play.table import Note
    from stratkit.players.open import Entrant
    from stratkit.players.player import Player
    from stratkit.players.spec import PlayerSpec
    from stratkit.storage.columns import Episode
    from stratkit.storage.records import GameRecord, RecordHeader, RecordWriter
    from stratkit.ucc.process import Program

    Anybody: TypeAlias = Entrant[Player] | Entrant[Program]

MOST_GAMES = 10**7  # a pairing
ROWS = 64  # views that a network evaluates at a time, where so many games are played at a time

PLAYER = Text(*(word for kind in PLAYERS for word in kind.words))


class Limit(click.ParamType[int]):
    """A whole number, or `off`."""

    name = "N|off"

    def convert(
        self, value: str | int, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        if value == "off":
            return 0
        number: int = click.IntRange(1, 65535)(value, param, ctx)
        return number


@click.command(cls=Tool, short_help="Let players meet, and record every game.")
@click.argument("players", nargs=-1, metavar="PLAYER PLAYER...", type=PLAYER)
@click.option(
    "-n",
    "games",
    type=click.IntRange(1, MOST_GAMES),
    metavar="GAMES",
    help="Games a pairing; an odd number is rounded up to even.",
)
@click.option("--game", type=GameName(), metavar="G", help="The game to play.")
@click.option(
    "--gauntlet", is_flag=True, help="The first PLAYER meets all others, who do not meet."
)
@click.option(
    "--setups",
    metavar="FILE",
    help="Begin pair k from setups 2k and 2k + 1 of FILE (- is stdin); without it players deploy.",
)
@click.option(
    "--two-squares",
    type=OneOf(["3", "5", "off"]),
    help="How often a piece may cross one border in a row (default: as the game has it).",
)
@click.option(
    "--more-squares", type=OneOf(["on", "off"]), help="Whether endless chases are illegal."
)
@click.option("--max-plies", type=Limit(), metavar="N|off", help="Draw after N plies.")
@click.option(
    "--max-quiet", type=Limit(), metavar="N|off", help="Draw after N plies without an attack."
)
@click.option(
    "--resign",
    metavar="T[,K]",
    help="A network loses that K decisions in a row expects -T or less (default K: 8).",
)
@click.option(
    "--draw",
    metavar="T[,K]",
    help="Draw when both networks expected -T to T in their last K decisions (default K: 8).",
)
@click.option(
    "--sprt",
    metavar="elo0=A,elo1=B[,alpha=.05,beta=.05]",
    help="Stop when it is decided whether the first of two PLAYERs is B or only A Elo stronger.",
)
@seed_option
@click.option(
    "--slots",
    type=click.IntRange(1, 65536),
    default=128,
    metavar="N",
    help="Games among our own players played at a time (default: 128).",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1024),
    default=lambda: len(os.sched_getaffinity(0)),
    metavar="N",
    help="Games with programs played at a time; threads of the engine (default: the cores).",
)
@click.option(
    "-o", "--output", metavar="GAMES.jsonl", help="Append the games to this file; - is stdout."
)
@click.option(
    "--resume",
    is_flag=True,
    help="Play the games that GAMES.jsonl does not have yet; what is not given is as it is there.",
)
@click.option(
    "--explain",
    metavar="FILE",
    help="Tell in FILE how the networks' moves come about; - is stdout.",
)
@click.option("-f", "--force", is_flag=True, help="Overwrite GAMES.jsonl if it exists.")
@click.option(
    "--serve",
    type=PLAYER,
    metavar="PLAYER",
    help="Instead of a match: play one game on stdin and stdout, as an agent of the UCC protocol.",
)
@click.option(
    "--check",
    metavar="ucc:COMMAND",
    help="Instead of a match: try whether a program keeps to the protocol, and say what is wrong.",
)
@click.pass_context
def command(
    ctx: click.Context,
    players: tuple[str, ...],
    games: int | None,
    game: str | None,
    gauntlet: bool,
    setups: str | None,
    two_squares: str | None,
    more_squares: str | None,
    max_plies: int | None,
    max_quiet: int | None,
    resign: str | None,
    draw: str | None,
    sprt: str | None,
    seed: int,
    slots: int,
    concurrency: int,
    output: str | None,
    resume: bool,
    explain: str | None,
    force: bool,
    serve: str | None,
    check: str | None,
) -> int:
    """Every PLAYER meets every other in pairs of games with colours swapped. PLAYER is
    [key=value,]...SPEC, where SPEC is random, heuristic, human, barrage-v0, a checkpoint file, a
    RUN folder or ucc:COMMAND, a program; keys are name, of networks net (online, target or average;
    default: target) and what is done to their policy: preset=deepnash, or threshold, quanta, eager,
    memory, shuttle, bounds (see the page), of programs time and startup (seconds) and nodes."""
    rules = _rules(two_squares, more_squares, max_plies, max_quiet)
    if serve is not None or check is not None:
        from stratkit.cli import alone

        alone.check_options(ctx)
        with named(STDOUT):
            return alone.serve_or_check(serve, check, game or "classic", rules, seed)
    _check_usage(players, output, resume, force)
    assert output is not None
    from stratkit.cli import people
    from stratkit.cli.openings import read_openings
    from stratkit.engine import Game
    from stratkit.match.adjudicate import parse_limit
    from stratkit.match.runner import Match
    from stratkit.match.schedule import Schedule
    from stratkit.match.scoreboard import Scoreboard
    from stratkit.rating.sprt import parse_sprt
    from stratkit.storage.records import GAUNTLET, ROUND_ROBIN, RecordWriter, read_header

    there = read_header(output) if resume else None
    if there:
        games, game = games or _games(there, output), game or there.game
        rules, gauntlet = {**there.rules, **rules}, gauntlet or there.pairing == GAUNTLET
        setups = _setups(there) if setups is None else setups
        resign = there.resign if resign is None else resign
        draw = there.draw if draw is None else draw
        sprt = there.sprt if sprt is None else sprt
        if ctx.get_parameter_source("seed") is ParameterSource.DEFAULT:
            seed = there.seed
    specs = _specs(players, there, output)
    _check_files(specs, setups, output, explain)
    test = None if sprt is None else parse_sprt(sprt)
    limits = [
        None if text is None else parse_limit(text, option)
        for text, option in ((resign, "--resign"), (draw, "--draw"))
    ]
    if test and len(specs) != 2:
        raise UsageError("--sprt tests the first of two players against the second")
    if not games or not game:
        raise UsageError(f"missing option {'--game' if games else '-n'!r}")
    opened = Game(game, rules)
    opening, digest = (None, None) if setups is None else read_openings(setups, game)
    entrants = _open_players(specs, opened, seed, setups, _rows(specs, slots))
    if any(limits):
        _check_values(entrants)
    person = people.find_person(entrants, output)
    names = [entrant.name for entrant in entrants]
    schedule = Schedule(len(entrants), games + games % 2, opening, gauntlet)
    board = Scoreboard(names, schedule, test, is_live() and person is None, warn)
    header = replace(
        _header(opened, seed, schedule.games, entrants, setups, digest),
        pairing=GAUNTLET if gauntlet else ROUND_ROBIN,
        resign=limits[0].text if limits[0] else None,
        draw=limits[1].text if limits[1] else None,
        sprt=sprt,
    )
    left = True
    with (
        people.explained(entrants, opened, explain, resume, force) as told,
        named(STDOUT if output == "-" else output),
        RecordWriter(output, header, resume, force, met=board.met) as writer,
        people.seated(person, told, opened, output, resume) as ended,
    ):
        everybody = [entrant.player for entrant in told]
        slots = 1 if person else slots
        match = Match(
            opened, schedule, everybody, names, seed, slots, concurrency, board.tell, *limits
        )
        try:
            _play(match, writer, board, ended)
            left = False
        except BaseException:
            board.clear()
            if output != "-":
                _say_how_to_go_on(seed)
            raise
    board.clear()
    if left:  # a person has
        return 0
    say(board.text())
    return _status(board)


def _check_usage(players: Sequence[str], output: str | None, resume: bool, force: bool) -> None:
    if not players and not resume:
        raise UsageError("missing PLAYERs")
    if output is None:
        raise UsageError("missing option '-o'")
    if output == "-" and resume:
        raise UsageError("--resume needs a file, not stdout")
    if force and resume:
        raise UsageError("--resume continues GAMES.jsonl, -f overwrites it: give one of them")


def _check_files(
    specs: Sequence[PlayerSpec], setups: str | None, output: str, explain: str | None
) -> None:
    """What is written must be another file than what is read, and than each other: -f overwrites
    files, but not these."""
    from stratkit.players.registry import NETWORK

    files = [spec.spec for spec in specs if spec.kind is NETWORK and spec.spec not in NETWORK.words]
    read = [setups, *(spec.given.get("setup") for spec in specs), *files]
    met = {os.path.realpath(path) for path in read if path and path != "-"}
    for path in filter(None, (output, explain)):
        real = path if path == "-" else os.path.realpath(path)
        if real in met:
            raise UsageError("what is written needs a file of its own", text=path)
        met.add(real)


def _rules(
    two_squares: str | None, more_squares: str | None, max_plies: int | None, max_quiet: int | None
) -> dict[str, int]:
    """The rules that the command line names."""
    rules = {"max_plies": max_plies, "max_quiet": max_quiet}
    if two_squares:
        rules["two_squares"] = 0 if two_squares == "off" else int(two_squares)
    if more_squares:
        rules["more_squares"] = int(more_squares == "on")
    return {key: value for key, value in rules.items() if value is not None}


def _specs(players: Sequence[str], there: RecordHeader | None, file: str) -> list[PlayerSpec]:
    """The players of the command line, or else those of the file that is resumed."""
    from stratkit.players.spec import parse_player

    if players or there is None:
        specs = [parse_player(text, PLAYERS) for text in players]
    else:
        with in_file(file):
            found = [(parse_player(player.spec, PLAYERS), player.name) for player in there.players]
        specs = [replace(spec, name=name) for spec, name in found]
    if len(specs) < 2:
        raise UsageError("a match needs two players at least" if specs else "missing PLAYERs")
    return specs


def _games(there: RecordHeader, file: str) -> int:
    """The games a pairing of the match that is resumed."""
    if there.games > MOST_GAMES:
        raise InputError(f"over {MOST_GAMES} games", file=file, where="line 1", text=there.games)
    return there.games


def _setups(there: RecordHeader) -> str | None:
    """The file of setups of the match that is resumed."""
    file = (there.setups or {}).get("file")
    if file == "-":
        raise UsageError("the setups came from stdin: give them again with --setups")
    return file


def _rows(specs: Sequence[PlayerSpec], slots: int) -> int:
    """How many views a network evaluates at a time: who plays a person, or programs only, is asked
    for one decision after the other."""
    from stratkit.players.registry import HUMAN

    ours = [spec for spec in specs if spec.kind is not PROGRAM]
    return 1 if len(ours) < 2 or any(spec.kind is HUMAN for spec in ours) else min(ROWS, slots)


def _open_players(
    specs: Sequence[PlayerSpec], game: Game, seed: int, setups: str | None, rows: int
) -> list[Anybody]:
    from stratkit.players.open import check_names
    from stratkit.players.registry import Setting
    from stratkit.ucc.engine_pool import check_start
    from stratkit.ucc.process import Program

    entrants: list[Anybody] = []
    for spec in specs:
        if spec.kind is PROGRAM and setups is not None:
            raise UsageError("a program sets up by itself: --setups is not for it", text=spec.text)
        entrants.append(spec.kind.open(spec, game, Setting(seed, rows, is_talkative())))
    check_names(entrants)
    for entrant in entrants:
        if isinstance(entrant.player, Program):
            check_start(entrant.player, game)
        if entrant.caution:
            warn(entrant.caution)
    if any(entrant.sha256 for entrant in entrants):
        import torch

        torch.set_num_threads(1)  # the same sums whatever --concurrency says
    return entrants


def _check_values(entrants: Sequence[Anybody]) -> None:
    """Whether anybody says what it expects."""
    from stratkit.players.player import ValuePlayer

    if not any(isinstance(entrant.player, ValuePlayer) for entrant in entrants):
        raise UsageError("--resign and --draw go by what networks expect: nobody here is one")


def _header(
    game: Game,
    seed: int,
    games: int,
    entrants: Sequence[Anybody],
    setups: str | None,
    digest: str | None,
) -> RecordHeader:
    from stratkit.storage.records import RecordHeader, RecordPlayer

    return RecordHeader(
        game=game.name,
        rules=game.rules,
        seed=seed,
        games=games,
        players=tuple(RecordPlayer(e.name, e.spec, e.sha256) for e in entrants),
        setups={"file": setups, "sha256": digest} if setups and digest else None,
    )


def _play(
    match: Match, writer: RecordWriter, board: Scoreboard, ended: Callable[[GameRecord], None]
) -> None:
    """Plays what is missing, until that is all or the test is decided; `ended` is told of each
    game that is in the file."""
    from stratkit.play.table import Note

    board.remaining = len(match.schedule) - len(writer.done)
    if board.decision is not None:
        return
    with contextlib.closing(match.rounds(match.schedule.missing(writer.done))) as rounds:
        for finished in rounds:
            for episode, seats, plies in finished or ():
                assert finished is not None
                note = finished.notes.get(episode.number, Note())
                if board.played(record := _record(match, episode, seats, plies, note)):
                    writer.write(record)
                    ended(record)
                if board.decision is not None:
                    return
            board.show()


def _record(
    match: Match, episode: Episode, seats: tuple[int, ...], plies: int, note: Note
) -> GameRecord:
    from stratkit.notation.transcript import game_text
    from stratkit.storage.records import GameRecord

    setups, moves = game_text(match.game, episode.actions)
    return GameRecord(
        number=episode.number,
        pair=match.schedule.pair(episode.number),
        players=seats,
        setups=setups,
        moves=tuple(moves),
        returns=tuple(float(r) for r in episode.returns),
        reason=note.reason or match.game.endings[episode.ending],
        adjudicator=note.adjudicator,
        fault=note.fault,
        plies=plies,
        times=note.times,
    )


def _status(board: Scoreboard) -> int:
    """The exit status: 1 when games were left out, 3 and 4 are the test's."""
    if board.not_played:
        warn(f"{board.not_played} games were not played; --resume asks for them again")
        return 1
    if board.sprt is None or board.decision == 1:
        return 0
    return 4 if board.decision is None else 3


def _say_how_to_go_on(seed: int) -> None:
    """The command that plays the rest. The seed is named, because the system may have chosen it."""
    words = [word for word in sys.argv[1:] if not re.fullmatch("--resume|--force|-f+", word)]
    words = [word.replace("f", "") if re.fullmatch("-[fqv]+", word) else word for word in words]
    if not any(word == "--seed" or word.startswith("--seed=") for word in words):
        words += ["--seed", str(seed)]
    say(f"match: to go on: {shlex.join(['match', *words, '--resume'])}")


def main() -> NoReturn:
    run(command, "match")


if __name__ == "__main__":
    main()
