"""What a network thinks of positions and of plies, alone and with a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from stratkit.arrays import Float64s, Int32s
from stratkit.engine import Batch, Game
from stratkit.engine.stratego import variant
from stratkit.errors import InputError, UsageError
from stratkit.games.kit import Notation
from stratkit.games.table import kit_of
from stratkit.notation.fenfs import Fenfs, complete
from stratkit.players.factory import game_of, open_player
from stratkit.players.player import Explainer, Explanation, Moves, Views
from stratkit.players.registry import NETWORK
from stratkit.players.searching.options import SearchOptions
from stratkit.players.spec import PlayerSpec
from stratkit.players.testtime.explain import text
from stratkit.players.testtime.pipeline import PostprocessedPlayer

ROWS = 256  # views that a network evaluates at a time
VALUES = "mmd"  # the search that values all moves in the same worlds
# What compares moves where the PLAYER has no search of its own: bench/analysis.md.
WORLDS, DEPTH, ETA = 8, 6, 30.0
DEPTHS = {"classic": 2}  # where a rollout of `DEPTH` plies takes too long


@dataclass(frozen=True)
class Turn:
    """A position in which a side has to move.

    batch    where it stands, with its history
    row      of the batch
    ply      how many plies went before
    history  int32 [k], the actions of the game so far, its placements first; None: nobody knows
    """

    batch: Batch
    row: int
    ply: int
    history: Int32s | None = None

    @property
    def kind(self) -> tuple[int, bool]:
        """Turns of one kind are looked at together."""
        return id(self.batch.game), self.history is None


@dataclass(frozen=True)
class Judgement:
    """What an analyst thinks of the moves of a turn, by what the side to move knew.

    side     whose turn it is
    moves    the m moves, squares in the side's frame
    policy   float64 [m], how it would play
    returns  float64 [k, m], what the side gets after each move in each of k worlds, from -1 (lost)
             to 1; NaN where a move was not tried in it
    """

    side: int
    moves: Moves
    policy: Float64s
    returns: Float64s

    @property
    def best(self) -> int:
        """The place of the move that is played most."""
        return int(self.policy.argmax())

    def value(self, move: int) -> tuple[float, float]:
        """What the side expects after a move, and its standard error."""
        return _mean(self.returns[:, move])

    def loss(self, move: int) -> tuple[float, float]:
        """How much less it expects than after the best move, in the same worlds, and its standard
        error."""
        if move == self.best:
            return 0.0, 0.0
        return _mean(self.returns[:, self.best] - self.returns[:, move])


def _mean(each: Float64s) -> tuple[float, float]:
    """The mean, and its standard error, over worlds; NaN are none."""
    known = each[~np.isnan(each)]
    if len(known) < 2:
        return float(known.mean()), float("nan")
    return float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known)))


def searching(spec: PlayerSpec, worlds: int = WORLDS, depth: int | None = None) -> PlayerSpec:
    """The PLAYER, with a search that compares moves if it has none; its rollouts are so long as its
    game's, or of `depth` plies. `UsageError`: it is no network, its search is another one, or
    not of every ply. `InputError`: it cannot be opened."""
    if spec.kind is not NETWORK:
        raise UsageError("only a network's moves can be explained", text=spec.text)
    options: SearchOptions = spec.options.searching
    if options and options.search != VALUES:
        what = f"moves are compared by search={VALUES}, not by search={options.search}"
        raise UsageError(what, text=spec.text)
    if options.quiet:
        raise UsageError("moves are compared at every ply: no quiet=", text=spec.text)
    if not options:
        if depth is None:
            depth = DEPTHS.get(game_of(spec), DEPTH)
        options = SearchOptions(
            search=VALUES, rollouts=1, worlds=worlds, depth=depth, eta=ETA, belief="setups"
        )
    return replace(spec, options=replace(spec.options, searching=options))


class Analyst:
    """The network that a PLAYER is. Raises `UsageError` for a PLAYER that is none, `InputError`
    for one that cannot be opened."""

    def __init__(self, spec: PlayerSpec, seed: int = 0) -> None:
        if spec.kind is not NETWORK:
            raise UsageError("only a network's moves can be explained", text=spec.text)
        self.name, self.game = spec.spec, Game.stored(game_of(spec))
        if kit_of(self.game).notation is not Notation.LOG:
            what = f"it plays {self.game.name}, and only games with setups are analysed"
            raise InputError(what, file=spec.spec)
        self.variant = variant(self.game.name)
        contestant = open_player(spec, self.game, seed, ROWS)
        self.player, self.sha256, self.spec = contestant.player, contestant.sha256, contestant.spec

    def turn_of(self, fenfs: Fenfs) -> Turn:
        """The turn of a position. `InputError`: it is another game's, or the game is over."""
        board, kind = fenfs.variant, self.variant
        if (board.width, board.height, board.lakes) != (kind.width, kind.height, kind.lakes):
            what = f"not a board of {kind.name}, which {self.name} plays"
            raise InputError(what, text=fenfs)
        batch = Batch(self.game, 1)
        batch.start(0, complete(replace(fenfs, variant=kind)).to_bytes())
        if batch.actors()[0] < 0:
            raise InputError("the game is over", text=fenfs)
        return Turn(batch, 0, fenfs.ply)

    def text(self, turn: Turn) -> str:
        """What it would play, as text. Without the history of a game, beliefs by setups or moves
        are uniform."""
        return text(self.explain(turn), self.game, numbered=False)

    def explain(self, turn: Turn) -> Explanation:
        """The same, not yet as text."""
        assert isinstance(self.player, Explainer)
        [found] = self.player.explain(views_of([turn]))
        return found

    def judge(self, turns: Sequence[Turn]) -> list[Judgement]:
        """What it thinks of turns. The result of each does not depend on the others: they share the
        calls of the network. Its PLAYER is `searching`."""
        found: dict[int, Judgement] = {}
        for kind in dict.fromkeys(turn.kind for turn in turns):
            places = [at for at, turn in enumerate(turns) if turn.kind == kind]
            found.update(zip(places, self._judge([turns[at] for at in places]), strict=True))
        return [found[at] for at in range(len(turns))]

    def _judge(self, turns: Sequence[Turn]) -> list[Judgement]:
        assert isinstance(self.player, PostprocessedPlayer)
        views, found = views_of(turns), list[Explanation]()
        self.player.explained(found.append).policy(views)
        values = self.player.evaluator.values(views.observations)
        return [_judgement(*each) for each in zip(found, values.tolist(), strict=True)]


def _judgement(found: Explanation, value: float) -> Judgement:
    """What was found; of a turn without a choice the network's value."""
    policy = found.stages[-1][1].astype(np.float64)
    returns = np.full((1, len(policy)), value) if found.search is None else found.search.returns
    assert returns is not None
    return Judgement(found.side, found.moves, policy, returns)


def views_of(turns: Sequence[Turn]) -> Views:
    """The views of the sides to move in turns of one kind. Their random numbers depend on the plies
    alone."""
    batch = Batch.gathered([(turn.batch, [turn.row]) for turn in turns])
    histories = [turn.history for turn in turns if turn.history is not None]
    return Views.of_batch(
        batch,
        np.arange(len(turns)),
        np.zeros(len(turns), np.int64),
        np.array([2 * turn.ply for turn in turns], np.int32),
        (batch.actors(), batch.legal(), batch.observe()),
        histories.__getitem__ if histories else None,
    )
