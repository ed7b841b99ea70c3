"""A best response as a player: `response:FILE`, of exploit --write-response."""

from __future__ import annotations

import os

from stratkit.engine import Game, sample
from stratkit.players.player import Decision, Games, Player, Sides, Views
from stratkit.players.spec import Contestant, OpenContext, PlayerSpec
from stratkit.storage.checkpoints import checkpoint_hash
from stratkit.storage.responses import Response, load_response

PREFIX = "response:"
LOST = -2  # instead of a decision: what follows none of them


class ResponsePlayer(Player):
    """Plays by the decisions of `response`. Where the policy that it responds to never comes, it
    chooses uniformly, from there on."""

    def __init__(self, response: Response, seed: int) -> None:
        keys = zip(response.players.tolist(), response.before.tolist(), strict=True)
        rows = zip(keys, response.observations, strict=True)
        self._number = {(*key, seen.tobytes()): i for i, (key, seen) in enumerate(rows)}
        self._actions, self._seed = response.actions, seed
        self._last: dict[tuple[int, int], int] = {}  # decision, by game and side

    def begin(self, games: Games, sides: Sides) -> None:
        self._last.update(dict.fromkeys(zip(games.tolist(), sides.tolist(), strict=True), -1))

    def end(self, games: Games, sides: Sides) -> None:
        for key in zip(games.tolist(), sides.tolist(), strict=True):
            self._last.pop(key, None)

    def act(self, views: Views) -> Decision:
        actions, mu = sample(None, views.legal, self._seed, views.games, views.numbers)
        keys = zip(views.games.tolist(), views.sides.tolist(), strict=True)
        for row, (key, seen) in enumerate(zip(keys, views.observations, strict=True)):
            last = self._last.get(key, -1)
            number = self._number.get((key[1], last, seen.tobytes()), LOST)
            self._last[key] = number
            if number != LOST and views.legal[row, self._actions[number]]:
                actions[row], mu[row] = self._actions[number], 1
        return Decision(actions, mu)


def open_response(spec: PlayerSpec, game: Game, context: OpenContext) -> Contestant[Player]:
    """The player of a file. `InputError`: it is no best response, or one of another game."""
    path = spec.spec.removeprefix(PREFIX)
    response = load_response(path, game)
    name = spec.name or os.path.basename(path)
    player = ResponsePlayer(response, context.seed)
    return Contestant(name, player, spec.spec, checkpoint_hash(path))
