"""Networks by ONNX Runtime compute what they compute by torch."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from nets.drawn import assert_close, drawn
from nets.random_play import views_of_games
from stratkit.arrays import Float32s
from stratkit.engine import Game, board_planes
from stratkit.engine.observation import (
    CELLS,
    MOVES,
    ONLY_ATTACKS,
    PHASE,
    PUBLIC,
    SELECTED,
    STAGE,
    TO_PLACE,
    attack_outcomes,
    board_features,
)
from stratkit.engine.stratego import FLAG, PIECE, TYPE
from stratkit.errors import InputError, error_context
from stratkit.models.open_model import open_model
from stratkit.models.shipped import PLACING
from stratkit.nets import Network, build, choice, fromto_backend, onnx_fromto
from stratkit.nets.choice import network_with
from stratkit.nets.evaluator import Evaluator
from stratkit.nets.fromto_backend import FromToBackend
from stratkit.nets.fromto_weights import is_fromto
from stratkit.nets.mirror_images import MirrorImages
from stratkit.nets.numpy_policy import softmax
from stratkit.nets.onnx_export import whole_model

NETS = ("fromto:8x1", "fromto:16x2", "fromto:8x1+deployment", "fromto:8x1+mirrored")


def weights_of(net: str, game: Game) -> dict[str, Float32s]:
    return {name: w.numpy() for name, w in drawn(build(net, game, seed=1)).state_dict().items()}


def by_torch(
    net: str, game: Game, weights: dict[str, Float32s], packed: np.ndarray, legal: np.ndarray
) -> tuple[Float32s, Float32s]:
    network = build(net, game, 0).eval()
    network.load_state_dict({name: torch.from_numpy(w) for name, w in weights.items()})
    with torch.inference_mode():
        logits, values = network(torch.from_numpy(packed), torch.from_numpy(legal))
    return logits.numpy(), values.numpy()


def of_onnx(net: str, game: Game, weights: Mapping[str, Float32s]) -> FromToBackend:
    return FromToBackend(net, game, weights, "onnx")


def assert_as_torch(network: FromToBackend, packed: np.ndarray, legal: np.ndarray) -> None:
    """Logits are told by policies: their sum is of no use."""
    logits, values = by_torch(network.net, network.game, dict(network.weights), packed, legal)
    policy, expected = network.policy(packed, legal, None, True, None)
    assert policy.dtype == expected.dtype == np.float32 and len(policy) > 40
    with np.errstate(divide="ignore"):
        found, true = np.log(policy), np.log(softmax(logits))
    assert_close(found, true, rtol=1e-5, atol=1e-5)
    assert_close(expected, values, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("name", ["barrage", "nano", "classic"])
def test_logits_and_values_are_those_of_torch(name: str, net: str) -> None:
    game = Game(name)
    views = views_of_games(game, 2, seed=3, longest=100)
    weights = weights_of(net, game)
    assert_as_torch(of_onnx(net, game, weights), views.observations, views.legal)


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("name", ["barrage", "nano"])
def test_the_whole_graph_needs_nothing_of_ours(name: str, net: str) -> None:
    """Only its inputs, which formats/onnx.md describes."""
    game = Game(name)
    views = views_of_games(game, 1, seed=3, longest=80)
    weights = weights_of(net, game)
    model = whole_model(net, weights, "online/")
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    images = MirrorImages(game.shape, net.endswith("+mirrored"))
    packed, mirrored = views.observations, np.zeros(len(views.legal), bool)
    like_image = np.zeros_like(views.legal, bool)
    if net.endswith("+mirrored"):
        packed, mirrored = images.see(packed)
        assert mirrored.any() and not mirrored.all()
        first = (packed[:, PHASE] == 1) & (packed[:, TO_PLACE] == FLAG)
        like_image = first[:, None] & images.left
    given = given_to_others(packed, game, model.graph.input)
    logits, values = session.run(None, given)
    if net.endswith("+mirrored"):
        turned = mirrored[:, None] | like_image
        logits = np.where(turned, logits[:, images.image], logits)
    logits = np.where(views.legal, logits, np.float32(-np.inf))
    true = by_torch(net, game, weights, views.observations, views.legal)
    for one, other in zip((logits, values), true, strict=True):
        assert_close(one, other, rtol=1e-5, atol=1e-5)


def given_to_others(packed: np.ndarray, game: Game, wanted: Any) -> dict[str, np.ndarray]:
    """What a graph reads, as formats/onnx.md has it."""
    positions = packed.copy()
    positions[:, STAGE], positions[:, SELECTED] = 0, 255
    positions[:, ONLY_ATTACKS:MOVES] = 0
    planes, counts = board_features(positions, game.shape)
    squares = planes.shape[2] * planes.shape[3]
    kinds = []
    for row in packed.astype(int):
        stand = [c & TYPE if c & PIECE else 12 for c in row[CELLS : CELLS + squares // 2]]
        kinds.append([float(t == k) for k in (*stand, row[TO_PLACE]) for t in range(12)])
    select, place = packed[:, SELECTED].astype(np.int64), packed[:, TO_PLACE].astype(np.int64)
    every = {
        "board": planes.transpose(0, 2, 3, 1).reshape(len(packed), squares, -1),
        "counts": counts,
        "part": np.where(packed[:, PHASE] == 1, 0, 1 + packed[:, STAGE].astype(np.int64)),
        "square": np.where(select < squares, select, 0),
        "to_place": np.where(place < 12, place, 0),
        "outcomes": attack_outcomes(packed, game.shape),
        "kinds": np.array(kinds, np.float32),
    }
    return {one.name: every[one.name] for one in wanted}


def test_without_vectors_the_library_computes_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    game = Game("barrage")
    views = views_of_games(game, 1, seed=3, longest=60)
    weights = weights_of("fromto:16x2", game)
    monkeypatch.setattr(onnx_fromto, "residual_lanes", lambda channels: 1)
    network = of_onnx("fromto:16x2", game, weights)
    assert network.library.blocks is None
    assert_as_torch(network, views.observations, views.legal)


@pytest.mark.parametrize("name", PLACING)
def test_shipped_networks_have_the_same_logits(name: str) -> None:
    model = open_model(name)
    game = Game(model.game)
    views = views_of_games(game, 1, seed=4, longest=150)
    assert_as_torch(of_onnx(model.net, game, model.weights), views.observations, views.legal)


@pytest.mark.parametrize("name", ["engine", "onnx"])
@pytest.mark.parametrize("net", ["fromto:16x2", "fromto:16x2+mirrored"])
def test_a_view_s_policy_does_not_depend_on_those_beside_it(net: str, name: str) -> None:
    """To the last bit, whatever the number of rows."""
    game = Game("barrage")
    views = views_of_games(game, 2, seed=5, longest=80)
    network = FromToBackend(net, game, weights_of(net, game), name)
    together = network.policy(views.observations, views.legal, None, True, None)
    for size in (1, 2, 3, 8, 13):
        at = slice(len(views.legal) - size, None)
        alone = network.policy(views.observations[at], views.legal[at], None, True, None)
        for one, other in zip(alone, together, strict=True):
            assert np.array_equal(one, other[at])


@pytest.mark.parametrize("positions", [0, 50, 1000])
@pytest.mark.parametrize("net", ["fromto:8x1", "fromto:8x1+deployment", "fromto:8x1+mirrored"])
def test_what_is_remembered_of_positions_changes_no_bit(
    net: str, positions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether there is room for none, for those of some calls, or for all."""
    monkeypatch.setattr(onnx_fromto, "MOST_BYTES", positions * 4 * 100 * 8)
    game = Game("barrage")
    views = views_of_games(game, 2, seed=5, longest=120)
    packed, legal = views.observations, views.legal
    network = of_onnx(net, game, weights_of(net, game))
    true, expected = Evaluator(net, network, 256).evaluate(packed, legal, values=True)
    evaluator = Evaluator(net, network, 64)
    for at in range(0, len(packed), 40):
        rows = slice(at, at + 60)
        policy, values = evaluator.evaluate(packed[rows], legal[rows], values=True)
        assert values is not None and expected is not None
        assert np.array_equal(policy, true[rows]) and np.array_equal(values, expected[rows])
        assert np.array_equal(evaluator.values(packed[rows]), expected[rows])


def test_others_are_left_to_torch_and_other_weights_refused() -> None:
    game = Game("barrage")
    weights = weights_of("fromto:8x1+mirrored", game)
    assert is_fromto("fromto:8x1+mirrored", game.shape)
    assert not is_fromto("plain", game.shape) and not is_fromto("py:mine:Net", game.shape)
    network = FromToBackend("fromto:8x1+mirrored", game, weights)
    for other in ("fromto:8x1", "fromto:8x1+deployment", "fromto:8x2+mirrored", "fromto:16x1"):
        true = weights_of(other, game)
        assert FromToBackend(other, game, true).weights is true
        if other != "fromto:8x1+deployment":  # whose weights have the same shapes
            with pytest.raises(InputError, match="its tensors are not this network's"):
                network.load(true, network.net)
    weights["play.place"][0, 0, 0] = np.nan
    with pytest.raises(InputError, match="not all finite"):
        network.load(weights, network.net)


def test_who_plays_elsewhere_gets_a_module_of_torch() -> None:
    """In bfloat16 too; evaluators of one network share it, and so its next weights."""
    game, net = Game("barrage"), "fromto:8x1+mirrored"
    views = views_of_games(game, 1, seed=5, longest=60)
    network = FromToBackend(net, game, weights_of(net, game))
    one, other = Evaluator(net, network, 8), Evaluator(net, network, 8)
    before = one.policy(views.observations, views.legal)
    one.place("cpu", torch.float32)
    assert one.backend is network
    for evaluator in (one, other):
        evaluator.place("cpu", torch.bfloat16)
    assert one.network is other.network and isinstance(one.network, Network)
    after = one.policy(views.observations, views.legal)
    assert 0 < np.abs(after - before).max() < 0.05
    weights = {name: w * 3 for name, w in network.weights.items()}
    one.load(weights)
    found = other.policy(views.observations, views.legal)
    tripled = Evaluator(net, FromToBackend(net, game, weights), 8)
    error = np.abs(found - tripled.policy(views.observations, views.legal)).max()
    assert error < np.abs(found - before).max() / 4


@pytest.mark.parametrize("way", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_say_the_same(way: Callable[[Evaluator], Evaluator]) -> None:
    game, net = Game("nano"), "fromto:8x1"
    views = views_of_games(game, 1, seed=5, longest=60)
    evaluator = Evaluator(net, FromToBackend(net, game, weights_of(net, game)), 8)
    true = evaluator.policy(views.observations, views.legal)
    assert np.array_equal(way(evaluator).policy(views.observations, views.legal), true)


@pytest.mark.parametrize("net", ["fromto:8x1", "fromto:8x1+mirrored"])
def test_what_memory_excludes_is_excluded(net: str) -> None:
    """Public information of a player's own, of which torch makes the features."""
    game = Game("barrage")
    views = views_of_games(game, 1, seed=3, longest=80)
    packed, legal = views.observations, views.legal
    weights = weights_of(net, game)
    pub = board_planes(packed, game.shape)[:, PUBLIC].copy()
    pub[:, :, 7:] *= 0.5
    by_module = Evaluator(net, build(net, game, 0), 64)
    by_module.load(weights)
    found = Evaluator(net, FromToBackend(net, game, weights), 64)
    assert_close(found.policy(packed, legal, pub), by_module.policy(packed, legal, pub), 1e-5, 1e-6)
    assert_close(found.values(packed, pub), by_module.values(packed, pub), 1e-5, 1e-5)
    assert np.abs(found.values(packed, pub) - found.values(packed)).max() > 1e-4


def test_which_backend_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    game = Game("nano")
    weights, plain = weights_of("fromto:8x1", game), weights_of("plain:4x1", game)

    def kind(asked: str, net: str = "fromto:8x1", a_module: bool = False) -> str:
        monkeypatch.setenv("STRATKIT_BACKEND", asked)
        of = weights if net == "fromto:8x1" else plain
        return Evaluator(net, network_with(net, game, of, a_module), 8).backend.name

    assert [kind(asked) for asked in choice.BACKENDS] == ["engine", "onnx", "torch"]
    assert kind("") == "engine"  # nano's channels are few, and every processor has vectors
    assert kind("onnx", "plain:4x1") == kind("engine", "plain:4x1") == "torch"
    assert kind("", a_module=True) == "torch"
    with pytest.raises(InputError) as error, error_context("net.safetensors"):
        kind("cpu")
    text = "no backend: engine, onnx or torch is one: 'cpu'"
    assert str(error.value) == f"STRATKIT_BACKEND: {text}"  # which is no file's fault
    monkeypatch.setattr(choice, "has_onnx", lambda: False)
    assert kind("") == "engine"
    with pytest.raises(InputError, match="needs ONNX Runtime, which is missing"):
        kind("onnx")


def test_without_onnx_runtime_all_but_other_public_information_is_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = Game("nano")
    views = views_of_games(game, 3, seed=3, longest=60)
    packed, legal = views.observations, views.legal
    monkeypatch.setattr(fromto_backend, "has_onnx", lambda: False)
    network = FromToBackend("fromto:8x1+mirrored", game, weights_of("fromto:8x1+mirrored", game))
    assert_as_torch(network, packed, legal)
    pub = board_planes(packed, game.shape)[:, PUBLIC].copy()
    with pytest.raises(ModuleNotFoundError, match="needs ONNX Runtime: pip install") as error:
        network.policy(packed, legal, pub, False, None)
    assert error.value.name == "onnxruntime"


def test_a_policy_is_drawn_from_where_it_is_by_torch_alone() -> None:
    game = Game("nano")
    views = views_of_games(game, 2, seed=3, longest=20)
    net = "fromto:8x1"
    evaluator = Evaluator(net, FromToBackend(net, game, weights_of(net, game)), 8)
    with pytest.raises(ValueError, match="draw is torch's, and the backend is engine"):
        evaluator.draw(views.observations, views.legal, np.zeros(len(views.legal)), lambda pi: pi)
