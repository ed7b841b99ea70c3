"""What policies of one game are worth, whatever a policy of it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np

from stratkit.arrays import Bytes, Float64s
from stratkit.engine import Game
from stratkit.errors import InputError, Say, UsageError, printable
from stratkit.players.spec import TABLE
from stratkit.solve.exploitability import PolicyValue
from stratkit.solve.options import AVERAGE, BY_LEARNERS, ITERATE
from stratkit.solve.report import Entry
from stratkit.solve.sets import OpenProgress, all_choices, check_function
from stratkit.solve.solver import TabularSolver
from stratkit.solve.tables import kept_policy
from stratkit.storage.responses import Response
from stratkit.storage.sets import InformationSets
from stratkit.storage.tables import PolicyTable, read_table

if TYPE_CHECKING:
    from stratkit.players.player import PolicyPlayer
    from stratkit.players.searching.pbs import PBSPlayer
    from stratkit.players.spec import Contestant, PlayerSpec

ROWS = 1024  # observations that a network evaluates at a time

P = TypeVar("P")


# A POLICY: a solver with its iterations, a PLAYER, or None for uniform.
AnyPolicy: TypeAlias = "PlayerSpec | tuple[str, int] | None"


@dataclass(frozen=True)
class Keeping:
    """What is kept of policies.

    table     a file, or None
    local     what choosing one turn anew gains is computed, too
    pairs     policies are kept in memory, to meet one another
    response  so are best responses
    rules     of the game, that differ from its own
    force     another table is overwritten
    note      takes what is said of it
    bytes     that policies in memory may take
    """

    table: str | None = None
    local: bool = False
    pairs: bool = False
    response: bool = False
    rules: Mapping[str, int] = field(default_factory=dict)
    force: bool = False
    note: Say = lambda line: None
    bytes: int = 1 << 62


@dataclass(frozen=True)
class Searches:
    """How searches are judged.

    repeats    of them, or games that are played through
    estimator  of public belief states: what is counted inside a subgame, `AVERAGE` or `ITERATE`
    """

    repeats: int = 8
    estimator: str = AVERAGE


class Judge(ABC, Generic[P]):
    """Computes what policies of one game are worth. Subclasses know what a policy P is."""

    def __init__(
        self,
        game: Game,
        progress: OpenProgress,
        warn: Say,
        keeping: Keeping | None = None,
        searches: Searches | None = None,
    ) -> None:
        self.game, self._progress, self._warn = game, progress, warn
        self._keeping = keeping or Keeping()
        self.searches = searches or Searches()
        self._held: list[tuple[str, str, P]] = []  # name, text and policy of each entry
        self.responses: list[Response] = []  # to each, where they are kept

    def entries(self, text: str, policy: AnyPolicy) -> Iterator[Entry]:
        """The entries of the POLICY `text`: one, or one for each checkpoint of a RUN."""
        from stratkit.players.registry import POLICY_TABLE

        if policy is None:
            yield self._entry(text, text, None, self._uniform())
        elif isinstance(policy, tuple):
            yield self._entry(text, text, None, self._solve(*policy))
        elif policy.kind is POLICY_TABLE:
            yield self._of_table(text, policy)
        else:
            n, keeping = len(paths_of(policy)), self._keeping
            if n > 1 and (keeping.table is not None or keeping.response):
                what = "--table and --write-response are for one policy"
                raise UsageError(f"{what}, and this RUN has {n} checkpoints", text=text)
            yield from self._players(text, policy)

    @property
    @abstractmethod
    def size(self) -> tuple[int, int]:
        """How many histories and information sets the game has."""

    @abstractmethod
    def _uniform(self) -> P:
        """All legal actions alike."""

    @abstractmethod
    def _solve(self, name: str, iterations: int) -> P:
        """What the solver has after its iterations; `InputError`: the game has none."""

    def _iterated(self, solver: TabularSolver, name: str, iterations: int) -> Any:
        with self._progress(iterations, "iteration", name) as bar:
            for _ in range(iterations):
                solver.step()
                bar.update()
        return solver.solution()

    @property
    @abstractmethod
    def _sets(self) -> InformationSets:
        """The information sets in which players are asked."""

    @abstractmethod
    def _of_choices(self, choices: Float64s) -> P:
        """The policy of these probabilities of the sets' choices."""

    def _of_network(self, player: PolicyPlayer) -> P:
        return self._of_choices(all_choices(self._sets, player, self._progress))

    def _of_table(self, text: str, spec: PlayerSpec) -> Entry:
        table = PolicyTable(spec.spec.removeprefix(TABLE))
        choices = read_table(table, self._sets, self._keeping.rules)
        return self._entry(spec.name or text, text, None, self._of_choices(choices))

    def _entry(self, name: str, text: str, step: int | None, *policies: P) -> Entry:
        """Of the mean of some policies."""
        return self._judged(name, text, step, policies[0])

    def _judged(self, name: str, text: str, step: int | None, policy: P, **more: Any) -> Entry:
        if self._keeping.pairs:
            self._hold(name, text, policy)
        if not self._keeping.response:
            return Entry(name, text, step, self._value(policy), **more)
        value, response = self._respond(policy)
        self.responses.append(response)
        return Entry(name, text, step, value, **more)

    def _hold(self, name: str, text: str, policy: P) -> None:
        """Keeps a policy for its pairs. `InputError`: all of them take too much memory."""
        self._held.append((name, text, policy))
        size = sum(_bytes(held) for *_, held in self._held)
        if size > self._keeping.bytes:
            kept = (
                f"the first {len(self._held)} policies of --pairs take {size / (1 << 30):.2g} GiB"
            )
            raise InputError(f"{kept} (--memory)")

    def pairs(self) -> Iterator[Entry]:
        """Each policy, as player 0, against each other one. `UsageError`: there is only one."""
        if len(self._held) < 2:
            raise UsageError("--pairs needs two policies")
        for (name, text, first), (other, opponent, second) in permutations(self._held, 2):
            both = self._value(self._profile(first, second))
            yield Entry(f"{name} : {other}", text, None, both, opponent=opponent)

    @abstractmethod
    def _value(self, policy: P) -> PolicyValue:
        """What the policy is worth when both play it."""

    @abstractmethod
    def _respond(self, policy: P) -> tuple[PolicyValue, Response]:
        """The same, and the best responses to it."""

    @abstractmethod
    def _profile(self, first: P, second: P) -> P:
        """Player 0's part of the first policy with player 1's of the second."""

    @abstractmethod
    def _players(self, text: str, spec: PlayerSpec) -> Iterator[Entry]:
        """The entries of a PLAYER."""

    def _checkpoints(self, text: str, spec: PlayerSpec, rows: int) -> Iterator[Entry]:
        from stratkit.players.factory import open_player
        from stratkit.players.player import PolicyPlayer
        from stratkit.players.registry import PYTHON

        paths, keeping = paths_of(spec), self._keeping
        with self._progress(len(paths), "checkpoint", printable(text)) as bar:
            for path in paths:
                contestant = open_player(replace(spec, spec=path), self.game, 0, rows)
                if contestant.caution:
                    self._warn(contestant.caution)
                player = contestant.player
                if not isinstance(player, PolicyPlayer) or player.random_ties:
                    what = f"not a policy that can be evaluated; {BY_LEARNERS}"
                    raise InputError(what, text=text)
                if spec.kind is PYTHON:
                    check_function(contestant.name, player, *self._some_views())
                policy = self._kept(contestant) if keeping.table else self._of_network(player)
                prefix = "" if spec.name or "net" not in spec.given else f"net={spec.options.net},"
                step = contestant.step if contestant.step >= 0 else None
                yield self._entry(prefix + contestant.name, text, step, policy)
                bar.update()

    @abstractmethod
    def _counted(self, player: PBSPlayer, games: int, **how: Any) -> tuple[P, float | None]:
        """What a search of public belief states plays in so many games, and the standard error of
        its exploitability, if that is known."""

    def _played(self, text: str, spec: PlayerSpec) -> Entry:
        """The mixture of what a search of public belief states plays in repeated games. It depends
        on what was drawn at earlier turns, so each game is played through the whole tree."""
        from stratkit.players.factory import open_player
        from stratkit.players.searching.pbs import PBSPlayer
        from stratkit.search.safe import Depths

        contestant = open_player(spec, self.game, 0, ROWS)
        player, estimator = contestant.player, self.searches.estimator
        assert isinstance(player, PBSPlayer)
        search = player.search
        games = self.searches.repeats if search.safe else 1
        with self._progress(games, "game", printable(text)) as bar:
            counted = {"done": bar.update, "iterate": estimator == ITERATE}
            policy, error = self._counted(player, games, **counted)
        if contestant.caution:
            self._warn(contestant.caution)
        step = contestant.step if contestant.step >= 0 else None
        name = text if step is None else contestant.name
        how: dict[str, int | str] = {
            "iterations": search.updates,
            "depth": Depths(player.tree, search).of(player.tree.opening)[0],
            "games": games,
            "estimator": estimator if search.safe else AVERAGE,
            **({"nodes": search.nodes} if search.depth is None else {}),
            **({"warm": search.warm} if search.warm else {}),
            **({"opening": search.opening} if search.opening else {}),
        }
        return self._judged(name, text, step, policy, error=error, search=how)

    def _some_views(self) -> tuple[Bytes, Bytes]:
        """Observations and legal actions of some information sets."""
        return self._sets.views(0, ROWS)

    def _kept(self, contestant: Contestant[Any]) -> P:
        keeping = self._keeping
        assert keeping.table is not None
        choices = kept_policy(
            keeping.table,
            self._sets,
            keeping.rules,
            contestant,
            keeping.force,
            self._progress,
            keeping.note,
        )
        return self._of_choices(choices)


def _bytes(policy: object) -> int:
    """That a policy, an array or one for each player, takes in memory."""
    arrays = policy if isinstance(policy, tuple) else (policy,)
    return sum(np.asarray(one).nbytes for one in arrays)


def paths_of(spec: PlayerSpec) -> list[str]:
    """The checkpoints of a RUN, or the SPEC itself."""
    from stratkit.players.registry import NETWORK
    from stratkit.storage.checkpoints import list_checkpoints

    some = list_checkpoints(spec.spec) if spec.kind is NETWORK else []
    return [str(path) for _, path in some] or [spec.spec]
