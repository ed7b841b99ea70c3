"""One player by itself: `match --serve` and `match --check`, over the UCC protocol, and `match
--page`, a page in which a person plays it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import click

from stratkit.cli.messages import is_talkative, say, warn
from stratkit.cli.options import given_options, read_player
from stratkit.errors import UsageError, printable
from stratkit.match.options import RULES
from stratkit.players.registry import learned_game
from stratkit.storage.streams import read_line

CHECKED_PLIES = 200  # of a game that --check plays
# What may be given with --serve and --check.
ALONE = {"serve", "check", "game", "seed", *RULES} - {"open"}
WITH_PAGE = {"page", "players", "game", "seed", "force", *RULES}


def check_options(ctx: click.Context) -> None:
    """`UsageError`: more is given than one of the two and what goes with it."""
    given = given_options(ctx)
    if not given <= ALONE or {"serve", "check"} <= given:
        what = "--serve and --check take only --game, --seed and rules"
        raise UsageError(f"{what}: give nothing else with them")


def check_page_options(ctx: click.Context) -> None:
    """`UsageError`: more is given than `--page` and what goes with it."""
    if not given_options(ctx) <= WITH_PAGE:
        what = "--page takes only two PLAYERs, --game, --seed, rules and -f"
        raise UsageError(f"{what}: give nothing else with it")


def write_page(
    file: str,
    players: Sequence[str],
    game: str | None,
    rules: dict[str, int],
    seed: int | None,
    force: bool,
) -> int:
    """Runs `--page`; the exit status."""
    from stratkit.engine import Game
    from stratkit.humans.standalone.page import write_page

    specs = [read_player(text) for text in players]
    game = game or learned_game(specs)
    if not players or game is None:
        raise UsageError(f"missing {'PLAYERs' if not players else 'option --game'}")
    opened = Game(game, rules)
    told = warn if is_talkative() else (lambda text: None)
    size = write_page(file, specs, opened, seed, force, told)
    say(f"match: {printable(file)}: {size / 1e6:.1f} MB; open it in a browser")
    return 0


def serve_or_check(
    serve: str | None, check: str | None, game: str | None, rules: dict[str, int], seed: int
) -> int:
    """Runs `--serve` or `--check`; the exit status. The protocol has no repetition rule and no
    draw: only the rules that the command line names are in force."""
    from stratkit.engine import Game
    from stratkit.engine.stratego import variant
    from stratkit.ucc.kind import PROGRAM

    text = serve if check is None else check
    assert text is not None
    spec = read_player(text)
    game = game or learned_game([spec]) or "classic"
    variant(game)
    limit = {} if check is None else {"max_plies": CHECKED_PLIES}
    opened = Game(game, {**dict.fromkeys(Game(game).rules, 0), **limit, **rules})
    if check is not None:
        from stratkit.players.spec import OpenContext
        from stratkit.ucc.compliance import WRONG, check_program
        from stratkit.ucc.open_program import open_program

        if spec.kind is not PROGRAM:
            raise UsageError("--check is for programs, ucc:COMMAND", text=check)
        program = open_program(spec, opened, OpenContext(seed, 1, is_talkative())).player
        remarks = check_program(program, opened, seed)
        for verdict, line in remarks:
            click.echo(f"{verdict}: {printable(line)}")
        return 3 if any(verdict == WRONG for verdict, _ in remarks) else 0
    from stratkit.players.factory import open_player
    from stratkit.setups.told import ToldSetup, read_setup
    from stratkit.ucc.agent import Agent

    contestant = open_player(replace(spec, setup=None), opened, seed, 1)
    player = contestant.player
    if spec.setup is not None:
        player = ToldSetup(player, game, read_setup(spec.setup, opened))
    if contestant.caution and is_talkative():
        warn(contestant.caution)
    agent = Agent(opened, player, _get, _put)
    agent.run()
    while os.environ.get("MATCH_REUSE") == "on" and not agent.ended:
        agent.run()
    return 0


def _get() -> str | None:
    """A line of stdin without its end."""
    line = read_line()
    return line and line.rstrip("\r\n")


def _put(line: str) -> None:
    print(line, flush=True)
