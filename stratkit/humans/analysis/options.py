"""What `analyse` is asked for, and whether it makes sense."""

from __future__ import annotations

from stratkit.declared import text, usage, whole
from stratkit.errors import UsageError
from stratkit.frozen import frozen
from stratkit.notation.select import Selection
from stratkit.storage.streams import check_outputs


@frozen(kw_only=True)
class AnalyseOptions:
    """The options of `analyse`."""

    inputs: tuple[str, ...]
    by: str | None = usage(
        "--by PLAYER",
        "The network that judges, as in match(1) (default: barrage or classic, by the game).",
        text("PLAYER"),
    )
    selection: Selection
    plies: tuple[int, int] | None = usage("--plies RANGE", "Only these plies of each game.")
    page: str | None = usage("--page FILE", "Also make an HTML page to learn from.")
    serve: bool = usage("--serve", "Answer requests, JSON lines from stdin, on stdout.")
    threads: int = usage(
        "--threads N", "Threads of the network (default: 1).", whole(1, 256), default=1
    )
    output: str
    force: bool

    def check(self) -> None:
        """Raises `UsageError` for options that do not go together, and what `check_outputs` does
        for files that cannot be written."""
        if self.serve and (self.inputs or self.page is not None or self.output != "-"):
            raise UsageError("--serve reads stdin and writes stdout: no GAMES, --page or -o")
        if not self.serve and not self.inputs:
            raise UsageError("missing GAMES, or --serve")
        if self.page == "-" == self.output:
            raise UsageError("the page cannot go where the records go: name a file")
        check_outputs((self.output, self.page), self.inputs, self.force)
