"""examples/players/why.py: positions in which habits show, and what follows from them."""

from __future__ import annotations

import contextlib
import io
import itertools
import pathlib
import runpy
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from running import ROOT, run
from stratkit.engine import Batch, Game, known_actions
from stratkit.engine.stratego import (
    BOMB,
    FLAG,
    MARSHAL,
    MINER,
    MOVED,
    PIECE,
    REVEALED,
    SCOUT,
    SIDE,
    SPY,
    Position,
    variant,
)  # fmt: skip
from stratkit.errors import InputError
from stratkit.players.factory import open_player
from stratkit.players.player import Decision, Views
from stratkit.players.registry import parse_player
from stratkit.players.scripted.sight import Ground

PLAYERS = ROOT / "examples" / "players"
sys.path.insert(0, str(PLAYERS))
script = SimpleNamespace(**runpy.run_path(str(PLAYERS / "why.py")))
sys.path.remove(str(PLAYERS))
BARRAGE, GENERAL = Game("barrage"), 9
ENEMY = PIECE | SIDE


def batch(no_attack: int = 0, **pieces: int) -> Batch:
    """Red to move, with both flags and these pieces."""
    kind = variant("barrage")
    cells = np.zeros(kind.squares, np.uint8)
    cells[list(kind.lakes)] = 1
    for square, piece in {"A1": PIECE | FLAG, "K10": ENEMY | FLAG, **pieces}.items():
        cells[kind.width * (int(square[1:]) - 1) + "ABCDEFGHIK".index(square[0])] = piece
    made = Batch(BARRAGE, 1)
    made.start(0, Position(kind, cells, 0, 20, no_attack).to_bytes())
    return made


def turn(made: Batch, value: float = 0.0) -> SimpleNamespace:
    start, end = np.array(made.moves(0, 0)).T
    past = np.zeros(0, np.int32)
    return script.Turn(Ground(BARRAGE), made.observe()[0], value, start, end, past)  # type: ignore[no-any-return]


def chosen(habit: str, made: Batch, value: float = 0.0) -> set[str]:
    """The moves of the habit."""
    here = turn(made, value)
    moves = np.flatnonzero(script.HABITS[habit][0](here))
    names = ["ABCDEFGHIK"[s % 10] + str(s // 10 + 1) for s in range(100)]
    return {f"{names[here.start[at]]}-{names[here.end[at]]}" for at in moves}


def test_who_goes_towards_a_raider() -> None:
    raider = ENEMY | GENERAL | REVEALED | MOVED
    board = batch(D2=raider, A3=PIECE | MARSHAL, E5=PIECE | SCOUT)
    assert chosen("raid", board) == {"A3-B3", "A3-A2"}
    assert chosen("raid", batch(D2=ENEMY | GENERAL, A3=PIECE | MARSHAL)) == set()
    assert chosen("raid", batch(E5=raider, A3=PIECE | MARSHAL)) == set()
    assert len(chosen("entered", board)) == len(board.moves(0, 0))
    assert chosen("entered", batch(E5=raider, A3=PIECE | MARSHAL)) == set()


def test_who_may_meet_a_bomb_or_the_spy() -> None:
    hidden = {"A8": ENEMY | BOMB, "B7": ENEMY | SPY, "E6": ENEMY | SCOUT | MOVED}
    own = {"A7": PIECE | GENERAL, "B6": PIECE | MARSHAL | REVEALED, "C7": PIECE | MINER}
    assert chosen("bombs", batch(**hidden, **own)) == {"A7-A8", "A7-B7", "B6-B7"}
    assert chosen("spy", batch(**hidden, B5=own["B6"])) == {"B5-B6"}
    assert chosen("spy", batch(**hidden, B5=PIECE | MARSHAL)) == set()
    known = {**hidden, "B7": ENEMY | SPY | REVEALED}
    assert chosen("spy", batch(**known, B5=own["B6"])) == set()


def test_what_stands_there() -> None:
    board = batch(A8=ENEMY | BOMB, B7=ENEMY | SPY, K9=ENEMY | SCOUT, A7=PIECE | GENERAL)
    here = turn(board)
    at = list(zip(here.start.tolist(), here.end.tolist(), strict=True)).index((60, 70))
    bomb, of_bomb, spy, of_spy = script.standing(board, here, at, "bombs")
    # A flag and a bomb among four hidden pieces that have not moved, and a spy.
    assert (bomb, spy) == (1, 0) and (of_bomb, of_spy) == pytest.approx((0.5, 0.25))
    beside = batch(B7=ENEMY | SPY, K9=ENEMY | SCOUT, B5=PIECE | MARSHAL | REVEALED)
    here = turn(beside)
    at = list(zip(here.start.tolist(), here.end.tolist(), strict=True)).index((41, 51))
    assert script.standing(beside, here, at, "spy")[::2] == (0, 1)


def test_attacks_count_far_ahead_and_late() -> None:
    pieces = {"A5": PIECE | SCOUT, "A6": ENEMY | SCOUT, "D1": PIECE | MINER, "E1": PIECE | MARSHAL}
    assert chosen("quiet", batch(60, **pieces)) == {"A5-A6"}
    assert chosen("quiet", batch(20, **pieces)) == set()
    del pieces["D1"]
    assert chosen("quiet", batch(60, **pieces)) == set()
    assert chosen("lost", batch(**pieces), -0.8) == set()
    assert len(chosen("lost", batch(**pieces), -0.95)) > 1


def test_one_half_of_the_games_judges_what_the_other_chose() -> None:
    got = np.full((5, 4), np.nan, np.float32)
    got[1], got[2], got[3] = -0.5, 0, (1, 1, -1, -1)  # the second such move was lucky
    assert script.gains([got]) == ([0.5], [-0.5])
    assert script.gains([got[:, :1]]) == ([0.5], [])  # one game has no second half
    got[1] = np.nan
    assert script.gains([got]) == ([], [])


def test_games_go_on_from_a_position_for_either_side() -> None:
    """A marshal takes the flag in one move, or the other side does."""
    won = batch(K9=PIECE | MARSHAL | REVEALED, A3=ENEMY | SCOUT | REVEALED)
    many = Batch.gathered([(won, np.zeros(6, np.int32))])
    heuristic = open_player(parse_player("heuristic"), BARRAGE, 1, 64).player
    own = np.array([0, 0, 0, 1, 1, 1])
    assert script.returns_of(many, own, heuristic, heuristic).tolist() == [1, 1, 1, -1, -1, -1]


def knows_what_was_played(lab: SimpleNamespace) -> None:
    """Who goes on from a position is told all public actions before, as in a match."""
    ((played, side), *_) = lab.games["heuristic"]
    batch, turn, moves = next(itertools.islice(script.turns(lab.ground, played, side), 3, None))
    such = np.arange(len(moves)) == 1
    policy = np.full(len(moves), 1 / len(moves), np.float32)
    nothing = (0.0, 0.0, 0.0, 0.0)
    there = script.Found(
        batch.clone(), side, moves, such, policy, 0.0, 0.0, 0.0, nothing, turn.past
    )
    told: list[list[int]] = []

    class Watching:
        def act(self, views: Views) -> Decision:
            for row in range(len(views)):
                history = views.state(row).history()
                assert history is not None
                told.append(history.tolist())
            return lab.itself.act(views)  # type: ignore[no-any-return]

    script.tried([there], Watching(), lab.itself, 1, 1)
    known = known_actions(BARRAGE, turn.past, side)
    assert known is not None
    public = known.tolist()
    assert told[0] == public
    assert all(one[16 : len(public)] == public[16:] for one in told)  # behind the placements
    assert {len(one) for one in told} >= {len(public), len(public) + 1, len(public) + 4}
    assert any(tuple(one[len(public) :][:2]) == moves[1] for one in told)


def test_experiments_on_games(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(script.main.__globals__, "ROWS", 8)
    file = str(tmp_path / "games.jsonl")
    two = ("name=easy,preset=fast,barrage-easy", "heuristic")
    assert (
        run(
            "match", *two, "--game", "barrage", "-n", 8, "--slots", 8, "--seed", 3, "-o", file
        ).status
        == 0
    )
    lab = script.Lab("barrage-easy", "easy", [file])
    for experiment in script.HABITS:
        head, *rows = script.habit(lab, experiment, 1, 2 * (experiment == "entered"))
        assert all(row[:3] == ["heuristic", "8", "1"] and len(row) == len(head) for row in rows)
    knows_what_was_played(lab)
    assert sum(int(row[2]) for row in script.setups(lab, 1, 0)[1:]) == 8
    worth = script.pieces(lab, 1, 1)[1:]
    assert {row[0] for row in worth} > {"marshal", "scout"}
    assert {row[1] for row in worth} <= {"1", "3"}
    assert [row[:2] for row in script.count(lab, 8, 0)[1::10]] == [["0", "200"], ["0", "100"]]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        script.main("barrage-easy", "easy", "setups", [file], 1, 1)
        script.main("barrage-easy", "easy", "entered", [file], 1, 2, "search=mmd,rollouts=1")
    said = out.getvalue().splitlines()
    assert said[0].startswith("against") and said[-1].split()[:3] == ["heuristic", "8", "1"]
    with pytest.raises(InputError, match="no game of a player of this name"):
        script.Lab("barrage-easy", "hard", [file])
    with pytest.raises(InputError, match="records of classic are needed"):
        script.Lab("classic-easy", "easy", [file])
