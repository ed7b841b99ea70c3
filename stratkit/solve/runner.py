"""From the policies that a command line names to a report on what they are worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from stratkit.engine import Game, Tree
from stratkit.engine.tree import Vector
from stratkit.errors import UsageError, printable
from stratkit.players.player import PolicyPlayer, Views
from stratkit.players.registry import NETWORK
from stratkit.players.spec import PlayerSpec
from stratkit.players.testtime.options import PostProcessing
from stratkit.solve.distinct import distinct
from stratkit.solve.exploitability import evaluate
from stratkit.solve.report import Entry, Report
from stratkit.solve.solver import open_solver, parse_solver
from stratkit.storage.streams import open_output

ROWS = 1024  # observations that a network evaluates at a time

Say = Callable[[str], None]
ReadPlayer = Callable[[str], PlayerSpec]
Progress = Callable[[int, str, str], AbstractContextManager[Any]]  # how many, of what, where


@dataclass(frozen=True, kw_only=True)
class ExploitOptions:
    """The options of `exploit`; the fields are called as they are."""

    game: str
    policies: tuple[str, ...]
    as_json: bool
    plot: str | None
    force: bool

    def check(self) -> None:
        """Raises `UsageError` for options that do not go together."""
        if self.plot == "-":
            raise UsageError("a picture cannot go where the table goes: name a file")


def run_exploit(
    options: ExploitOptions, read_player: ReadPlayer, progress: Progress, warn: Say, note: Say
) -> Report:
    """The report on all policies; a picture of it is written where `options` ask for one.

    `read_player` reads a PLAYER. Raises `UsageError` for what is no policy of the game,
    `InputError` for a game that is too large and for files that cannot be read.
    """
    asked = [_parse(text, read_player) for text in options.policies]
    tree = Tree(Game(options.game))
    note(f"{tree.histories:,} histories, {len(tree):,} information sets")
    evaluator = Evaluator(tree, progress, warn)
    entries = [
        entry
        for text, policy in zip(options.policies, asked, strict=True)
        for entry in evaluator.entries(text, policy)
    ]
    report = Report.of(tree, entries)
    if options.plot is not None:
        from stratkit.pictures import form_of
        from stratkit.solve.plot import plot

        with open_output(options.plot, options.force, binary=True) as stream:
            plot(report, stream, form_of(options.plot))
    return report


def _parse(text: str, read_player: ReadPlayer) -> PlayerSpec | tuple[str, int] | None:
    """A POLICY: a solver with its iterations, a PLAYER, or None for uniform."""
    if text in ("uniform", "random"):
        return None
    spec = parse_solver(text) or read_player(text)
    if not isinstance(spec, tuple) and spec.kind is not NETWORK:
        raise UsageError("not a policy that can be evaluated", text=text)
    return spec


class Evaluator:
    """Computes what policies of one game are worth."""

    def __init__(self, tree: Tree, progress: Progress, warn: Say) -> None:
        self.tree, self._progress, self._warn = tree, progress, warn

    def entries(self, text: str, policy: PlayerSpec | tuple[str, int] | None) -> Iterator[Entry]:
        """The entries of the POLICY `text`: one, or one for each checkpoint of a RUN."""
        if policy is None:
            yield self._entry(text, text, None, self.tree.uniform())
        elif isinstance(policy, tuple):
            yield self._entry(text, text, None, self._solve(*policy))
        else:
            yield from self._checkpoints(text, policy)

    def _entry(self, name: str, text: str, step: int | None, policy: Vector) -> Entry:
        return Entry(name, text, step, evaluate(self.tree, policy))

    def _solve(self, name: str, iterations: int) -> Vector:
        solver = open_solver(name, self.tree)
        with self._progress(iterations, "iteration", name) as bar:
            for _ in range(iterations):
                solver.step()
                bar.update()
        return solver.solution()

    def _checkpoints(self, text: str, spec: PlayerSpec) -> Iterator[Entry]:
        from stratkit.players.open import open_player
        from stratkit.storage.checkpoints import list_checkpoints

        if len(self.tree.game.shape) == 3 and spec.options.post != PostProcessing():
            raise UsageError("post-processing judges whole moves, not single actions", text=text)
        rows = min(ROWS, len(self._distinct[0]))
        paths = [str(path) for _, path in list_checkpoints(spec.spec)] or [spec.spec]
        with self._progress(len(paths), "checkpoint", printable(text)) as bar:
            for path in paths:
                entrant = open_player(replace(spec, spec=path), self.tree.game, 0, rows)
                if entrant.caution:
                    self._warn(entrant.caution)
                assert isinstance(entrant.player, PolicyPlayer)
                policy = self._of_network(entrant.player)
                asked = "" if spec.name or "net" not in spec.given else f"net={spec.options.net},"
                yield self._entry(asked + entrant.name, text, entrant.step, policy)
                bar.update()

    def _of_network(self, player: PolicyPlayer) -> Vector:
        """A network's policy: it has no memory, so it is asked once for what looks alike."""
        import torch

        torch.set_num_threads(1)  # the same sums on every machine of a kind
        observations, legal, which = self._distinct
        n = len(observations)
        nothing = np.zeros(n, np.int8)  # of games and sides a network knows nothing
        games, numbers = nothing.astype(np.int64), nothing.astype(np.int32)
        views = Views(games, nothing, numbers, legal, observations)
        return self.tree.flat(player.policy(views)[which])

    @cached_property
    def _distinct(
        self,
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        return distinct(self.tree)
