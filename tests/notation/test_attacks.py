"""What players do with what they know, against slow and obvious counting."""

from __future__ import annotations

from collections import Counter

import pytest

from gravon_games import MadeUp
from stratkit.engine.stratego import (
    BOMB,
    FLAG,
    LOSES,
    MARSHAL,
    MOVED,
    PIECE,
    REVEALED,
    SCOUT,
    SIDE,
    SPY,
    TYPE,
    VARIANTS,
    WINS,
    fight,
)
from stratkit.notation.attacks import COUNTED, count_attacks
from stratkit.notation.gravon import parse_log
from stratkit.notation.log import Log
from stratkit.notation.play import Played, play_out

MINER, MAJOR, COLONEL = 3, 7, 8
# What random moves hardly do; made-up positions do.
RARE = COUNTED[COUNTED.index("scout_chases_by_spy") : COUNTED.index("scouts")]


def steps(one: int, other: int, width: int) -> int:
    return abs(one // width - other // width) + abs(one % width - other % width)


def is_known(cell: int, side: int) -> bool:
    """Whether it is a known piece of the other side."""
    return bool(cell & PIECE and cell & REVEALED) and bool(cell & SIDE) != bool(side)


def beside_stronger(board: bytes, side: int, width: int) -> set[int]:
    """Where pieces of `side` stand beside a known piece that moves and is stronger."""
    found = set()
    for square, cell in enumerate(board):
        if not cell & PIECE or bool(cell & SIDE) != bool(side) or cell & TYPE in (FLAG, BOMB):
            continue
        for other, theirs in enumerate(board):
            known = is_known(theirs, side) and steps(square, other, width) == 1
            moves = theirs & TYPE not in (FLAG, BOMB)
            if known and moves and fight(theirs & TYPE, cell & TYPE) == WINS:
                found.add(square)
    return found


def counted(played: Played) -> list[dict[str, int]]:
    """The same, ply by ply and square by square."""
    counts = [dict.fromkeys(COUNTED, 0) for _ in range(2)]
    moves, width = played.log.moves, played.log.variant.width
    hanging: set[int] = set()
    pursued: tuple[int, set[int]] = (-1, set())  # by a stronger piece here: those there
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
        walks_in = end == pursued[0] and start in pursued[1] and outcome == LOSES
        counts[1 - side]["strong_chases_met"] += walks_in
        new: tuple[int, set[int]] = (-1, set())
        near = [
            (other, theirs & TYPE)
            for other, theirs in enumerate(after)
            if steps(end, other, width) == 1 and is_known(theirs, side)
            if theirs & TYPE not in (FLAG, BOMB)
        ]
        if near and outcome is None and not after[end] & REVEALED:
            own, types = after[end] & TYPE, [type_ for _, type_ in near]
            strong = all(fight(own, one) == WINS for one in types)
            mine["chases"] += 1
            mine["bluffs"] += all(fight(own, one) == LOSES for one in types)
            mine["scout_chases"] += SCOUT in types
            mine["scout_chases_by_spy"] += SCOUT in types and own == SPY
            mine["marshal_chases"] += MARSHAL in types
            mine["marshal_chases_as_spy"] += MARSHAL in types and own not in (SPY, MARSHAL)
            mine["strong_chases"] += strong
            new = (end, {square for square, _ in near}) if strong else new
        pursued = new
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
        hanging = beside_stronger(after, side, width)
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
    assert kind == "barrage" or min(total[name] for name in COUNTED if name not in RARE)
    assert total["attacks"] and (total["beside"] or kind == "barrage")


def made_up(boards: list[dict[int, int]], moves: list[int]) -> Played:
    """A piece of a game of nano, by the pieces on its squares."""
    variant = VARIANTS["nano"]
    cells = [bytes(board.get(at, 0) for at in range(variant.squares)) for board in boards]
    return Played(Log(variant, "", None, bytes(moves), ("a", "b"), "cut", None), cells)


def test_a_marshal_meets_a_known_bomb_and_a_miner_is_left_beside_a_known_major() -> None:
    width = VARIANTS["nano"].width
    known = PIECE | SIDE | REVEALED
    marshal, miner, bomb, major = PIECE | MARSHAL, PIECE | MINER, known | BOMB, known | MAJOR
    boards = [
        {0: marshal, 1: miner, width: bomb, 2 * width + 1: major},
        {1: miner, width: bomb, 2 * width + 1: major},
        {1: miner, width: bomb, width + 1: major | MOVED},
        {width: bomb, width + 1: major | MOVED, 2: miner | MOVED},
    ]
    red, blue = count_attacks(made_up(boards, [0, width, 2 * width + 1, width + 1, 1, 2]))
    assert red == Counter(plies=2, attacks=1, known=1, known_lost=1)
    assert not blue["attacks"] and not blue["beside"]  # red's miner is hidden


@pytest.mark.parametrize(
    ("hunter", "chased", "kinds"),
    [
        (SPY, SCOUT, ("bluffs", "scout_chases", "scout_chases_by_spy")),
        (SCOUT, SCOUT, ("scout_chases",)),
        (SCOUT, MARSHAL, ("bluffs", "marshal_chases", "marshal_chases_as_spy")),
        (SPY, MARSHAL, ("marshal_chases", "strong_chases")),
        (MARSHAL, MARSHAL, ("marshal_chases",)),
        (MARSHAL, COLONEL, ("strong_chases", "strong_chases_met")),
        (MARSHAL, SCOUT, ("scout_chases", "strong_chases", "strong_chases_met")),
    ],
)
def test_the_bluffs_of_figure_6(hunter: int, chased: int, kinds: tuple[str, ...]) -> None:
    """A hidden piece steps beside a known one, which then attacks it."""
    width = VARIANTS["nano"].width
    enemy = PIECE | SIDE | REVEALED | chased
    boards = [
        {0: PIECE | hunter, width + 1: enemy},
        {1: PIECE | hunter | MOVED, width + 1: enemy},
        {1: {LOSES: PIECE | hunter | MOVED | REVEALED, WINS: enemy | MOVED}.get(
            fight(chased, hunter), 0)},
    ]  # fmt: skip
    played = made_up(boards, [0, 1, width + 1, 1])
    red, blue = count_attacks(played)
    assert +red == Counter(dict.fromkeys(("plies", "chases", *kinds), 1)) + Counter(
        beside=fight(chased, hunter) == WINS, beside_taken=fight(chased, hunter) == WINS
    )
    assert [dict(red), dict(blue)] == counted(played)


def test_a_game_without_boards_has_nothing_to_count() -> None:
    log = parse_log(MadeUp("duell", 1, 5).gsn(), "f")
    assert [dict(one) for one in count_attacks(Played(log))] == [dict.fromkeys(COUNTED, 0)] * 2
