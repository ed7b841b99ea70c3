"""Torch computes in one thread, whatever way a network comes to the board."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest
import torch

from running import ROOT
from stratkit.engine import Game
from stratkit.nets.belief import BeliefNet
from stratkit.nets.pbs import build_pbs
from stratkit.players.open import open_player, weights_file
from stratkit.players.searching.pbs import value_leaves
from stratkit.players.searching.stage import load_belief
from stratkit.players.spec import parse_player
from stratkit.storage.checkpoints import load_checkpoint, save_checkpoint


@pytest.fixture(autouse=True)
def two() -> Iterator[None]:
    """Two threads, as on a machine of two cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_a_policy() -> None:
    open_player(parse_player("barrage-v0"), Game("barrage"), 1, 1)
    assert torch.get_num_threads() == 1


def test_values_of_public_belief_states() -> None:
    """`exploit GAME search=cfr,RUN` took fifteen times the CPU."""
    game = Game("liars_dice:1x2")
    weights = build_pbs("pbs:8", game, 1).state_dict()
    metadata = {"algorithm": "rebel", "game": game.name, "rules": game.rules, "net": "pbs:8"}
    value_leaves({name: tensor.numpy() for name, tensor in weights.items()}, metadata, game)
    assert torch.get_num_threads() == 1


def test_beliefs(tmp_path: pathlib.Path) -> None:
    game = Game("mini")
    net = BeliefNet("plain:4x1", game.shape, 1)
    weights = {f"online/{name}": t.numpy() for name, t in net.state_dict().items()}
    metadata = load_checkpoint(weights_file("barrage-v0"))[1]
    metadata |= {"algorithm": "belief", "game": "mini", "net": "plain:4x1"}
    metadata |= {"networks": ["online"]}
    save_checkpoint(tmp_path / "b.safetensors", weights, metadata)
    load_belief(str(tmp_path / "b.safetensors"), game)
    assert torch.get_num_threads() == 1


def test_the_number_has_one_owner() -> None:
    owners = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "stratkit").rglob("*.py")
        if "set_num_threads" in path.read_text()
    ]
    assert owners == ["stratkit/nets/threads.py"]
