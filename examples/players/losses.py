"""What does a player lose by? Four counts over the games of a match, against each opponent and
against all of them together:

    match preset=fast,barrage raider waiter --gauntlet --game barrage -n 400 -o games.jsonl
    python examples/players/losses.py barrage games.jsonl

    bombs    its generals and colonels lost on hidden bombs, a game
    spy      of the games that it does not win: in how many a spy takes its marshal
    miners   of these games: at how many ends it has no miner
    raid     pieces that one enemy piece takes, known before it does, the most in a game: the mean
             of the worst tenth of games

Then two habits that lead to the first two counts, and whether opponents punish them:

    probes    attacks of its marshal, general or colonel on hidden pieces that have not moved, a
              game; how many of these are bombs, and how many would be by public knowledge
    steps     of its known marshal beside such pieces, while the spy is hidden, a game; beside how
              many of these the spy stands, and would stand by public knowledge

In brackets are the ends of intervals of 95 %, as if games were independent: of the Bayesian
bootstrap with one more game, the worst or the best possible one (`stratkit.rating.shares`), and of
the worst tenth a bootstrap's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stratkit.convert.games import PlayedGame, games
from stratkit.convert.raw import Raw, chunks
from stratkit.engine.stratego import (
    BOMB,
    FLAG,
    MARSHAL,
    MINER,
    MOVED,
    PIECE,
    REVEALED,
    SIDE,
    SPY,
    TYPE,
    Variant,
)
from stratkit.errors import InputError
from stratkit.notation.play import Played
from stratkit.notation.select import Selection
from stratkit.rating.shares import Share
from stratkit.script import Parser
from stratkit.terminal import aligned

STRONG = (8, 9)  # colonel and general
SAMPLES = 2000  # of a bootstrap
HEAD = ("against", "games", "won", "drawn", "lost", "bombs", "spy", "miners", "raid")


@dataclass
class Habit:
    """How often it shows, how often it meets what punishes it, and would by public knowledge."""

    times: int = 0
    met: int = 0
    expected: float = 0.0

    def add(self, met: bool, expected: float) -> None:
        self.times += 1
        self.met += met
        self.expected += expected


@dataclass(frozen=True)
class Losses:
    """Of a side in a game: how many generals and colonels hidden `bombs` took; whether a `spy` took
    the marshal; whether a `miner` is left at the end; the most pieces that one enemy piece took
    in a `raid`. `points` 1, 0 or -1."""

    bombs: int
    spy: bool
    miner: bool
    raid: int
    points: float
    probes: Habit
    steps: Habit


def losses(played: Played, side: int) -> Losses:
    """What a side lost in a game with its `boards`."""
    own, enemy = PIECE | SIDE * side, PIECE | SIDE * (1 - side)
    bombs, spy, raid = 0, False, 0
    probes, steps = Habit(), Habit()
    taken: dict[int, int] = {}  # by the square of an enemy's piece, what it took while known
    for ply, (before, after) in enumerate(zip(played.boards[:-1], played.boards[1:], strict=True)):
        start, end = played.log.moves[2 * ply : 2 * ply + 2]
        piece, met, stays = before[start], before[end], after[end] & (PIECE | SIDE)
        if ply % 2 == side:
            look(played, before, start, end, (probes, steps))
            hidden_bomb = met & PIECE and not met & REVEALED and met & TYPE == BOMB
            bombs += bool(hidden_bomb and stays == enemy and piece & TYPE in STRONG)
            if stays != enemy:
                taken.pop(end, None)
            continue
        before_this = taken.pop(start, 0)
        if stays == enemy:
            takes = bool(met & PIECE)
            taken[end] = before_this + (takes and bool(piece & REVEALED))
            raid = max(raid, taken[end])
            spy |= takes and (piece & TYPE, met & TYPE) == (SPY, MARSHAL)
    miner = any(cell & (PIECE | SIDE) == own and cell & TYPE == MINER for cell in played.boards[-1])
    return Losses(bombs, spy, miner, raid, played.log.returns[side], probes, steps)


def look(played: Played, board: bytes, start: int, end: int, habits: tuple[Habit, Habit]) -> None:
    """Adds a move of a side, if it shows one of its habits."""
    piece, enemy = board[start], PIECE | (SIDE & ~board[start])
    if piece & TYPE < min(STRONG):
        return
    hidden = [c & TYPE for c in board if c & (PIECE | SIDE | REVEALED) == enemy]
    still = [c & TYPE for c in board if c & (PIECE | SIDE | REVEALED | MOVED) == enemy]
    of_bomb = still.count(BOMB) / max(1, len(still))
    movable = [type_ for type_ in hidden if type_ not in (FLAG, BOMB)]
    unmoved = len(still) - (len(hidden) - len(movable))  # movable ones that have not moved
    of_spy = movable.count(SPY) * unmoved / max(1, len(still) * len(movable))
    probes, steps = habits
    if board[end] & (PIECE | SIDE | REVEALED | MOVED) == enemy:
        probes.add(board[end] & TYPE == BOMB, of_bomb)
    elif piece & TYPE == MARSHAL and piece & REVEALED and not board[end] and SPY in hidden:
        beside = [board[at] for at in neighbours(end, played.log.variant)]
        some = [c & TYPE for c in beside if c & (PIECE | SIDE | REVEALED | MOVED) == enemy]
        if some:
            steps.add(SPY in some, len(some) * of_spy)


def neighbours(square: int, board: Variant) -> list[int]:
    """The squares beside one."""
    rank, file = divmod(square, board.width)
    beside = ((rank + 1, file), (rank - 1, file), (rank, file + 1), (rank, file - 1))
    return [
        r * board.width + f for r, f in beside if 0 <= r < board.height and 0 <= f < board.width
    ]


def read(name: str, files: Sequence[str]) -> Iterator[tuple[str, PlayedGame, Losses]]:
    """The opponent's name, the game and what was lost, of each game of the player `name`."""
    for chunk in chunks(files):
        for item in chunk:
            if isinstance(item, InputError):
                raise item
        raws = [item for item in chunk if isinstance(item, Raw)]
        for game in games(raws, Selection(), boards=True):
            if isinstance(game, InputError):
                raise game
            if game is not None and name in game.log.players:
                side = game.log.players.index(name)
                yield game.log.players[1 - side], game, losses(game.played, side)


def rate(counts: Sequence[float], most: int = 1) -> str:
    """The mean of counts from 0 to `most` a game, and its interval."""
    if not counts or not most:
        return "-"
    share = Share([[count / most for count in counts]])
    low, high = share.ends()
    return f"{share.mean * most:.3f} ({low * most:.3f} to {high * most:.3f})"


def worst(counts: Sequence[float]) -> str:
    """The mean of the worst tenth of games, and its interval."""
    whole, random = np.array(counts, np.float64), np.random.default_rng(1)
    rows = np.concatenate([whole[None], random.choice(whole, (SAMPLES, len(whole)))])
    mean, *drawn = np.sort(rows, 1)[:, -max(1, len(whole) // 10) :].mean(1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{mean:.2f} ({low:.2f} to {high:.2f})"


def row(against: str, some: Sequence[Losses], strong: int, miners: int) -> list[str]:
    """The counts against an opponent, of a player with so many `strong` pieces and `miners`."""
    open_ = [each for each in some if each.points <= 0]
    results = [sum(each.points == points for each in some) for points in (1, 0, -1)]
    return [
        against,
        *map(str, [len(some), *results]),
        rate([each.bombs for each in some], strong),
        rate([each.spy for each in open_]),
        rate([not each.miner for each in open_] if miners else []),
        worst([each.raid for each in some]),
    ]


def grouped(found: Mapping[str, Sequence[Losses]]) -> list[tuple[str, Sequence[Losses]]]:
    """What was lost against each opponent, and where there are several, against `all`."""
    rows = list(found.items())
    if len(rows) > 1:
        rows.append(("all", [each for some in found.values() for each in some]))
    return rows


def shown(habits: Sequence[Habit]) -> list[str]:
    """A habit in some games: times a game, and the shares that met what punishes it."""
    times = sum(habit.times for habit in habits)
    shares = [sum(habit.met for habit in habits), sum(habit.expected for habit in habits)]
    return [f"{times / len(habits):.2f}", *(f"{s / times:.1%}" if times else "-" for s in shares)]


def main(name: str, *records: str) -> None:
    found: dict[str, list[Losses]] = {}
    boards = {}
    for against, game, lost in read(name, records):
        found.setdefault(against, []).append(lost)
        boards[game.log.variant.name] = game.log.variant
    if not found:
        raise InputError("no game of a player of this name", text=name)
    if len(boards) > 1:
        raise InputError("games of one board are needed", text=", ".join(sorted(boards)))
    (board,) = boards.values()
    strong, miners = sum(board.counts[type_] for type_ in STRONG), board.counts[MINER]
    groups = grouped(found)
    rows = [row(against, some, strong, miners) for against, some in groups]
    print("\n".join(aligned([list(HEAD), *rows], words=(0,))))
    rows = [["against", "probes", "bombs", "expected", "steps", "spy", "expected"]]
    for against, some in groups:
        habits = ([each.probes for each in some], [each.steps for each in some])
        rows.append([against, *(word for habit in habits for word in shown(habit))])
    print("\n".join(["", *aligned(rows, words=(0,))]))


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("records", metavar="GAMES.jsonl", nargs="+")
    asked = parser.parse_args()
    with parser.telling():
        main(asked.name, *asked.records)
