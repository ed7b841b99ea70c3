"""How the policies of turns come about: what the kinds of turns have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from stratkit.engine import Game
from stratkit.players.player import Explanation, Floats, Moves, Views
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.stages import Stage, Turns
from stratkit.search.blueprint import PlayableBlueprint
from stratkit.search.decision import SearchResult
from stratkit.storage.columns import PolicyTargets

if TYPE_CHECKING:
    from stratkit.players.searching.stage import SearchStage

Log = Callable[[Explanation], None]
Seat = tuple[int, int]  # a game, and the side that acts in it


def seat_of(views: Views, row: int) -> Seat:
    """The seat of a view."""
    return int(views.games[row]), int(views.sides[row])


class SearchTargets:
    """What networks are to learn of the search of n views: of each a policy of single actions and
    a value, or nothing."""

    def __init__(self, n: int) -> None:
        self.policies: list[tuple[npt.ArrayLike, npt.ArrayLike] | None] = [None] * n
        self.values = np.full(n, np.nan, np.float32)

    def note(self, row: int, actions: npt.ArrayLike, policy: npt.ArrayLike, value: float) -> None:
        """Sets the target of a view: a policy over some actions, and a value."""
        self.policies[row], self.values[row] = (actions, policy), value

    @property
    def column(self) -> PolicyTargets:
        """The policies as a column of episodes."""
        return PolicyTargets.of(self.policies)


@dataclass
class StagedPolicy:
    """A network's policy, and the stages through which it goes.

    evaluator  the network
    options    which post-processing
    log        called with the explanation of each turn
    search     a stage that comes first
    """

    evaluator: PlayableBlueprint
    game: Game
    seed: int
    options: PostProcessing
    log: Log | None = None
    search: SearchStage | None = None

    def __post_init__(self) -> None:
        """What a kind of turns keeps besides."""
        return

    def through(
        self, stages: Sequence[Stage], turns: Turns, policy: Floats
    ) -> list[tuple[str, Floats]]:
        """The network's policy of actions, float32 [n, m], and what each of the stages leaves."""
        left = [("network", policy)]
        for stage in stages:
            left.append((stage.name, stage(turns, left[-1][1]).policy))
        return left

    def explain(
        self,
        views: Views,
        row: int,
        moves: Moves,
        stages: list[tuple[str, Floats]],
        value: float | None = None,
        bounds: Floats | None = None,
        search: SearchResult | None = None,
    ) -> None:
        """Logs how a turn came about."""
        if self.log:
            packed = views.observations[row]
            seat = seat_of(views, row)
            self.log(Explanation(*seat, packed, moves, stages, value, bounds, search))


class TurnPolicy(StagedPolicy, ABC):
    """The policy of all turns of a game, which may be followed from `begin` to `end`."""

    def begin(self, seat: Seat) -> None:
        """A game begins."""
        return

    def end(self, seat: Seat) -> None:
        """What is kept of a game is forgotten."""
        return

    def watch(self, views: Views) -> None:
        """Others decide on these turns."""
        return

    @abstractmethod
    def policy(
        self, views: Views, targets: SearchTargets, values: bool
    ) -> tuple[Floats, Floats | None]:
        """The policy, float32 [n, actions], and the network's values, if they are wanted."""
