"""The curve of approximate best responses that are learned: what the best of several exploiters
wins from a frozen PLAYER, by the steps that they have learned.

Some games tell which exploiter is the best, and others what it wins: the largest of several noisy
numbers is too large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import IO, Any

from stratkit.engine import Game
from stratkit.engine.phantom import view_numbers
from stratkit.engine.tree import certainly_exceeds, histories_up_to
from stratkit.errors import InputError, Say, UsageError, counted, printable
from stratkit.learn.algorithm_kinds import ALGORITHMS, RNAD
from stratkit.models.shipped import weights_file
from stratkit.pictures import form_of, new_figure
from stratkit.players.registry import KINDS, NETWORK, RANDOM, parse_player
from stratkit.players.spec import PlayerSpec, ReadPlayer
from stratkit.solve.curve import LearnedReport, Mark, Measurement
from stratkit.solve.exploiters import (
    Exploiters,
    ExploiterSetup,
    exploiter_settings,
    frozen_weights,
    open_exploiters,
)
from stratkit.solve.large import walks_dice
from stratkit.solve.options import GAMES, NOTHING, OWN, ExploitOptions, LearnOptions
from stratkit.solve.plot import plot_learned
from stratkit.solve.runner import run_exploit
from stratkit.solve.sets import OpenProgress
from stratkit.solve.solver import parse_solver
from stratkit.storage.streams import open_output

LOOK = 1.0  # seconds between looks at how far exploiters are
SMALL = 1_000_000  # histories of a game whose exact number is computed, too


def run_learned(
    learning: LearnOptions,
    options: ExploitOptions,
    read_player: ReadPlayer,
    progress: OpenProgress,
    say: Say,
) -> LearnedReport:
    """Learns, or goes on, and measures; a picture is written where `options` ask for one.

    Raises `UsageError` for who is no frozen player, `InputError` for a folder, file or game that
    cannot be used, or a command that fails.
    """
    assert learning.learn and learning.out
    game, text = Game(options.game, options.rules), options.policies[0]
    spec = _frozen(text, read_player)
    if game.players != 2:
        raise UsageError("--learn is for games of two players", text=game.name)
    source, metadata = frozen_weights(learning.out, spec, game)
    if source is None:
        from stratkit.players.factory import open_player

        open_player(spec, game, 0, 1)  # who does not play is told before anybody learns
    weights = learning.weights or (OWN if _plays(metadata) else NOTHING)
    if weights == OWN and not _plays(metadata):
        raise UsageError("--weights own: the player has no network that plays", text=text)
    if weights not in (OWN, NOTHING):
        weights_file(weights)
    if weights == NOTHING and learning.only:
        raise UsageError(f"--only {learning.only} needs weights that play: --weights FILE")
    net = str(metadata["net"]) if _plays(metadata) else None
    settings = exploiter_settings(learning.config, game, net, weights, learning.only)
    games = learning.games or GAMES[game.actions_per_ply > 1]
    setup = ExploiterSetup(game.name, game.rules, text, weights, learning.only, games, settings)
    with (
        open_exploiters(learning.out, game, spec, setup, source) as exploiters,
        _open_picture(options) as picture,
    ):
        exact = _exact(exploiters.frozen, game, options, progress)
        marks = list(_Curve(exploiters, learning, progress, say).marks())
        spent = exploiters.spent(learning.seeds or (1,))
        report = LearnedReport(options.game, text, marks, spent, exact)
        if picture:
            plot_learned(report, picture, form_of(options.plot or ""))
    return report


def _open_picture(options: ExploitOptions) -> AbstractContextManager[IO[bytes] | None]:
    """The picture, if there is to be one: before hours of learning, not after them. `InputError`:
    there can be none."""
    if options.plot is None:
        return nullcontext()
    new_figure(1, 1)  # which needs matplotlib
    return open_output(options.plot, options.force, binary=True)


def _frozen(text: str, read_player: ReadPlayer) -> PlayerSpec:
    """The player that stays as it is. `UsageError`: there is none."""
    if parse_solver(text):
        raise UsageError("--learn takes a PLAYER, and a solver is none", text=text)
    spec = read_player("random" if text == "uniform" else text)
    if spec.kind not in KINDS:
        what = f"--learn takes a frozen player of self-play, and {spec.kind.name} are none"
        raise UsageError(what, text=text)
    return spec


def _plays(metadata: Mapping[str, Any]) -> bool:
    """Whether these are of a network that plays."""
    if not metadata:
        return False
    kind = ALGORITHMS.get(metadata.get("algorithm") or RNAD)  # None: the user's own
    return kind is None or not (kind.batches.examples or kind.batches.hidden)


def _exact(
    frozen: str, game: Game, options: ExploitOptions, progress: OpenProgress
) -> float | None:
    """The exploitability of the player, if it is a policy and the game is small, or has a walk of
    its own."""
    spec = parse_player(frozen)
    if spec.kind not in (NETWORK, RANDOM):
        return None
    searches = spec.options.searching if spec.kind is NETWORK else spec.options
    small = not certainly_exceeds(game, SMALL) and histories_up_to(game, SMALL) <= SMALL
    if searches or not (small or view_numbers(game) or walks_dice(game)):
        return None
    alone = replace(options, policies=(frozen,), plot=None)
    with suppress(InputError, UsageError):  # what is no policy of single actions
        (entry,) = run_exploit(alone, parse_player, progress, *[_silent] * 3).entries
        return entry.result.exploitability
    return None


def _silent(line: str) -> None:
    """Tells nobody."""


class _Curve:
    """The marks one after the other: all exploiters come to one before any goes on."""

    def __init__(
        self, exploiters: Exploiters, learning: LearnOptions, progress: OpenProgress, say: Say
    ) -> None:
        self._exploiters, self._steps, self._say = exploiters, learning.marks, say
        self._seeds, self._jobs = learning.seeds or (1,), learning.jobs or 1
        self._progress = progress
        self._bar: Any = None

    def marks(self) -> Iterator[Mark]:
        """Learns to each mark, and measures there."""
        exploiters, seeds = self._exploiters, self._seeds
        total, where = self._steps[-1] * len(seeds), f"exploit {exploiters.game.name}"
        so_far: list[Measurement] = []
        with (
            self._progress(total, "step", printable(where)) as self._bar,
            ThreadPoolExecutor(self._jobs) as self._pool,
        ):
            self._bar.begin(self._done())
            for step in self._steps:
                now = self._all([partial(self._exploiter, seed, step) for seed in seeds])
                so_far += now
                best = self._best(so_far)
                yield Mark(step, now, best, [exploiters.spent((seed,), step) for seed in seeds])

    def _best(self, so_far: Sequence[Measurement]) -> Measurement:
        """What the best exploiter so far wins, in games that have not chosen it."""
        best = max(so_far, key=lambda one: (one.value, one.step))
        if len(so_far) == 1:
            return best
        (fresh,) = self._all([partial(self._exploiters.measure, best.seed, best.step, fresh=True)])
        return fresh

    def _exploiter(self, seed: int, step: int) -> Measurement | None:
        self._exploiters.learn(seed, step)
        return self._exploiters.measure(seed, step, fresh=False)

    def _all(self, tasks: Sequence[Callable[[], Measurement | None]]) -> list[Measurement]:
        """What these tasks measure, each in a thread. What goes wrong, a signal too, stops them."""
        futures = [self._pool.submit(task) for task in tasks]
        untold = list(futures)
        try:
            while untold:
                ended = wait(futures, LOOK, FIRST_EXCEPTION).done
                for future in [one for one in untold if one in ended]:
                    self._tell(future.result())
                    untold.remove(future)
                self._bar.update(max(0, self._done() - self._bar.done))
        except BaseException:
            self._exploiters.stop()
            for future in futures:
                future.cancel()
            wait(futures)
            raise
        return [one for future in futures if (one := future.result())]

    def _tell(self, one: Measurement | None) -> None:
        if one:
            which = f"seed {one.seed}, step {one.step:,}{', fresh games' * one.fresh}"
            ends = f"{one.value:.4f} ({one.low:.4f} to {one.high:.4f})"
            self._say(f"{which}: value {ends}, {counted(one.games, 'game')}")

    def _done(self) -> int:
        """How many steps have been learned."""
        return sum(min(self._steps[-1], self._exploiters.step(seed)) for seed in self._seeds)
