"""How fast a player searches: CPU and wall seconds of its turns, how much of the CPU is not its
network's, and rollouts a second, by some numbers of threads:

    python bench/search.py [KEYS [PLAYER [GAME [TURNS [THREADS...]]]]]

Plays a PLAYER against itself, one game at a time, until it has had TURNS turns, in THREADS threads
(default: 1, then 2). Wall time wants cores that are idle: the load is printed, too. With a `time`
among the KEYS, rollouts a second say how many more a machine's cores make of it.
"""

from __future__ import annotations

import itertools
import os
import time
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import torch

from command_line import Parser
from stratkit.engine import Game
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.factory import open_player
from stratkit.players.registry import parse_player
from stratkit.players.searching.stage import SearchStage
from stratkit.players.testtime.pipeline import PostprocessedPlayer
from stratkit.search import mmd
from stratkit.threads import use_threads

KEYS = "search=mmd,rollouts=256,depth=4"


class Timed:
    """Notes of each call of a method from now on its CPU and wall seconds, and the `size` of its
    first argument, if it has one."""

    def __init__(self, of: Any, method: str) -> None:
        self.of, self.method, self.original = of, method, getattr(of, method)
        self.cpu: list[float] = []
        self.wall: list[float] = []
        self.sizes: list[int] = []
        setattr(of, method, self)

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        cpu, wall = time.process_time(), time.perf_counter()
        self.sizes.append(getattr(arguments[0], "size", 0))
        out = self.original(*arguments, **more)
        self.cpu.append(time.process_time() - cpu)
        self.wall.append(time.perf_counter() - wall)
        return out

    def stop(self) -> None:
        """The method is again as it was."""
        setattr(self.of, self.method, self.original)


def timed(player: str, game: str, turns: int, threads: int) -> None:
    use_threads(threads)
    opened = open_player(parse_player(player), Game(game), 1, 1).player
    assert isinstance(opened, PostprocessedPlayer) and isinstance(opened.search, SearchStage)
    network = Timed(opened.search.blueprint, "_in_parts")
    searches, rollouts = Timed(opened.search, "search"), Timed(mmd, "play_out")
    seatings = (Seating(number, (0, 0)) for number in itertools.count())
    for _ in Table(Game(game), [opened], Seatings(seatings), 1, threads).rounds():
        if len(searches.cpu) >= turns:
            break
    rollouts.stop()
    each, number = sum(searches.cpu) / len(searches.cpu), len(searches.cpu)
    wall = sum(searches.wall)
    rest = 1 - sum(network.cpu) / sum(searches.cpu)
    print(f"{threads} threads: {number} searches, {each:.3f} CPU and {wall / number:.3f} s each")
    print(f"  {1 / each:.2f} a CPU second; {rest:.1%} not the network's; load", end=" ")
    print(f"{os.getloadavg()[0]:.1f}; {sum(rollouts.sizes) / wall:.0f} rollouts a second")


def main(keys: str, player: str, game: str, turns: int, threads: list[int]) -> None:
    torch.set_num_threads(1)
    print(f"{keys}, {player}, {game}")
    for number in threads:
        timed(f"{keys},{player}", game, turns, number)


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("keys", metavar="KEYS", nargs="?", default=KEYS)
    parser.add_argument("player", metavar="PLAYER", nargs="?", default="barrage-easy")
    parser.add_argument("game", metavar="GAME", nargs="?", default="barrage")
    parser.add_argument("turns", metavar="TURNS", nargs="?", default=200, type=int)
    parser.add_argument("threads", metavar="THREADS", nargs="*", default=[1, 2], type=int)
    main(**vars(parser.parse_args()))
