"""A plain torch module, judged here: a class with a function of observation and legal actions.

exploit kuhn py:torch_policy:Mine
"""

import torch

from stratkit import Game


class Mine:
    def __init__(self, game: Game) -> None:
        torch.manual_seed(1)
        self.module = torch.nn.Linear(game.observation_bytes, game.actions)

    def policy(self, views):  # type: ignore[no-untyped-def]
        with torch.inference_mode():
            logits = self.module(torch.from_numpy(views.observations).float())
        return logits.masked_fill(torch.from_numpy(views.legal) == 0, -torch.inf).softmax(1).numpy()
