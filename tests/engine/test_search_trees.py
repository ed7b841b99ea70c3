"""Search trees where chance plays on, whose nodes and edges grow at the same time; the address
sanitizer watches these tests too (`make sanitize`)."""

from __future__ import annotations

import numpy as np
import pytest

from stratkit.engine import Batch, Game
from stratkit.engine.mcts import SearchTrees

ROWS, NODES = 8, 2000


def dealt(name: str) -> Batch:
    """First decisions, after a deal of their own each."""
    batch, games = Batch(Game(name), ROWS), np.arange(ROWS)
    for number in range(2):
        chosen = np.empty(ROWS, np.int32)
        batch.draw_chance(3, games, np.full(ROWS, number, np.int32), chosen)
        batch.apply(chosen)
    return batch


def begin(trees: SearchTrees, batch: Batch) -> None:
    for row, legal in enumerate(batch.legal()):
        moves = np.flatnonzero(legal)
        trees.begin(row, moves[:, None], np.full((1, len(moves)), 1 / len(moves), np.float32))


def grow(trees: SearchTrees) -> None:
    """To the end, every action alike and every position worth nothing."""
    while len((asked := trees.ask())[0]):
        legal = asked[1].astype(np.float32)
        trees.tell(legal / legal.sum(1, keepdims=True), np.zeros(len(legal), np.float32))


@pytest.mark.parametrize("name", ["leduc:13x4", "leduc", "liars_dice:2x3"])
def test_no_tree_loses_a_node_when_its_arrays_move(name: str) -> None:
    """Whether they move depends on what else is in memory: a node that is lost is made again."""
    batch, found = dealt(name), []
    for rows in (np.arange(ROWS), *np.arange(ROWS)[:, None]):
        some = Batch.gathered([(batch, rows)])
        trees = SearchTrees(some, 1, NODES)
        begin(trees, some)
        grow(trees)
        found.append(trees.counts())
    together, *alone = found
    assert together == tuple(map(sum, zip(*alone, strict=True)))


def test_trees_that_got_a_wrong_answer_begin_anew() -> None:
    batch = dealt("kuhn")
    trees, others = (SearchTrees(batch, 1, 50) for _ in range(2))
    begin(trees, batch)
    policy = np.full((len(trees.ask()[0]), 3), np.nan, np.float32)
    with pytest.raises(ValueError, match="kuhn: a policy that is none"):
        trees.tell(policy, np.zeros(len(policy), np.float32))
    for some in (trees, others):
        begin(some, batch)
        grow(some)
    for row in range(ROWS):
        assert trees.root(row).visits.sum() > 0
        np.testing.assert_array_equal(trees.root(row).visits, others.root(row).visits)
