"""The turns of a game that was played."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stratkit.arrays import Int32s
from stratkit.engine import Batch, Game
from stratkit.engine.history import placing_actions
from stratkit.engine.replay import legal_prefix
from stratkit.engine.stratego import free_game
from stratkit.errors import InputError
from stratkit.humans.analysis.analyst import Analyst, Turn
from stratkit.notation.actions import actions_of, start_of
from stratkit.notation.fenfs import Fenfs
from stratkit.notation.log import Log
from stratkit.notation.setups import has_counts
from stratkit.players.spec import PlayerSpec

Rules = tuple[tuple[str, int], ...]


class Turns:
    """Finds the turns of the games that an analyst knows. Games of equal rules share a `Game`, so
    that their turns can be looked at together."""

    def __init__(self, analyst: Analyst) -> None:
        self.analyst = analyst
        self._games: dict[Rules, Game] = {_key(analyst.game.rules): analyst.game}

    @classmethod
    def by(cls, spec: PlayerSpec) -> Turns:
        """Those that a PLAYER knows, as it is, without a search if it has none."""
        return cls(Analyst(spec))

    def position(self, fenfs: Fenfs) -> str:
        """What the side to move would play, as text."""
        return self.analyst.text(self.analyst.turn_of(fenfs))

    def turn(self, log: Log, ply: int) -> str:
        """What the side to move would play after so many plies of a game, as text. `InputError`:
        the game is another one, or over there."""
        return self.analyst.text(self.at(log, ply))

    def at(self, log: Log, ply: int) -> Turn:
        """The turn after so many plies of a game. `InputError`: it is another game, or over."""
        turns = self.of(log)
        if ply >= len(turns):
            raise InputError(f"the game is over after {log.plies} plies", text=f"--ply {ply}")
        return turns[ply]

    def of(self, log: Log) -> list[Turn]:
        """Each turn of a game with its history. The rules are the game's own, those of matches, or
        none, which old games may break. `InputError`: it is another game."""
        kind = self.analyst.variant
        regular = all(has_counts(kind, setup) for setup in log.setups or ())
        if log.variant.name != kind.name or not log.has_board or not regular:
            raise InputError(f"not a game of {kind.name}, which {self.analyst.name} plays")
        actions, start = actions_of(log), start_of(log).to_bytes()
        batch = Batch(self._rules_of(log, actions, start), 1)
        batch.start(0, start)
        placed = _placements(log)
        turns = []
        for ply in range(log.plies):
            played = actions[: 2 * ply]
            history = None if placed is None else np.concatenate([placed, played])
            turns.append(Turn(Batch.gathered([(batch, [0])]), 0, ply, history))
            for action in actions[2 * ply : 2 * ply + 2]:
                batch.apply(np.array([action], np.int32))
        return turns

    def _rules_of(self, log: Log, actions: Int32s, start: bytes) -> Game:
        known = _known(log)
        own = self._game(log.variant.name, known) if known else self.analyst.game
        if legal_prefix(own, actions, start).legal == len(actions):
            return own
        return self._game(log.variant.name, free_game(log.variant.name).rules)

    def _game(self, name: str, rules: Mapping[str, int]) -> Game:
        key = _key(rules)
        if key not in self._games:
            self._games[key] = Game.stored(name, rules)
        return self._games[key]

    def unlike(self, log: Log) -> str:
        """Which rules of a game the analyst has not learned, in words; "": none that is known, or
        it is another game, which has rules of its own."""
        if log.variant.name != self.analyst.variant.name:
            return ""
        learned, played = self.analyst.game.rules, _known(log)
        return ", ".join(
            f"{name} {played[name]}, not {learned[name]}"
            for name in learned
            if played.get(name, learned[name]) != learned[name]
        )


def _known(log: Log) -> Mapping[str, int]:
    """The rules by which a game was played; none where nobody knows. A record of a log has no
    rule in force: its players had some."""
    return log.rules if log.rules and any(log.rules.values()) else {}


def _key(rules: Mapping[str, int]) -> Rules:
    return tuple(sorted(rules.items()))


def _placements(log: Log) -> Int32s | None:
    """The actions that place the setups; None: nobody placed them: one is beyond its ranks, or the
    game began at a position."""
    if log.setups is None or any(len(setup) != log.variant.zone for setup in log.setups):
        return None
    return placing_actions(log.variant, np.stack(log.setups)).reshape(-1)
