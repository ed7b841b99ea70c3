"""How fast a player searches: rollouts a second of its turns, by CPU and by wall time, by some
numbers of threads and by the backends that are there:

    python bench/search.py [--rounds R] [--backend B] [KEYS [PLAYER [GAME [TURNS [THREADS...]]]]]

Plays a PLAYER against itself, one game at a time, until it has had TURNS turns, in THREADS threads
(default: 1, then 2); R times. All of them take turns, so that each meets the same load. The last
lines say how much faster it is than in the first number of threads: the median of the rounds, and
each of them. Wall time wants cores that are idle: the load is printed, too. KEYS without a `time`
are the same rollouts in any number of threads.
"""

from __future__ import annotations

import itertools
import os
import time
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import torch

from stratkit.declared import whole
from stratkit.engine import Game
from stratkit.errors import UsageError
from stratkit.nets.choice import ASKED, BACKENDS
from stratkit.nets.packages import has_onnx
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.factory import open_player
from stratkit.players.registry import parse_player
from stratkit.players.searching.stage import SearchStage
from stratkit.players.testtime.pipeline import PostprocessedPlayer
from stratkit.script import Parser, argument
from stratkit.search import mmd
from stratkit.threads import use_threads

KEYS = "preset=strong"


class Timed:
    """Counts of a method, from now on, the CPU and wall seconds of its calls, and the `size` of
    their first arguments."""

    def __init__(self, of: Any, method: str) -> None:
        self.of, self.method, self.original = of, method, getattr(of, method)
        self.calls = self.size = 0
        self.cpu = self.wall = 0.0
        setattr(of, method, self)

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        cpu, wall = time.process_time(), time.perf_counter()
        self.calls += 1
        self.size += getattr(arguments[0], "size", 0)
        out = self.original(*arguments, **more)
        self.cpu += time.process_time() - cpu
        self.wall += time.perf_counter() - wall
        return out

    def stop(self) -> None:
        """The method is again as it was."""
        setattr(self.of, self.method, self.original)


def timed(player: str, game: str, turns: int, threads: int, backend: str) -> float:
    """Rollouts a second."""
    use_threads(threads)
    os.environ[ASKED] = backend
    if Game(game).players != 2:
        raise UsageError(f"searches of games of two players are timed, not of {game}")
    opened = open_player(parse_player(player), Game(game), 1, 1).player
    if not isinstance(opened, PostprocessedPlayer) or not isinstance(opened.search, SearchStage):
        raise UsageError("a player that searches from its moves is needed", text=player)
    searches, rollouts = Timed(opened.search, "search"), Timed(mmd, "play_out_by_threads")
    seatings = (Seating(number, (0, 0)) for number in itertools.count())
    for _ in Table(Game(game), [opened], Seatings(seatings), 1, threads).rounds():
        if searches.calls >= turns:
            break
    rollouts.stop()
    of, number = rollouts.size, searches.calls
    print(f"{backend}, {threads} threads: {of / number:.0f} rollouts a turn;", end=" ")
    print(f"{of / searches.cpu:.0f} a CPU second, {of / searches.wall:.0f} a second;", end=" ")
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    return of / searches.wall


def main(
    keys: str,
    player: str,
    game: str,
    turns: int,
    threads: list[int],
    rounds: int,
    backend: str | None,
) -> None:
    torch.set_num_threads(1)
    print(f"{keys}, {player}, {game}")
    backends = [one for one in BACKENDS if one != "onnx" or has_onnx()]
    pairs = list(itertools.product([backend] if backend else backends, threads))
    rates: dict[tuple[str, int], list[float]] = {pair: [] for pair in pairs}
    for _ in range(rounds):
        for by, number in pairs:
            rates[by, number].append(timed(f"{keys},{player}", game, turns, number, by))
    for by, number in pairs:
        if number != threads[0]:
            each = np.divide(rates[by, number], rates[by, threads[0]])
            print(f"{by}, {number} threads / {threads[0]}: {np.median(each):.2f}", end=" ")
            print(f"({', '.join(f'{one:.2f}' for one in each)})")


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("keys", metavar="KEYS", nargs="?", default=KEYS)
    parser.add_argument("player", metavar="PLAYER", nargs="?", default="barrage")
    parser.add_argument("game", metavar="GAME", nargs="?", default="barrage")
    parser.add_argument("turns", metavar="TURNS", nargs="?", default=200, type=argument(whole(1)))
    parser.add_argument(
        "threads", metavar="THREADS", nargs="*", default=[1, 2], type=argument(whole(1))
    )
    parser.add_argument("--rounds", metavar="R", default=2, type=argument(whole(1)))
    parser.add_argument("--backend", metavar="B", choices=BACKENDS)
    asked = parser.parse_args()
    with parser.telling():
        main(**vars(asked))
