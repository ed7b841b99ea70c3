"""Torch computes in one thread, whatever way a network comes to the board; several threads compute
blocks side by side, and change nothing."""

from __future__ import annotations

import os
import pathlib
import threading
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from nets.drawn import assert_close, drawn
from nets.random_play import views_of_games
from running import ROOT
from stratkit.engine import Game
from stratkit.models.open_model import BeliefModel, ValueModel, model_of, open_model
from stratkit.models.shipped import weights_file
from stratkit.nets import build
from stratkit.nets.belief import BeliefNet
from stratkit.nets.evaluator import Evaluator
from stratkit.nets.pbs import build_pbs
from stratkit.nets.threads import one_thread, side_by_side
from stratkit.players.factory import open_player
from stratkit.players.registry import parse_player
from stratkit.storage.checkpoints import load_checkpoint, save_checkpoint
from stratkit.threads import use_threads

GAME = Game("mini")
VIEWS = views_of_games(GAME, 1, seed=5, longest=60)


@pytest.fixture(autouse=True)
def two() -> Iterator[None]:
    """Two threads, as on a machine of two cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_a_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRATKIT_BACKEND", "torch")
    open_player(parse_player("barrage-easy"), Game("barrage"), 1, 1)
    assert torch.get_num_threads() == 1


def test_values_of_public_belief_states() -> None:
    """`exploit GAME search=cfr,RUN` took fifteen times the CPU."""
    game = Game("liars_dice:1x2")
    weights = build_pbs("pbs:8", game, 1).state_dict()
    metadata = {"algorithm": "rebel", "game": game.name, "rules": game.rules, "net": "pbs:8"}
    arrays = {name: tensor.numpy() for name, tensor in weights.items()}
    model_of("RUN", arrays, metadata).must_be(ValueModel).network(game)
    assert torch.get_num_threads() == 1


def test_beliefs(tmp_path: pathlib.Path) -> None:
    game = Game("mini")
    net = BeliefNet("plain:4x1", game, 1)
    weights = {f"online/{name}": t.numpy() for name, t in net.state_dict().items()}
    metadata = load_checkpoint(weights_file("barrage-easy"))[1]
    metadata |= {"algorithm": "belief", "game": "mini", "net": "plain:4x1"}
    metadata |= {"networks": ["online"]}
    save_checkpoint(tmp_path / "b.safetensors", weights, metadata)
    open_model(tmp_path / "b.safetensors").must_be(BeliefModel).evaluator(game)
    assert torch.get_num_threads() == 1


def test_the_number_has_one_owner() -> None:
    owners = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "stratkit").rglob("*.py")
        if "set_num_threads" in path.read_text()
    ]
    assert owners == ["stratkit/nets/threads.py"]


def test_blocks_are_computed_side_by_side_by_threads_of_one() -> None:
    """Two wait for each other, so one after the other would not do."""
    use_threads(2)
    both = threading.Barrier(2, timeout=30)

    def met(item: int) -> tuple[int, int, bool]:
        both.wait()
        return item, torch.get_num_threads(), threading.current_thread() is threading.main_thread()

    assert side_by_side(met, range(4)) == [(item, 1, False) for item in range(4)]
    use_threads(1)
    alone = side_by_side(lambda _: threading.current_thread(), range(4))
    assert set(alone) == {threading.main_thread()}


def test_one_thread_asks_a_gpu() -> None:
    use_threads(2)
    evaluator = Evaluator("plain:8x1", build("plain:8x1", GAME, seed=1), 8)
    one = evaluator._each(lambda _: threading.current_thread(), range(4))
    assert threading.main_thread() not in one
    evaluator.backend.device = torch.device("cuda")  # nothing is computed there
    one = evaluator._each(lambda _: threading.current_thread(), range(4))
    assert set(one) == {threading.main_thread()}


def test_an_error_in_a_block_is_raised() -> None:
    use_threads(2)
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda item: 1 // (item - 3), range(5))


def test_a_forked_child_has_threads_of_its_own() -> None:
    """As the commands of tests and `fenfs` have it: a parent's threads are not in its children."""
    use_threads(2)
    side_by_side(str, range(2))
    child = os.fork()
    if not child:
        os._exit(side_by_side(int, range(3)) != [0, 1, 2])
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("elastic", [False, True])
@pytest.mark.parametrize("net", ["plain:8x1", "fromto:8x1", "fromto:8x1+mirrored"])
def test_threads_change_no_bit(net: str, elastic: bool) -> None:
    """Not of policies, of values, nor of pieces of a position, of more views than a block has. An
    elastic evaluator, which leaves no promise about rounding, shares its views out otherwise."""
    one_thread()  # as whoever opens a network
    network = drawn(build(net, GAME, seed=1))
    many = np.arange(200) % len(VIEWS.observations)
    packed, legal = VIEWS.observations[many], VIEWS.legal[many]
    found: list[list[np.ndarray]] = []
    for threads in (1, 2, 4):
        use_threads(threads)
        evaluator = Evaluator(net, network, 256, elastic)
        policy, values = evaluator.evaluate(packed, legal, values=True)
        again = evaluator.evaluate_distinct(packed, legal)[0]
        pieces = evaluator.evaluate_pieces(packed, legal, np.arange(200))
        assert values is not None and policy.std() > 0.01 and values.std() > 0
        found.append([policy, values, again, pieces, evaluator.values(packed)])
    alike = assert_close if elastic else np.testing.assert_array_equal
    for one, two, four in zip(*found, strict=True):
        alike(two, one)
        alike(four, one)
