"""Judges policies of games that are too large for a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stratkit.arrays import Float64s
from stratkit.errors import InputError, Say
from stratkit.solve.exploitability import PolicyValue
from stratkit.solve.judge import ROWS, Judge, Keeping, Searches, paths_of
from stratkit.solve.large import LargeGame
from stratkit.solve.report import Entry
from stratkit.solve.sets import OpenProgress
from stratkit.storage.responses import Response
from stratkit.storage.sets import InformationSets

if TYPE_CHECKING:
    from stratkit.players.searching.pbs import PBSPlayer
    from stratkit.players.spec import PlayerSpec


class LargeJudge(Judge[Any]):
    """Of a game too large for a tree."""

    def __init__(
        self,
        large: LargeGame[Any],
        progress: OpenProgress,
        warn: Say,
        keeping: Keeping | None = None,
        searches: Searches | None = None,
    ) -> None:
        super().__init__(large.game, progress, warn, keeping, searches)
        self._large = large

    @property
    def size(self) -> tuple[int, int]:
        return self._large.size

    def _uniform(self) -> Any:
        return self._large.uniform()

    def _solve(self, name: str, iterations: int) -> Any:
        return self._iterated(self._large.open_solver(name), name, iterations)

    @property
    def _sets(self) -> InformationSets:
        return self._large.sets

    def _of_choices(self, choices: Float64s) -> Any:
        return self._large.of_choices(choices)

    def _value(self, policy: Any) -> PolicyValue:
        return self._large.evaluate(policy, self._progress)

    def _respond(self, policy: Any) -> tuple[PolicyValue, Response]:
        return self._large.respond(policy, self._progress)

    def _profile(self, first: Any, second: Any) -> Any:
        return self._large.profile(first, second)

    def _players(self, text: str, spec: PlayerSpec) -> Iterator[Entry]:
        from stratkit.players.registry import MIXTURE, NETWORK

        if spec.kind is MIXTURE:
            raise InputError(f"{self.game.name} is too large for mixtures", text=text)
        network = spec.kind is NETWORK
        searching = spec.options.searching if network else spec.options
        by_beliefs = searching and searching.of_beliefs
        if by_beliefs and self._large.places is not None:
            return (self._played(text, replace(spec, spec=path)) for path in paths_of(spec))
        if searching or (network and not spec.options.post.of_single_actions):
            raise InputError(f"{self.game.name} is too large for searches", text=text)
        if network:
            self._large.say_cost_of_network()
        return self._checkpoints(text, spec, ROWS)

    def _counted(self, player: PBSPlayer, games: int, **how: Any) -> tuple[Any, float | None]:
        """Sums take as much memory as a policy, so there is one group, and no error."""
        places = self._large.places
        sums = player.play_through(games, 1, places=places, **how)
        return self._large.of_counts(sums[0]), None
