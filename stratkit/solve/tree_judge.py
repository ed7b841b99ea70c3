"""Judges policies of games that have a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from stratkit.arrays import Bytes, Float64s, Int64s
from stratkit.engine import Tree
from stratkit.engine.tree import Vector
from stratkit.errors import Say, UsageError, printable
from stratkit.solve.cfr import from_reach
from stratkit.solve.exploitability import (
    PolicyValue,
    best_response,
    evaluate,
    jackknife,
    jackknife_of_sums,
    walk,
)
from stratkit.solve.judge import ROWS, Judge, Keeping, Searches, paths_of
from stratkit.solve.report import Entry
from stratkit.solve.responses import best_choices, response_of_tree
from stratkit.solve.sets import OpenProgress, asked, on_tree
from stratkit.solve.solver import open_solver
from stratkit.storage.responses import Response
from stratkit.storage.sets import InformationSets, sets_of

if TYPE_CHECKING:
    from stratkit.players.player import PolicyPlayer, Views
    from stratkit.players.searching.pbs import PBSPlayer
    from stratkit.players.spec import PlayerSpec

GROUPS = 32  # of games that are played through, for the error of their mixture
SEARCHES = 64  # information sets that are searched at a time


class TreeJudge(Judge[Vector]):
    """Of a game with a tree."""

    def __init__(
        self,
        tree: Tree,
        progress: OpenProgress,
        warn: Say,
        keeping: Keeping | None = None,
        searches: Searches | None = None,
    ) -> None:
        super().__init__(tree.game, progress, warn, keeping, searches)
        self.tree = tree

    @property
    def size(self) -> tuple[int, int]:
        return self.tree.histories, len(self.tree)

    @cached_property
    def _sets(self) -> InformationSets:
        return sets_of(self.tree)

    def _of_choices(self, choices: Float64s) -> Vector:
        return on_tree(self._sets, self.tree, choices)

    def _uniform(self) -> Vector:
        return self.tree.uniform()

    def _entry(self, name: str, text: str, step: int | None, *policies: Vector) -> Entry:
        """Of the mean of some policies, of which several differ by chance."""
        error = jackknife(self.tree, policies) if len(policies) > 1 else None
        return self._judged(name, text, step, np.mean(policies, axis=0), error=error)

    def _value(self, policy: Vector) -> PolicyValue:
        found = None if self.tree.sets_only else evaluate(self.tree, policy)
        if found and not self._keeping.local:
            return found
        game = self.tree.game
        with self._progress(game.players * self.tree.histories, "history", game.name) as bar:
            walked = walk(self.tree, policy, bar.update)
        return replace(found, local=walked.local) if found else walked

    def _respond(self, policy: Vector) -> tuple[PolicyValue, Response]:
        reach = self.tree.reach(policy)
        choices = best_choices(self.tree, lambda me: best_response(self.tree, me, reach)[1])
        return self._value(policy), response_of_tree(self.tree, choices)

    def _profile(self, first: Vector, second: Vector) -> Vector:
        return np.where(self.tree.mine == 0, first, second)

    def _solve(self, name: str, iterations: int) -> Vector:
        if self.tree.sets_only:
            what = f"solvers are for two players, and {self.game.name} has {self.game.players}"
            raise UsageError(what, text=name)
        policy: Vector = self._iterated(open_solver(name, self.tree), name, iterations)
        return policy

    def _players(self, text: str, spec: PlayerSpec) -> Iterator[Entry]:
        from stratkit.players.registry import MIXTURE, NETWORK

        if spec.kind is MIXTURE:
            yield self._mixed(text, spec)
            return
        network = spec.kind is NETWORK
        searching = spec.options.searching if network else spec.options
        post = network and not spec.options.post.of_single_actions
        by_beliefs = searching and searching.of_beliefs  # judged by what it plays in the whole tree
        if self.tree.game.actions_per_ply > 1 and (post or searching) and not by_beliefs:
            what = "search improves" if searching else "post-processing judges"
            raise UsageError(f"{what} whole moves, not single actions", text=text)
        if by_beliefs:
            yield from (self._played(text, replace(spec, spec=path)) for path in paths_of(spec))
        elif searching:
            yield from (self._searched(text, replace(spec, spec=path)) for path in paths_of(spec))
        else:
            yield from self._checkpoints(text, spec, min(ROWS, len(self._distinct[0])))

    def _mixed(self, text: str, spec: PlayerSpec) -> Entry:
        """The behaviour strategy that plays as the mixture of its members does (Kuhn 1953)."""
        from stratkit.players.baselines import RandomPlayer
        from stratkit.players.factory import open_player
        from stratkit.players.mixture import MixturePlayer
        from stratkit.players.network import NetworkPlayer
        from stratkit.players.table import TablePlayer

        contestant, reach = open_player(spec, self.game, 0, ROWS), np.zeros(len(self._uniform()))
        assert isinstance(contestant.player, MixturePlayer)
        for member, weight in contestant.player.weighted:
            if isinstance(member, NetworkPlayer):
                policy = self._of_network(member)
            elif isinstance(member, TablePlayer):
                policy = self._of_choices(member.policy)
            elif isinstance(member, RandomPlayer):
                policy = self._uniform()
            else:
                what = "of a mixture, random, tables and networks without a search can be evaluated"
                raise UsageError(what, text=spec.spec)
            reach += weight * self.tree.reach(policy)[1:]
        return self._entry(contestant.name, text, None, from_reach(self.tree, reach))

    def _searched(self, text: str, spec: PlayerSpec) -> Entry:
        """The mean policy of repeated searches of one player, each with a seed of its own."""
        from stratkit.players.factory import open_player
        from stratkit.players.player import PolicyPlayer

        views, policies = self._views, []
        parts = [slice(at, at + SEARCHES) for at in range(0, len(views), SEARCHES)]
        with self._progress(self.searches.repeats * len(views), "decision", printable(text)) as bar:
            for seed in range(self.searches.repeats):
                contestant = open_player(spec, self.tree.game, seed, ROWS)
                assert isinstance(contestant.player, PolicyPlayer)
                parts_of = []
                for part in parts:
                    parts_of.append(contestant.player.policy(views.take(part)))
                    bar.update(len(parts_of[-1]))
                policies.append(self.tree.flat(np.concatenate(parts_of)))
        if contestant.caution:
            self._warn(contestant.caution)
        step = contestant.step if contestant.step >= 0 else None
        return self._entry(text if step is None else contestant.name, text, step, *policies)

    def _counted(self, player: PBSPlayer, games: int, **how: Any) -> tuple[Vector, float | None]:
        groups = min(games, GROUPS)
        sums = player.play_through(games, groups, **how)
        sets = player.tree.infosets(self.tree)
        choices = player.tree.first[:-1] - self.tree.first[:-1][sets]
        group_sums = np.empty_like(sums)
        sizes = np.diff(player.tree.first)
        group_sums[:, np.arange(sums.shape[1]) - np.repeat(choices, sizes)] = sums
        error = jackknife_of_sums(self.tree, list(group_sums)) if groups > 1 else None
        return from_reach(self.tree, group_sums.sum(0)), error

    @cached_property
    def _views(self) -> Views:
        """A state of each information set, as its player sees it; games are the sets' numbers."""
        from stratkit.players.player import Views

        batch, numbers = self.tree.states()
        rows = np.arange(batch.size)
        seen = batch.actors(), batch.legal(), batch.observe()
        return Views.of_batch(batch, rows, rows, numbers, seen)

    def _of_network(self, player: PolicyPlayer) -> Vector:
        """A network's policy: it has no memory, so it is asked once for what looks alike."""
        observations, legal, which = self._distinct
        return self.tree.flat(asked(player, observations, legal)[which])

    def _some_views(self) -> tuple[Bytes, Bytes]:
        observations, legal, _ = self._distinct
        return observations, legal

    @cached_property
    def _distinct(self) -> tuple[Bytes, Bytes, Int64s]:
        return self.tree.distinct_views()
