"""Which backend a player's network has: what it decides, what its record says, who is told."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

from nets.random_play import views_of_games
from stratkit.engine import Game
from stratkit.models.shipped import shipped_file
from stratkit.nets import build
from stratkit.nets.onnx_network import OnnxNetwork
from stratkit.players.factory import open_player
from stratkit.players.registry import parse_player
from stratkit.players.spec import Contestant
from stratkit.storage.checkpoints import load_checkpoint, save_checkpoint


def opened(
    text: str, asked: str, monkeypatch: pytest.MonkeyPatch, game: str = "barrage"
) -> Contestant[Any]:
    monkeypatch.setenv("STRATKIT_BACKEND", asked)
    return open_player(parse_player(text), Game(game), 1, 64)


def test_both_draw_the_same_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their policies differ by rounding only, which hardly ever lies between two actions."""
    views = views_of_games(Game("barrage"), 4, seed=3, longest=250)
    u = np.random.default_rng(7).random((len(views.legal), 1))
    chosen = []
    for asked in ("onnx", "torch"):
        evaluator = opened("barrage", asked, monkeypatch).player.evaluator
        assert evaluator.backend.name == asked
        policy = evaluator.policy(views.observations, views.legal)
        chosen.append((policy.cumsum(1) > u * policy.sum(1, keepdims=True)).argmax(1))
    assert np.array_equal(*chosen) and len(np.unique(chosen[0])) > 20


def test_the_record_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("barrage-easy", "search=mmd,rollouts=8,barrage-easy"):
        assert opened(text, "", monkeypatch).backend == "onnx"
        assert opened(text, "torch", monkeypatch).backend is None


def test_who_asks_for_onnx_hears_of_a_network_that_torch_computes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    weights = build("plain:4x1", Game("nano"), 1).state_dict()
    metadata = load_checkpoint(shipped_file("barrage-easy"))[1]
    metadata |= {"game": "nano", "net": "plain:4x1", "networks": ["online", "target"]}
    both = {f"{part}/{n}": w.numpy() for part in metadata["networks"] for n, w in weights.items()}
    file = f"{tmp_path}/a.safetensors"
    save_checkpoint(file, both, metadata)
    said = "torch computes plain:4x1, since ONNX Runtime computes fromto only"
    assert said in (opened(file, "onnx", monkeypatch, "nano").caution or "")
    assert said not in (opened(file, "", monkeypatch, "nano").caution or "")


def test_a_search_shares_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    player = opened("search=mmd,rollouts=8,barrage-easy", "", monkeypatch).player
    assert isinstance(player.evaluator.network, OnnxNetwork)
    assert player.search.blueprint.network is player.evaluator.network
