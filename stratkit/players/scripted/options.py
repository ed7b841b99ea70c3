"""The names of the scripted players, and what may be asked of them.

This module imports neither torch nor numpy: `--help` needs it too.
"""

from __future__ import annotations

from stratkit.declared import number, option
from stratkit.frozen import frozen

# Nobody learns against these, and no setting is chosen by them but for the levels, some of which
# they are: figures against them are reported.
REPORTED = ("raider", "baiter", "waiter", "bluffer")
# By those kept, settings may be chosen: nobody learns against them either.
KEPT = ("shuttler",)
SCRIPTS = (*REPORTED, *KEPT, "rusher", "miner-hunter", "careful", "turtle", "sniper")


@frozen()
class ScriptedOptions:
    """Of a scripted player."""

    skill: float = option(
        1.0, number(0.0, 1.0), "the share of its moves that follow its habit; the others are any"
    )
    spread: float = option(
        0.0, number(0.0, 1.0), "how far its setups are from its habit: 1 makes all equally likely"
    )
