"""Inputs for the fuzz targets to begin with: FOLDER/TARGET/NUMBER, a few dozen of each target.

What the bytes mean stands at the head of each target. Actions are mostly indices into the list of
legal ones, so that random bytes play a game.
"""

from __future__ import annotations

import contextlib
import pathlib
import struct
import sys

import numpy as np

from stratkit.engine import Batch, Game, game_names, sample
from stratkit.engine.stratego import BOMB, FLAG, VARIANTS

SMALL_GAMES = 8  # in table.c
DIPLOMACY_MAPS = 5  # in adjudicate.c
NONE = b"\x00"  # of a limit, and of open pieces
ANY_LIMIT = b"\xff"  # two bytes of it follow
SHORT = 63  # what take_limit takes off a limit of one byte
SOME_OPEN = b"\x80"  # two bytes follow, a bit for each type
FLAGS_AND_BOMBS = struct.pack("<H", 1 << FLAG | 1 << BOMB)
# As open_variant takes them: two_squares, more_squares, max_plies, max_quiet, open pieces.
RULES = (
    b"\x03" + b"\x01" + NONE + ANY_LIMIT + struct.pack("<H", 200) + NONE,
    b"\x00" + b"\x00" + NONE + NONE + NONE,
    b"\x01" + b"\x01" + bytes([SHORT + 33, SHORT + 17]) + SOME_OPEN + FLAGS_AND_BOMBS,
)


def played(name: str, seed: int) -> list[tuple[bytes, bytes]]:
    """Positions of a random game, each with the packed observation that belongs to it."""
    batch = Batch(Game(name), 1)
    found = []
    numbers = np.zeros(1, np.int32)
    while batch.actors()[0] >= 0 and numbers[0] < 300:
        if not numbers[0] % 10:
            with contextlib.suppress(ValueError):  # a deployment, or a piece is selected
                found.append((batch.save(0), batch.observe().tobytes()))
        batch.apply(sample(None, batch.legal(), seed, np.zeros(1, np.int64), numbers)[0])
        numbers += 1
    return found


def seeds() -> dict[str, list[bytes]]:
    rng = np.random.default_rng(1)
    found: dict[str, list[bytes]] = {
        "game_open": [b"\xc8" + name.encode() + b"\n" for name in game_names()],
        "batch_apply": [],
        "batch_start": [],
        "replay": [],
        "expand": [],
        "sample": [],
        "redeal": [],
        "adjudicate": [],
    }
    found["game_open"] += [b"\x40mini\n" + text for text in (b"two_squares=3 max_plies=70000",)]
    found["game_open"] += [b"\xc8duel\nmore_squares=0 max_quiet=0", b"\x00\n=", b"\x10nano\nmax_"]
    for name in (b"liars_dice:2x3", b"liars_dice:4x6", b"hex:3", b"dark_hex:11"):
        found["game_open"].append(b"\xc8" + name + b"\n")
    found["game_open"].append(b"\xc8phantom_ttt:classical\n")
    for index, name in enumerate(VARIANTS):
        positions = played(name, seed=index)
        for rules in RULES:
            game = bytes([index]) + rules
            actions = rng.integers(0, 250, 500, np.uint8).tobytes()
            found["batch_apply"] += [b"\x00" + game + actions, b"\x02" + game + actions]
            found["batch_start"].append(game + b"\x00" + actions)
            found["redeal"].append(game + actions)
            found["expand"].append(game + b"\x03" + rng.bytes(800))
            one = struct.pack("<BH", 0, 100) + actions[:100]
            whole = struct.pack("<BH", 0, 400) + actions[:400]
            found["replay"] += [game + b"\x02" + whole + one, game + b"\x04" + 4 * one]
            for position, packed in positions[:: max(1, len(positions) // 2)]:
                found["batch_start"].append(game + b"\x20" + position + actions[:100])
                late = position[:-4] + b"\xff\xff\x00\x00"  # after the highest ply number
                found["batch_start"].append(game + b"\x20" + late + actions[:20])
                two = b"\x90" + position + struct.pack("<H", 100) + actions[:100]
                found["replay"].append(game + b"\x04" + two + one + one + two)
                found["expand"].append(game + b"\x02" + packed + packed)
    for index in range(len(VARIANTS), len(VARIANTS) + SMALL_GAMES):
        game, actions = bytes([index]), rng.integers(0, 250, 60, np.uint8).tobytes()
        found["batch_apply"] += [b"\x00" + game + actions, b"\x02" + game + actions]
        found["redeal"].append(game + actions)
        found["replay"].append(game + b"\x02" + 2 * (struct.pack("<BH", 0, 30) + actions[:30]))
    # Any byte as a cell, and as the side to move, on the smallest board.
    game = bytes([list(VARIANTS).index("nano")]) + RULES[1]
    position = played("nano", seed=0)[0][0]
    for value in range(256):
        odd = bytes([value])
        found["batch_start"].append(
            game + b"\x20" + position[:4] + odd + position[5:] + b"\x01\x02"
        )
        found["batch_start"].append(game + b"\x20" + position[:-5] + odd + position[-4:] + b"\x03")
    for map_ in range(DIPLOMACY_MAPS):
        for placed in range(2):
            head, phases = bytes([map_, placed]), 12
            found["adjudicate"] += [head + rng.bytes(300 * phases), head + rng.bytes(600)]
    for rows, actions, uniform in [(1, 2, 0), (4, 11, 0), (3, 127, 1), (4, 35, 0)]:
        head = bytes([rows, actions, uniform]) + rng.bytes(12 + 12 * rows)
        legal = rng.integers(0, 2, rows * (actions + 1), np.uint8).tobytes()
        found["sample"].append(head + legal + rng.bytes(3 * rows * (actions + 1)))
    return found


def main(folder: pathlib.Path) -> None:
    for target, inputs in seeds().items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(inputs):
            (folder / target / f"{number:03}").write_bytes(data)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
