"""Actor-critic on a Batch, in PyTorch alone: `actor_critic.py [GAME [UPDATES [SEED]]]`.

Every update plays 512 games at once. The learner has one seat in each, uniform play the others.
Prints what the learner wins; in Kuhn poker a best response wins 0.458.
"""

import numpy as np
import torch

from stratkit import Batch, Game
from stratkit.declared import SEED, whole
from stratkit.engine import expand_planes
from stratkit.script import Parser, argument

parser = Parser(__doc__)
parser.add_argument("game", metavar="GAME", nargs="?", default="kuhn")
parser.add_argument("updates", metavar="UPDATES", nargs="?", default=300, type=argument(whole(1)))
parser.add_argument("seed", metavar="SEED", nargs="?", default=1, type=argument(SEED))
asked = parser.parse_args()
torch.manual_seed(asked.seed)
game, games = Game(asked.game), 512
batch, rows = Batch(game, games), np.arange(games)
inputs = int(np.prod(game.shape))
layers = torch.nn.Linear(inputs, 128), torch.nn.ReLU(), torch.nn.Linear(128, game.actions + 1)
network = torch.nn.Sequential(torch.nn.Flatten(), *layers)
optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
won = []
for update in range(asked.updates):
    batch.reset()
    seats = (rows + update) % game.players
    steps = []
    while ((actors := batch.actors()) != -2).any():  # not all games are over
        observations = torch.from_numpy(expand_planes(game, batch.observe()))
        mine, legal = torch.from_numpy(actors == seats), torch.from_numpy(batch.legal()).bool()
        output = network(observations)
        logits = torch.where(mine[:, None], output[:, :-1], 0).masked_fill(~legal, -1e9)
        policy = torch.distributions.Categorical(logits=logits)
        actions = policy.sample()
        steps.append((mine, policy.log_prob(actions), output[:, -1], policy.entropy()))
        chosen = actions.int().numpy()
        numbers = np.full(games, len(steps), np.int32)
        batch.draw_chance(asked.seed, rows + update * games, numbers, chosen)
        batch.apply(np.where(actors == -2, np.int32(-1), chosen))
    returns = torch.from_numpy(batch.returns()[rows, seats])
    mine, log_probability, value, entropy = map(torch.stack, zip(*steps, strict=True))
    advantage = returns - value
    losses = advantage**2 / 2 - advantage.detach() * log_probability - 0.1 * entropy
    loss = (losses * mine).sum() / games
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    won.append(float(returns.mean()))
    if (update + 1) % 50 == 0:
        print(f"update {update + 1}: wins {np.mean(won[-50:]):+.3f} a game against uniform play")
