"""Layers in bfloat16: nearly the same step, and it learns."""

from __future__ import annotations

import copy
import pathlib

import pytest
import torch

from learn.games import as_parts, episodes, gradient, optimizer
from learn.test_rnad_update import setting, vector_batch
from nets.drawn import drawn
from running import run
from stratkit.engine import Game
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.data import make_batch
from stratkit.nets import build, place
from stratkit.nets.evaluator import Evaluator


@pytest.mark.parametrize(("net", "games"), [("plain", 6), ("tiny", 2)])
def test_bfloat16_is_nearly_float32(net: str, games: int) -> None:
    game, found = episodes("nano", games)
    batch = make_batch(game, as_parts(game, found), BatchSpec(32))
    metrics, gradients = [], []
    for precision in ("f32", "bf16"):
        learner = optimizer(net, game, setting(precision=precision, chunk=64))
        drawn(learner.algorithm.trained)
        metrics.append(learner.update(batch))
        gradients.append(gradient(learner))
        assert all(p.dtype == torch.float32 for p in learner.algorithm.trained.parameters())
    assert metrics[0] != metrics[1]
    for name in ("policy_loss", "value_loss", "entropy", "grad_norm"):
        assert metrics[1][name] == pytest.approx(metrics[0][name], rel=0.05, abs=0.02), name
    assert torch.cosine_similarity(*gradients, dim=0) > 0.99


@pytest.mark.parametrize("net", ["plain", "tiny", "mlp:16"])
def test_what_a_head_says_has_more_digits_than_bfloat16(net: str) -> None:
    if net == "mlp:16":
        game, batch = Game("kuhn"), vector_batch(rows=64)[1]
    else:
        game, found = episodes("nano", 2)
        batch = make_batch(game, as_parts(game, found), BatchSpec(32))
    network = drawn(build(net, game, 1))
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for output in network(batch.observations, batch.legal):
            assert output.dtype == torch.float32
            some = output[output.isfinite() & (output != 0)]
            assert (some != some.bfloat16().float()).float().mean() > 0.9


def test_it_learns_in_bfloat16_as_in_float32() -> None:
    """Kuhn poker, from 40 games over and over: the critic learns, the policy moves."""
    ends = []
    for precision in ("f32", "bf16"):
        batch = vector_batch(rows=64)[1]
        config = setting(precision=precision, lr=1e-2, sizes=(100,), target_rate=0.01)
        learner = optimizer("mlp:16", Game("kuhn"), config)
        metrics = [learner.update(batch) for _ in range(60)]
        assert metrics[-1]["value_loss"] < metrics[0]["value_loss"] - 0.1
        assert metrics[-1]["entropy"] < metrics[0]["entropy"] - 0.01
        ends.append(metrics[-1])
    for name in ("value_loss", "entropy"):
        assert ends[1][name] == pytest.approx(ends[0][name], rel=0.05), name
    assert ends[0] != ends[1]


def test_a_player_in_bfloat16_plays_nearly_the_same() -> None:
    game, found = episodes("nano", 1)
    batch = make_batch(game, as_parts(game, found))
    policies = []
    network = drawn(build("tiny", game, 1))
    for precision in (torch.float32, torch.bfloat16):
        evaluator = Evaluator("tiny", copy.deepcopy(network), rows=16)
        evaluator.place("cpu", precision)
        policy = evaluator.policy(batch.observations.numpy(), batch.legal.numpy())
        policies.append(torch.from_numpy(policy))
        assert policies[-1].dtype == torch.float32
        torch.testing.assert_close(policies[-1].sum(1), torch.ones(len(policy)))
    assert not torch.equal(*policies)
    torch.testing.assert_close(*policies, atol=0.02, rtol=0.05)


def test_without_a_gpu_cuda_is_refused_at_once(tmp_path: pathlib.Path) -> None:
    arguments = ("-", "--out", tmp_path / "run", "--device", "cuda")
    done = run("train", *arguments, stdin=b"", CUDA_VISIBLE_DEVICES="")
    assert done.status == 1
    assert done.error_line == "train: there is no GPU that torch can use: 'cuda'"
    assert not (tmp_path / "run").exists()
    play = ("--game", "nano", "--policy", tmp_path / "run", "--follow", "-o", tmp_path / "a.eps")
    done = run("selfplay", *play, "--device", "cuda", CUDA_VISIBLE_DEVICES="")
    assert done.status == 1
    assert done.error_line == "selfplay: there is no GPU that torch can use: 'cuda'"
    assert not list(tmp_path.iterdir())
    assert torch.OutOfMemoryError.__name__ == "OutOfMemoryError"  # by which it is told


def test_float32_is_float32_where_there_could_be_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is placed on any device but the CPU; the flags need no GPU, nor does the layout."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)  # as torch begins
    network = build("tiny", Game("mini"), 1)
    place(network, torch.device("cpu"))
    assert torch.backends.cudnn.allow_tf32  # nobody's business
    place(network, torch.device("meta"))
    assert not torch.backends.cudnn.allow_tf32
    assert not torch.backends.cuda.matmul.allow_tf32
    assert torch.get_float32_matmul_precision() == "highest"
    filters = [p for p in network.parameters() if p.ndim == 4 and min(p.shape[1:]) > 1]
    assert filters
    for weights in filters:
        assert weights.is_meta and weights.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("net", ["tiny", "small"])
def test_a_gpu_does_the_same_step(net: str) -> None:
    game, found = episodes("mini", 4)
    batch = make_batch(game, as_parts(game, found), BatchSpec(32))
    gradients = []
    for device in ("cpu", "cuda"):
        learner = optimizer(net, game, setting(chunk=64), device=torch.device(device))
        drawn(learner.algorithm.trained)
        learner.update(batch)
        gradients.append(gradient(learner))
    torch.testing.assert_close(*gradients, rtol=1e-2, atol=1e-4)
