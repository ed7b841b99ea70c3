"""What a side is told of its game, against what happened in it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from stratkit.engine import Game, observation_dtype, sample
from stratkit.engine.arbiter import Arbiter
from stratkit.engine.stratego import BOTH_FALL, FLAG, LOSES, TYPES, UNKNOWN, WINS, variant
from stratkit.humans.observed_game import ObservedGame, Ply, Turn
from stratkit.players.player import Views

SCOUT, MINER = 2, 3


class Followed:
    """A random game of `mini`, `most` plies of it, and what each side was shown at each of its
    turns. `truth` are the plies, with all pieces known."""

    def __init__(self, seed: int, most: int = 1000) -> None:
        self.arbiter, self.seed = Arbiter(Game("mini")), seed
        kind = variant("mini")
        self.turns: list[Turn] = []
        self.truth: list[Ply] = []
        observed = [ObservedGame(kind, 0, side) for side in range(2)]
        while self.arbiter.deploying:
            self.arbiter.act(self.drawn())
        while (side := self.arbiter.turn) is not None and len(self.truth) < most:
            views = Views.of_one(self.arbiter.batch, 0, len(self.arbiter.actions))
            seen = views.observations[0].view(observation_dtype(kind.squares))[0]
            self.turns.append(observed[side].look(seen, views.state(0).moves()))
            self.check(self.turns[-1])
            self.play()

    def drawn(self) -> int:
        number = np.array([len(self.arbiter.actions)], np.int32)
        games = np.zeros(1, np.int64)
        return int(sample(None, self.arbiter.batch.legal(), self.seed, games, number)[0][0])

    def play(self) -> None:
        pieces, side = self.arbiter.pieces(), self.arbiter.turn
        assert side is not None
        for _ in range(2):
            self.arbiter.act(self.drawn())
        start, end = self.arbiter.moves[-1]
        enemy = pieces[end][1] if end in pieces else None
        self.truth.append(Ply(side, start, end, pieces[start][1], enemy))

    def check(self, turn: Turn) -> None:
        """Lost, hidden and legal are as they are."""
        pieces = self.arbiter.pieces()
        for side in range(2):
            left = Counter(type_ for whose, type_ in pieces.values() if whose == side)
            lost = [n - left[type_] for type_, n in enumerate(turn.position.variant.counts)]
            assert turn.lost[side].tolist() == lost
        unknown = turn.position.cells & 15 == UNKNOWN
        hidden = Counter(pieces[square][1] for square in np.flatnonzero(unknown).tolist())
        assert turn.hidden.tolist() == [hidden[type_] for type_ in range(len(TYPES))]
        assert turn.moves == self.arbiter.legal()


def test_every_fight_is_told_as_it_was() -> None:
    outcomes: Counter[int] = Counter()
    for seed in range(30):
        game = Followed(seed)
        for turn in game.turns:
            assert len(turn.plies) == turn.position.plies
            for told, true in zip(turn.plies, game.truth, strict=False):
                assert (told.start, told.end, told.side) == (true.start, true.end, true.side)
                assert told.enemy == true.enemy
                assert told.piece == true.piece or (told.piece == UNKNOWN and told.enemy is None)
                assert told.piece == true.piece or told.side != turn.side
                if told.enemy is not None:
                    outcomes[told.outcome] += 1
            new = turn.plies[len(turn.plies) - turn.new :]
            assert [ply.side for ply in new] == [turn.side, 1 - turn.side][-turn.new :] or not new
    assert min(outcomes[how] for how in (WINS, LOSES, BOTH_FALL)) > 100


def test_blue_may_first_look_when_red_has_moved() -> None:
    """As where setups were given: the side was not asked in deployment, nor shown a board before.
    A scout can attack at once."""
    outcomes: Counter[int] = Counter()
    for seed in range(400):
        game = Followed(seed, most=2)
        if game.truth[0].enemy is not None and len(game.turns) > 1:
            assert game.turns[1].plies[0] == game.truth[0] and game.truth[0].piece == SCOUT
            outcomes[game.truth[0].outcome] += 1
    assert outcomes[LOSES] > 0 and outcomes[WINS] + outcomes[BOTH_FALL] > 0, outcomes


@pytest.mark.parametrize(
    ("ply", "side", "text"),
    [
        (Ply(0, 0, 6, SCOUT, MINER), 0, "your scout met their miner on A2: your scout is lost"),
        (Ply(0, 0, 6, SCOUT, MINER), 1, "their scout met your miner on A2: their scout is lost"),
        (Ply(1, 0, 6, MINER, SCOUT), 0, "their miner met your scout on A2: your scout is lost"),
        (Ply(1, 0, 6, MINER, MINER), 1, "your miner met their miner on A2: both are lost"),
        (Ply(0, 0, 6, SCOUT, FLAG), 0, "your scout took their flag on A2"),
        (Ply(1, 1, 7, UNKNOWN), 0, "their piece went from B1 to B2"),
    ],
)
def test_a_move_in_words(ply: Ply, side: int, text: str) -> None:
    assert ply.told(side, variant("mini")) == text
