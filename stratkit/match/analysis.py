"""What a network thinks of positions and of the moves of whole games."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from stratkit.arrays import Int32s
from stratkit.engine import Batch, Game
from stratkit.engine.history import placing_actions
from stratkit.engine.replay import legal_prefix
from stratkit.engine.stratego import free_game, variant
from stratkit.engine.worlds import worlds
from stratkit.errors import InputError, UsageError
from stratkit.match import PLAYERS
from stratkit.notation.actions import actions_of, start_of
from stratkit.notation.fenfs import Fenfs, complete
from stratkit.notation.log import Log
from stratkit.notation.replay_page import Opinion
from stratkit.notation.setups import has_counts
from stratkit.players.factory import game_of, open_player
from stratkit.players.player import Explainer, Explanation, Views, decide
from stratkit.players.registry import NETWORK, parse_player
from stratkit.players.testtime.explain import MIN_SHOWN, text

WORLDS = 32  # in which two moves are compared
MAX_SHOWN = 3  # moves of an opinion


class Analyst:
    """The network that the PLAYER `player_text` is. Raises `UsageError` for a PLAYER that is none,
    `InputError` for one that cannot be opened."""

    def __init__(self, player_text: str) -> None:
        spec = parse_player(player_text, PLAYERS)
        if spec.kind is not NETWORK:
            raise UsageError("only a network's moves can be explained", text=player_text)
        self.name, self.game = spec.spec, Game.stored(game_of(spec))
        self.variant = variant(self.game.name)
        player = open_player(spec, self.game, 0, 2 * WORLDS).player
        assert isinstance(player, Explainer)
        self.player = player

    def position(self, fenfs: Fenfs) -> str:
        """What the side to move would play, as text."""
        board, kind = fenfs.variant, self.variant
        if (board.width, board.height, board.lakes) != (kind.width, kind.height, kind.lakes):
            what = f"not a board of {kind.name}, which {self.name} plays"
            raise InputError(what, text=fenfs)
        batch = Batch(self.game, 1)
        batch.start(0, complete(replace(fenfs, variant=kind)).to_bytes())
        if batch.actors()[0] < 0:
            raise InputError("the game is over", text=fenfs)
        return text(self._explain(batch, 0), self.game, numbered=False)

    def turn(self, log: Log, ply: int) -> str:
        """What the side to move would play after so many plies of a game, as text. `InputError`:
        the game is another one, or over there."""
        return text(self.explanation(log, ply), self.game, numbered=False)

    def explanation(self, log: Log, ply: int) -> Explanation:
        """The same, not yet as text."""
        for at, batch in enumerate(self._boards(log)):
            if at == ply and batch.actors()[0] >= 0:
                return self._explain(batch, ply, _history(log, ply))
        raise InputError(f"the game is over after {log.plies} plies", text=f"--ply {ply}")

    def opinions(self, log: Log, tell: Callable[[int], object]) -> list[Opinion]:
        """What the network thinks of each ply of a game; `tell` is called with 1 after each."""
        opinions = []
        for ply, batch in zip(range(log.plies), self._boards(log), strict=False):
            move = log.moves[2 * ply : 2 * ply + 2]
            opinions.append(self._opinion(batch, ply, move, _history(log, ply)))
            tell(1)
        return opinions

    def _boards(self, log: Log) -> Iterator[Batch]:
        """A game with its history, before each ply and at the end. The rules are those of matches,
        or none that old games may break."""
        kind = self.variant
        if (
            log.variant.name != kind.name
            or log.setups is None
            or not all(has_counts(kind, setup) for setup in log.setups)
        ):
            raise InputError(f"not a game of {kind.name}, which {self.name} plays")
        actions, start = actions_of(log), start_of(log).to_bytes()
        game = self.game
        if legal_prefix(game, actions, start).legal < len(actions):
            game = free_game(kind.name)
        batch = Batch(game, 1)
        batch.start(0, start)
        yield batch
        for at in range(0, len(actions), 2):
            batch.apply(actions[at : at + 1])
            batch.apply(actions[at + 1 : at + 2])
            yield batch

    def _explain(self, batch: Batch, ply: int, history: Int32s | None = None) -> Explanation:
        """Without the `history` of the game, beliefs by setups or moves are uniform."""
        [turn] = self.player.explain(Views.of_one(batch, 0, 2 * ply, history))
        return turn

    def _opinion(
        self, batch: Batch, ply: int, move: bytes, history: Int32s | None = None
    ) -> Opinion:
        turn, side = self._explain(batch, ply, history), ply % 2
        policy = turn.stages[-1][1]
        best = [int(at) for at in np.argsort(-policy, kind="stable")[:MAX_SHOWN]]
        best = [best[0], *(at for at in best[1:] if policy[at] >= MIN_SHOWN)]
        framed = [tuple(int(self.variant.framed(side, s)) for s in turn.moves[at]) for at in best]
        start, end = (int(self.variant.framed(side, square)) for square in move)
        played = turn.moves.index((start, end))
        loss = 0.0
        if played != best[0]:
            loss = self._compare(batch, ply, [turn.moves[best[0]], (start, end)])
        assert turn.value is not None
        return Opinion(
            moves=[(a, b, float(policy[at])) for (a, b), at in zip(framed, best, strict=True)],
            played=float(policy[played]),
            value=turn.value,
            loss=loss,
        )

    def _compare(self, batch: Batch, ply: int, moves: list[tuple[int, int]]) -> float:
        """How much more the mover expects of the first move than of the second: the difference of
        the values after them, in the same worlds, drawn from what the mover knows. Where the game
        goes on, the value is the one that the network gives the enemy, turned round."""
        side = int(batch.actors()[0])
        drawn = worlds(batch, 0, WORLDS, 0, 0, 2 * ply)
        both = Batch.gathered([(drawn, np.tile(np.arange(WORLDS), 2))])
        for actions in zip(*moves, strict=True):
            both.apply(np.repeat(np.array(actions, np.int32), WORLDS))
        expected = both.returns()[:, side].astype(np.float64)
        running: npt.NDArray[np.int64] = np.flatnonzero(both.actors() >= 0)
        if len(running):
            seen = both.actors()[running], both.legal()[running], both.observe()[running]
            numbers = np.full(len(running), 2 * ply + 2, np.int32)
            views = Views.of_batch(both, running, running, numbers, seen)
            values = decide(self.player, views, values=True).values
            assert values is not None
            expected[running] = -values
        best, other = expected.reshape(2, WORLDS)
        return float((best - other).mean())


def _history(log: Log, ply: int) -> Int32s | None:
    """The actions of a game with setups before this ply, its placements first; None: a setup is
    beyond its ranks, so that nobody placed it."""
    assert log.setups is not None
    if any(len(setup) != log.variant.zone for setup in log.setups):
        return None
    placed = placing_actions(log.variant, np.stack(log.setups)).reshape(-1)
    return np.concatenate([placed, actions_of(log)[: 2 * ply]])
