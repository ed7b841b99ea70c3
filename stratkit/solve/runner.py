"""From the policies that a command line names to a report on what they are worth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np

from stratkit.arrays import Bytes, Float64s, Int64s
from stratkit.engine import Game, Tree
from stratkit.engine.tree import Vector
from stratkit.errors import InputError, Say, UsageError, printable
from stratkit.pictures import form_of
from stratkit.players.spec import TABLE
from stratkit.solve.cfr import from_reach
from stratkit.solve.exploitability import (
    PolicyValue,
    best_response,
    evaluate,
    jackknife,
    jackknife_of_sums,
    walk,
)
from stratkit.solve.large import LargeGame, open_large
from stratkit.solve.options import AVERAGE, BY_LEARNERS, ITERATE, ExploitOptions
from stratkit.solve.report import Entry, ExploitabilityReport
from stratkit.solve.responses import best_choices, response_of_tree
from stratkit.solve.sets import (
    OpenProgress,
    all_choices,
    asked,
    check_function,
    on_tree,
)
from stratkit.solve.solver import TabularSolver, open_solver, parse_solver
from stratkit.solve.tables import kept_policy
from stratkit.storage.responses import Response, ResponseMetadata, response_bytes
from stratkit.storage.sets import InformationSets, sets_of
from stratkit.storage.streams import open_output
from stratkit.storage.tables import PolicyTable, read_table

if TYPE_CHECKING:
    from stratkit.players.player import PolicyPlayer, Views
    from stratkit.players.searching.pbs import PBSPlayer
    from stratkit.players.spec import Contestant, PlayerSpec, ReadPlayer

ROWS = 1024  # observations that a network evaluates at a time
GROUPS = 32  # of games that are played through, for the error of their mixture
SEARCHES = 64  # information sets that are searched at a time

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


def run_exploit(
    options: ExploitOptions,
    read_player: ReadPlayer,
    progress: OpenProgress,
    warn: Say,
    note: Say,
    say: Say,
) -> ExploitabilityReport:
    """The report on all policies; a picture of it is written where `options` ask for one.

    `read_player` reads a PLAYER. Raises `UsageError` for what is no policy of the game,
    `InputError` for a game that is too large and for files that cannot be read.
    """
    policies = [_parse(text, read_player) for text in options.policies]
    if options.table is not None and not _is_network(policies[0]):
        raise UsageError("--table keeps the policy of a network", text=options.policies[0])
    game, most_bytes = Game(options.game, options.rules), int(options.memory * (1 << 30))
    options.check_players(game.players)
    kept = options.table, options.local, options.pairs, options.write_response is not None
    keeping = Keeping(*kept, options.rules, options.force, note, most_bytes)
    large = open_large(game, options.threads, most_bytes, say)
    searches = Searches(options.repeats, options.estimator)
    judge: Judge[Any]
    if large and options.local:
        raise UsageError(f"{options.game} is too large for --local")
    if large:
        judge = LargeJudge(large, progress, warn, keeping, searches)
    else:
        tree = Tree(game, most_bytes=most_bytes, sets_only=game.players != 2)
        note(f"{tree.histories:,} histories, {len(tree):,} information sets")
        judge = TreeJudge(tree, progress, warn, keeping, searches)
    entries = [
        entry
        for text, policy in zip(options.policies, policies, strict=True)
        for entry in judge.entries(text, policy)
    ]
    if options.pairs:
        entries += judge.pairs()
    if options.write_response is not None:
        _write_response(options, judge.responses[0], entries[0])
    report = ExploitabilityReport(options.game, *judge.size, entries, options.rules)
    if options.plot is not None:
        from stratkit.solve.plot import plot

        with open_output(options.plot, options.force, binary=True) as stream:
            plot(report, stream, form_of(options.plot))
    return report


def _write_response(options: ExploitOptions, response: Response, entry: Entry) -> None:
    first, second = entry.result.best
    says = ResponseMetadata(
        game=options.game, rules=options.rules, against=entry.policy, best=(first, second)
    )
    assert options.write_response is not None
    with open_output(options.write_response, options.force, binary=True) as stream:
        stream.write(response_bytes(response, says))


def _parse(text: str, read_player: ReadPlayer) -> AnyPolicy:
    if text in ("uniform", "random"):
        return None
    if solver := parse_solver(text):
        return solver
    from stratkit.players.registry import MIXTURE, NETWORK, POLICY_TABLE, PYTHON, RANDOM

    spec = read_player(text)
    if spec.kind in (MIXTURE, NETWORK, POLICY_TABLE, PYTHON) or (
        spec.kind is RANDOM and spec.options
    ):
        return spec
    raise UsageError(f"not a policy that can be evaluated; {BY_LEARNERS}", text=text)


def _is_network(policy: AnyPolicy) -> bool:
    """Whether it is a network's that searches nothing."""
    from stratkit.players.registry import NETWORK
    from stratkit.players.spec import PlayerSpec

    return (
        isinstance(policy, PlayerSpec) and policy.kind is NETWORK and not policy.options.searching
    )


def _bytes(policy: object) -> int:
    """That a policy, an array or one for each player, takes in memory."""
    arrays = policy if isinstance(policy, tuple) else (policy,)
    return sum(np.asarray(one).nbytes for one in arrays)


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
            n, keeping = len(_paths(policy)), self._keeping
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

        paths, keeping = _paths(spec), self._keeping
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


def _paths(spec: PlayerSpec) -> list[str]:
    """The checkpoints of a RUN, or the SPEC itself."""
    from stratkit.players.registry import NETWORK
    from stratkit.storage.checkpoints import list_checkpoints

    some = list_checkpoints(spec.spec) if spec.kind is NETWORK else []
    return [str(path) for _, path in some] or [spec.spec]


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
            return (self._played(text, replace(spec, spec=path)) for path in _paths(spec))
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
            yield from (self._played(text, replace(spec, spec=path)) for path in _paths(spec))
        elif searching:
            yield from (self._searched(text, replace(spec, spec=path)) for path in _paths(spec))
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
