"""A whole game, analysed: its records, line by line (formats/analysis.md)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from stratkit.humans.analysis.analyst import Analyst, Judgement, Turn, searching
from stratkit.humans.analysis.mistakes import details, names, rounded
from stratkit.humans.analysis.turns import Turns
from stratkit.notation.log import Log
from stratkit.players.spec import PlayerSpec

VERSION = 1
TOGETHER = 8  # plies whose worlds share the calls of the network
SHOWN = 5  # moves of a ply
MISTAKE = 0.1  # the least loss of one
SURE = 2.0  # standard errors by which a loss is above 0
MISTAKES = 3  # of a side, told
LOOKED_AT = 5  # of a side, with more worlds
CLOSE_WORLDS = 64  # in which mistakes are looked at
CLOSE_SEED = 1  # other worlds and draws than those by which a ply was chosen
SIDES = ("red", "blue")

Record = dict[str, Any]


class GameAnalyst:
    """Analyses games by one PLAYER, `spec`."""

    def __init__(self, spec: PlayerSpec) -> None:
        self.analyst = Analyst(searching(spec))
        self.spec, self.turns = spec, Turns(self.analyst)
        self._close: Analyst | None = None

    @property
    def close(self) -> Analyst:
        """The same with more worlds, and others, for mistakes."""
        if self._close is None:
            self._close = Analyst(searching(self.spec, CLOSE_WORLDS), CLOSE_SEED)
        return self._close

    def header(self) -> Record:
        """The first line of a file."""
        one = self.analyst
        return {
            "stratkit": "analysis",
            "version": VERSION,
            "game": one.game.name,
            "player": one.spec,
            "sha256": one.sha256,
        }

    def records(
        self, log: Log, number: int, plies: tuple[int, int] | None = None
    ) -> Iterator[Record]:
        """Those of each ply from one to another, from 1 on, of the mistakes among them, and of the
        game. `InputError`: it is another game."""
        turns = self.turns.of(log)
        first, last = plies or (1, len(turns))
        chosen = turns[max(first, 1) - 1 : last]
        found: list[Record] = []
        for at in range(0, len(chosen), TOGETHER):
            some = chosen[at : at + TOGETHER]
            for turn, judged in zip(some, self.analyst.judge(some), strict=True):
                found.append({"game": number, **self.record(judged, turn.ply, log)})
                yield found[-1]
        yield from ({"game": number, **one} for one in self.ending(log, turns, found))

    def record(self, judged: Judgement, ply: int, log: Log | None = None) -> Record:
        """That of a ply of a game, or of a position."""
        if log is None:
            return position_record(self.analyst, judged, ply)
        return _ply(self.analyst, judged, ply, played_at(self.analyst, judged, log, ply))

    def ending(
        self, log: Log, turns: Sequence[Turn], found: Sequence[Record], mistakes: bool = True
    ) -> Iterator[Record]:
        """Those that follow the plies: of the mistakes, if they are wanted, and of the game."""
        told = self._mistakes(log, turns, found) if mistakes else []
        yield from told
        yield {"kind": "game", **summary(log, found, told)}

    def _mistakes(self, log: Log, turns: Sequence[Turn], found: Sequence[Record]) -> list[Record]:
        """The largest of each side. Which they are is decided by one search, and how large by
        another one: the largest of many estimates is too large."""
        told: list[Record] = []
        for side in SIDES:
            suspects = [one for one in found if one["side"] == side and _is_mistake(one)]
            suspects = sorted(suspects, key=lambda one: -one["loss"])[:LOOKED_AT]
            close = [self.mistake(log, turns[one["ply"] - 1]) for one in suspects]
            sure = [one for one in close if _is_mistake(one)]
            told += sorted(sure, key=lambda one: -one["loss"])[:MISTAKES]
        return told

    def mistake(self, log: Log, turn: Turn) -> Record:
        """A ply, looked at closely."""
        [judged] = self.close.judge([turn])
        played = played_at(self.close, judged, log, turn.ply)
        record = _ply(self.close, judged, turn.ply, played)
        return {**record, "kind": "mistake", **details(self.close, turn, judged, played)}


def played_at(analyst: Analyst, judged: Judgement, log: Log, ply: int) -> int:
    """The place of the move that was played."""
    move, side = log.moves[2 * ply : 2 * ply + 2], log.mover(ply)
    a, b = (int(analyst.variant.framed(side, square)) for square in move)
    return judged.moves.index((a, b))


def position_record(analyst: Analyst, judged: Judgement, ply: int) -> Record:
    """What a record has of any turn."""
    texts = names(analyst.variant, judged.side, judged.moves)
    value, error = judged.value(judged.best)
    order = np.argsort(-judged.policy, kind="stable").tolist()
    best = [judged.best, *(at for at in order if at != judged.best)][:SHOWN]
    moves = []
    for at in best:
        worth, its_error = judged.value(at)
        one = {"move": texts[at], "share": round(float(judged.policy[at]), 3)}
        moves.append({**one, "value": rounded(worth), "error": rounded(its_error)})
    return {
        "kind": "ply",
        "ply": ply + 1,
        "side": SIDES[judged.side],
        "value": rounded(value),
        "error": rounded(error),
        "worlds": len(judged.returns),
        "moves": moves,
    }


def _ply(analyst: Analyst, judged: Judgement, ply: int, played: int) -> Record:
    loss, error = judged.loss(played)
    return position_record(analyst, judged, ply) | {
        "move": names(analyst.variant, judged.side, [judged.moves[played]])[0],
        "share": round(float(judged.policy[played]), 3),
        "loss": rounded(loss),
        "loss_error": rounded(error),
    }


def _is_mistake(one: Mapping[str, Any]) -> bool:
    loss: float = one["loss"]
    return loss >= MISTAKE and loss > SURE * (one["loss_error"] or 0)


def accuracy(loss: float) -> float:
    """Of a move, per cent: lichess' formula, of the loss as points of a hundred to win."""
    points = 50 * max(0.0, loss)
    return min(100.0, max(0.0, 103.1668 * math.exp(-0.04354 * points) - 3.1669))


def summary(log: Log, found: Sequence[Record], mistakes: Sequence[Record]) -> Record:
    """What is said of a game as far as it was looked at."""
    sides = {}
    for number, side in enumerate(SIDES):
        own = [one for one in found if one["side"] == side]
        told: Record = {"player": log.players[number], "plies": len(own)}
        if own:
            errors = [one["loss_error"] or 0.0 for one in own]
            told["accuracy"] = round(sum(accuracy(one["loss"]) for one in own) / len(own), 1)
            told["mean_loss"] = round(sum(one["loss"] for one in own) / len(own), 4)
            told["mean_loss_error"] = round(math.hypot(*errors) / len(own), 4)
        told["mistakes"] = [one["ply"] for one in mistakes if one["side"] == side]
        sides[side] = told
    return {"plies": log.plies, "ending": log.ending, **sides}
