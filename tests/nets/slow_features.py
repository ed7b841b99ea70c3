"""The features of small networks once more, slowly and obviously, from the words of
formats/observation.md and the planes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nets.slow_planes import planes

FLAG, SPY, MINER, MARSHAL, BOMB = 0, 1, 3, 10, 11
STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))  # north, south, east, west
Array = npt.NDArray[np.float32]


def wins(attacker: int, defender: int) -> bool:
    if attacker in (FLAG, BOMB):
        return False
    if defender == BOMB:
        return attacker == MINER
    return attacker > defender or (attacker, defender) == (SPY, MARSHAL)


def loses(attacker: int, defender: int) -> bool:
    cannot = attacker in (FLAG, BOMB) or attacker == defender
    return not cannot and not wins(attacker, defender)


def meeting(own: int, enemy: Array) -> list[np.float32]:
    """What an own piece meets where the enemy's has these probabilities [12]."""
    kinds = range(12)
    return [
        sum((enemy[k] for k in kinds if wins(own, k)), np.float32(0)),
        sum((enemy[k] for k in kinds if loses(own, k)), np.float32(0)),
        sum((enemy[k] for k in kinds if wins(k, own)), np.float32(0)),
    ]


def beside(own: int, enemy: Array, y: int, x: int) -> list[list[np.float32]]:
    """What it meets on the four neighbours of a square; `enemy` [12, height, width]."""
    _, height, width = enemy.shape
    return [
        meeting(own, enemy[:, y + up, x + right])
        if 0 <= y + up < height and 0 <= x + right < width
        else [np.float32(0)] * 3
        for up, right in STEPS
    ]


def features(record: np.void, width: int, height: int) -> tuple[Array, Array]:
    """One record of `observation_dtype` -> float32 [48, height, width] and [51]."""
    given = planes(record, width, height)
    enemy = given[13:25]
    out = np.zeros((48, height, width), np.float32)
    out[0:13], out[15:27] = given[0:13], enemy
    out[29:37] = given[37:45]
    counts = np.zeros(51, np.float32)
    for square, cell in enumerate(map(int, record["cells"])):
        y, x = divmod(square, width)
        if not cell & 0x80:
            continue
        first = 27 if cell & 0x40 else 13
        out[first, y, x], out[first + 1, y, x] = bool(cell & 0x20), bool(cell & 0x10)
        kind = cell & 0x0F
        if not cell & 0x40:
            four = beside(kind, enemy, y, x)
            out[39:43, y, x] = [one[0] for one in four]
            out[43:47, y, x] = [one[1] for one in four]
            out[47, y, x] = max(one[2] for one in four)
            counts[kind] += 1
        elif cell & 0x20:
            counts[12 + kind] += 1
    last: dict[int, int] = {}  # by square: the ply that came there and after which nobody left
    for i in reversed(range(40)):
        start, end = int(record["moves"][i]["from"]), int(record["moves"][i]["to"])
        if start != 255:
            last.pop(start, None)
            last[end] = i
    for square, i in last.items():
        y, x = divmod(square, width)
        out[37 if i % 2 else 38, y, x] = np.float32(40 - i) / np.float32(40)
    counts[12:24] += record["enemy_unrevealed"]
    counts[24:36], counts[36:48] = record["own_unrevealed"], record["enemy_unrevealed"]
    counts[:48] /= 8
    counts[48:50], counts[50] = given[77:79, 0, 0], record["phase"]
    return out, counts


def outcomes(record: np.void, width: int, height: int) -> Array:
    """float32 [height * width, 3]."""
    out = np.zeros((height * width, 3), np.float32)
    enemy = planes(record, width, height)[13:25]
    if record["selected"] == 255:
        for square in range(height * width):
            if record["only_attacks"][square // 8] >> square % 8 & 1:
                out[square, :2] = cornered(record["cells"], enemy, *divmod(square, width))
        return out
    kind = int(record["cells"][record["selected"]]) & 0x0F
    for square in range(height * width):
        y, x = divmod(square, width)
        out[square] = meeting(kind, enemy[:, y, x])
        out[square, 2] = max(one[2] for one in beside(kind, enemy, y, x))
    return out


def cornered(cells: Array, enemy: Array, y: int, x: int) -> tuple[float, float]:
    """What the best attack of the piece there on a neighbour brings."""
    _, height, width = enemy.shape
    cell = int(cells[y * width + x])
    found = []
    for up, right in STEPS:
        if not (0 <= y + up < height and 0 <= x + right < width):
            continue
        other = int(cells[(y + up) * width + x + right])
        if other & 0xC0 == 0xC0:
            found.append(meeting(cell & 0x0F, enemy[:, y + up, x + right]))
    if not found:
        return 0.0, 0.0
    return max(one[0] for one in found), min(one[1] for one in found)
