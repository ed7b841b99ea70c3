"""The kit of Diplomacy, on any map."""

from __future__ import annotations

from stratkit.engine.diplomacy import map_of
from stratkit.games.diplomacy.dumbbot import DumbBot
from stratkit.games.diplomacy.heuristic import GreedyBlueprint
from stratkit.games.heuristic import Heuristic
from stratkit.games.kit import Kit, Notation


class DiplomacyKit(Kit):
    """Powers, and rules of thumb. Orders are written and drawn by map and phase, beside this."""

    notation = Notation.ORDERS
    stakes = False

    @property
    def seats(self) -> tuple[str, ...]:
        return tuple(map_of(self.game).powers)

    @property
    def heuristic(self) -> GreedyBlueprint:
        return GreedyBlueprint(self.game)

    def heuristic_called(self, name: str) -> Heuristic | None:
        return DumbBot(self.game) if name == "dumbbot" else super().heuristic_called(name)
