"""Which game has which kit.

To add a game: its table of functions in C (cengine/game.h), its row in cengine/games.c and, if it
has more than the plain kit, a kit in this room and a row here.
"""

from __future__ import annotations

from stratkit.engine import Game
from stratkit.engine.stratego import VARIANTS
from stratkit.games.cards import CardsKit
from stratkit.games.dice import DiceKit
from stratkit.games.diplomacy.kit import DiplomacyKit
from stratkit.games.kit import Kit
from stratkit.games.stones import HexKit, StonesKit
from stratkit.games.stratego.kit import StrategoKit

# By the name in cengine/games.c, which ends in a colon where a parameter follows.
KITS: dict[str, type[Kit]] = {
    **dict.fromkeys(VARIANTS, StrategoKit),
    "kuhn": CardsKit,
    "leduc": CardsKit,
    "leduc:": CardsKit,
    "liars_dice:": DiceKit,
    "hex:": HexKit,
    "dark_hex:": HexKit,
    "phantom_ttt": StonesKit,
    "phantom_ttt:": StonesKit,
    "diplomacy:": DiplomacyKit,
}


def kit_class(name: str) -> type[Kit]:
    """The kind of kit of the game called `name`, which need not be a game's."""
    kind, colon, _ = name.partition(":")
    return KITS.get(kind + colon, StrategoKit if name in VARIANTS else Kit)


def kit_of(game: Game) -> Kit:
    """The kit of a game."""
    return kit_class(game.name)(game)
