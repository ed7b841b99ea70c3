"""From the policies that a command line names to a report on what they are worth."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stratkit.engine import Game, Tree
from stratkit.engine.tree import MemoryExceeded
from stratkit.errors import InputError, Say, UsageError
from stratkit.pictures import form_of
from stratkit.solve.judge import AnyPolicy, Judge, Keeping, Searches
from stratkit.solve.large import open_large
from stratkit.solve.large_judge import LargeJudge
from stratkit.solve.options import BY_LEARNERS, ExploitOptions
from stratkit.solve.report import Entry, ExploitabilityReport
from stratkit.solve.sets import OpenProgress
from stratkit.solve.solver import parse_solver
from stratkit.solve.tree_judge import TreeJudge
from stratkit.storage.responses import Response, ResponseMetadata, response_bytes
from stratkit.storage.streams import open_output

if TYPE_CHECKING:
    from stratkit.players.spec import ReadPlayer


@contextlib.contextmanager
def _memory_named() -> Iterator[None]:
    """Who lacks memory is told by which option there may be more."""
    try:
        yield
    except MemoryExceeded as error:
        raise InputError(f"{error} (--memory)") from None


@_memory_named()
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
