"""The command `match`: players meet at the board, and every game is recorded."""

from __future__ import annotations

import os
import sys
from dataclasses import fields
from typing import Any, NoReturn

import click
from click.core import ParameterSource

from stratkit.cli.messages import command_to_go_on, is_live, is_talkative, say, warn
from stratkit.cli.options import (
    GAME_NAME,
    Text,
    open_option,
    option,
    options,
    options_from,
    read_player,
    seed_option,
)
from stratkit.cli.tool import Tool, run
from stratkit.declared import Kind, one_of, whole
from stratkit.errors import error_context
from stratkit.humans.options import PersonOptions
from stratkit.match import PLAYERS
from stratkit.match.options import RULES, MatchOptions
from stratkit.players.registry import help_tables, words_of
from stratkit.storage.streams import STDOUT

# The matrices of rules of thumb are small: more threads would take longer, as in deploy-gen.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

PLAYER = Text(*words_of(PLAYERS))


class MatchTool(Tool):
    """`--help` lists the keys of PLAYERs too."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, keys in help_tables(PLAYERS):
            with formatter.section(heading):
                formatter.write_dl(keys)


_PLIES = whole(1, 65535)
LIMIT = Kind(
    "N|off",
    f"off, or {_PLIES.needed}",
    lambda text: 0 if text == "off" else _PLIES.read(text),
    lambda plies: plies,
)
_NUMBERS = {"off": 0, "on": 1, "3": 3, "5": 5}  # of words, as rules have them

# The rules that a match may change.
rule_options = options(
    option(
        "--two-squares",
        "How often a piece may cross one border in a row (default: as the game has it).",
        one_of("3", "5", "off"),
    ),
    option("--more-squares", "Whether endless chases are illegal.", one_of("on", "off")),
    option("--max-plies N|off", "Draw after N plies.", LIMIT),
    option("--max-no-attack N|off", "Draw after N plies without an attack.", LIMIT),
    open_option,
)


@click.command(cls=MatchTool, short_help="Play matches between players, and record every game.")
@click.argument("players", nargs=-1, metavar="PLAYER PLAYER...", type=PLAYER)
@options_from(
    MatchOptions,
    game=GAME_NAME,
    seats=Text(),
    rules=rule_options,
    seed=seed_option,
    person=options_from(PersonOptions),
)
@option(
    "--serve PLAYER",
    "Instead of a match: play one game on stdin and stdout, as an agent of the UCC protocol.",
    PLAYER,
)
@option(
    "--check ucc:COMMAND",
    "Instead of a match: try whether a program keeps to the protocol, and say what is wrong.",
)
@option(
    "--page FILE",
    "Instead of a match: write a page in which a person plays a network, without any server.",
)
@click.pass_context
def command(
    ctx: click.Context, /, serve: str | None, check: str | None, page: str | None, **given: Any
) -> int:
    """Every PLAYER meets every other in pairs of games with colours swapped. PLAYER is
    [key=value,]...SPEC, where SPEC is random, heuristic, a scripted player (raider), human, a
    player that comes with stratkit (barrage, classic), a checkpoint file, a RUN folder,
    py:MODULE:CLASS, mix=FILE, a mixture of players, or ucc:COMMAND, a program."""
    rules = _rules(given)
    seed_given = ctx.get_parameter_source("seed") is not ParameterSource.DEFAULT
    if page is not None:
        from stratkit.cli import alone

        alone.check_page_options(ctx)
        seed = given["seed"] if seed_given else None
        return alone.write_page(page, given["players"], given["game"], rules, seed, given["force"])
    if serve is not None or check is not None:
        from stratkit.cli import alone

        alone.check_options(ctx)
        with error_context(STDOUT, only=OSError):
            return alone.serve_or_check(serve, check, given["game"], rules, given["seed"])
    from stratkit.match.live import Console
    from stratkit.match.runner import run_match

    given["players"] = tuple(read_player(text) for text in given["players"])
    person = PersonOptions(**{field.name: given.pop(field.name) for field in fields(PersonOptions)})
    options = MatchOptions(**given, rules=rules, person=person, seed_given=seed_given)
    return run_match(options, Console(say, warn, _say_how_to_go_on, is_live(), is_talkative()))


def _rules(given: dict[str, Any]) -> dict[str, int]:
    """The rules that the command line names, taken out of `given`."""
    values = {rule: given.pop(option) for option, rule in RULES.items()}
    return {rule: _NUMBERS.get(value, value) for rule, value in values.items() if value is not None}


def _say_how_to_go_on(seed: int, games: int | None) -> None:
    """The command that plays the rest. The seed is named, because the system may have chosen it; so
    is the number of `games` if it has grown, after the one that was given."""
    named = any(word == "--seed" or word.startswith("--seed=") for word in sys.argv)
    more = [] if named else ["--seed", str(seed)]
    more += [] if games is None else ["-n", str(games)]
    say(f"match: to go on: {command_to_go_on(*more)}")


def main() -> NoReturn:
    """The command `match`."""
    run(command, "match")


if __name__ == "__main__":
    main()
