"""How a person plays. Imports no numpy: `match --help` needs it."""

from __future__ import annotations

from stratkit.declared import one_of, usage, whole
from stratkit.errors import UsageError
from stratkit.frozen import frozen

ANY_ADDRESS = ("", "0", "0.0.0.0", "::")  # those that name no machine


@frozen(kw_only=True)
class PersonOptions:
    """The options of `match` that are for a person."""

    from_game: str | None = usage(
        "--from-game FILE:GAME:PLY|FENfS",
        "A person goes on from this ply of a game of FILE, or from a position, on either side in "
        "turn.",
    )
    browser: bool = usage(
        "--browser", "A person plays in a browser; stdout tells the address of the page."
    )
    port: int | None = usage(
        "--port N", "The port of the page on 127.0.0.1 (default: a free one).", whole(1, 65535)
    )
    host: str | None = usage(
        "--host NAME",
        "Serve the page at this address or name of this machine, for others in its network.",
    )
    style: str | None = usage(
        "--style",
        "The characters of a person's board (default: ascii).",
        one_of("ascii", "unicode"),
    )
    colour: str | None = usage(
        "--colour",
        "Colours on a person's board (default: auto, at a terminal).",
        one_of("auto", "always", "never"),
    )

    @property
    def front_end(self) -> str | None:
        """The option, if any, that says how a person plays."""
        given = {
            "--from-game": self.from_game is not None,
            "--browser": self.browser,
            "--port": self.port,
            "--host": self.host,
            "--style": self.style,
            "--colour": self.colour,
        }
        return next((name for name, value in given.items() if value), None)

    def check(self) -> None:
        """Raises `UsageError` for options that do not go together."""
        if self.browser and (self.style or self.colour):
            raise UsageError("--style and --colour are the terminal's, not the browser's")
        for name, value in (("--port", self.port), ("--host", self.host)):
            if value and not self.browser:
                raise UsageError(f"{name} is the one of --browser, which is missing")
        if self.host in ANY_ADDRESS:
            what = "--host wants the one address or name by which others reach this machine"
            raise UsageError(what, text=self.host)
