"""Do the values of a player come true? What it expects against what it gets, by ply.

    selfplay --policy barrage-easy --game barrage -n 1000 -o games.eps
    python examples/players/calibration.py barrage-easy games.eps calibration.png

Prints a table: of each span of plies the mean results of positions by expected value, the share of
the results' variance that the values explain, and the mean error of a group's expected value.
Draws the same. (Needs matplotlib, the extra [plot].)
"""

import numpy as np

import stratkit
from stratkit.engine.stratego import variant
from stratkit.errors import InputError
from stratkit.pictures import new_figure, save
from stratkit.script import Parser

ENDLESS = 10_000
SPANS = ((0, 10), (10, 30), (30, 60), (60, 120), (120, ENDLESS))  # plies
EDGES = np.linspace(-1, 1, 9)
LEAST = 30  # positions of which a mean is shown
SLICE = 100  # games in memory at a time


def main(player: str, episodes: str, picture: str) -> None:
    network = stratkit.load(player, rows=256)
    played = stratkit.read_episodes(episodes)
    if played.game.name != network.game.name:
        raise InputError(
            f"games of {played.game.name}, and {player} plays {network.game.name}", file=episodes
        )
    actions, table = played.actions, played.games
    placed = 2 * variant(network.game.name).pieces  # actions of deployment; a ply of play has two
    returns = np.stack([table["return_0"], table["return_1"]], 1)
    result = returns[actions["game"], actions["actor"]]
    ply = (actions["index"] - placed) // 2
    expected = np.concatenate(
        [
            network.values(played.replay(slice(first, first + SLICE)).observations)
            for first in range(0, len(returns), SLICE)
        ]
    )
    expected = np.clip(expected, -1, 1)

    axes = new_figure(6, 6).subplots()
    axes.plot((-1, 1), (-1, 1), color="black", linewidth=1)
    print(
        f"{'plies':>10} {'positions':>9} {'explained':>9} {'error':>6}  expected: got (positions)"
    )
    for low, high in SPANS:
        rows = (low <= ply) & (ply < high)
        if rows.sum() < LEAST:
            continue
        of, got = expected[rows], result[rows]
        explained = 1 - ((got - of) ** 2).mean() / got.var()
        group = np.digitize(of, EDGES)
        groups = [group == number for number in np.unique(group)]
        points = [(of[g].mean(), got[g].mean(), g.sum()) for g in groups if g.sum() >= LEAST]
        if not points:  # too few of each
            continue
        error = np.average([abs(x - y) for x, y, _ in points], weights=[n for *_, n in points])
        told = ", ".join(f"{x:+.2f}: {y:+.2f} ({n})" for x, y, n in points)
        name = f"{low} to {high - 1}" if high < ENDLESS else f"{low} on"
        print(f"{name:>10} {rows.sum():>9} {explained:>9.2f} {error:>6.3f}  {told}")
        axes.plot([x for x, *_ in points], [y for _, y, _ in points], "o-", label=f"plies {name}")
    axes.set_xlabel("expected")
    axes.set_ylabel("got, mean")
    axes.set_title(f"values of {player} in {len(returns)} games against itself")
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left")
    with open(picture, "wb") as stream:
        save(axes.figure, stream)


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("player", metavar="PLAYER")
    parser.add_argument("episodes", metavar="EPISODES")
    parser.add_argument("picture", metavar="PICTURE")
    asked = parser.parse_args()
    with parser.telling():
        main(**vars(asked))
