"""How far losses by few worlds and short rollouts are from those of a deep search, and their cost:

    python bench/analysis.py GAMES NETWORK PLIES SEED REFERENCE W,D [W,D ...]

W,D is a search of W worlds with rollouts of D plies, as `analyse` has it; each looks at the same
PLIES random plies of the games. REFERENCE is another W,D, in worlds of its own: it says which move
is best, and what the others lose. Each row has CPU milliseconds a ply, and the root mean square of
what is between a search and the reference: in the losses of all moves but the best, in that of the
move played, in the value of the best. `found`: of the moves that lose .1 or more by the reference,
the part that does by this search. `wrong`: the same of those that lose less than .05.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stratkit.convert.lines import games_only, sound_games
from stratkit.convert.raw import chunks
from stratkit.convert.tally import FaultTally
from stratkit.declared import whole
from stratkit.errors import InputError, StratkitError
from stratkit.humans.analysis.analyst import Analyst, Judgement, Turn, searching
from stratkit.humans.analysis.records import MISTAKE, played_at
from stratkit.humans.analysis.turns import Turns
from stratkit.notation.log import Log
from stratkit.notation.select import Selection
from stratkit.players.registry import parse_player
from stratkit.script import Parser, argument

Plan = tuple[int, int]  # worlds, plies of a rollout
SEED = 7  # of worlds and draws; the reference has the next one


class Row(NamedTuple):
    """A search beside the reference at one turn: CPU seconds, what all moves but the best lose by
    either, float64 [m - 1] each, and squares of what is between them otherwise."""

    seconds: float
    losses: npt.NDArray[np.float64]
    truly: npt.NDArray[np.float64]
    played: float
    value: float


def warn(what: str) -> None:
    print(what, file=sys.stderr)


def plan(text: str) -> Plan:
    try:
        worlds, depth = map(argument(whole(0)), text.split(","))
    except (ValueError, argparse.ArgumentTypeError):
        raise argparse.ArgumentTypeError(f"not W,D: {text!r}") from None
    if worlds < 2:
        raise argparse.ArgumentTypeError(f"an error needs 2 worlds: {text!r}")
    return worlds, depth


def some_turns(files: Sequence[str], analyst: Analyst, n: int, seed: int) -> list[tuple[Log, Turn]]:
    """Random ones at which there was a choice."""
    turns, found = Turns(analyst), list[tuple[Log, Turn]]()
    items = (item for chunk in chunks(files) for item in games_only(chunk))
    for game in sound_games(items, Selection(), FaultTally(warn)):
        found += [(game.log, turn) for turn in turns.of(game.log)]
    if not found:
        raise InputError("no turn of a sound game", file=files[0])
    order = np.random.default_rng(seed).permutation(len(found))[:n]
    return [found[at] for at in order]


def beside(found: Judgement, reference: Judgement, played: int, seconds: float) -> Row:
    best, others = reference.best, np.arange(len(reference.moves)) != reference.best
    by = [np.nanmean(one.returns, 0) for one in (found, reference)]
    losses, truly = (values[best] - values for values in by)
    value = float(by[0][best] - by[1][best]) ** 2
    squared = float(losses[played] - truly[played]) ** 2
    return Row(seconds, losses[others], truly[others], squared, value)


def told(of: Plan, rows: Sequence[Row]) -> str:
    losses, truly = (np.concatenate([row[at] for row in rows]) for at in (1, 2))
    by_turn = [float(np.mean((row.losses - row.truly) ** 2)) for row in rows]
    errors = (by_turn, [row.played for row in rows], [row.value for row in rows])
    cells = [f"{1e3 * np.mean([row.seconds for row in rows]):.0f}"]
    cells += [f"{np.sqrt(np.mean(one)):.3f}" for one in errors]
    for chosen in (truly >= MISTAKE, truly < MISTAKE / 2):
        cells.append(f"{np.mean(losses[chosen] >= MISTAKE):.3f}" if chosen.any() else "")
    return f"| {of[0]}, {of[1]} | {' | '.join(cells)} |"


def main(
    file: str, network: str, plies: int, seed: int, reference: Plan, plans: list[Plan]
) -> None:
    player = parse_player(network)
    judge = Analyst(searching(player, *reference), SEED + 1)
    searches = {of: Analyst(searching(player, *of), SEED) for of in plans}
    rows: dict[Plan, list[Row]] = {of: [] for of in plans}
    for log, turn in some_turns([file], judge, plies, seed):
        [truth] = judge.judge([turn])
        if len(truth.moves) < 2:
            continue
        for of, search in searches.items():
            begun = time.process_time()
            [found] = search.judge([turn])
            seconds = time.process_time() - begun
            rows[of].append(beside(found, truth, played_at(judge, truth, log, turn.ply), seconds))
    print("| W, D | ms a ply | all moves | played | value | found | wrong |\n|" + "---|" * 7)
    for of, its in rows.items():
        print(told(of, its))


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("file", metavar="GAMES")
    parser.add_argument("network", metavar="NETWORK")
    parser.add_argument("plies", metavar="PLIES", type=argument(whole(1)))
    parser.add_argument("seed", metavar="SEED", type=argument(whole(0)))
    parser.add_argument("reference", metavar="REFERENCE", type=plan)
    parser.add_argument("plans", metavar="W,D", type=plan, nargs="+")
    try:
        main(**vars(parser.parse_args()))
    except StratkitError as error:
        parser.error(str(error))
