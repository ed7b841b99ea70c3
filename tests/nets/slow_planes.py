"""The 82 planes once more, slowly and obviously, from the text of the paper (supplement, table 4)
and the layout of the packed observation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

WORDS = "flag spy scout miner sergeant lieutenant captain major colonel general marshal bomb"
TYPES = WORDS.split()
CANNOT_MOVE = ("flag", "bomb")


def _divide(numerator: int, denominator: int) -> np.float32:
    if denominator == 0:
        return np.float32(0)
    return np.float32(numerator) / np.float32(denominator)


def probability(kind: str, moved: bool, count: dict[str, int], never_moved: int) -> np.float32:
    """That a hidden piece is of this type: `count` hidden pieces of each type are on the board,
    `never_moved` hidden pieces never moved."""
    immovable = sum(count[k] for k in CANNOT_MOVE)
    movable = sum(count.values()) - immovable
    if moved:
        return np.float32(0) if kind in CANNOT_MOVE else _divide(count[kind], movable)
    if kind in CANNOT_MOVE:
        return _divide(count[kind], never_moved)
    return _divide(count[kind] * (never_moved - immovable), never_moved * movable)


def planes(record: np.void, width: int, height: int) -> npt.NDArray[np.float32]:
    """One record of `observation_dtype` -> float32 [82, height, width]."""
    out = np.zeros((82, height, width), np.float32)
    board = [divmod(square, width) for square in range(width * height)]
    in_deployment = record["phase"] == 1

    for side, first in (("own", 25), ("enemy", 13)):
        count = dict(zip(TYPES, map(int, record[f"{side}_unrevealed"]), strict=True))
        pieces = [
            (at, int(cell))
            for at, cell in zip(board, record["cells"], strict=True)
            if cell & 0x80 and bool(cell & 0x40) == (side == "enemy")
        ]
        hidden = [cell for _, cell in pieces if not cell & 0x20]
        never_moved = sum(1 for cell in hidden if not cell & 0x10)
        for (y, x), cell in pieces:
            known = cell & 0x0F
            if side == "own":
                out[1 + known, y, x] = 1
            for number, kind in enumerate(TYPES):
                if in_deployment:
                    continue
                if cell & 0x20:
                    out[first + number, y, x] = number == known
                else:
                    p = probability(kind, bool(cell & 0x10), count, never_moved)
                    out[first + number, y, x] = p

    for (y, x), cell in zip(board, record["cells"], strict=True):
        out[0, y, x] = cell == 1
    for number, move in enumerate(record["moves"]):
        if move["from"] == 255:
            continue
        y, x = board[move["from"]]
        attack = move["attacker"] != 255
        out[37 + number, y, x] = -_divide(24 + int(move["attacker"]), 12) if attack else -1
        y, x = board[move["to"]]
        out[37 + number, y, x] = 1
    out[77] = _divide(int(record["plies"]), int(record["max_plies"]))
    out[78] = _divide(int(record["no_attack"]), int(record["max_no_attack"]))
    out[79] = record["phase"]
    out[80] = record["stage"]
    if record["selected"] != 255:
        y, x = board[record["selected"]]
        out[81, y, x] = 1
    return out
