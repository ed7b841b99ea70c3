"""Why does a player have its habits? Experiments on a frozen network, from positions of its games:

    match preset=fast,barrage raider --gauntlet --game barrage -n 400 -o games.jsonl
    match name=barrage,preset=fast,barrage name=b,preset=fast,barrage --game barrage -o self.jsonl
    python examples/players/why.py barrage barrage raid games.jsonl self.jsonl

PLAYER is a network, NAME its name in the games, where it played by preset=fast. At most POSITIONS
(-n, 40) are looked at, in TIMES games (-t, 16; 0: none) by each move. EXPERIMENT is

    entered  a known enemy piece stands in the home ranks: all moves but the likeliest
    raid     the same: moves of pieces that beat it, towards it
    bombs    marshal, general or colonel may attack a hidden piece that has not moved
    spy      a known marshal may step beside such a piece, while the spy is not known
    quiet    far ahead, and nobody has attacked for 40 plies: attacks
    lost     the network expects -.9 or less: all moves but the likeliest
    pieces   what each piece is worth: the same position without it, early and late in the games
    setups   its score with and without a bomb beside the flag, and how the flag falls
    count    what the network expects, and its share of attacks, by the no-attack count

Of the first six, the first such position of each game is taken, for bombs and spy the first in
which such moves have half of the policy. The columns, by opponent and with standard errors:

    policy       the share of such moves
    bomb, spy    what stands there, or beside there: the share of bombs or flags, and of the spy
    uniform      the same shares as public knowledge alone has them
    before, now  what the network expected a turn before, and what it expects
    game         what it got in these games
    got          what it gets in games from there, against the opponent; against itself
    gain         what the likeliest such move brings over the likeliest other one, against both
    best         the same of the best of up to three such moves (entered, lost), which one half of
                 the games chooses and the other judges; hidden pieces are as they are, so it is
                 what one could gain who sees them

All is in returns, -1 to 1. Games go on by preset=fast of the network, or by other KEYS (--by):

    python examples/players/why.py barrage barrage lost games.jsonl --by rollouts=64,preset=strong
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from attacks import destinations
from losses import read

import stratkit
from stratkit.arrays import Bools, Bytes, Float32s, Int32s, Int64s
from stratkit.convert.games import PlayedGame
from stratkit.convert.raw import RawRecord
from stratkit.declared import whole
from stratkit.engine import Batch
from stratkit.engine.history import placing_actions
from stratkit.engine.observation import (
    CELLS,
    ENEMY_PUBLIC,
    ENEMY_UNREVEALED,
    MAX_NO_ATTACK,
    NO_ATTACK,
    expand_planes,
    number,
)
from stratkit.engine.stratego import (
    BOMB,
    FLAG,
    MARSHAL,
    MOVED,
    NO_PIECE,
    PIECE,
    REVEALED,
    SIDE,
    SPY,
    TYPE,
    TYPES,
    Position,
    variant,
)
from stratkit.engine.worlds import hidden_types
from stratkit.errors import InputError
from stratkit.models.trained_network import TrainedNetwork
from stratkit.notation.actions import actions_of
from stratkit.players.factory import open_player
from stratkit.players.player import Player, Views
from stratkit.players.registry import parse_player
from stratkit.players.scripted.sight import BEATS, Ground
from stratkit.script import Parser, argument
from stratkit.terminal import aligned

SUCH = 3  # moves that are tried, where all are such but one
ROWS = 256
QUIET, AHEAD, HOPELESS = 40, 0.25, -0.9  # plies; share of the pieces; return
EARLY = 20  # plies
FAST = "preset=fast"  # how it played, and goes on
ENEMY = PIECE | SIDE


class Turn(NamedTuple):
    """A turn of a side: what it sees and expects, `seen` uint8 [B], its moves, [m], and the game's
    actions before, `past` [k]."""

    ground: Ground
    seen: Bytes
    value: float
    start: Int64s
    end: Int64s
    past: Int32s

    @property
    def cells(self) -> Bytes:
        return self.seen[CELLS:]

    @property
    def piece(self) -> Int64s:
        """The type that each move moves."""
        return (self.cells[self.start] & TYPE).astype(np.int64)

    @property
    def unmoved(self) -> Bools:
        """bool [S]: the enemy's hidden pieces that have not moved."""
        return np.asarray((self.cells & (ENEMY | REVEALED | MOVED)) == ENEMY)


def is_ahead(turn: Turn) -> bool:
    """Whether the side has far more pieces."""
    whose = turn.cells & ENEMY
    more = int((whose == PIECE).sum()) - int((whose == ENEMY).sum())
    return more >= AHEAD * turn.ground.variant.pieces


def raid(turn: Turn) -> Bools:
    """Moves of pieces that beat a known piece in the home ranks, towards it."""
    at = np.flatnonzero((turn.cells & (ENEMY | REVEALED)) == ENEMY | REVEALED)
    at = at[turn.ground.home[at]]
    steps = turn.ground.steps
    nearer = steps[turn.end[:, None], at] < steps[turn.start[:, None], at]
    return np.asarray((nearer & BEATS[turn.piece[:, None], turn.cells[at] & TYPE]).any(1))


def entered(turn: Turn) -> Bools:
    """All moves, where a known piece stands in the home ranks."""
    known = (turn.cells & (ENEMY | REVEALED)) == ENEMY | REVEALED
    return np.full(len(turn.end), bool((known & turn.ground.home).any() and len(turn.end) > 1))


def bombs(turn: Turn) -> Bools:
    """Attacks of strong pieces on hidden ones that have not moved."""
    return turn.unmoved[turn.end] & (turn.piece >= 8)


def spy(turn: Turn) -> Bools:
    """Steps of a known marshal beside such a piece."""
    if not turn.seen[ENEMY_UNREVEALED + SPY]:
        return np.zeros(len(turn.end), bool)
    known = turn.cells[turn.start] & REVEALED != 0
    there = turn.ground.beside(turn.unmoved[None])[0][turn.end] > 0
    return (turn.piece == MARSHAL) & known & there & (turn.cells[turn.end] & PIECE == 0)


def quiet(turn: Turn) -> Bools:
    """Attacks, far ahead and late."""
    late = number(turn.seen.tobytes(), NO_ATTACK) >= QUIET
    return np.asarray((turn.cells[turn.end] & PIECE != 0) & (late and is_ahead(turn)))


def lost(turn: Turn) -> Bools:
    """All moves, where everything seems lost."""
    return np.full(len(turn.end), turn.value <= HOPELESS and len(turn.end) > 1)


HABITS: dict[str, tuple[Callable[[Turn], Bools], float]] = {  # and the least share of the policy
    "entered": (entered, 0.0),
    "raid": (raid, 0.0),
    "bombs": (bombs, 0.5),
    "spy": (spy, 0.5),
    "quiet": (quiet, 0.0),
    "lost": (lost, 0.0),
}
ALL = ("entered", "lost")  # whose moves are all but the likeliest


@dataclass
class Found:
    """A position. `state` is a batch of it; `such` and `policy` [m] are of its moves; `there` says
    what public knowledge has of where the likeliest such move goes: the truth and the uniform
    shares of bombs and flags, and of the spy. `past` [k] are the game's actions before."""

    state: Batch
    side: int
    moves: list[tuple[int, int]]
    such: Bools
    policy: Float32s
    before: float
    value: float
    result: float
    there: tuple[float, float, float, float]
    past: Int32s

    def tried(self, most: int) -> tuple[list[int], list[int]]:
        """The likeliest such moves, and the likeliest other one."""
        order = np.argsort(-self.policy, kind="stable").tolist()
        such = [at for at in order if self.such[at]]
        return such[:most], [at for at in order if not self.such[at]][:1]


def turns(
    ground: Ground, played: PlayedGame, side: int
) -> Iterator[tuple[Batch, Turn, list[tuple[int, int]]]]:
    """The side's turns: the game there, which goes on, what the side sees, and its moves. What it
    expects is not known yet."""
    log = played.log
    assert log.setups is not None
    batch = Batch(ground.game, 1)
    placed = placing_actions(log.variant, np.stack(log.setups)).reshape(-1)
    actions = np.concatenate([placed, actions_of(log)]).astype(np.int32)
    for at, action in enumerate(actions):
        ply, part = divmod(at - len(placed), 2)
        if ply >= 0 and not part and ply % 2 == side:
            moves = batch.moves(0, side)
            start, end = np.array(moves).T
            seen = batch.observe()[0]
            yield batch, Turn(ground, seen, np.nan, start, end, actions[:at]), moves
        batch.apply(action[None])


def policy_of(network: TrainedNetwork, batch: Batch, turn: Turn) -> Float32s:
    """The probability of each move, [m]."""
    selects = network.policy(turn.seen[None], batch.legal())[0]
    return selects[turn.start] * destinations(network, turn.seen, turn.start, turn.end)


def found(
    network: TrainedNetwork, ground: Ground, played: PlayedGame, side: int, habit: str
) -> Found | None:
    """The game's first position of this kind."""
    such_moves, least = HABITS[habit]
    before: Turn | None = None
    values: Iterator[float] = itertools.repeat(np.nan)
    if habit == "lost":
        seen = [turn.seen for _, turn, _ in turns(ground, played, side)]
        values = iter(network.values(np.stack(seen)).tolist())
    for (batch, turn, moves), value in zip(turns(ground, played, side), values, strict=False):
        turn = turn._replace(value=value)
        such = such_moves(turn)
        if such.any():
            policy = policy_of(network, batch, turn)
            if habit in ALL:
                such = np.arange(len(policy)) != policy.argmax()
            if policy[such].sum() >= least:
                at = int(np.where(such, policy, -1).argmax())
                there = standing(batch, turn, at, habit)
                both = [one.seen for one in (before, turn) if one is not None]
                *earlier, value = network.values(np.stack(both)).tolist()
                result = played.log.returns[side]
                expected = earlier[0] if earlier else np.nan
                here = batch.clone(), side, moves, such, policy
                return Found(*here, expected, value, result, there, turn.past)
        before = turn
    return None


def standing(batch: Batch, turn: Turn, at: int, habit: str) -> tuple[float, float, float, float]:
    """Of the hidden pieces where a move ends, or for `spy` beside that: whether there is a bomb or
    the flag; the probability of it by public knowledge; the same of the spy."""
    squares = np.zeros(turn.ground.squares + 1, bool)
    squares[turn.ground.neighbours[turn.end[at]] if habit == "spy" else turn.end[at]] = True
    squares = squares[:-1] & turn.unmoved
    if not squares.any():
        return np.nan, np.nan, np.nan, np.nan
    truth = hidden_types(batch)[0][squares]
    planes = expand_planes(turn.ground.game, turn.seen[None])[0, ENEMY_PUBLIC]
    chance = planes.reshape(len(TYPES), -1)[:, squares].sum(1)
    still = np.isin(truth, (BOMB, FLAG))
    return (
        float(still.any()),
        float(min(1, chance[BOMB] + chance[FLAG])),
        float((truth == SPY).any()),
        float(min(1, chance[SPY])),
    )


def returns_of(
    batch: Batch,
    own: Int64s,
    mine: Player,
    theirs: Player,
    pasts: Sequence[Int32s] | None = None,
) -> Float32s:
    """What the sides `own` [n] get in games that go on from these states, float32 [n]. The batch is
    played to the end. `pasts`: the actions before, of each game; None: nobody knows them."""
    rows = np.arange(batch.size)
    so_far = [past.tolist() for past in pasts or ()]

    def history(row: int) -> Int32s:
        return np.array(so_far[row], np.int32)

    for played in range(2 * 65535):
        seen = batch.actors(), batch.legal(), batch.observe()
        actions = np.full(batch.size, -1, np.int32)
        for player, who in ((mine, seen[0] == own), (theirs, seen[0] == 1 - own)):
            which = rows[who]
            if len(which):
                numbers = np.full(len(which), played, np.int32)
                views = (each[which] for each in seen)
                known = history if so_far else None
                view = Views.of_batch(batch, which, which, numbers, tuple(views), known)  # type: ignore[arg-type]
                actions[which] = player.act(view).actions
        if (actions < 0).all():
            break
        batch.apply(actions)
        for past, action in zip(so_far, actions.tolist(), strict=False):
            past.append(action)
    return batch.returns()[rows, own]


def tried(
    some: Sequence[Found], mine: Player, theirs: Player, most: int, times: int
) -> list[npt.NDArray[np.float32]]:
    """Of each position what follows, float32 [2 + most, times], NaN where it has no such move: of
    play as it is, of the likeliest other move, and of the `most` such moves that are tried."""
    parts, own, firsts, pasts, places = [], [], [], [], []
    for at, one in enumerate(some):
        such, others = one.tried(most)
        options = [(0, None), *((1, m) for m in others), *((2 + k, m) for k, m in enumerate(such))]
        for place, move in options:
            parts.append((one.state, np.zeros(times, np.int32)))
            own += [one.side] * times
            first = (-1, -1) if move is None else one.moves[move]
            firsts += [first] * times
            pasts += [np.array([*one.past, *(() if move is None else first)], np.int32)] * times
            places.append((at, place))
    batch = Batch.gathered(parts)
    for actions in np.array(firsts, np.int32).T:
        batch.apply(np.ascontiguousarray(actions))
    got = returns_of(batch, np.array(own), mine, theirs, pasts).reshape(-1, times)
    out = [np.full((2 + most, times), np.nan, np.float32) for _ in some]
    for (at, place), each in zip(places, got, strict=True):
        out[at][place] = each
    return out


def gains(got: Sequence[npt.NDArray[np.float32]]) -> tuple[list[float], list[float]]:
    """Of each position the gain of the likeliest such move over the other one, and that of the best
    such move, which half of the games choose and the others judge."""
    known = [each for each in got if not np.isnan(each[1:3]).any()]
    half = known[0].shape[1] // 2 if known else 0
    best = [
        each[2 + np.nan_to_num(each[2:, :half].mean(1), nan=-9).argmax(), half:].mean()
        - each[1, half:].mean()
        for each in known
        if half
    ]
    return [float(each[2].mean() - each[1].mean()) for each in known], [float(one) for one in best]


def told(numbers: Sequence[float]) -> str:
    """The mean and its standard error."""
    known = np.array([one for one in numbers if not np.isnan(one)])
    if len(known) < 2:
        return "-"
    return f"{known.mean():+.2f} ± {known.std(ddof=1) / len(known) ** 0.5:.2f}"


def pair(first: Sequence[float], second: Sequence[float]) -> str:
    known = [(a, b) for a, b in zip(first, second, strict=True) if not np.isnan(a)]
    return " ".join(f"{np.mean(each):.2f}" for each in zip(*known, strict=True)) or "-"


HEAD = ("against", "games", "positions", "policy", "bomb, spy", "uniform", "before", "now", "game",
        "got", "by itself", "gain", "by itself", "best", "by itself")  # fmt: skip


def report(
    some: Sequence[Found], head: Sequence[str], got: Sequence[Sequence[npt.NDArray[np.float32]]]
) -> list[str]:
    """The row of an opponent, whose name and number of games `head` has. `got`: what followed
    against the opponent and against itself, as of `tried`."""
    (gain, best), (own_gain, own_best) = (gains(each) for each in got)
    bomb, of_bomb, spies, of_spy = zip(*(one.there for one in some), strict=True)
    return [
        *head,
        str(len(some)),
        told([float(one.policy[one.such].sum()) for one in some]),
        pair(bomb, spies),
        pair(of_bomb, of_spy),
        told([one.before for one in some]),
        told([one.value for one in some]),
        told([one.result for one in some]),
        *(told([float(one[0].mean()) for one in each]) for each in got),
        *map(told, (gain, own_gain, best, own_best)),
    ]


class Lab:
    """A network and its games, by opponent: (game, side), with the PLAYER that the opponent is.
    `mine` goes on from positions by `keys`, and `itself`, its opponent, by preset=fast."""

    def __init__(self, player: str, name: str, files: Sequence[str], keys: str = FAST) -> None:
        self.player, self.network = player, stratkit.load(player)
        self.game = self.network.game
        variant(self.game.name)
        self.ground = Ground(self.game)
        self.itself = self.open(f"{FAST},{player}")
        self.mine = self.open(f"{keys},{player}")
        self.games: dict[str, list[tuple[PlayedGame, int]]] = defaultdict(list)
        self.specs: dict[str, str] = {}
        for against, played, _ in read(name, files):
            if played.log.variant.name != self.game.name or not isinstance(played.raw, RawRecord):
                raise InputError(f"records of {self.game.name} are needed", file=played.raw.name)
            self.games[against].append((played, played.log.players.index(name)))
            players = played.raw.header.players
            self.specs[against] = next(one.spec for one in players if one.name == against)
        if not self.games:
            raise InputError("no game of a player of this name", text=name)

    def open(self, player: str) -> Player:
        return open_player(parse_player(player), self.game, 1, ROWS).player


def habit(lab: Lab, name: str, most: int, times: int) -> list[list[str]]:
    """The table of a habit."""
    rows, moves = [list(HEAD)], SUCH if name in ALL else 1
    for against, games in lab.games.items():
        looked = (found(lab.network, lab.ground, played, side, name) for played, side in games)
        some = list(itertools.islice((one for one in looked if one is not None), most))
        if not some:
            continue
        spec, got = lab.specs[against], []
        if times:
            got = [tried(some, lab.mine, lab.open(spec), moves, times)]
        if times and parse_player(spec).spec != lab.player:
            got.append(tried(some, lab.mine, lab.itself, moves, times))
        both = got if len(got) == 2 else 2 * got or [[], []]
        rows.append(report(some, (against, str(len(games))), both))
    return rows


def pieces(lab: Lab, most: int, times: int) -> list[list[str]]:
    """What each piece is worth, without a history: of positions in the first and in the third
    quarter of games, the share of points that the network and games against itself lose with it."""
    rows = [["piece", "quarter", "positions", "network", "games", "share of points a piece, games"]]
    for quarter in (0, 2):
        by_type: dict[int, list[tuple[float, float]]] = defaultdict(list)
        for games in lab.games.values():
            for played, side in games[:most]:
                less(lab, played, side, quarter, by_type, times)
        for type_ in sorted(by_type):
            network, got = np.array(by_type[type_]).T
            row = [TYPES[type_], str(quarter + 1), str(len(got)), told(network), told(got)]
            rows.append([*row, f"{got.mean() / 2:.1%}"])
    return rows


def less(
    lab: Lab,
    played: PlayedGame,
    side: int,
    quarter: int,
    by: dict[int, list[tuple[float, float]]],
    times: int,
) -> None:
    """Adds, by type, what the network expects less and gets less in a position of the game with a
    random piece of that type gone."""
    nth = played.log.plies * (2 * quarter + 1) // 16
    there = next(itertools.islice(turns(lab.ground, played, side), nth, None), None)
    if there is None:
        return
    batch = there[0]
    board = lab.ground.variant
    whole, random = Position.from_bytes(board, batch.save(0)), np.random.default_rng(nth)
    own = np.flatnonzero((whole.cells & ENEMY) == (PIECE | SIDE * side))
    types = [int(t) for t in np.unique(whole.cells[own] & TYPE) if t != FLAG]
    starts = [whole]
    for type_ in types:
        cells = whole.cells.copy()
        cells[random.choice(own[whole.cells[own] & TYPE == type_])] = 0
        starts.append(Position(board, cells, side, whole.plies, whole.no_attack))
    begun = Batch(lab.game, len(starts))
    for row, start in enumerate(starts):
        begun.start(row, start.to_bytes())
    live = begun.actors() >= 0
    if not live[0]:
        return
    expected = np.full(len(starts), -1.0)
    expected[live] = lab.network.values(begun.observe()[live])
    many = Batch.gathered([(begun, np.repeat(np.arange(len(starts)), times))])
    got = returns_of(many, np.full(many.size, side), lab.itself, lab.itself)
    means = got.reshape(len(starts), times).mean(1)
    for type_, expects, gets in zip(types, expected[1:], means[1:], strict=True):
        by[type_].append((float(expected[0] - expects), float(means[0] - gets)))


def count(lab: Lab, most: int, times: int) -> list[list[str]]:
    """What the network expects and does where it is far ahead, as if nobody had attacked for so
    many plies, by a limit of 200 and of 100; and what it expects and gets at such a count."""
    played = [one for games in lab.games.values() for one in games[:most]]
    ahead = [
        (number(turn.seen.tobytes(), NO_ATTACK), game, batch.clone(), turn)
        for game, (one, side) in enumerate(played)
        for batch, turn, _ in turns(lab.ground, one, side)
        if is_ahead(turn)
    ]
    if not ahead:
        raise InputError("it is far ahead in none of these games")
    values = lab.network.values(np.stack([turn.seen for *_, turn in ahead]))
    random = np.random.default_rng(1)
    some = [ahead[at][2:] for at in random.permutation(len(ahead))[:most]]
    rows = [["count", "limit", "positions", "expects", "attacks", "games", "now", "game"]]
    for limit in (200, 100):
        for so_far in range(0, limit, limit // 10):
            told_of = zip(*(as_if(lab, *one, so_far, limit) for one in some), strict=True)
            by_game: dict[int, list[float]] = defaultdict(list)
            for (at, game, *_), value in zip(ahead, values, strict=True):
                if so_far <= at < so_far + limit // 10 and limit == 200:
                    by_game[game].append(float(value))
            now = [float(np.mean(each)) for each in by_game.values()]
            got = [played[game][0].log.returns[played[game][1]] for game in by_game]
            row = [str(so_far), str(limit), str(len(some)), *map(told, told_of)]
            rows.append([*row, str(len(by_game)), told(now), told(got)])
    return rows


def as_if(lab: Lab, batch: Batch, turn: Turn, so_far: int, limit: int) -> tuple[float, float]:
    """The value, and the share of attacks among moves where some are legal, else NaN."""
    seen = turn.seen.copy()
    for at, value in ((NO_ATTACK, so_far), (MAX_NO_ATTACK, limit)):
        seen[at], seen[at + 1] = value & 255, value >> 8
    attack = turn.cells[turn.end] & PIECE != 0
    share = np.nan
    if attack.any():
        share = float(policy_of(lab.network, batch, turn._replace(seen=seen))[attack].sum())
    return float(lab.network.values(seen[None])[0]), share


def setups(lab: Lab, most: int, times: int) -> list[list[str]]:
    """Setups with and without a bomb beside the flag: their share, what they get, and how many of
    these games end early, or with a scout that comes from afar and takes the flag."""
    rows = [["against", "bomb beside it", "games", "share", "got", "lost", "early", "to a scout"]]
    for against, games in lab.games.items():
        groups: dict[bool, list[PlayedGame]] = {False: [], True: []}
        for played, side in games:
            assert played.log.setups is not None
            own = np.full(lab.ground.squares, NO_PIECE, np.uint8)
            own[: lab.ground.variant.zone] = played.log.setups[side]
            groups[bool(lab.ground.beside((own == BOMB)[None])[0, own == FLAG][0])].append(played)
        sides = {id(played): side for played, side in games}
        for guarded, some in groups.items():
            got = [played.log.returns[sides[id(played)]] for played in some]
            fell = [played for played, points in zip(some, got, strict=True) if points < 0]
            early = sum(played.log.plies < EARLY for played in fell)
            scouts = sum(from_afar(lab.ground, played) for played in fell)
            row = [against, "yes" if guarded else "no", str(len(some))]
            row += [f"{len(some) / len(games):.1%}", told(got)]
            rows.append([*row, *map(str, (len(fell), early, scouts))])
    return rows


def from_afar(ground: Ground, played: PlayedGame) -> bool:
    """Whether a move of several squares takes the flag in the end."""
    start, end = played.log.moves[-2:]
    takes = played.log.reason == "flag_captured"
    return bool(takes and ground.steps[start, end] > 1)


TABLES = {"pieces": pieces, "count": count, "setups": setups}


def main(
    player: str,
    name: str,
    experiment: str,
    records: Sequence[str],
    most: int,
    times: int,
    keys: str = FAST,
) -> None:
    lab = Lab(player, name, records, keys)
    table = TABLES.get(experiment)
    rows = table(lab, most, times) if table else habit(lab, experiment, most, times)
    print("\n".join(aligned(rows, words=(0,))))


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("player", metavar="PLAYER")
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("experiment", choices=[*HABITS, *TABLES], metavar="EXPERIMENT")
    parser.add_argument("records", metavar="GAMES.jsonl", nargs="+")
    parser.add_argument("-n", dest="most", metavar="POSITIONS", default=40, type=argument(whole(1)))
    parser.add_argument("-t", dest="times", metavar="TIMES", default=16, type=argument(whole(0)))
    parser.add_argument("--by", dest="keys", metavar="KEYS", default=FAST)
    with parser.telling():
        main(**vars(parser.parse_args()))
