"""The small games: their rules against slow twins, known counts and known exploitabilities."""

from __future__ import annotations

import itertools
import os
import pathlib
from collections import Counter

import numpy as np
import pytest

import small_tree
from stratkit.engine import Batch, Game, sample
from stratkit.engine.batch import CHANCE, OVER
from stratkit.errors import InputError


def play(name: str, n: int, seed: int) -> tuple[list[list[int]], np.ndarray]:
    """The actions of n random games, chance by its probabilities, and player 0's returns."""
    batch, games = Batch(Game(name), n), np.arange(n, dtype=np.int64)
    actions: list[list[int]] = [[] for _ in range(n)]
    for number in itertools.count():
        numbers = np.full(n, number, np.int32)
        chosen, _ = sample(None, batch.legal(), seed, games, numbers)
        batch.draw_chance(seed, games, numbers, chosen)
        if (chosen < 0).all():
            break
        batch.apply(chosen)
        for row in np.flatnonzero(chosen >= 0):
            actions[row].append(int(chosen[row]))
    returns = batch.returns()
    np.testing.assert_array_equal(returns.sum(1), 0)
    assert number <= (batch.game.max_length or number)
    return actions, returns[:, 0]


def sights(name: str, actions: list[int]) -> list[tuple[int, list[int], bytes]]:
    """Who acts, what is legal and what is seen before each action, and at the end."""
    batch = Batch(Game(name), 1)
    seen = []
    for action in [*actions, None]:
        legal = np.flatnonzero(batch.legal()[0]).tolist()
        seen.append((int(batch.actors()[0]), legal, batch.observe()[0].tobytes()))
        if action is not None:
            batch.apply(np.array([action], np.int32))
    return seen


def check_frequencies(outcomes: list[int], expected: dict[int, float]) -> None:
    """Each outcome as often as expected, within five standard deviations."""
    counts, n = Counter(outcomes), len(outcomes)
    assert counts.keys() <= expected.keys()
    for outcome, p in expected.items():
        assert abs(counts[outcome] - n * p) <= 5 * np.sqrt(n * p * (1 - p)), outcome


def kuhn_chance(history: list[int]) -> dict[int, float]:
    return {card: 1 / (3 - len(history)) for card in range(3) if card not in history}


def test_the_slow_tree_knows_kuhn() -> None:
    tree = small_tree.build(Game("kuhn"), kuhn_chance)
    assert (len(tree.keys), tree.terminals) == (12, 30)
    # Known: 11/12, with player 0's best response worth 1/2 and player 1's 5/12.
    assert small_tree.best_response(tree, 0) == pytest.approx(1 / 2)
    assert small_tree.best_response(tree, 1) == pytest.approx(5 / 12)


# --- Leduc ---

FOLD, CALL, RAISE = range(3)


def leduc_chance(history: list[int]) -> dict[int, float]:
    """The third card is dealt after bets; before it only the first two are gone."""
    left = {rank: 2 - history[:2].count(rank) for rank in range(3)}
    return {rank: n / sum(left.values()) for rank, n in left.items() if n}


def leduc_return(history: list[int]) -> int:
    """Player 0's gain, from the rules."""
    cards, paid = history[:2], [1, 1]
    rest = iter(history[2:])
    for size in (2, 4):
        if size == 4:
            cards.append(next(rest))
        for number in itertools.count():
            action, player = next(rest), number % 2
            if action == FOLD:
                return [-paid[0], paid[1]][player]
            paid[player] = paid[1 - player] + (size if action == RAISE else 0)
            if action == CALL and number > 0:
                break
    assert next(rest, None) is None
    ranks = [3 if card == cards[2] else card for card in cards[:2]]
    return paid[0] * int(np.sign(ranks[0] - ranks[1]))


def test_leduc_ends_and_pays_as_the_rules_say() -> None:
    actions, returns = play("leduc", 4000, 1)
    assert [leduc_return(game) for game in actions] == returns.tolist()
    assert set(returns.tolist()) >= {-13, -5, -1, 0, 1, 5, 13}
    deals = {(a, b): (1 if a == b else 2) / 15 for a in range(3) for b in range(3)}
    numbered = {3 * a + b: p for (a, b), p in deals.items()}
    check_frequencies([3 * game[0] + game[1] for game in actions], numbered)
    # After two kings and a check each: four cards are left, none a king.
    public = [game[4] for game in actions if game[:4] == [2, 2, CALL, CALL]]
    check_frequencies(public, {0: 0.5, 1: 0.5})
    public = [game[4] for game in actions if game[:4] == [1, 2, CALL, CALL]]
    check_frequencies(public, {0: 0.5, 1: 0.25, 2: 0.25})


def test_leduc_in_one_line_of_play() -> None:
    # Two queens (rank 1), check, bet, raise, call; a king; bet, raise, fold.
    line = [1, 1, CALL, RAISE, RAISE, CALL, 2, RAISE, RAISE, FOLD]
    seen = sights("leduc", line)
    assert [actor for actor, _, _ in seen] == [-1, -1, 0, 1, 0, 1, CHANCE, 0, 1, 0, OVER]
    assert [legal for _, legal, _ in seen] == [
        *([0, 1, 2], [0, 1, 2]),  # suits allow a pair
        *([CALL, RAISE], [CALL, RAISE], [FOLD, CALL, RAISE], [FOLD, CALL]),
        [0, 2],  # both queens are gone
        *([CALL, RAISE], [FOLD, CALL, RAISE], [FOLD, CALL]),
        [],
    ]
    none, call, raised = (0, 0), (1, 0), (0, 1)
    #           player   own card   public     the first round                the second
    first = [*call, *raised, *raised, *call]
    assert list(seen[5][2]) == [0, 1, 0, 1, 0, 0, 0, 0, *first[:6], *none, *none * 4]
    assert list(seen[9][2]) == [1, 0, 0, 1, 0, 0, 0, 1, *first, *raised * 2, *none * 2]
    assert leduc_return(line) == -9
    batch = Batch(Game("leduc"), 1)
    for action in line:
        assert batch.returns()[0].tolist() == [0, 0]
        batch.apply(np.array([action], np.int32))
    assert batch.returns()[0].tolist() == [-9, 9]
    assert batch.plies()[0] == 7


def test_leduc_does_not_show_the_other_card() -> None:
    for line in ([CALL, RAISE, CALL], [RAISE, RAISE, CALL]):
        games = [sights("leduc", [1, other, *line, 0, RAISE, RAISE]) for other in range(3)]
        mine = [[(legal, seen) for actor, legal, seen in game if actor == 0] for game in games]
        assert mine[0] == mine[1] == mine[2]


def test_leduc_has_the_known_size_and_nash_conv() -> None:
    leduc = small_tree.build(Game("leduc"), leduc_chance)
    # By rank. With suits: 936 = 6 * 6 + 30 * 30 states and 5,520 = 30 * 4 + 120 * 45 endings.
    assert (leduc.states(0), leduc.states(1)) == (144, 144)
    assert leduc.terminals == 9 * 4 + 24 * 45
    assert small_tree.nash_conv(leduc) == pytest.approx(4.747, abs=0.0005)


# --- Liar's Dice ---


def hands(dice: int, faces: int) -> list[tuple[int, ...]]:
    """Sorted dice, in the order of their actions."""
    return list(itertools.combinations_with_replacement(range(faces), dice))


def hand_chances(dice: int, faces: int) -> dict[int, float]:
    """By rolling the dice in all ways."""
    rolls = Counter(tuple(sorted(r)) for r in itertools.product(range(faces), repeat=dice))
    return {i: rolls[hand] / faces**dice for i, hand in enumerate(hands(dice, faces))}


def dice_return(dice: int, faces: int, history: list[int]) -> int:
    """Player 0's gain, from the rules."""
    first, second, *bids, liar = history
    assert liar == 2 * dice * faces
    rolled = hands(dice, faces)[first] + hands(dice, faces)[second]
    quantity, face = divmod(bids[-1], faces)
    matching = sum(die in (face, faces - 1) for die in rolled)
    bidder = (len(bids) - 1) % 2
    return [1, -1][bidder] * (1 if matching >= quantity + 1 else -1)


@pytest.mark.parametrize(("dice", "faces"), [(1, 4), (1, 6), (2, 3), (3, 4), (4, 6), (7, 3)])
def test_liars_dice_ends_and_pays_as_the_rules_say(dice: int, faces: int) -> None:
    actions, returns = play(f"liars_dice:{dice}x{faces}", 2000, 2)
    assert [dice_return(dice, faces, game) for game in actions] == returns.tolist()
    assert set(returns.tolist()) == {-1, 1}
    assert all(game[2:] == sorted(set(game[2:])) and len(game) >= 4 for game in actions)
    for player in (0, 1):
        check_frequencies([game[player] for game in actions], hand_chances(dice, faces))


def test_liars_dice_in_one_line_of_play() -> None:
    # Two dice of three faces: {0, 2} against {1, 1}; one 1, two 1s, four 1s, liar.
    seen = sights("liars_dice:2x3", [2, 3, 1, 4, 10, 12])
    assert [actor for actor, _, _ in seen] == [CHANCE, CHANCE, 0, 1, 0, 1, OVER]
    assert [legal for _, legal, _ in seen] == [
        *(list(range(6)), list(range(6))),
        *(list(range(12)), list(range(2, 13)), list(range(5, 13)), [11, 12]),
        [],
    ]
    bids = [0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0]
    assert list(seen[4][2]) == [1, 0, 1, 0, 1, *bids[:10], 0, 0]
    assert list(seen[5][2]) == [0, 1, 0, 2, 0, *bids]
    # Three dice show 1, counting the wild one: of three that holds, of four not.
    for bid, first in ((7, 1), (10, -1)):
        assert dice_return(2, 3, [2, 3, bid, 12]) == first
        batch = Batch(Game("liars_dice:2x3"), 1)
        for action in (2, 3, bid, 12):
            batch.apply(np.array([action], np.int32))
        assert batch.returns()[0].tolist() == [first, -first]


def test_liars_dice_does_not_show_the_other_dice() -> None:
    games = [sights("liars_dice:2x3", [4, other, 0, 3, 5, 11]) for other in range(6)]
    mine = [[(legal, seen) for actor, legal, seen in game if actor == 0] for game in games]
    assert all(game == mine[0] for game in mine)


@pytest.mark.parametrize(
    ("dice", "faces", "exploitability"),
    [(1, 4, 0.655), (1, 5, 0.721), (1, 6, 0.781), (2, 3, 0.739)],
)
def test_liars_dice_has_the_known_size_and_exploitability(
    dice: int, faces: int, exploitability: float
) -> None:
    chances = hand_chances(dice, faces)
    tree = small_tree.build(Game(f"liars_dice:{dice}x{faces}"), lambda history: chances)
    different, bids = len(chances), 2 ** (2 * dice * faces)
    assert len(tree.keys) == different * bids  # every set of bids is a history of bids
    assert tree.terminals == different**2 * (bids - 1)
    assert small_tree.nash_conv(tree) / 2 == pytest.approx(exploitability, abs=0.0005)


# --- Hex and phantom tic-tac-toe ---


class SlowHex:
    """Hex by the rules: whose stone lies where, and what each player knows of it."""

    def __init__(self, size: int, dark: bool, classical: bool = False) -> None:
        self.size, self.dark, self.classical = size, dark, classical
        self.stones: dict[int, int] = {}
        self.known: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self.turn = 0

    def play(self, cell: int) -> None:
        player = self.turn % 2
        again = self.classical and cell in self.stones
        self.stones.setdefault(cell, player)  # an occupied cell costs the turn, or nothing
        for who in (player,) if self.dark else (0, 1):
            self.known[who][cell] = self.stones[cell]
        self.turn += not again

    def winner(self) -> int | None:
        for player in (0, 1):
            mine = [cell for cell, owner in self.stones.items() if owner == player]
            own = {divmod(cell, self.size)[:: 1 - 2 * player] for cell in mine}  # 1's is mirrored
            chain = {at for at in own if at[0] == 0}
            while more := {at for at in own - chain if chain & self.beside(*at)}:
                chain |= more
            if any(line == self.size - 1 for line, _ in chain):
                return player
        return None

    def beside(self, a: int, b: int) -> set[tuple[int, int]]:
        return {(a, b + 1), (a, b - 1), (a + 1, b), (a - 1, b), (a + 1, b - 1), (a - 1, b + 1)}

    def gain(self) -> int | None:
        """What player 0 gains; None: the game goes on."""
        winner = self.winner()
        if winner is None:
            return 0 if len(self.stones) == self.size**2 else None
        return 1 - 2 * winner

    def observation(self) -> list[int]:
        player = self.turn % 2
        known = [self.known[player].get(cell) for cell in range(self.size**2)]
        return [1 - player, player, *(int(s == p) for s in known for p in (player, 1 - player))]


class SlowTicTacToe(SlowHex):
    """Phantom tic-tac-toe: a magic square's lines have the sum 15."""

    magic = (2, 7, 6, 9, 5, 1, 4, 3, 8)

    def winner(self) -> int | None:
        for player in (0, 1):
            mine = [self.magic[cell] for cell, owner in self.stones.items() if owner == player]
            if any(sum(three) == 15 for three in itertools.combinations(mine, 3)):
                return player
        return None


def slow_twin(name: str) -> SlowHex:
    kind, *rest = name.split(":")
    if kind == "phantom_ttt":
        return SlowTicTacToe(3, True, rest == ["classical"])
    return SlowHex(int(rest[0]), kind == "dark_hex", rest[1:] == ["classical"])


@pytest.mark.parametrize(
    "name",
    [
        *("hex:2", "hex:3", "hex:5", "dark_hex:3", "dark_hex:4", "dark_hex:3:classical"),
        *("phantom_ttt", "phantom_ttt:classical"),
    ],
)
def test_stones_agree_with_their_slow_twin(name: str) -> None:
    games, returns = play(name, 150, 4)
    collisions = 0
    for actions, result in zip(games, returns.tolist(), strict=True):
        slow = slow_twin(name)
        seen = sights(name, actions)
        for action, (actor, legal, packed) in zip([*actions, None], seen, strict=True):
            gain = slow.gain()
            if gain is not None:
                assert (actor, legal, result) == (OVER, [], gain)
                assert action is None
                break
            known = slow.known[slow.turn % 2]
            assert actor == slow.turn % 2
            assert legal == [cell for cell in range(slow.size**2) if cell not in known]
            assert list(packed) == slow.observation()
            assert action is not None
            collisions += action in slow.stones
            slow.play(action)
    assert set(returns.tolist()) == ({-1, 0, 1} if "ttt" in name else {-1, 1})
    assert (collisions > 0) == slow.dark


def test_dark_hex_in_one_line_of_play() -> None:
    # A collision in the middle: the turn passes, and the stone is seen from then on.
    seen = sights("dark_hex:3", [4, 4, 0, 3, 3])
    assert [actor for actor, _, _ in seen] == [0, 1, 0, 1, 0, 1]
    assert seen[1][1] == list(range(9))  # player 1 knows nothing of the stone on 4
    assert seen[3][1] == [0, 1, 2, 3, 5, 6, 7, 8]
    stone, enemy, none = (1, 0), (0, 1), (0, 0)
    assert list(seen[3][2]) == [0, 1, *none * 4, *enemy, *none * 4]
    assert list(seen[4][2]) == [1, 0, *stone, *none * 3, *stone, *none * 4]
    # Player 0 ran into 3; player 1 does not learn that, nor of the stone on 0.
    assert list(seen[5][2]) == [0, 1, *none * 3, *stone, *enemy, *none * 4]


def test_phantom_ttt_in_one_line_of_play() -> None:
    """A collision in the middle: by the classical rule the player tries again."""
    stone, enemy, none = (1, 0), (0, 1), (0, 0)
    for name, then in (("phantom_ttt", 0), ("phantom_ttt:classical", 1)):
        seen = sights(name, [4, 4])
        assert [actor for actor, _, _ in seen] == [0, 1, then]
        assert seen[1][1] == list(range(9))
        mine = stone if then == 0 else enemy
        assert list(seen[2][2]) == [1 - then, then, *none * 4, *mine, *none * 4]


@pytest.mark.parametrize(
    ("actions", "gain"),
    [
        ([0, 3, 1, 4, 2], 1),  # a row
        ([0, 1, 3, 4, 8, 7], -1),  # a column
        ([0, 1, 4, 2, 8], 1),  # a diagonal
        ([0, 1, 2, 4, 3, 5, 7, 6, 8], 0),  # a full board
    ],
)
def test_phantom_ttt_ends(actions: list[int], gain: int) -> None:
    for name in ("phantom_ttt", "phantom_ttt:classical"):
        batch = Batch(Game(name), 1)
        for action in actions:
            assert batch.actors()[0] >= 0 and batch.returns()[0].tolist() == [0, 0]
            batch.apply(np.array([action], np.int32))
        assert batch.actors()[0] == OVER and batch.returns()[0].tolist() == [gain, -gain]


def histories(name: str, depth: int) -> int:
    """All histories of at most so many tries in a game of 3 x 3. States that are alike but for the
    order of tries, or but for a symmetry, are counted together."""
    cells = np.arange(9).reshape(3, 3)
    turned = [np.rot90(board, k).ravel() for board in (cells, cells.T) for k in range(4)]
    batch, ways, total = Batch(Game(name), 1), np.ones(1, np.int64), 1
    for _ in range(depth):
        rows, actions = np.nonzero(batch.legal())
        if not len(rows):
            break
        after = Batch.gathered([(batch, rows)])
        after.apply(actions.astype(np.int32))
        total += int(ways[rows].sum())
        states = after.__reduce__()[1][3].astype(np.int64)
        # Whose stone lies where, and who knows of it; then who acts, and who won.
        known = 3 * (states[:, 121:130] > 0) + 6 * (states[:, 242:251] > 0)
        boards = np.min([(states[:, :9] + known)[:, at] @ 12 ** np.arange(9) for at in turned], 0)
        alike = boards * 16 + states[:, 364] * 4 + states[:, 365]
        _, first, which = np.unique(alike, return_index=True, return_inverse=True)
        added = np.zeros(len(first), np.int64)
        np.add.at(added, which, ways[rows])
        batch, ways = Batch.gathered([(after, first)]), added
    return total


@pytest.mark.parametrize(
    ("name", "six", "all_"),
    [
        ("phantom_ttt", 279_763, 27_115_470_835),
        ("phantom_ttt:classical", 275_491, 19_934_533_171),
    ],
)
def test_phantom_ttt_has_the_known_size(name: str, six: int, all_: int) -> None:
    """As another program counts it; 27.12 and 19.93 thousand million in Rudolph et al. 2026."""
    assert histories(name, 6) == six
    assert histories(name, 17) == all_


@pytest.mark.parametrize("name", ["phantom_ttt", "phantom_ttt:classical"])
def test_the_longest_game_of_tries(name: str) -> None:
    """Every cell is tried twice but the last: who has seen all cells has seen the end."""
    games, _ = play(name, 1000, 6)
    assert max(map(len, games)) == 17 == Game(name).max_length


def test_dark_hex_is_as_large_as_its_slow_twin() -> None:
    """Every information state and ending of 2 x 2, by another program."""
    found: set[tuple[object, ...]] = set()
    endings = 0

    def walk(actions: list[int], last: list[tuple[object, ...]]) -> None:
        nonlocal endings
        slow = SlowHex(2, dark=True)
        for action in actions:
            slow.play(action)
        if slow.winner() is not None:
            endings += 1
            return
        player = slow.turn % 2
        state = (*last[player], tuple(slow.observation()))
        found.add(state)
        for cell in set(range(4)) - slow.known[player].keys():
            after = list(last)
            after[player] = (*state, cell)
            walk([*actions, cell], after)

    walk([], [(), ()])
    tree = small_tree.build(Game("dark_hex:2"))
    assert (len(tree.keys), tree.terminals) == (len(found), endings)
    assert len(tree.keys) > 20


def test_hex_is_won_by_whoever_begins() -> None:
    """2 x 2 to the end: the value is known, and a game of full information needs no mixing."""
    tree = small_tree.build(Game("hex:2"))
    values: list[float] = []
    for level in reversed(tree.levels):
        below, values = values, level.returns.tolist()
        for node in np.flatnonzero(level.actors >= 0):
            options = [below[edge] for edge in np.flatnonzero(level.parent == node)]
            values[node] = max(options) if level.actors[node] == 0 else min(options)
    assert values == [1.0]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("moves:", "a variant of Stratego"),
        ("moves:kuhn", "a variant of Stratego"),
        ("moves:mini", "max_plies from 1 to 40"),
        ("moves:classic", "at most 128 moves"),
        ("liars_dice:", "as in liars_dice:1x6"),
        ("liars_dice:1x", "as in liars_dice:1x6"),
        ("liars_dice:01x6", "as in liars_dice:1x6"),
        ("liars_dice:1x6 ", "as in liars_dice:1x6"),
        ("liars_dice:-1x6", "as in liars_dice:1x6"),
        ("liars_dice:0x6", "at least one die"),
        ("liars_dice:1x1", "at least one die"),
        ("liars_dice:9999x9999", "at most 63"),
        ("liars_dice:99999999999x4", "as in liars_dice:1x6"),
        ("liars_dice:5x6", "128 different hands"),
        ("hex:", "a number from 2 to 11"),
        ("hex:1", "a number from 2 to 11"),
        ("hex:03", "a number from 2 to 11"),
        ("dark_hex:12", "a number from 2 to 11"),
        ("dark_hex:3x3", "a number from 2 to 11, with :classical"),
        ("hex:3:classical", "a number from 2 to 11"),
        ("phantom_ttt:", "abrupt unless it is phantom_ttt:classical"),
        ("phantom_ttt:abrupt", "abrupt unless it is phantom_ttt:classical"),
        ("phantom_ttt:classical ", "abrupt unless it is phantom_ttt:classical"),
        ("hex:\n3", "from 2 to 11"),
        ("hex:3\0", "unknown game"),
        ("hex:\ud800", "unknown game"),
        ("./no", "game './no': no such file, and a file's game is matrix:FILE or diplomacy:FILE$"),
        (__file__, "test_small_games.py': a file's game is matrix:FILE or diplomacy:FILE$"),
        ("matrx:./no", "did you mean 'matrix:'"),
        ("liars_dice", "did you mean 'liars_dice:'"),
    ],
)
def test_parameters_that_no_game_has(name: str, wrong: str) -> None:
    with pytest.raises(InputError, match=wrong) as caught:
        Game(name)
    assert name.split(":")[0] in str(caught.value)
    assert "\n" not in str(caught.value)


# --- Matrix games ---

SAMPLES = pathlib.Path(__file__).parents[2] / "formats/samples"


def payoffs(game: Game, rows: int, columns: int) -> np.ndarray:
    """The matrix as the engine plays it."""
    batch, cells = Batch(game, rows * columns), np.indices((rows, columns)).reshape(2, -1)
    for choices in cells:
        batch.apply(choices.astype(np.int32))
    assert (batch.actors() == OVER).all()
    returns = batch.returns()
    np.testing.assert_array_equal(returns.sum(1), 0)
    return returns[:, 0].reshape(rows, columns)


@pytest.mark.parametrize("name", ["matching_pennies", "modified_rps", "random5"])
def test_samples_of_matrix_games(name: str) -> None:
    path = SAMPLES / f"{name}.matrix"
    assert path.name in (SAMPLES.parent / "matrix.md").read_text()
    assert f"`{path.name}`" in (SAMPLES.parent / "README.md").read_text()
    matrix = np.loadtxt(path, dtype=np.float32)
    game = Game(f"matrix:{path}")
    assert (game.actions, game.max_length) == (len(matrix), 2)
    np.testing.assert_array_equal(payoffs(game, *matrix.shape), matrix)


def test_modified_rock_paper_scissors_is_that_of_the_paper() -> None:
    matrix = payoffs(Game(f"matrix:{SAMPLES}/modified_rps.matrix"), 3, 3)
    np.testing.assert_array_equal(matrix, -matrix.T)
    np.testing.assert_allclose(matrix @ [0.4, 0.4, 0.2], 0, atol=1e-7)


def test_a_matrix_game_hides_the_row(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "wide.matrix"
    path.write_text("\n# two rows, three columns\n\t1 2.5  -3e1 # the first\r\n\n+.5 0 7", "ascii")
    game = Game(f"matrix:{path}")
    np.testing.assert_array_equal(payoffs(game, 2, 3), [[1, 2.5, -30], [0.5, 0, 7]])
    for row in (0, 1):
        seen = sights(game.name, [row, 2])
        assert [(actor, legal) for actor, legal, _ in seen] == [
            *((0, [0, 1]), (1, [0, 1, 2]), (OVER, []))
        ]
        assert [list(packed) for *_, packed in seen] == [[1, 0], [0, 1], [0, 0]]
    assert len(small_tree.build(game).keys) == 2


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (b"", "there are no numbers in the file"),
        (b"# 1 2\n\n", "there are no numbers in the file"),
        (b"1 2\n# 3\n3\n", "line 3: not as many numbers as in the first row"),
        (b"1 2\n3 x\n", "line 2: word 2 is no number"),
        (b"1 0x10", "line 1: word 2 is no number"),
        (b"1 nan", "line 1: word 2 is no number"),
        (b"1 inf", "line 1: word 2 is no number"),
        (b"1 1e99", "line 1: word 2 is no number"),
        (b"1 1e", "line 1: word 2 is no number"),
        (b"1 2,5", "line 1: word 2 is no number"),
        (b"1 2\0 3", "line 1: word 2 is no number"),
        (b"\x1b[2J\xff", "line 1: word 1 is no number"),
        (b"9" * 60, "line 1: word 1 is no number"),
        (b"1 " * 129, "line 1: more than 128 columns"),
        (b"1\n" * 129, "line 129: more than 128 rows"),
        (b"1\n" + b" " * 8191, "line 2: too long"),
    ],
)
def test_faults_of_matrix_files(tmp_path: pathlib.Path, text: bytes, wrong: str) -> None:
    path = tmp_path / "bad.matrix"
    path.write_bytes(text)
    with pytest.raises(InputError) as caught:
        Game(f"matrix:{path}")
    assert str(caught.value) == f"game matrix:{path}: {wrong}"


def test_the_largest_matrix_is_read(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "large.matrix"
    matrix = np.arange(128 * 128).reshape(128, 128)
    path.write_text("\n".join(" ".join(map(str, row)) for row in matrix))
    np.testing.assert_array_equal(payoffs(Game(f"matrix:{path}"), 128, 128), matrix)
    path.write_text(" " * 8190)
    with pytest.raises(InputError, match="no numbers"):
        Game(f"matrix:{path}")


def test_matrix_files_that_cannot_be_read(tmp_path: pathlib.Path) -> None:
    for path, wrong in ((tmp_path / "none", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(InputError, match=wrong):
            Game(f"matrix:{path}")
    os.mkfifo(tmp_path / "pipe")  # nobody writes to it
    for path in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(InputError, match=f"^game matrix:{path}: not a regular file$"):
            Game(f"matrix:{path}")
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.matrix")
    pathlib.Path(name).write_text("1 -1")
    assert Game(f"matrix:{name}").actions == 2
