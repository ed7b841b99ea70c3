"""The command `deploy-gen`: setups for one side, one a line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, NoReturn

import click

from stratkit.cli.messages import say, warn
from stratkit.cli.options import GAME_NAME, Text, option, output_options, seed_option
from stratkit.cli.tool import Tool, run
from stratkit.errors import UsageError, error_context, nearest
from stratkit.players.registry import SHIPPED
from stratkit.storage.streams import input_name, open_input, open_output

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from stratkit.engine.stratego import Variant
    from stratkit.setups.constraints import Constraints
    from stratkit.setups.source import Entropy, Setups, Source

    Logprobs = npt.NDArray[np.float64] | None

# The matrices of a model are small: more threads would take longer, all the more on a busy machine.
# numpy reads this when it is loaded, by whichever option comes first.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

VERSION = 1  # of what --json prints
ROWS = 64  # positions that a network evaluates at a time
UNIFORM, NUMBER, MODEL = "uniform", "number:", "model:"


@click.command(cls=Tool, short_help="Make setups.")
@option("--game G", "The game to deploy for.", GAME_NAME, required=True)
@option(
    "-n N", "How many setups (number: and --once: all by default).", click.IntRange(0), name="count"
)
@option(
    "--from SOURCE",
    "uniform, a file of setups to draw from (-: stdin), model:FILE (setups like those of"
    " FILE), a checkpoint or RUN, number:N, number:N..M or number:- (default: uniform).",
    Text(UNIFORM, MODEL, NUMBER, *SHIPPED),
    name="source",
    default=UNIFORM,
)
@option("--once", "Draw each line of a file at most once.")
@option("--mirror", "Exchange left and right in every second setup.")
@option(
    "--fix P=SQUARES",
    "Piece P stands on these squares, or on none but these if they are more (M=A1..K1).",
    name="fixed",
    multiple=True,
)
@option(
    "--forbid P=SQUARES",
    "Piece P stands on none of these squares (B=A4..K4).",
    name="forbidden",
    multiple=True,
)
@option("--unique", "No setup twice.")
@option("--number", "Print each setup's number beside it.", name="numbered")
@option(
    "--logprob",
    "Print the natural logarithm of each setup's probability, and estimate the entropy.",
)
@option("--json", "Print JSON Lines, with the numbers.", name="as_json")
@seed_option
@output_options
def command(**given: Any) -> None:
    """Make N setups for one side of game G, one a line: the letters of StraDoS2, seen from the
    side's own chair, back rank first, left to right."""
    options = DeployOptions(**given)
    options.check()
    _run(options)


@dataclass(frozen=True, kw_only=True)
class DeployOptions:
    """The options of `deploy-gen`."""

    game: str
    count: int | None
    source: str
    once: bool
    mirror: bool
    fixed: tuple[str, ...]
    forbidden: tuple[str, ...]
    unique: bool
    numbered: bool
    logprob: bool
    as_json: bool
    seed: int
    output: str
    force: bool

    def check(self) -> None:
        """`UsageError`: options that do not go together, or too few."""
        numbers = self.source.startswith(NUMBER)
        if numbers and (self.mirror or self.fixed or self.forbidden):
            raise UsageError(
                "a number says all of a setup: no --mirror, --fix or --forbid with number:"
            )
        if self.count is None and not self.once and not numbers:
            raise UsageError("missing option '-n': how many setups?")


def _run(options: DeployOptions) -> None:
    """Makes the setups."""
    from stratkit.engine.stratego import variant
    from stratkit.setups.constraints import constraints
    from stratkit.setups.source import Entropy, setups_of

    asked = constraints(variant(options.game), options.fixed, options.forbidden)
    asked.check()
    maker = _source(options, asked)
    entropy = Entropy()
    with open_output(options.output, options.force) as out:
        for setups in setups_of(maker, options.count, options.unique):
            logprobs = maker.logprobs(setups) if options.logprob else None
            if logprobs is not None:
                entropy.add(logprobs)
            out.writelines(_lines(options, setups, logprobs))
        if options.logprob and not options.unique:  # which are kept depends on those before
            _write_entropy(entropy, options.as_json, out)


def _source(options: DeployOptions, asked: Constraints) -> Source:
    """The source of setups that `--from` names."""
    from stratkit.setups.source import Mirrored
    from stratkit.setups.uniform import Uniform

    text, seed = options.source, options.seed
    if options.once and not _is_setups(text):
        raise UsageError("--once is for files of setups", text=text)
    if text.startswith(NUMBER):
        return _numbers(text.removeprefix(NUMBER), asked)
    if text in (UNIFORM, "random"):  # the mirror image of uniform is uniform
        return Uniform(asked, seed)
    if _is_setups(text):
        from stratkit.setups.given import Lines

        setups = _read(text, asked.variant)
        with error_context(input_name(text)):
            return Lines(setups, asked, seed, options.once, options.mirror)
    kind, colon, _ = text.partition(":")
    if kind + colon == MODEL:
        make = _model(text.removeprefix(MODEL), asked.variant, seed)
    elif not os.path.exists(text) and (hint := nearest(kind + colon, (UNIFORM, NUMBER, MODEL))):
        raise UsageError(f"no such source{hint}", text=text)
    else:
        make = _player(text, asked.variant, seed)
    return Mirrored(asked, seed, make) if options.mirror else make(asked)


def _is_setups(source: str) -> bool:
    """Whether this is stdin, a pipe, or a file that does not look like safetensors: eight bytes of
    length, then JSON."""
    if not os.path.isfile(source):
        return source == "-" or (os.path.exists(source) and not os.path.isdir(source))
    with open_input(source) as stream:
        return stream.read(9)[8:] != b"{"


def _numbers(text: str, asked: Constraints) -> Source:
    from stratkit.setups.given import numbers_between, numbers_read

    if text != "-":
        return numbers_between(asked.variant, text)
    with open_input("-") as stream:  # stdin stays open
        return numbers_read(asked.variant, stream, input_name("-"))


def _read(file: str, variant: Variant) -> Setups:
    """All setups of a file."""
    from stratkit.setups.given import read_all

    with open_input(file) as stream:
        return read_all(stream, input_name(file), variant)


def _model(file: str, variant: Variant, seed: int) -> Callable[[Constraints], Source]:
    """Makes sources by a model of the setups of a file."""
    from stratkit.setups.conditioned import Conditioned
    from stratkit.setups.model import ModelPlacer, fit

    placer = ModelPlacer(fit(variant, _read(file, variant)), seed)
    return lambda asked: Conditioned(placer, asked, seed)


def _player(text: str, variant: Variant, seed: int) -> Callable[[Constraints], Source]:
    """Makes sources by a player; by the target network, where it is a checkpoint."""
    from stratkit.cli.player import read_player
    from stratkit.engine import Game
    from stratkit.players.open import open_player
    from stratkit.setups.deployed import Deploying
    from stratkit.setups.placing import Placing

    game = Game(variant.name)
    entrant = open_player(read_player(text), game, seed, ROWS)
    if entrant.caution:
        warn(entrant.caution)
    placer = Deploying(game, entrant.player)
    return lambda asked: Placing(placer, asked)


def _lines(options: DeployOptions, setups: Setups, logprobs: Logprobs) -> Iterator[str]:
    """Setups, one a line. In JSON numbers are strings: many readers would round them. In text
    number and log-probability stand behind tabs."""
    from stratkit.notation.setups import setup_text
    from stratkit.setups.numbering import number_of

    for row, setup in enumerate(setups):
        number = str(number_of(setup)) if options.numbered or options.as_json else None
        if options.as_json:
            about = {"version": VERSION, "game": options.game, "setup": setup_text(setup)}
            about["number"] = number
            if logprobs is not None:
                about["logprob"] = round(float(logprobs[row]), 6)
            yield json.dumps(about) + "\n"
        else:
            logprob = None if logprobs is None else f"{logprobs[row] + 0.0:.6f}"
            yield "\t".join(filter(None, [setup_text(setup), number, logprob])) + "\n"


def _write_entropy(entropy: Entropy, as_json: bool, out: IO[Any]) -> None:
    """The entropy, as the last line of JSON or on stderr."""
    if as_json:
        out.write(json.dumps({"version": VERSION, **entropy.json()}) + "\n")
    elif entropy.draws:
        say(entropy.text())


def main() -> NoReturn:
    run(command, "deploy-gen")


if __name__ == "__main__":
    main()
