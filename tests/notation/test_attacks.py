"""What players do with what they know, against slow and obvious counting."""

from __future__ import annotations

from collections import Counter

import pytest

from gravon_games import MadeUp
from stratkit.engine.stratego import (
    BOMB,
    FLAG,
    LOSES,
    MOVED,
    PIECE,
    REVEALED,
    SCOUT,
    SIDE,
    TYPE,
    VARIANTS,
    WINS,
    fight,
)
from stratkit.notation.attacks import COUNTED, count_attacks
from stratkit.notation.gravon import parse_log
from stratkit.notation.log import Log
from stratkit.notation.play import Played, play_out

MINER, MAJOR, MARSHAL = 3, 7, 10


def steps(one: int, other: int, width: int) -> int:
    return abs(one // width - other // width) + abs(one % width - other % width)


def is_known(cell: int, side: int) -> bool:
    """Whether it is a known piece of the other side."""
    return bool(cell & PIECE and cell & REVEALED) and bool(cell & SIDE) != bool(side)


def counted(played: Played) -> list[dict[str, int]]:
    """The same, ply by ply and square by square."""
    counts = [dict.fromkeys(COUNTED, 0) for _ in range(2)]
    moves, width = played.log.moves, played.log.variant.width
    hanging: set[int] = set()
    for ply in range(len(moves) // 2):
        side, (start, end) = ply % 2, moves[2 * ply : 2 * ply + 2]
        before, after = played.boards[ply], played.boards[ply + 1]
        mine = counts[side]
        mine["plies"] += 1
        outcome = None
        if before[end] & PIECE:
            outcome = fight(before[start] & TYPE, before[end] & TYPE)
            mine["attacks"] += 1
            if before[end] & REVEALED:
                mine["known"] += 1
                mine["known_lost"] += outcome == LOSES
        near = [
            theirs & TYPE
            for other, theirs in enumerate(after)
            if steps(end, other, width) == 1 and is_known(theirs, side)
            if theirs & TYPE not in (FLAG, BOMB)
        ]
        if near and outcome is None and not after[end] & REVEALED:
            mine["chases"] += 1
            mine["bluffs"] += all(fight(after[end] & TYPE, one) == LOSES for one in near)
        scouts = {
            other
            for other, theirs in enumerate(before)
            if is_known(theirs, side) and theirs & TYPE == SCOUT
            for square, cell in enumerate(before)
            if steps(square, other, width) == 1 and cell & PIECE
            if bool(cell & SIDE) == bool(side) and cell & TYPE not in (FLAG, BOMB)
            if fight(cell & TYPE, SCOUT) == WINS
        }
        mine["scouts"] += bool(scouts)
        mine["scouts_let_go"] += bool(scouts) and end not in scouts
        counts[1 - side]["beside_taken"] += end in hanging and outcome == WINS
        hanging = set()
        for square, cell in enumerate(after):
            if not cell & PIECE or bool(cell & SIDE) != bool(side) or cell & TYPE in (FLAG, BOMB):
                continue
            for other, theirs in enumerate(after):
                known = theirs & PIECE and theirs & REVEALED and (theirs ^ cell) & SIDE
                movable = theirs & TYPE not in (FLAG, BOMB)
                if (
                    steps(square, other, width) == 1
                    and known
                    and movable
                    and fight(theirs & TYPE, cell & TYPE) == WINS
                ):
                    hanging.add(square)
        mine["beside"] += len(hanging)
    return counts


@pytest.mark.parametrize("kind", ["classic", "barrage"])
def test_random_games(kind: str) -> None:
    games = [parse_log(MadeUp(kind, seed, 90).gsn(), "f") for seed in (1, 2)]
    total: Counter[str] = Counter()
    for played in play_out([("f", log) for log in games], boards=True):
        ours = count_attacks(played)
        assert [dict(one) for one in ours] == counted(played)
        total.update(ours[0])
    assert total["chases"] >= total["bluffs"] and total["scouts"] >= total["scouts_let_go"]
    assert kind == "barrage" or min(total[name] for name in COUNTED[6:])
    assert total["attacks"] and (total["beside"] or kind == "barrage")


def test_a_marshal_meets_a_known_bomb_and_a_miner_is_left_beside_a_known_major() -> None:
    variant = VARIANTS["nano"]
    width, squares = variant.width, variant.squares
    boards = []

    def board(**pieces: int) -> None:
        cells = [0] * squares
        for square, cell in pieces.items():
            cells[int(square[1:])] = cell
        boards.append(bytes(cells))

    known = PIECE | SIDE | REVEALED
    marshal, miner, bomb, major = PIECE | MARSHAL, PIECE | MINER, known | BOMB, known | MAJOR
    board(s0=marshal, s1=miner, **{f"s{width}": bomb, f"s{2 * width + 1}": major})
    board(s1=miner, **{f"s{width}": bomb, f"s{2 * width + 1}": major})
    board(s1=miner, **{f"s{width}": bomb, f"s{width + 1}": major | MOVED})
    board(**{f"s{width}": bomb, f"s{width + 1}": major | MOVED, "s2": miner | MOVED})
    moves = [0, width, 2 * width + 1, width + 1, 1, 2]
    log = Log(variant, "", None, bytes(moves), ("a", "b"), "cut", None)
    red, blue = count_attacks(Played(log, boards))
    assert red == Counter(plies=2, attacks=1, known=1, known_lost=1)
    assert not blue["attacks"] and not blue["beside"]  # red's miner is hidden


def test_a_game_without_boards_has_nothing_to_count() -> None:
    log = parse_log(MadeUp("duell", 1, 5).gsn(), "f")
    assert [dict(one) for one in count_attacks(Played(log))] == [dict.fromkeys(COUNTED, 0)] * 2
