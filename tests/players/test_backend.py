"""Which backend a player's network has: what it decides, what its record says, who is told."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

from nets.random_play import views_of_games
from stratkit.engine import Game, sample
from stratkit.models.export import export
from stratkit.models.shipped import shipped_file
from stratkit.nets import build, choice
from stratkit.nets.fromto_backend import FromToBackend
from stratkit.players import factory
from stratkit.players.factory import open_player
from stratkit.players.registry import parse_player
from stratkit.players.spec import Contestant
from stratkit.storage.checkpoints import load_checkpoint, save_checkpoint, save_policy


def opened(
    text: str, asked: str, monkeypatch: pytest.MonkeyPatch, game: str = "barrage"
) -> Contestant[Any]:
    monkeypatch.setenv("STRATKIT_BACKEND", asked)
    return open_player(parse_player(text), Game(game), 1, 64)


def test_all_draw_the_same_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Policies differ by rounding only, which hardly ever lies between two actions."""
    views = views_of_games(Game("barrage"), 4, seed=3, longest=250)
    u = np.random.default_rng(7).random((len(views.legal), 1))
    chosen = []
    for asked in ("engine", "onnx", "torch"):
        evaluator = opened("barrage", asked, monkeypatch).player.evaluator
        assert evaluator.backend.name == asked
        policy = evaluator.policy(views.observations, views.legal)
        chosen.append((policy.cumsum(1) > u * policy.sum(1, keepdims=True)).argmax(1))
    assert all(np.array_equal(one, chosen[0]) for one in chosen)
    assert len(np.unique(chosen[0])) > 20


@pytest.mark.parametrize(("name", "games"), [("barrage", 24), ("classic", 8)])
def test_an_exported_network_plays_as_torch_in_10000_positions(
    name: str, games: int, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """5,000 each: equal logits within 1e-5 of what they are, and the same draws."""
    file = f"{tmp_path}/net.onnx"
    export(name, None, file)
    views = views_of_games(Game(name), games, seed=11, longest=900)
    rows = np.linspace(0, len(views.legal) - 1, 5000).astype(int)
    packed, legal = views.observations[rows], views.legal[rows]
    assert len(np.unique(rows)) == 5000
    chosen, policies = [], []
    for asked, player in (("engine", file), ("torch", name)):
        evaluator = opened(player, asked, monkeypatch, name).player.evaluator
        assert evaluator.backend.name == asked
        policy = evaluator.policy(packed, legal)
        chosen.append(sample(policy, legal, 7, rows, np.zeros(5000, np.int32))[0])
        policies.append(policy)
    assert np.array_equal(*chosen) and len(np.unique(chosen[0])) > 60
    with np.errstate(divide="ignore"):
        one, other = (np.log(policy, dtype=np.float64) for policy in policies)
    some = np.isfinite(one) & np.isfinite(other)  # less than e-88 vanishes
    assert (policies[0][~some] < 1e-30).all() and (policies[1][~some] < 1e-30).all()
    np.testing.assert_allclose(one[some], other[some], rtol=1e-5, atol=1e-5)


def test_the_record_says_which(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    for text in ("barrage-easy", "search=mmd,rollouts=8,barrage-easy"):
        for asked in ("engine", "onnx"):
            assert opened(text, asked, monkeypatch).backend == asked
        assert opened(text, "torch", monkeypatch).backend is None
    weights = build("mlp:8", Game("kuhn"), 1).state_dict()
    metadata = {"game": "kuhn", "rules": Game("kuhn").rules, "net": "mlp:8", "step": 1}
    file = tmp_path / "policy.safetensors"
    save_policy(
        file,
        {name: tensor.numpy() for name, tensor in weights.items()},
        {**metadata, "episodes": 1, "batch": 1, "networks": ["online"]},
    )
    for asked, named in (("", "engine"), ("torch", None)):
        assert opened(str(file), asked, monkeypatch, "kuhn").backend == named


@pytest.mark.parametrize("lanes", [1, 8])
def test_the_engine_plays_where_it_has_vectors_or_nothing_else_is_there(
    lanes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "residual_lanes", lambda channels: lanes)
    assert opened("barrage-easy", "", monkeypatch).backend == ("onnx" if lanes == 1 else "engine")
    monkeypatch.setattr(choice, "has_onnx", lambda: False)
    assert opened("barrage-easy", "", monkeypatch).backend == "engine"


def test_torch_computes_for_memory_without_onnx_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of public information that memory has changed."""
    assert opened("memory=on,barrage-easy", "engine", monkeypatch).backend == "engine"
    monkeypatch.setattr(factory, "has_onnx", lambda: False)
    assert opened("memory=on,barrage-easy", "engine", monkeypatch).backend is None


def test_who_asks_for_another_hears_of_a_network_that_torch_computes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    weights = build("plain:4x1", Game("nano"), 1).state_dict()
    metadata = load_checkpoint(shipped_file("barrage-easy"))[1]
    metadata |= {"game": "nano", "net": "plain:4x1", "networks": ["online", "target"]}
    both = {f"{part}/{n}": w.numpy() for part in metadata["networks"] for n, w in weights.items()}
    file = f"{tmp_path}/a.safetensors"
    save_checkpoint(file, both, metadata)
    for asked, reason in (
        ("onnx", "ONNX Runtime computes fromto only"),
        ("engine", "the engine computes fromto, graph and mlp only"),
    ):
        said = f"torch computes plain:4x1, since {reason}"
        assert said in (opened(file, asked, monkeypatch, "nano").caution or "")
        assert said not in (opened(file, "", monkeypatch, "nano").caution or "")


def test_a_search_shares_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    player = opened("search=mmd,rollouts=8,barrage-easy", "", monkeypatch).player
    assert isinstance(player.evaluator.network, FromToBackend)
    assert player.search.blueprint.network is player.evaluator.network
