"""Search of a simultaneous turn, against exact values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from running import ROOT
from search.test_regret_matching import coordination
from stratkit.arrays import Float64s, Int64s
from stratkit.engine import Batch, Game, Tree
from stratkit.engine.stratego import placements, variant
from stratkit.games.heuristic import UniformBlueprint
from stratkit.notation.setups import parse_setup
from stratkit.search.equilibrium import Cells, candidates, joint_utilities, solve
from stratkit.search.regret_matching import RegretMatching, exploitability
from stratkit.setups.book import Book
from stratkit.setups.numbering import setup_at

MATRIX = f"matrix:{ROOT / 'formats/samples/random5.matrix'}"
SHORT = Game("nano", {"max_plies": 7})
SETUPS = np.stack([setup_at(variant("nano"), number) for number in range(6)])
PLACED = np.stack([placements(variant("nano"), setup) for setup in SETUPS])


class FirstLikely(UniformBlueprint):
    """The lowest legal action has twice the weight of each other."""

    def policy(self, observations: np.ndarray, legal: np.ndarray) -> np.ndarray:
        weights = legal * (1.0 + (np.cumsum(legal, 1) == 1))
        return np.asarray(weights / weights.sum(1, keepdims=True), np.float32)


def test_games_say_which_turns_are_simultaneous() -> None:
    batch = Batch(Game("nano"), 1)
    turns = []
    for _ in range(8):
        turns.append(int(batch.turns()[0]))
        batch.apply(batch.legal().argmax(1).astype(np.int32))
    assert turns == [0] * 6 + [-1] * 2
    matrix = Batch(Game(MATRIX), 1)
    for expected in (0, 0, -1):
        assert matrix.turns().tolist() == [expected]
        matrix.apply(np.array([-1 if expected else 0], np.int32))
    kuhn = Batch(Game("kuhn"), 2)
    assert kuhn.turns().tolist() == [-1, -1]
    with pytest.raises(ValueError, match="no simultaneous turn"):
        candidates(kuhn, UniformBlueprint(), 4, 2, seed=0)


def test_candidates_are_the_most_probable_whole_actions() -> None:
    red, blue = candidates(Batch(SHORT, 1), FirstLikely(), 200, 4, seed=1)
    for some in (red, blue):
        chances = [1 / 2 * 2 / 3, 1 / 2 * 1 / 3, 1 / 4 * 2 / 3, 1 / 4 * 2 / 3]
        assert np.exp(some.logprobs) == pytest.approx(chances)
        assert some.actions[:2].tolist() == [[0, 1, 2], [0, 2, 1]]
        assert len(np.unique(some.actions, axis=0)) == len(some) == 4
    rows, columns = candidates(Batch(Game(MATRIX), 1), UniformBlueprint(), 100, 3, seed=1)
    assert rows.actions.shape == columns.actions.shape == (3, 1)
    assert np.exp(rows.logprobs) == pytest.approx([1 / 5] * 3)


class Forward(UniformBlueprint):
    """The highest legal action, which goes forward, has eight times the weight of each other."""

    def policy(self, observations: np.ndarray, legal: np.ndarray) -> np.ndarray:
        weights = legal * (1.0 + 7 * (np.cumsum(legal[:, ::-1], 1)[:, ::-1] == 1))
        return np.asarray(weights / weights.sum(1, keepdims=True), np.float32)


def exact_table(tree: Tree) -> Float64s:
    """What each pair of setups of nano is worth to red if both go forward after deploying."""
    played = tree.flat(Forward().policy(tree.observations(), tree.legal()))
    table = np.empty((6, 6))
    children: dict[tuple[int, int], list[int]] = {}  # sets by player and last sequence
    for number, (player, before) in enumerate(zip(tree.players, tree.before, strict=True)):
        children.setdefault((int(player), int(before)), []).append(number)
    for i, red in enumerate(PLACED):
        for j, blue in enumerate(PLACED):
            policy = played.copy()
            for player, placed in enumerate((red, blue)):
                sequence = 0
                for square in placed:
                    (at,) = children[player, sequence]
                    chosen = slice(tree.first[at], tree.first[at + 1])
                    policy[chosen] = tree.actions[chosen] == square
                    sequence = 1 + tree.first[at] + int(policy[chosen].argmax())
            table[i, j] = tree.backup(0, policy, tree.payoffs(0, tree.reach(policy)))
    return table


def test_cells_and_their_equilibrium_approach_the_exact_ones() -> None:
    exact = exact_table(Tree(SHORT))
    assert exact.std() > 0.05
    cells, root = Cells(Forward(), 150), Batch(SHORT, 1)
    found = cells.table(root, PLACED, PLACED, seed=3)
    error = np.sqrt(np.maximum(1 - exact**2, 0.05) / 150)
    assert (np.abs(found - exact) / error).max() < 4
    again = cells.table(root, PLACED, PLACED, seed=3, sample=1)
    assert not np.array_equal(found, again)
    assert np.array_equal(found, cells.table(root, PLACED, PLACED, seed=3))
    assert exploitability(exact, *solve(exact, 4096, seed=0)) < 0.01
    assert exploitability(exact, *solve(found, 4096, seed=0)) < 0.1
    at_once = Cells(UniformBlueprint(), 1, depth=0).table(root, PLACED, PLACED, seed=3)
    assert not at_once.any()  # this blueprint expects nothing


def test_cells_of_a_matrix_are_its_numbers() -> None:
    game = Game(MATRIX)
    rows, columns = np.arange(5, dtype=np.int32)[:, None], np.arange(4, dtype=np.int32)[:, None]
    found = Cells(UniformBlueprint(), 1).table(Batch(game, 1), rows, columns, seed=0)
    lines = (ROOT / "formats/samples/random5.matrix").read_text().splitlines()
    numbers = [line.split("#")[0].split() for line in lines]
    wanted = np.array([row for row in numbers if row], np.float32)
    assert found == pytest.approx(wanted[:, :4])


def test_values_are_asked_once_for_each_joint_action() -> None:
    asked: list[tuple[int, ...]] = []

    def values(joints: Int64s) -> Float64s:
        asked.extend(tuple(joint) for joint in joints.tolist())
        return np.array([[coordination(j)[i][j[i]] for i in range(3)] for j in joints])

    lazy = RegretMatching(joint_utilities(values, (2, 2, 2)), (2, 2, 2), seed=4)
    assert lazy.run(1).shape == (1, 3) and len(asked) == 4  # the joint action and its neighbours
    lazy.run(59)
    assert len(asked) == len(set(asked)) <= 8
    plain = RegretMatching(coordination, (2, 2, 2), seed=4)
    plain.run(60)
    for one, other in zip(lazy.policies(), plain.policies(), strict=True):
        assert one == pytest.approx(other)


def test_a_book_draws_red_and_blue_from_their_own_mixtures() -> None:
    red, blue = np.array([0.75, 0.25, 0, 0, 0, 0]), np.array([0, 0, 0, 0, 0, 1.0])
    book = Book(SETUPS, (red, blue), seed=5)
    made = book.draw(0, 2000)
    assert (made[1::2] == SETUPS[5]).all()
    first = (made[::2] == SETUPS[0]).all(1)
    assert (made[::2][~first] == SETUPS[1]).all()
    assert abs(first.mean() - 0.75) < 4 * math.sqrt(0.75 * 0.25 / 1000)
    assert np.array_equal(made[7:30], book.draw(7, 23))
    assert parse_setup("CLM", variant("nano")).tolist() == SETUPS[0].tolist()
