"""What `deploy-gen` is asked for, and whether it makes sense.

This module imports no numpy: `--help` needs it.
"""

from __future__ import annotations

from stratkit.declared import REQUIRED, usage, whole
from stratkit.errors import UsageError
from stratkit.frozen import frozen

UNIFORM, NUMBER, MODEL, SEARCH = "uniform", "number:", "model:", "search,"


@frozen(kw_only=True)
class DeployOptions:
    """The options of `deploy-gen`."""

    game: str = usage("--game G", "The game to deploy for.", default=REQUIRED)
    count: int | None = usage(
        "-n N", "How many setups (number: and --once: all by default).", whole(0, 2**62)
    )
    source: str = usage(
        "--from SOURCE",
        "uniform, a file of setups to draw from (-: stdin), model:FILE (setups like those of"
        " FILE), a checkpoint or RUN, number:N, number:N..M, number:- or search,[key=value,]...RUN"
        " (default: uniform).",
        default="uniform",
    )
    once: bool = usage("--once", "Draw each line of a file at most once.")
    mirror: bool = usage("--mirror", "Exchange left and right in every second setup.")
    fixed: tuple[str, ...] = usage(
        "--fix P=SQUARES",
        "Piece P stands on these squares, or on none but these if they are more (M=A1..K1).",
        default=(),
    )
    forbidden: tuple[str, ...] = usage(
        "--forbid P=SQUARES", "Piece P stands on none of these squares (B=A4..K4).", default=()
    )
    unique: bool = usage("--unique", "No setup twice.")
    numbered: bool = usage("--number", "Print each setup's number beside it.")
    logprob: bool = usage(
        "--logprob",
        "Print the natural logarithm of each setup's probability, and estimate the entropy.",
    )
    as_json: bool = usage("--json", "Print JSON Lines, with the numbers.")
    seed: int
    force: bool
    output: str

    def check(self) -> None:
        """`UsageError`: options that do not go together, or too few."""
        numbers = self.source.startswith(NUMBER)
        if numbers and (self.mirror or self.fixed or self.forbidden):
            raise UsageError(
                "a number says all of a setup: no --mirror, --fix or --forbid with number:"
            )
        if self.source.startswith(SEARCH):
            if self.mirror or self.unique:
                raise UsageError(
                    "a book is of pairs of setups: no --mirror or --unique with search"
                )
            if self.count is not None and self.count % 2:
                raise UsageError("a book needs two setups a game, red's and blue's: -n is even")
        if self.count is None and not self.once and not numbers:
            raise UsageError("missing option '-n': how many setups?")
