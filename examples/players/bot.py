#!/usr/bin/env python3
"""A program that plays Barrage by lines of text (formats/ucc.md). It imports nothing of stratkit:
so looks a bot in any language. It attacks if it can, else goes towards the enemy if it can.

match --check reuse=on,ucc:examples/players/bot.py --game barrage
"""

from __future__ import annotations

import argparse
import os
import random
import sys

SETUP = ["F.........", "B.........", "..8....s..", ".9.2..1.9."]  # from the back row to the front
STEPS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}


def moves(board: list[str], forward: str) -> list[tuple[int, str]]:
    """Every legal step, behind its worth."""
    found = []
    for y, row in enumerate(board):
        for x, piece in enumerate(row):
            if piece not in "123456789s":
                continue
            for direction, (dx, dy) in STEPS.items():
                if 0 <= x + dx < len(row) and 0 <= y + dy < len(board):
                    there = board[y + dy][x + dx]
                    worth = 2 * (there == "#") + (direction == forward)
                    if there in ".#":
                        found.append((worth, f"{x} {y} {direction}"))
    return found


def goes_on() -> bool:
    """Whether the next line is of a game that goes on."""
    line = sys.stdin.readline()
    return bool(line) and not line.startswith("QUIT")


def play(colour: str, height: int) -> None:
    """One game, to its QUIT."""
    forward = "DOWN" if colour == "RED" else "UP"  # red has the top rows
    print("\n".join(SETUP if colour == "RED" else SETUP[::-1]), flush=True)
    while goes_on():  # START, or the enemy's move
        found = moves([sys.stdin.readline().strip() for _ in range(height)], forward)
        best = max((worth for worth, _ in found), default=0)
        some = [move for worth, move in found if worth == best]
        print(random.choice(some) if some else "SURRENDER", flush=True)
        if not goes_on():  # the own move, with its outcome
            return


argparse.ArgumentParser(description=__doc__).parse_args()
while first := sys.stdin.readline():
    colour, _, _, height = first.split()  # the opponent's name, and the width
    play(colour, int(height))
    if os.environ.get("MATCH_REUSE") != "on":
        break
