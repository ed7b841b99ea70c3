"""Logs of random games, for measuring:

    python tests/notation/synthetic_logs.py 10000 300 logs.zip [gsn|xml] [faults in a thousand]

writes so many classic games of so many moves into a zip. The same arguments give the same bytes.
"""

from __future__ import annotations

import pathlib
import sys
import zipfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))

from stratkit.engine import Game
from stratkit.engine.batch import Batch
from stratkit.engine.stratego import VARIANTS
from stratkit.notation.actions import start_of
from stratkit.notation.gravon_text import gsn_text, xml_text
from stratkit.notation.log import Log

ROWS = 512


def random_logs(count: int, plies: int, seed: int = 1):
    """`count` classic games of exactly `plies` moves that the engine chose at random."""
    rng, variant = np.random.default_rng(seed), VARIANTS["classic"]
    pieces = np.repeat(np.arange(12, dtype=np.uint8), variant.counts)
    batch = Batch(Game("classic", dict.fromkeys(Game("classic").rules, 0)), ROWS)
    while count > 0:
        logs = []
        for row in range(ROWS):
            setups = rng.permutation(pieces), rng.permutation(pieces)
            log = Log(variant, "classic", setups, b"", ("", ""), "tie_agreed", None)
            logs.append(log)
            batch.start(row, start_of(log).to_bytes())
        squares = np.zeros((2 * plies, ROWS), np.uint8)
        for step in range(2 * plies):
            legal = batch.legal()
            chosen = (legal * rng.random(legal.shape, np.float32)).argmax(axis=1).astype(np.int32)
            chosen[legal.max(axis=1) == 0] = -1
            batch.apply(chosen)
            squares[step] = np.where(step // 2 % 2, 99 - chosen, chosen)
        whole = np.flatnonzero(batch.endings() == 0)
        for row in whole[:count].tolist():
            nicks = (f"player {rng.integers(900)}", f"player {rng.integers(900)}")
            moves = squares[:, row].tobytes()
            yield Log(variant, "classic", logs[row].setups, moves, nicks, "tie_agreed", None)
        count -= len(whole)


def write_zip(path: str, count: int, plies: int, form: str = "gsn", faulty: int = 0) -> None:
    """`faulty` in a thousand have an illegal move in their middle."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, log in enumerate(random_logs(count, plies)):
            text = (gsn_text if form == "gsn" else xml_text)(log)
            if number % 1000 < faulty:
                lines = text.split("\n")
                lines[plies // 2] = lines[plies // 2 + 1]
                text = "\n".join(lines)
            date = f"2004.{number % 12 + 1}" if form == "xml" else f"2004.{number % 12 + 1}.1"
            dash = "-" if form == "xml" else "."
            member = zipfile.ZipInfo(f"classic{dash}{date}{dash}{number}.{form}")
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, text)


if __name__ == "__main__":
    count, plies, path, *rest = sys.argv[1:]
    write_zip(path, int(count), int(plies), *rest[:1], *map(int, rest[1:]))
