"""The first layer and the heads of `fromto` by the engine are those of the definition, with the
gradients of automatic differentiation in float64, by any number of lanes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from stratkit.engine.entry import entry, entry_gradient
from stratkit.engine.heads import HeadViews, heads, heads_gradient
from stratkit.engine.residual import residual_lanes
from stratkit.engine.stratego import TYPES
from stratkit.nets.fromto_weights import HIDDEN, MET, head_layers

SHAPES = [(6, 6), (5, 4), (10, 10), (1, 13)]
SEED = 3
RNG = np.random.default_rng(SEED)


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """Of each test, whichever ran before it."""
    RNG.bit_generator.state = np.random.default_rng(SEED).bit_generator.state


def lanes_of(channels: int) -> list[int]:
    return [lanes for lanes in (1, 8, 16) if lanes <= residual_lanes(channels)]


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def apart(found: np.ndarray, wanted: Tensor) -> float:
    """In parts of the norm."""
    difference = np.linalg.norm(found - wanted.detach().numpy())
    return float(difference / np.linalg.norm(wanted.detach().numpy()))


@pytest.mark.parametrize("channels", [3, 8, 16, 24, 32])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_first_layer(shape: tuple[int, int], channels: int) -> None:
    """Of 19 boards, and a board does not depend on those beside it."""
    features = (normal(19, *shape, 48) * (RNG.random((19, *shape, 48)) < 0.2)).astype(np.float32)
    counts, upon = normal(19, 51), normal(19, *shape, channels)
    weights = normal(48 + 51 + shape[0] * shape[1], channels)
    leaf = torch.from_numpy(weights).double().requires_grad_()
    of_features, of_counts, place = leaf.split([48, 51, shape[0] * shape[1]])
    everywhere = (torch.from_numpy(counts).double() @ of_counts)[:, None, None]
    out = torch.from_numpy(features).double() @ of_features + everywhere
    out = (out + place.view(*shape, channels)).relu()
    (gradient,) = torch.autograd.grad(out, leaf, torch.from_numpy(upon).double())
    for lanes in lanes_of(channels):
        found = entry(features, counts, weights, lanes)
        assert apart(found, out) < 1e-6
        assert apart(entry_gradient(features, counts, found, upon, lanes), gradient) < 1e-6
        alone = entry(features[7:8].copy(), counts[7:8].copy(), weights, lanes)
        np.testing.assert_array_equal(alone[0], found[7])


def some_views(squares: int, channels: int, m: int = 9, n: int = 70) -> HeadViews:
    """With all parts, certain outcomes, views without a legal square, and boards of which some
    have equal maxima."""
    boards = normal(m, squares, channels).clip(0)
    boards[0] = 0
    met = RNG.choice([0.0, 0.3, 1.0], (n, squares, 3)).astype(np.float32)
    legal = (RNG.random((n, squares)) < 0.3).astype(np.uint8)
    legal[1] = 0
    numbers = (RNG.integers(0, most, n) for most in (m, 3, squares, len(TYPES)))
    return HeadViews(boards, normal(m, 51), *numbers, met, legal)


def parameters(squares: int, channels: int) -> dict[str, np.ndarray]:
    c = channels
    shapes: dict[str, tuple[int, ...]] = {
        **{"square.weight": (HIDDEN, c), "context.weight": (HIDDEN, c), "met": (MET,)},
        **{"outcome.weight": (HIDDEN, MET), "critic.0.weight": (c, 3 * c + 51)},
        **{"square.bias": (HIDDEN,), "context.bias": (HIDDEN,), "part.weight": (2, HIDDEN)},
        **{"policy.weight": (3, HIDDEN), "policy.bias": (3,), "deploy": (len(TYPES), squares)},
        **{"critic.0.bias": (c,), "critic.2.weight": (1, c), "critic.2.bias": (1,)},
    }
    return {name: normal(*shape) / 4 for name, shape in shapes.items()}


def flat_weights(squares: int, channels: int) -> np.ndarray:
    return np.concatenate([x.ravel() for x in head_layers(parameters(squares, channels))])


def by_definition(v: HeadViews, w: dict[str, Tensor], boards: Tensor) -> tuple[Tensor, Tensor]:
    """Logits of all squares, and values."""
    position, part = torch.from_numpy(v.position), torch.from_numpy(v.part)
    mine, rows = boards[position], torch.arange(len(part))
    chosen = mine[rows, torch.from_numpy(v.square)] * (part == 2)[:, None]
    met = torch.from_numpy(v.outcomes).double()
    met = torch.cat([met, (met[:, :, :2] > 0.999).double()], 2)
    none = w["part.weight"][(part == 0).long()]
    context = chosen @ w["context.weight"].T + w["context.bias"]
    context = torch.where((part == 2)[:, None], context, none) + w["square.bias"]
    hidden = mine @ w["square.weight"].T + met @ w["outcome.weight"].T + context[:, None]
    logits = (hidden.relu() * w["policy.weight"][part][:, None]).sum(2)
    logits = logits + w["policy.bias"][part, None] + met @ w["met"]
    logits = logits + w["deploy"][torch.from_numpy(v.to_place)] * (part == 0)[:, None]
    read = torch.cat([boards.mean(1), boards.amax(1), torch.from_numpy(v.counts).double()], 1)
    read = torch.cat([chosen, read[position]], 1)
    critic = (read @ w["critic.0.weight"].T + w["critic.0.bias"]).relu()
    return logits, (critic @ w["critic.2.weight"].T + w["critic.2.bias"])[:, 0]


@pytest.mark.parametrize("channels", [3, 8, 16, 24])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_heads(shape: tuple[int, int], channels: int) -> None:
    squares = shape[0] * shape[1]
    views, drawn = some_views(squares, channels), parameters(squares, channels)
    upon = normal(len(views.part), squares) * views.legal, normal(len(views.part))
    boards = torch.from_numpy(views.boards).double().requires_grad_()
    w = {name: torch.from_numpy(x).double().requires_grad_() for name, x in drawn.items()}
    wanted = by_definition(views, w, boards)
    both = tuple(torch.from_numpy(x).double() for x in upon)
    of_boards, *of_weights = torch.autograd.grad(wanted, [boards, *w.values()], both)
    legal = views.legal.astype(bool)
    for lanes in lanes_of(channels):
        flat = np.concatenate([x.ravel() for x in head_layers(drawn)])
        said = heads(views, flat, lanes)
        assert (said.logits[~legal] == -np.inf).all()
        assert apart(said.logits[legal], wanted[0][torch.from_numpy(legal)]) < 1e-6
        assert apart(said.values, wanted[1]) < 1e-6
        found, gradient = heads_gradient(views, flat, said.read, *upon, lanes)
        assert apart(found, of_boards) < 1e-6
        joined = torch.cat([x.flatten() for x in head_layers(w)])
        each = torch.autograd.grad(joined, list(w.values()), torch.from_numpy(gradient).double())
        for name, one, other in zip(w, each, of_weights, strict=True):
            assert apart(one.numpy(), other) < 1e-5, name  # of few numbers that cancel


def test_a_view_does_not_depend_on_those_beside_it() -> None:
    views, flat = some_views(36, 16), flat_weights(36, 16)
    said = heads(views, flat)
    one = [x[5:6].copy() for x in views[2:]]
    alone = heads(HeadViews(*views[:2], *one), flat)
    np.testing.assert_array_equal(alone.logits[0], said.logits[5])
    np.testing.assert_array_equal(alone.values[0], said.values[5])


def test_others_are_refused() -> None:
    views, flat = some_views(36, 12), flat_weights(36, 12)
    with pytest.raises(ValueError, match="no 12 channels by 16 lanes"):
        heads(views, flat, 16)
    with pytest.raises(ValueError, match="weights must be a contiguous array"):
        heads(views, flat[1:])
    with pytest.raises(ValueError, match="position must hold numbers from 0 to 8"):
        heads(views._replace(position=views.position + 9), flat)
    with pytest.raises(ValueError, match="part must hold numbers from 0 to 2"):
        heads(views._replace(part=views.part + 3), flat)
    with pytest.raises(ValueError, match=r"boards must be \[m, squares, channels\]"):
        heads(views._replace(boards=views.boards[0]), flat)
    features, counts = np.zeros((2, 6, 6, 48), np.float32), np.zeros((2, 51), np.float32)
    with pytest.raises(ValueError, match=r"features must be \[n, height, width, 48\]"):
        entry(features[0], counts, np.zeros((135, 16), np.float32))
    with pytest.raises(ValueError, match="weights must be a contiguous array"):
        entry(features, counts, np.zeros((134, 16), np.float32))
