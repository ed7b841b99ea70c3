"""Policies of OpenSpiel here, and ours there: `FromOpenSpiel` and `OpenSpielPolicy`.

OpenSpiel (Lanctot et al. 2019) is installed with the extra `openspiel`. Both games must be the
same, with equal numbers of actions, as kuhn is kuhn_poker and leduc is
leduc_poker(suit_isomorphism=True). What differs is refused where it shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from open_spiel.python import policy as theirs_policy

from stratkit.arrays import Bytes, Float64s
from stratkit.engine import Batch, Game, Tree
from stratkit.engine.batch import CHANCE, OVER
from stratkit.engine.tree import certainly_exceeds
from stratkit.errors import InputError
from stratkit.players.factory import open_player
from stratkit.players.player import PolicyPlayer, Views
from stratkit.players.registry import parse_player

MOST_HISTORIES = 1_000_000  # of a game whose information states are told apart one by one
ROWS = 1024  # views that a network evaluates at a time


class FromOpenSpiel:
    """A policy of OpenSpiel, any of its class Policy, as `policy(views)`: a class that derives from
    this is a PLAYER, `py:MODULE:CLASS`. It is asked once for each information state.

    `InputError`: its game is another one than `game`, or too large, or an observation does not tell
    which information state it is.
    """

    def __init__(self, game: Game, policy: Any) -> None:
        self._rows: dict[bytes, Float64s] = {}
        names: dict[bytes, str] = {}
        if certainly_exceeds(game, MOST_HISTORIES):
            raise InputError(f"{game.name} has more than {MOST_HISTORIES:,} histories")
        for seen, state in _decisions(Batch(game, 1), policy.game.new_initial_state()):
            name = f"{state.current_player()} {state.information_state_string()}"
            if names.setdefault(seen, name) != name:
                what = "an observation does not tell which information state it is"
                raise InputError(f"{game.name}: {what}", text=name)
            if seen not in self._rows:
                self._rows[seen] = np.zeros(game.actions)
                for action, probability in policy.action_probabilities(state).items():
                    self._rows[seen][action] = probability

    def policy(self, views: Views) -> Float64s:
        """float64 [n, actions]: what the policy plays."""
        return np.stack([self._rows[row.tobytes()] for row in views.observations])


def _decisions(batch: Batch, state: Any) -> Iterator[tuple[bytes, Any]]:
    """What is seen at each decision of both games at once, and OpenSpiel's state."""
    actor = _actor(batch, state)
    if actor == OVER:
        return
    if actor != CHANCE:
        yield batch.observe()[0].tobytes(), state
    for action in state.legal_actions():
        below = Batch(batch.game, 1)
        below.copy_row(0, batch, 0)
        below.apply(np.array([action], np.int32))
        yield from _decisions(below, state.child(action))


def _actor(batch: Batch, state: Any) -> int:
    """Who acts in both games. `InputError`: they differ."""
    actor = int(batch.actors()[0])
    if state.is_terminal():
        same = actor == OVER and np.allclose(batch.returns()[0], state.returns())
    elif state.is_chance_node():
        same = actor == CHANCE
    else:
        same = actor == state.current_player()
    if not state.is_terminal():
        same = same and np.flatnonzero(batch.legal()[0]).tolist() == state.legal_actions()
    if not same:
        theirs = state.get_game().get_type().short_name
        what = f"{batch.game.name} is another game than OpenSpiel's {theirs}"
        raise InputError(what, text=state.history_str())
    return actor


class OpenSpielPolicy(theirs_policy.Policy):  # type: ignore[misc]  # it has no types
    """A PLAYER of stratkit as a policy of OpenSpiel, for its tools, such as
    `exploitability.nash_conv(game, OpenSpielPolicy(game, "kuhn", "run/"))`.

    theirs  pyspiel.Game
    name    our name of the same game
    player  the PLAYER's text; it is asked for what it sees, so it must have a policy and no memory

    `InputError`, `UsageError`: there is no such game or player, or the games differ.
    """

    def __init__(self, theirs: Any, name: str, player: str, seed: int = 0) -> None:
        super().__init__(theirs, list(range(theirs.num_players())))
        self._game = Game(name)
        opened = open_player(parse_player(player), self._game, seed, ROWS).player
        if not isinstance(opened, PolicyPlayer) or opened.random_ties:
            raise InputError("not a policy that can be evaluated", text=player)
        self._player, self._known = opened, dict[bytes, Float64s]()
        if not certainly_exceeds(self._game, MOST_HISTORIES):
            self._ask(*Tree(self._game).distinct_views()[:2])  # at once, as exploit does

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """The probability of each legal action in a state of OpenSpiel."""
        batch, replayed = Batch(self._game, 1), state.get_game().new_initial_state()
        for action in state.history():
            _actor(batch, replayed)
            batch.apply(np.array([action], np.int32))
            replayed.apply_action(action)
        _actor(batch, replayed)
        seen = batch.observe()
        key = seen[0].tobytes()
        if key not in self._known:
            self._ask(seen, batch.legal())
        row = self._known[key]
        return {action: float(row[action]) for action in state.legal_actions()}

    def _ask(self, observations: Bytes, legal: Bytes) -> None:
        n = len(observations)
        nothing = np.zeros(n, np.int8)  # of games and sides a player without memory knows nothing
        numbers = nothing.astype(np.int32)
        views = Views(nothing.astype(np.int64), nothing, numbers, legal, observations)
        policy = np.asarray(self._player.policy(views), np.float64)
        policy /= policy.sum(1, keepdims=True)
        rows = zip(observations, policy, strict=True)
        self._known.update((seen.tobytes(), row) for seen, row in rows)
