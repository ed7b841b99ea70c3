"""Looks into self-play and matches: `analysis.py RUN EPISODES GAMES.jsonl`.

EPISODES is what `selfplay --policy RUN` wrote, a file or a folder; GAMES.jsonl what `match` wrote.
Prints how games ended, how sure the network was from ply to ply, whether its values came true, and
what each player scored.
"""

import numpy as np

import stratkit
from stratkit.script import Parser

parser = Parser(__doc__)
parser.add_argument("run", metavar="RUN")
parser.add_argument("episodes", metavar="EPISODES")
parser.add_argument("games", metavar="GAMES.jsonl")
asked = parser.parse_args()
network = stratkit.load(asked.run)
played = stratkit.read_episodes(asked.episodes)
print(f"{network.file}: {network.net} network at step {network.step} of {network.game.name}")

# A table is a mapping of arrays: pandas.DataFrame(played.games) makes a frame of it.
table = played.games
for ending in np.unique(table["ending"]):
    of_these = table["ending"] == ending
    length = table["length"][of_these].mean()
    print(f"{ending:>20}: {of_these.mean():6.1%} of the games, {length:.1f} actions on average")

# What the network thinks of each decision now: the rows of the replay are those of the table.
seen, actions = played.replay(), played.actions
policy = network.policy(seen.observations, seen.legal)
entropy = -(policy * np.log(np.where(policy > 0, policy, 1))).sum(1)
values = network.values(seen.observations)
decided = actions["actor"] >= 0  # not chance
for begin in range(0, int(actions["index"].max()) + 1, 8):
    now = decided & (actions["index"] // 8 == begin // 8)
    if now.any():
        span = f"actions {begin} to {begin + 7}"
        many = actions["legal"][now].mean()
        print(f"{span:>20}: entropy {entropy[now].mean():.3f} over {many:.1f} legal actions")

# Did it go as it expected? Of each decision, the return of the player who took it.
returns = np.stack([table[f"return_{p}"] for p in range(network.game.players)], 1)
came = returns[actions["game"], np.maximum(actions["actor"], 0)]
for low in np.arange(-1, 1, 0.5):
    within = decided & (values >= low) & (values < low + 0.5)
    if within.any():
        expected, got = values[within].mean(), came[within].mean()
        print(f"{f'value {low:+.1f} and more':>20}: expected {expected:+.3f}, got {got:+.3f}")

match = stratkit.read_games(asked.games)
seats = [(match[f"player_{seat}"], match[f"return_{seat}"]) for seat in range(2)]
for name in np.unique(np.concatenate([names for names, _ in seats])):
    points = np.concatenate([scores[names == name] for names, scores in seats])
    print(f"{name:>20}: {(points + 1).mean() / 2:6.1%} of the points of {len(points)} games")
