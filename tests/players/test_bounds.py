"""Value bounds: against Eq. 8 word by word, and on positions where they must act or must not."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from players import slow_bounds
from players.positions import Scene
from players.sharp import sharp_player
from stratkit.engine.stratego import MOVED, PIECE, REVEALED, SIDE, legal_moves
from stratkit.nets.evaluator import Evaluator
from stratkit.players.side_board import SideBoard
from stratkit.players.testtime import value_bounds as bounds
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.pipeline import PostprocessedPlayer
from stratkit.players.testtime.value_bounds import (
    BoundsRoot,
    Determinization,
    Reply,
    State,
    _best_of_worst,
)

MOVABLE = (1, 2, 3, 5, 9, 10)


def random_cells(seed: int) -> bytes:
    """Two flags and a few pieces near each other, some of them known, some moved."""
    chance = random.Random(seed)
    squares = chance.sample([s for s in range(6, 30) if s % 6 < 4], 7)
    cells = bytearray(36)
    cells[0], cells[35] = PIECE, PIECE | SIDE
    for at, square in enumerate(squares):
        side = SIDE if at % 2 else 0
        kind = chance.choice(MOVABLE if at < 4 else (*MOVABLE, 11))
        seen = chance.choice((0, 0, REVEALED))
        moved = chance.choice((0, MOVED)) if kind != 11 else 0
        cells[square] = PIECE | side | kind | seen | moved
    return bytes(cells)


def compare(cells: bytes) -> tuple[int, int]:
    """Compares the bounds of red's moves; how many of them bind, and answers by hidden pieces."""
    batch = slow_bounds.begin(cells, 0)
    packed = batch.observe()[0].tobytes()
    root = BoundsRoot(packed, SideBoard.of(6, 6, packed), None, 0)
    finite = hidden = 0
    for move in legal_moves(batch, 0):
        found = bounds.determinizations(root, *move)
        for answer in (answer for case in found for answer in case.replies):
            if math.isnan(answer.state.value):
                answer.state.value = slow_bounds.value(answer.state.packed)
            hidden += answer.square != bounds.NONE
        bound = max(case.bound() for case in found)
        assert min(bound, 1) == pytest.approx(min(slow_bounds.bound(cells, move), 1)), move
        finite += bound < 1
    return finite, hidden


@pytest.mark.parametrize("part", range(2))
def test_bounds_are_those_of_equation_8(part: int) -> None:
    assert sum(compare(random_cells(seed))[0] for seed in range(3 * part, 3 * part + 3)) > 3


@pytest.mark.parametrize(
    ("pieces", "moved"),
    [
        ("M:A1 e:C3 Y:F6 p:A6 W:D4 V:C5 N:E6", "D4 C5"),  # two hidden pieces that win
        ("M:A1 d:C3 E:F1 Y:F6 W:D4 V:E3 Q:F4", "D4 E3 F4"),
    ],
)
def test_answers_of_hidden_pieces(pieces: str, moved: str) -> None:
    scene = Scene(pieces, moved)
    finite, hidden = compare(scene.batch.save(0)[:36])
    assert finite > 1 and hidden > 3


def test_hidden_attackers_share_the_types_that_are_left() -> None:
    left = bytes((1, 0, 1, 2, 0, 0, 0, 0, 0, 0, 1, 0))
    assert _best_of_worst([], left) == math.inf
    assert _best_of_worst([{2: 0.5, 3: 0.1}], left) == 0.5
    assert _best_of_worst([{2: 0.5, 3: 0.1}, {2: 0.4, 3: 0.2}], left) == 0.2
    assert _best_of_worst([{2: 0.5, 3: 0.1}, {2: 0.4, 3: -1}], left) == 0.1
    assert _best_of_worst([{3: 0.5}, {3: 0.4}, {2: 0.3, 10: 0.6}], left) == 0.4


class Counting(Evaluator):
    """Its opinion: own pieces less the enemy's, in tenths."""

    def values(self, observations: np.ndarray, pub: np.ndarray | None = None) -> np.ndarray:
        boards = [SideBoard.of(6, 6, packed.tobytes()) for packed in observations]
        counts = [len([*board.pieces(0)]) - len([*board.pieces(1)]) for board in boards]
        return np.array(counts, np.float32) / 10


BASE = "M:A1 D:A2 E:F1 Y:F6 P:E6"


def removed(scene: Scene) -> set[str]:
    """The moves that value bounds take from the policy."""
    gone: set[str] = set()

    def note(explanation: object) -> None:
        links = dict(explanation.stages)  # type: ignore[attr-defined]
        moves = explanation.moves  # type: ignore[attr-defined]
        lost = (links["threshold"] > 0) & (links["bounds"] == 0)
        files = "ABCDEF"
        gone.update(
            "".join(f"{files[s % 6]}{s // 6 + 1}" for s in move)
            for move, out in zip(moves, lost, strict=True)
            if out
        )

    network = sharp_player(scene.game).evaluator.network
    asked = PostProcessing(threshold=1e-9, bounds=0.05)
    player = PostprocessedPlayer(Counting("plain", network, 8), scene.game, 1, asked, note)
    policy = player.policy(scene.views())[0]
    assert policy.sum() == pytest.approx(1)
    return gone


@pytest.mark.parametrize(
    ("pieces", "move", "mistake"),
    [
        ("k:C3 x:D4", "C3C4", True),  # beside a known marshal, which takes the general
        ("k:C3 x:D4", "C3B3", False),  # out of its reach
        ("k:C3 x:D4 C:B4", "C3C4", False),  # red's spy would take the marshal
        ("k:C3 x:D4 e:B4", "C3C4", True),  # a known miner would not
        ("k:C3 X:D4", "C3C4", False),  # hidden, and not known to move
        ("e:C3 w:C4", "C3C4", True),  # into a known general
        ("e:C3 W:C4", "C3C4", False),  # into what may be the flag
        ("l:C3 w:C4", "C3C4", False),  # a won piece
    ],
)
def test_where_bounds_act(pieces: str, move: str, mistake: bool) -> None:
    assert (move in removed(Scene(f"{BASE} {pieces}"))) == mistake


def test_hidden_pieces_that_moved() -> None:
    """Attacking one that has moved is judged by the best that it may be; standing beside one is
    dangerous only where all that it may be wins."""
    scene = Scene(f"{BASE} e:C3 W:C4", moved="C4")
    assert "C3C4" not in removed(scene)  # it may be the scout
    scene = Scene("M:A1 D:A2 E:F1 Y:F6 p:E6 e:C3 W:C4", moved="C4")
    assert "C3C4" in removed(scene)  # it must be the general
    scene = Scene("M:A1 D:A2 E:F1 Y:F6 p:E6 e:C3 W:D4 V:E4", moved="D4 E4")
    assert "C3C4" in removed(scene)  # general or colonel: both take the miner
    scene = Scene("M:A1 D:A2 E:F1 Y:F6 p:E6 e:C3 W:D4 O:E4", moved="D4 E4")
    assert "C3C4" not in removed(scene)  # a spy would lose


def test_scouts() -> None:
    """A known scout attacks from afar, a hidden one is not known to."""
    assert "B2B3" in removed(Scene("M:A1 E:F1 c:B2 Y:F6 p:E3 O:E6 N:D6"))
    assert "B2B3" not in removed(Scene("M:A1 E:F1 c:B2 Y:F6 P:E3 O:E6 N:D6", moved="E3"))


def test_the_two_squares_rule_forbids_answers() -> None:
    """A marshal that has gone to and fro three times cannot come back for the general."""
    scene = Scene("M:A1 k:C3 E:F1 Y:F6 P:A6 x:D5", two_squares=3, max_quiet=0)
    for moves in (("F1F2", "D5D4"), ("F2F1", "D4D5"), ("F1F2", "D5D4")):
        scene.play(*moves)
    packed, board = scene.packed(), scene.board()
    origin, back = scene.move("D4D5")
    assert bounds._crosses_too_often(BoundsRoot(packed, board, None, 3), origin, back)
    assert not bounds._crosses_too_often(BoundsRoot(packed, board, None, 0), origin, back)
    assert not bounds._crosses_too_often(BoundsRoot(packed, board, None, 4), origin, back)
    for other in ("D4D3", "D4C4"):
        assert not bounds._crosses_too_often(BoundsRoot(packed, board, None, 3), *scene.move(other))


def test_the_ends_of_games() -> None:
    def bound(pieces: str, move: str, **rules: int) -> float:
        scene = Scene(pieces, **rules)
        root = BoundsRoot(scene.packed(), scene.board(), None, 3)
        cases = bounds.determinizations(root, *scene.move(move))
        for state in (answer.state for case in cases for answer in case.replies):
            state.value = 0.5 if math.isnan(state.value) else state.value
        return max(case.bound() for case in cases)

    assert bound("M:A1 e:C3 N:F5 Y:F6 p:C4 O:E5", "C3C2", max_plies=1) == 0
    assert bound("M:A1 e:C3 Y:F6 p:E5", "C3D3", max_quiet=2, more_squares=0) == 0
    assert bound("M:A1 e:C3 Y:F6 q:C4", "C3C4") == 0  # both fall, and nobody can move
    assert bound("M:A1 e:C3 Y:F6 p:C4", "C3C4") == 1  # nobody is left to answer
    assert bound("M:A1 d:C3 Y:F6 q:C5 N:F5 N:E6", "C3C4") == -1  # the last piece that can move


def test_one_question_of_bounded_size() -> None:
    answers = [Reply(State(SideBoard(10, 10, bytes(100), [bytes(12)] * 2), b"", None))]
    many = [Determinization(answers * 300, bytes(12))]
    looked: list[int] = []
    original = bounds.determinizations
    try:
        bounds.determinizations = lambda root, start, end: (
            many if looked.append(start) is None else []
        )
        states: list[State] = []
        root = BoundsRoot(b"", answers[0].state.board, None, 0)
        policy = np.array([0.1, 0.5, 0.0, 0.4], np.float32)
        found = bounds.look_ahead(root, [(i, i) for i in range(4)], policy, states)
    finally:
        bounds.determinizations = original
    assert looked == [1, 3, 0] and len(states) == 300
    assert [found[at][0].value for at in (1, 3, 0)] == [None, math.inf, math.inf]
    assert not bounds.look_ahead(root, [(0, 0)], np.ones(1, np.float32), states)
