"""The command `match`: players meet at the board, and every game is recorded."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import click
from click.core import ParameterSource

from stratkit.cli.common import STDOUT, GameName, Tool, progress, run, say, seed_option, warn
from stratkit.errors import UsageError, in_file, named

if TYPE_CHECKING:
    from stratkit.engine import Game
    from stratkit.play.match import Schedule
    from stratkit.players.open import Entrant
    from stratkit.players.spec import PlayerSpec
    from stratkit.storage.columns import Episode
    from stratkit.storage.records import GameRecord, RecordHeader, RecordWriter

ROWS = 64  # views that a network evaluates at a time


@click.command(cls=Tool, short_help="Let players meet, and record every game.")
@click.argument("players", nargs=-1, metavar="PLAYER PLAYER...")
@click.option(
    "-n",
    "games",
    type=click.IntRange(1, 10**7),
    metavar="GAMES",
    help="Games a pairing; an odd number is rounded up to even.",
)
@click.option("--game", type=GameName(), metavar="G", help="The game to play.")
@click.option(
    "--setups",
    metavar="FILE",
    help="Begin pair k from setups 2k and 2k + 1 of FILE (- is stdin); without it players deploy.",
)
@seed_option
@click.option(
    "--slots",
    type=click.IntRange(1, 65536),
    default=128,
    metavar="N",
    help="Games played at a time (default: 128).",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 1024),
    default=1,
    metavar="N",
    help="Threads of the engine (default: 1).",
)
@click.option(
    "-o",
    "--output",
    metavar="GAMES.jsonl",
    required=True,
    help="Append the games to this file; - is stdout.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Play the games that GAMES.jsonl does not have yet; what is not given is as it is there.",
)
@click.option("-f", "--force", is_flag=True, help="Overwrite GAMES.jsonl if it exists.")
@click.pass_context
def command(
    ctx: click.Context,
    players: tuple[str, ...],
    games: int | None,
    game: str | None,
    setups: str | None,
    seed: int,
    slots: int,
    threads: int,
    output: str,
    resume: bool,
    force: bool,
) -> None:
    """Every PLAYER meets every other in pairs of games with colours swapped. PLAYER is
    [key=value,]...SPEC, where SPEC is random, heuristic, a checkpoint file or a RUN folder; keys
    are name and net (online, target or average; default: target)."""
    if output == "-" and resume:
        raise UsageError("--resume needs a file, not stdout")
    if force and resume:
        raise UsageError("--resume continues GAMES.jsonl, -f overwrites it: give one of them")
    from stratkit.cli.openings import read_openings
    from stratkit.engine import Game
    from stratkit.play.match import Schedule
    from stratkit.storage.records import RecordWriter, read_header

    there = read_header(output) if resume else None
    if there:
        games, game, setups = games or there.games, game or there.game, setups or _setups(there)
        if ctx.get_parameter_source("seed") is ParameterSource.DEFAULT:
            seed = there.seed
    specs = _specs(players, there, output)
    if not games or not game:
        raise UsageError(f"missing option {'--game' if games else '-n'!r}")
    opened = Game(game)
    opening, digest = read_openings(setups, game) if setups else (None, None)
    entrants = _open_players(specs, opened, seed)
    schedule = Schedule(len(entrants), games + games % 2, opening)
    header = _header(opened, seed, schedule, entrants, setups, digest)
    with (
        named(STDOUT if output == "-" else output),
        RecordWriter(output, header, resume=resume, overwrite=force) as writer,
    ):
        try:
            tally = _play(opened, entrants, schedule, seed, slots, threads, writer)
        except BaseException:
            if output != "-":
                _say_how_to_go_on(seed)
            raise
    say(_table(entrants, schedule, tally))


def _specs(players: Sequence[str], there: RecordHeader | None, file: str) -> list[PlayerSpec]:
    """The players of the command line, or else those of the file that is resumed."""
    from stratkit.players.spec import parse_player

    if players or there is None:
        specs = [parse_player(text) for text in players]
    else:
        with in_file(file):
            found = [(parse_player(player.spec), player.name) for player in there.players]
        specs = [replace(spec, options={**spec.options, "name": name}) for spec, name in found]
    if len(specs) < 2:
        raise UsageError("a match needs two players at least" if specs else "missing PLAYERs")
    return specs


def _setups(there: RecordHeader) -> str | None:
    """The file of setups of the match that is resumed."""
    file = (there.setups or {}).get("file")
    if file == "-":
        raise UsageError("the setups came from stdin: give them again with --setups")
    return file


def _open_players(specs: Sequence[PlayerSpec], game: Game, seed: int) -> list[Entrant]:
    from stratkit.players.open import check_names, open_player

    entrants = [open_player(spec, game, seed, ROWS) for spec in specs]
    check_names(entrants)
    for entrant in entrants:
        if entrant.caution:
            warn(entrant.caution)
    if any(entrant.sha256 for entrant in entrants):
        import torch

        torch.set_num_threads(1)  # the same sums whatever --threads says
    return entrants


def _header(
    game: Game,
    seed: int,
    schedule: Schedule,
    entrants: Sequence[Entrant],
    setups: str | None,
    digest: str | None,
) -> RecordHeader:
    from stratkit.storage.records import RecordHeader, RecordPlayer

    return RecordHeader(
        game=game.name,
        rules=game.rules,
        seed=seed,
        games=schedule.games,
        players=tuple(RecordPlayer(e.name, e.spec, e.sha256) for e in entrants),
        setups={"file": setups, "sha256": digest} if setups and digest else None,
    )


def _play(
    game: Game,
    entrants: Sequence[Entrant],
    schedule: Schedule,
    seed: int,
    slots: int,
    threads: int,
    writer: RecordWriter,
) -> list[list[int]]:
    """Plays what is missing. Returns, for each pairing, the first player's wins, draws and
    losses in the games of this call."""
    from stratkit.play.table import Table, in_order

    missing = schedule.missing(writer.done)
    players = [entrant.player for entrant in entrants]
    table = Table(game, players, schedule.seatings(missing), slots, threads, seed=seed)
    tally = [[0, 0, 0] for _ in schedule.pairings()]
    with progress(len(missing), "game") as bar:
        for ready in in_order(table.rounds(), iter(missing)):
            for episode, seats, plies in ready or ():
                record = _record(game, schedule.pair(episode.number), episode, seats, plies)
                writer.write(record)
                score = record.returns[episode.number % 2]
                tally[episode.number // schedule.games][(score <= 0) + (score < 0)] += 1
            bar.update(len(ready or ()))
    return tally


def _record(
    game: Game, pair: int, episode: Episode, seats: tuple[int, ...], plies: int
) -> GameRecord:
    from stratkit.notation.transcript import game_text
    from stratkit.storage.records import GameRecord

    setups, moves = game_text(game, episode.actions)
    return GameRecord(
        number=episode.number,
        pair=pair,
        players=seats,
        setups=setups,
        moves=tuple(moves),
        returns=tuple(float(r) for r in episode.returns),
        reason=game.endings[episode.ending],
        plies=plies,
    )


def _say_how_to_go_on(seed: int) -> None:
    """The command that plays the rest. The seed is named, because the system may have chosen it."""
    words = [word for word in sys.argv[1:] if word not in ("--resume", "-f", "--force")]
    if not any(word == "--seed" or word.startswith("--seed=") for word in words):
        words += ["--seed", str(seed)]
    say(f"match: to go on: {shlex.join(['match', *words, '--resume'])}")


def _table(entrants: Sequence[Entrant], schedule: Schedule, tally: list[list[int]]) -> str:
    """Wins, draws and losses of each pairing, from the first player's side."""
    lines = []
    for (first, second), (wins, draws, losses) in zip(schedule.pairings(), tally, strict=True):
        names = f"{entrants[first].name} - {entrants[second].name}"
        lines.append(f"{names}: +{wins} ={draws} -{losses}")
    return "\n".join(lines)


def main() -> NoReturn:
    run(command, "match")


if __name__ == "__main__":
    main()
