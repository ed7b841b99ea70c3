"""A program that plays at random by the UCC protocol, and knows nothing of us; or misbehaves.

    ucc_bot.py [MODE]

Boards of 6 x 6 and 10 x 10, `mini` and classic armies (or Barrage's, where BOT_GAME says so).
With BOT_LOG all lines go to the file of that name and the process's number. It plays one game after
the other where MATCH_REUSE allows it.
"""

import os
import sys
import time  # and nothing that is slow to import: it is started hundreds of times

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
LOG = os.environ.get("BOT_LOG")
ARMY = {6: "FB12899s", 10: "F12334445555666677778888899999999sBBBBBB"}
STATE = time.time_ns() if os.environ.get("BOT_SEED") == "time" else 2


class GameOver(Exception):
    pass


if LOG:
    LOG_FILE = open(f"{LOG}.{os.getpid()}", "a", buffering=1)  # noqa: SIM115


def below(n):
    """A random number."""
    global STATE
    STATE = (STATE * 6364136223846793005 + 1442695040888963407) % 2**64
    return (STATE >> 33) % n


def note(mark, line):
    if LOG:
        LOG_FILE.write(f"{mark} {line}\n")


def get():
    line = sys.stdin.readline()
    if not line or line.startswith("QUIT"):
        note(">>", line.strip() or "EOF")
        if MODE == "ignores the end":
            while True:
                time.sleep(60)
        if line and os.environ.get("MATCH_REUSE") == "on" and MODE != "one game":
            raise GameOver
        sys.exit(0)
    note(">>", line.rstrip("\n"))
    return line.rstrip("\n")


def put(line, end="\n"):
    note("<<", line)
    sys.stdout.write(line + end)
    sys.stdout.flush()


def setup(colour, width, height):
    ranks = 4 if height == 10 else 2
    army = ARMY[6] if os.environ.get("BOT_GAME") == "barrage" else ARMY[width]
    pieces = list(army.ljust(width * ranks, "."))
    for last in reversed(range(1, len(pieces))):
        other = below(last + 1)
        pieces[last], pieces[other] = pieces[other], pieces[last]
    if MODE == "illegal setup":
        pieces[pieces.index("F")] = "B"
    for at in range(0, len(pieces), width):
        put("".join(pieces[at : at + width]))


def moves(board, width, height):
    for y in range(height):
        for x in range(width):
            if board[y][x] in "123456789s":
                for word, dx, dy in (
                    ("UP", 0, -1), ("DOWN", 0, 1), ("LEFT", -1, 0), ("RIGHT", 1, 0)
                ):  # fmt: skip
                    if 0 <= x + dx < width and 0 <= y + dy < height:
                        if board[y + dy][x + dx] in ".#":
                            yield f"{x} {y} {word}"
                        if board[y][x] == "9" and board[y + dy][x + dx] == ".":
                            tx, ty = x + 2 * dx, y + 2 * dy
                            if 0 <= tx < width and 0 <= ty < height and board[ty][tx] in ".#":
                                yield f"{x} {y} {word} 2"


def reply(move, back, choices):
    """The way back where there is one, and the way back from there."""
    move = back if back in choices else move
    x, y, word = move.split()[:3] if move != "SURRENDER" else (0, 0, "UP")
    dx, dy = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}[word]
    opposite = {"UP": "DOWN", "DOWN": "UP", "LEFT": "RIGHT", "RIGHT": "LEFT"}[word]
    return move, f"{int(x) + dx} {int(y) + dy} {opposite}"


def main():
    if MODE == "crash at start":
        sys.exit(7)
    if MODE == "forks a child":
        os.posix_spawnp("sleep", ["sleep", "1000"], os.environ)
    while True:
        try:
            game()
        except GameOver:
            continue


def game():
    colour, _, width, height = get().split()
    width, height = int(width), int(height)
    if MODE == "late, and unreadable":
        time.sleep(2.2)  # the original manager waits 2 s
    setup(colour, width, height)
    turn, back = 0, ""
    while True:
        get()
        board = [get() for _ in range(height)]
        turn += 1
        if MODE == "crash on move 7" and turn == 7:
            os.kill(os.getpid(), 11)
        if MODE == "silence" and turn == 3:
            time.sleep(1000)
        if MODE in ("exit", "exit 255") and turn == 3:
            sys.exit(255 if MODE == "exit 255" else 0)
        choices = list(moves(board, width, height))
        move = choices[below(len(choices))] if choices else "SURRENDER"
        if MODE == "last words":
            sys.stderr.write("thinking\n" * 20000)
            raise ValueError("no such square\x1b[31m")
        if MODE == "slow":
            time.sleep(0.3)
        if MODE == "to and fro":
            move, back = reply(move, back, choices)
        if turn == 2:
            if MODE == "flood":
                while True:
                    put(move)
            if MODE == "megabyte line":
                put("9" * (1 << 20))
            if MODE == "half a line":
                put(move[:-2], end="")
                time.sleep(1000)
            if MODE == "illegal move":
                move = "0 0 UP"
            if MODE in ("unreadable move", "late, and unreadable"):
                move = "c2 to ç3\x1b[31m"
        put(move)
        if move != "SURRENDER":
            get()


main()
