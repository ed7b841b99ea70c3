"""A mixture of players from games among them: an equilibrium of who should play.

    match 1.safetensors 2.safetensors 3.safetensors --game barrage -n 200 -o games.jsonl
    python examples/players/mixture.py games.jsonl > pool.mixture
    match mix=pool.mixture barrage --game barrage -n 200 -o more.jsonl

Every player must have met every other. A player's payoff against another is its share of the
points of their games. CFR+ solves the game in which both sides choose a player (an *empirical
game*). On average none of these players scores more than half against the mixture, as far as the
payoffs are right: after 200 games a pair they are off by 7 points at most, in 95 of 100 pairs.
"""

import tempfile
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from stratkit.arrays import Float64s
from stratkit.compressed import decompressed
from stratkit.engine import Game, Tree
from stratkit.errors import InputError
from stratkit.players.spec import split_options
from stratkit.script import Parser
from stratkit.solve.exploitability import evaluate
from stratkit.solve.solver import open_solver
from stratkit.storage.records import GameRecord, RecordHeader, read_records

ITERATIONS = 3000
LEAST = 0.005  # a member of less weight is left out


def read(files: Sequence[str]) -> tuple[dict[str, str], dict[tuple[str, str], list[float]]]:
    """The PLAYER of each name, and the points of each against each other, game by game."""
    specs: dict[str, str] = {}
    points: dict[tuple[str, str], list[float]] = {}
    for file in files:
        with open(file, "rb") as stream:
            for header, game in read_records(decompressed(stream, file), file):
                for name, spec, against, point in seats(header, game):
                    if specs.setdefault(name, spec) != spec:
                        raise InputError("two players have this name", file=file, text=name)
                    points.setdefault((name, against), []).append(point)
    return specs, points


def seats(header: RecordHeader, game: GameRecord) -> Iterable[tuple[str, str, str, float]]:
    """(name, PLAYER, name of the other, points) of both players. `InputError`: they are not two."""
    if len(game.players) != 2:
        raise InputError("a game of two players is needed", text=header.game)
    for own in (0, 1):
        one, other = (header.players[game.players[side]] for side in (own, 1 - own))
        difference = game.returns[own] - game.returns[1 - own]
        yield one.name, one.spec, other.name, (np.sign(difference) + 1) / 2


def table_of(names: Sequence[str], points: Mapping[tuple[str, str], list[float]]) -> Float64s:
    """float64 [n, n]: by how much each player scores over one half against each other."""
    table = np.zeros((len(names), len(names)))
    for i, one in enumerate(names):
        for j, other in enumerate(names):
            if i != j and (one, other) not in points:
                raise InputError(f"{one} and {other} have not met")
            table[i, j] = np.mean(points[one, other]) - 0.5 if i != j else 0
    return table


def equilibrium(table: Float64s) -> Float64s:
    """Weights float64 [n] of the players by which nobody in the table scores more than a half."""
    with tempfile.NamedTemporaryFile("w", suffix=".matrix") as file:
        np.savetxt(file, table, "%.9g")
        file.flush()
        tree = Tree(Game(f"matrix:{file.name}"))
    solver = open_solver("cfr+", tree)
    for _ in range(ITERATIONS):
        solver.step()
    policy = solver.solution()
    assert evaluate(tree, policy).exploitability < 1e-3
    weights = policy.reshape(2, -1).mean(0)  # both sides choose among the same players
    weights[weights < LEAST] = 0
    return np.asarray(weights / weights.sum(), np.float64)


def main(*files: str) -> None:
    specs, points = read(files)
    names = sorted(specs)
    table = table_of(names, points)
    weights = equilibrium(table)
    worst = int((weights @ table).argmin())
    games = min(map(len, points.values()))
    print(f"# of {len(names)} players, {games} games a pair or more; ", end="")
    print(f"{names[worst]} scores most against it, {0.5 - (weights @ table)[worst]:.1%}")
    for at in np.argsort(-weights, kind="stable").tolist():
        if weights[at]:
            print(f"{weights[at]:.8f} {player(names[at], specs[names[at]])}")


def player(name: str, spec: str) -> str:
    """The PLAYER with the name that it had."""
    named = "," in name or "name" in split_options(spec)[0]
    return spec if named else f"name={name},{spec}"


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("records", metavar="GAMES.jsonl", nargs="+")
    with parser.telling():
        main(*parser.parse_args().records)
