"""A person as a kind of player: `[KEY=VALUE,...]human`.

This module imports neither torch nor numpy: `--help` needs it too."""

from __future__ import annotations

from stratkit.declared import option, text
from stratkit.frozen import frozen
from stratkit.players.clock import CLOCK, Clock
from stratkit.players.spec import PlayerKind


@frozen()
class HumanOptions:
    """Of a person."""

    favourites: str | None = option(None, text("FILE"), "offer the setups of FILE by their names")
    offers: str | None = option(
        None, text("SOURCE"), "offer setups from here, as deploy-gen --from has it: model:FILE"
    )
    clock: Clock | None = option(
        None, CLOCK, "seconds that a person has for all moves of a game, and more for each"
    )


HUMAN = PlayerKind("people", words=("human",), options=HumanOptions)
