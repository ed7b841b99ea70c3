"""AlphaZe**'s planes of Hex and Dark Hex, against a slow twin."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nets.drawn import drawn
from nets.test_off_cpu import Waits
from stratkit.engine import Batch, Game, sample
from stratkit.nets import alphaze_hex as of_hex
from stratkit.nets import build
from stratkit.nets.alphaze_hex import AlphaZeHex, joined_planes

STEPS = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))


def views(name: str, moves: int, games: int = 12) -> tuple[Batch, torch.Tensor, torch.Tensor]:
    """Games of so many random moves, as the player to act sees them, and face up."""
    batch, numbers = Batch(Game(name), games), np.arange(games)
    for at in range(moves):
        action = np.full(games, at, np.int32)
        batch.apply(sample(None, batch.legal(), 5, numbers, action)[0])
    batch = Batch.gathered([(batch, np.flatnonzero(batch.actors() >= 0))])
    seen, up = batch.observe(), batch.observe_face_up()
    return batch, torch.from_numpy(seen), torch.from_numpy(up)


def slow(view: np.ndarray, size: int) -> np.ndarray:
    """The planes of one view, cell by cell."""
    acts = int(view[1])
    cells = view[2:].reshape(size, size, 2)
    planes = np.zeros((8, size, size), np.float32)
    for side in (0, 1):
        player = acts if side == 0 else 1 - acts
        mine = {(r, c) for r in range(size) for c in range(size) if cells[r, c, side]}
        joined = []
        for line in (0, size - 1):
            todo = [at for at in mine if at[player] == line]
            found = set(todo)
            while todo:
                row, column = todo.pop()
                beside = {(row + r, column + c) for r, c in STEPS} & mine - found
                found |= beside
                todo += beside
            joined.append(found)
        for plane, stones in enumerate([*joined, mine - joined[0] - joined[1]]):
            for at in stones:
                planes[3 * side + plane][at] = 1
    planes[6] = acts
    planes[7] = cells[:, :, 1] == 2
    return planes


@pytest.mark.parametrize(
    ("name", "moves"),
    [("hex:3", 4), ("hex:5", 15), ("dark_hex:5", 18), ("hex:11", 60), ("dark_hex:4:classical", 17)],
)
def test_the_planes_are_those_of_the_paper(name: str, moves: int) -> None:
    size = int(name.split(":")[1])
    found = set()
    for at in (moves, moves + 1):  # of either player
        for view in views(name, at)[1:]:
            planes = joined_planes(view, (size, size)).numpy()
            for row, packed in enumerate(view.numpy()):
                np.testing.assert_array_equal(planes[row], slow(packed, size))
            found |= set(np.flatnonzero(planes.any((0, 2, 3))))
    assert found == set(range(8 if name.startswith("dark") else 7))


def test_a_long_chain_and_a_won_position() -> None:
    """A stone joined to both borders is in both planes."""
    size, view = 5, np.zeros((1, 52), np.uint8)
    view[0, 0] = 1
    chain = [(0, 4), (0, 3), (0, 2), (0, 1), (0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (2, 3)]
    chain += [(2, 4), (3, 4), (4, 4)]
    for row, column in chain:
        view[0, 2 + 2 * (size * row + column)] = 1
    planes = joined_planes(torch.from_numpy(view), (size, size))[0]
    np.testing.assert_array_equal(planes.numpy(), slow(view[0], size))
    assert planes[0].sum() == planes[1].sum() == len(chain) and not planes[2].any()


def test_off_the_cpu_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = views("dark_hex:3", 8)[2]
    here = joined_planes(seen, (3, 3))
    monkeypatch.setattr(of_hex, "on_cpu", lambda x: False)
    with Waits():
        there = joined_planes(seen, (3, 3))
    assert torch.equal(here, there) and here[:, :6].any((0, 2, 3)).all()


@pytest.mark.parametrize("name", ["hex:2", "dark_hex:3", "hex:11"])
def test_the_network(name: str) -> None:
    network = drawn(build("alphaze:16x2", Game(name), 1))
    assert isinstance(network, AlphaZeHex) and network.same_for_all
    batch, seen, _ = views(name, 2, games=3)
    legal = torch.from_numpy(batch.legal())
    logits, values = network(seen, legal)
    assert torch.equal(logits.isfinite(), legal.bool()) and values.shape == (len(seen),)
    (torch.log_softmax(logits, 1)[legal.bool()].square().sum() + values.sum()).backward()
    for weight, parameter in network.named_parameters():
        assert parameter.grad is not None and parameter.grad.any(), weight


def test_the_size_is_the_papers() -> None:
    """A head of as many moves as there are cells."""
    network = build("alphaze", Game("dark_hex:11"), 1)
    assert isinstance(network, AlphaZeHex) and len(network.blocks) == 13
    assert network.entry[0].out_channels == 256 and network.policy.out_channels == 1
