"""The buffer of examples: what it holds, what is drawn, and how it goes on."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from stratkit.engine import Game
from stratkit.learn.buffer import Buffer, BufferedOptimizer
from stratkit.learn.config import ReBeLConfig, RunConfig
from stratkit.learn.ranks import Ranks
from stratkit.learn.rebel import ReBeL, loss_of
from stratkit.storage.checkpoints import Tensors


def test_a_buffer_keeps_the_newest_and_the_loss_passes_over_hands_that_are_not_there() -> None:
    buffer = Buffer(4, 1, 2, 0)
    for i in range(6):
        buffer.add(np.full((1, 1), i, np.float32), np.full((1, 2), i, np.float32))
    rows, values = buffer.draw(200, step=0)
    assert set(rows[:, 0]) == {2, 3, 4, 5} and (rows == values[:, :1]).all() and len(buffer) == 4
    assert (buffer.draw(200, step=0)[0] == rows).all() and (buffer.draw(200, 1)[0] != rows).any()
    found = torch.tensor([[0.5, 9.0], [3.0, 0.0]])
    wanted = torch.tensor([[0.0, torch.nan], [0.0, 0.0]])
    assert float(loss_of(found, wanted)) == pytest.approx(0.25 + 5.0 + 0.0)
    assert float(loss_of(found * 0, wanted * torch.nan)) == 0


@pytest.mark.parametrize("sizes", [(7, 3, 7), (3, 7, 5), (4, 9, 9), (5, 5, 1), (2, 30, 4)])
def test_a_buffer_goes_on_in_one_of_another_size(sizes: tuple[int, ...]) -> None:
    """It holds the newest examples that the buffers before it have left, and draws from each; and
    what it stores leads to the same draws."""
    added, left = 0, 0  # the number of the next example, and of the oldest one that is not lost
    stored: dict[str, np.ndarray] = {}
    for size in sizes:
        buffer = Buffer(size, 1, 2, 0)
        if added:
            buffer.load(stored, added)
        for step in range(11):
            left = max(left, added - size)
            twin = Buffer(size, 1, 2, 0)
            if added:
                twin.load(buffer.tensors(), added)
                rows, values = buffer.draw(500, step)
                assert set(rows[:, 0]) == set(range(left, added)) and len(buffer) == added - left
                assert (values == rows).all() and (twin.draw(500, step)[0] == rows).all()
            for one in (buffer, twin):
                one.add(np.full((1, 1), added, np.float32), np.full((1, 2), added, np.float32))
            added += 1
            left = max(left, added - size)
            assert (twin.draw(500, step)[0] == buffer.draw(500, step)[0]).all()
            stored = {name: part.copy() for name, part in buffer.tensors().items()}
            k = np.arange(left, added)
            assert (stored["buffer/rows"][k % len(k), 0] == k).all()


def test_each_rank_draws_by_itself() -> None:
    drawn = []
    for rank in range(3):
        buffer = Buffer(9, 1, 2, seed=5, rank=rank)
        buffer.add(np.arange(9, dtype=np.float32)[:, None], np.zeros((9, 2), np.float32))
        drawn.append(buffer.draw(40, step=0)[0][:, 0].tolist())
    assert drawn[0] != drawn[1] != drawn[2] != drawn[0]


def learner(rank: int, size: int) -> BufferedOptimizer:
    """One of `size` ranks, with places for 12 examples."""
    ranks = Ranks()
    ranks.rank, ranks.size = rank, size
    algorithm = ReBeL("pbs:8", Game("liars_dice:1x2"), ReBeLConfig(buffer=12), 0)
    return BufferedOptimizer(algorithm, RunConfig(batch=4), ranks)


def of_two_ranks() -> list[Tensors]:
    """Rank 0 has added the examples 20 and 21, rank 1 those from 0 to 7, of which it has 2 to 7."""
    parts = []
    for rank, numbers in enumerate((range(20, 22), range(8))):
        one = learner(rank, 2)
        for number in numbers:
            rows, values = (np.full((1, width), number, np.float32) for width in one.buffer.widths)
            one.buffer.add(rows, values)
        parts.append(one.own())
    return parts


def held(buffer: Buffer) -> list[int]:
    """The examples, the oldest first."""
    rows, values = buffer.newest()
    assert (rows == rows[:, :1]).all() and (values == rows[:, :1]).all()
    return [int(number) for number in rows[:, 0]]


def test_one_learner_goes_on_with_the_examples_of_two_ranks() -> None:
    """They are as old as their place in their part says, whatever the parts' lengths."""
    one = learner(0, 1)
    one.load_own(of_two_ranks(), 10)
    assert held(one.buffer) == [20, 2, 3, 4, 21, 5, 6, 7]
    assert one.added == one.buffer.added == 10
    stored = one.own()
    assert "buffer/added" not in stored
    again = learner(0, 1)
    again.load_own([stored], 10)
    assert held(again.buffer) == held(one.buffer)


def test_three_ranks_share_the_examples_of_two() -> None:
    three = [learner(rank, 3) for rank in range(3)]
    for one in three:
        one.load_own(of_two_ranks(), 10)
    assert [held(one.buffer) for one in three] == [[20, 4, 6], [2, 21, 7], [3, 5]]
    assert [one.added for one in three] == [10] * 3
    assert [one.own()["buffer/added"].tolist() for one in three] == [[3], [3], [2]]


def test_two_ranks_go_on_with_their_own_parts() -> None:
    for rank, numbers in enumerate(([20, 21], [2, 3, 4, 5, 6, 7])):
        one = learner(rank, 2)
        one.load_own(of_two_ranks(), 10)
        assert held(one.buffer) == numbers and one.buffer.added == (2, 8)[rank]
