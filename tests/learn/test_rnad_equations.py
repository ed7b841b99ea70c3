"""R-NaD's functions against a slow transcription, a closed form, and another implementation's
outputs."""

from __future__ import annotations

import json
import math
import pathlib
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from learn import slow_rnad
from stratkit.learn.data import step_counts
from stratkit.learn.losses import value_loss
from stratkit.learn.rnad import (
    EntropySchedule,
    action_values,
    log_ratio,
    mixture,
    neurd_loss,
)
from stratkit.learn.step_weights import step_weights
from stratkit.learn.v_trace import VTrace, v_trace
from stratkit.nets import legal_policy

INFINITY = float("inf")
number = st.floats(-2, 2, width=32)


def weights_of(player: Tensor) -> Tensor:
    return step_weights(player, step_counts(player, 2))


def policy(width: int) -> st.SearchStrategy[list[float]]:
    weights = st.lists(st.floats(0.05, 1), min_size=width, max_size=width)
    return weights.map(lambda w: [x / sum(w) for x in w])


@st.composite
def a_step(draw: Any, width: int = 3, same: bool = False, players: int = 2) -> slow_rnad.Step:
    pi = draw(policy(width))
    reward = draw(number)
    return slow_rnad.Step(
        player=draw(st.integers(0, players - 1)),
        pi=pi,
        mu=pi if same else draw(policy(width)),
        log_ratio=draw(st.lists(number, min_size=width, max_size=width)),
        action=draw(st.integers(0, width - 1)),
        rewards=(reward, *(-reward if same else draw(number) for _ in range(players - 1))),
        value=draw(number),
    )


def estimate(
    episodes: list[list[slow_rnad.Step | None]],
    eta: float,
    rho_bar: float,
    c_bar: float,
    policy_c_bar: float | None = None,
    players: int = 2,
    as_written: bool = False,
) -> tuple[VTrace, Tensor]:
    """`v_trace` of some trajectories of the same length, and Q [T, B, A]."""
    padding = slow_rnad.Step(-1, [1.0] * 3, [1.0] * 3, [9.0] * 3, 0, (7.0,) * players, 5.0)
    rows = [[step or padding for step in steps] for steps in zip(*episodes, strict=True)]

    def grid(of: Any) -> Tensor:
        return torch.tensor([[of(step) for step in row] for row in rows])

    pi, ratio = grid(lambda s: s.pi), grid(lambda s: s.log_ratio)
    value, mu = grid(lambda s: s.value), grid(lambda s: s.mu[s.action])
    trace = v_trace(
        value,
        grid(lambda s: s.log_ratio[s.action]) if as_written else (pi * ratio).sum(2),
        grid(lambda s: s.pi[s.action]) / mu,
        grid(lambda s: s.player),
        grid(lambda s: s.rewards),
        eta=eta,
        rho_bar=rho_bar,
        c_bar=c_bar,
        policy_c_bar=policy_c_bar,
        as_written=as_written,
    )
    q = action_values(
        *(
            x.flatten(0, 1)
            for x in (value, ratio, trace.q_correction, grid(lambda s: s.action), mu)
        ),
        eta=eta,
    )
    return trace, q.view(ratio.shape)


@given(
    st.tuples(st.integers(1, 8), st.sampled_from([2, 2, 3, 7])).flatmap(
        lambda x: st.lists(
            st.lists(st.none() | a_step(players=x[1]), min_size=x[0], max_size=x[0]),
            min_size=1,
            max_size=3,
        )
    ),
    st.sampled_from([0.0, 0.2, 1.5]),
    st.sampled_from([0.7, 1.0, INFINITY]),
    st.sampled_from([0.5, 1.0, INFINITY]),
    st.sampled_from([0.5, 1.0, None]),
)
@settings(max_examples=80)
def test_v_trace_is_the_recursion(
    episodes: list[list[slow_rnad.Step | None]],
    eta: float,
    rho_bar: float,
    c_bar: float,
    policy_c_bar: float | None,
) -> None:
    """For each of 2, 3 and 7 players."""
    players = next((len(step.rewards) for steps in episodes for step in steps if step), 2)
    trace, q = estimate(episodes, eta, rho_bar, c_bar, policy_c_bar, players)
    policy_c = c_bar if policy_c_bar is None else policy_c_bar
    for b, steps in enumerate(episodes):
        of_value = [slow_rnad.v_trace(steps, k, eta, rho_bar, c_bar)[0] for k in range(players)]
        of_policy = [slow_rnad.v_trace(steps, k, eta, rho_bar, policy_c)[1] for k in range(players)]
        for t, step in enumerate(steps):
            if step is None:
                assert trace.value[t, b] == 0 and trace.q_correction[t, b] == 0
                continue
            v_hat, values = of_value[step.player], of_policy[step.player]
            scale = 1e-5 * max(1, *map(abs, values[t]), abs(v_hat[t]))
            assert math.isclose(trace.value[t, b], v_hat[t], rel_tol=1e-5, abs_tol=scale)
            np.testing.assert_allclose(q[t, b], values[t], rtol=1e-5, atol=scale)


@given(st.lists(a_step(same=True), min_size=1, max_size=9), st.sampled_from([0.0, 0.3]))
@settings(max_examples=60)
def test_on_policy_it_is_the_closed_form_whatever_the_clips(
    steps: list[slow_rnad.Step], eta: float
) -> None:
    v_hat, values = slow_rnad.on_policy(steps, eta)
    for rho_bar, c_bar in ((1.0, 1.0), (INFINITY, 1.0), (INFINITY, INFINITY)):
        trace, q = estimate([steps], eta, rho_bar, c_bar)
        np.testing.assert_allclose(trace.value[:, 0], v_hat, atol=2e-4)
        np.testing.assert_allclose(q[:, 0], values, rtol=1e-4, atol=2e-3)


class Counted(TorchDispatchMode):
    """Counts the operations of torch inside the block."""

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


def test_v_trace_costs_little() -> None:
    """One pass over the steps, whatever the number of games: 400 steps of 32 games take 3 ms."""
    counts = []
    for games in (1, 32):
        player = (torch.arange(400) // 2 % 2)[:, None].expand(400, games)
        x = torch.rand(400, games)
        with Counted() as counted:
            v_trace(x, x, x, player, torch.zeros(400, games, 2), eta=0.2)
        counts.append(counted.count)
    assert counts[0] == counts[1] < 30 * 400, counts


def test_mu_floor() -> None:
    one = torch.ones(1)
    arguments = (one, torch.zeros(1, 2), one, torch.tensor([1]), 0.01 * one)
    assert action_values(*arguments, eta=1).tolist() == [[1, pytest.approx(101)]]
    assert action_values(*arguments, eta=1, mu_floor=0.1).tolist() == [[1, pytest.approx(11)]]


def test_log_ratio_mixes_logarithms() -> None:
    pi, new, old = (torch.tensor(p).log() for p in ([0.5, 0.5], [0.8, 0.2], [0.1, 0.9]))
    mixed = log_ratio(pi, mixture(new, old, 0.25))
    assert torch.allclose(mixed, pi - (new / 4 + 3 * old / 4))
    assert torch.allclose(log_ratio(pi, mixture(new, old, 1.0)), pi - new)


# Those at a border of the force are so by float32 and by float64.
LOGITS = st.integers(-64, 64).map(lambda n: n / 16)


@given(
    st.lists(
        st.tuples(
            st.integers(-1, 1),
            st.lists(LOGITS, min_size=3, max_size=3),
            st.lists(st.booleans(), min_size=3, max_size=3).filter(any),
            st.lists(st.floats(-9, 9, width=32), min_size=3, max_size=3),
        ),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([1.0, 2.0]),
    st.sampled_from([0.5, 10_000.0]),
)
@settings(max_examples=80)
def test_neurd_gradient_is_the_force(rows: list[Any], beta: float, clip: float) -> None:
    player = torch.tensor([row[0] for row in rows])
    legal = torch.tensor([row[2] for row in rows])
    logits = torch.tensor([row[1] for row in rows]).masked_fill(~legal, -torch.inf)
    logits.requires_grad_()
    q = torch.tensor([row[3] for row in rows])
    pi, _ = legal_policy(logits.detach(), legal)
    loss = neurd_loss(logits, legal, pi, q, weights_of(player), beta=beta, clip=clip)
    loss.backward()
    assert logits.grad is not None and logits.grad.isfinite().all()
    for n, (k, values, allowed, action_value) in enumerate(rows):
        force = np.array(slow_rnad.neurd(values, allowed, action_value, beta, clip))
        count = max(1, int((player == k).sum()))
        centred = np.where(allowed, force - force.sum() / sum(allowed), 0)
        expected = -centred / count if k >= 0 else 0 * centred
        np.testing.assert_allclose(logits.grad[n], expected, atol=2e-5)


def test_weights_of_parts_add_up() -> None:
    player = torch.tensor([0, 1, 1, -1, 0, 1])
    whole = weights_of(player)
    assert whole.tolist() == pytest.approx([1 / 2, 1 / 3, 1 / 3, 0, 1 / 2, 1 / 3])
    counts = torch.tensor([2, 3])
    parts = [step_weights(part, counts) for part in (player[:4], player[4:])]
    assert torch.equal(torch.cat(parts), whole)
    assert weights_of(torch.tensor([0, -1])).tolist() == [1, 0]
    assert step_counts(torch.tensor([2, 0, -1, 2]), 4).tolist() == [1, 0, 2, 0]


def test_schedule_without_ramp_and_for_ever() -> None:
    always = EntropySchedule((3,), (1,), ramp=0)
    assert [always(n) for n in range(4)] == [(1, False), (1, False), (1, True), (1, False)]
    assert always.iteration(3_000_001) == (1_000_000, 3_000_000, 3)
    paper = EntropySchedule((10_000, 100_000, 35_000), (101, 65, 1))
    assert paper(1_009_999) == (1.0, True) and paper(1_010_000) == (0.0, False)
    assert paper.iteration(1_010_000 + 65 * 100_000) == (166, 7_510_000, 35_000)
    for sizes, repeats in (((), ()), ((0,), (1,)), ((1, 2), (1,))):
        with pytest.raises(ValueError, match="schedule"):
            EntropySchedule(sizes, repeats)


# ---- another implementation's outputs ----


@pytest.fixture
def vectors(shared: pathlib.Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared / "data" / "rnad_vectors.json").read_text())
    return found


def test_v_trace_vectors(vectors: dict[str, Any]) -> None:
    for case in vectors["v_trace"]["cases"]:
        given, expected = case["inputs"], case["outputs"]
        steps = [
            slow_rnad.Step(
                player=int(given["player_id"][t]),
                pi=given["pi"][t],
                mu=given["mu"][t],
                log_ratio=given["log_pi_over_reg"][t],
                action=given["action"][t],
                rewards=(given["reward_player0"][t], -given["reward_player0"][t]),
                value=given["v_target_net"][t],
            )
            if given["valid"][t]
            else None
            for t in range(len(given["valid"]))
        ]
        for step in filter(None, steps):  # a third action that nobody takes
            step.pi, step.mu = [*step.pi, 0.0], [*step.mu, 0.0]
            step.log_ratio = [*step.log_ratio, 0.0]
        trace, q = estimate([steps], given["eta"], float(given["rho"]), given["c"])
        for t, step in enumerate(steps):
            if step is None:
                continue
            wanted = expected[f"player{step.player}"]
            assert trace.value[t, 0].item() == pytest.approx(wanted["v_target"][t], abs=1e-5)
            np.testing.assert_allclose(q[t, 0, :2], wanted["q"][t], atol=1e-5)


def test_neurd_vectors(vectors: dict[str, Any]) -> None:
    for case in vectors["neurd"]["cases"]:
        given, expected = case["inputs"], case["outputs"]
        logits = torch.tensor(given["logits"], requires_grad=True)
        legal, q = torch.tensor(given["legal"]), torch.tensor(given["q"])
        valid = torch.tensor(given["valid"]) > 0
        player = torch.where(valid, torch.tensor(given["player_id"]).int(), -1)
        pi, _ = legal_policy(logits.detach(), legal)
        np.testing.assert_allclose(pi, expected["pi"], atol=1e-5)
        weight = weights_of(player)
        loss = neurd_loss(logits, legal, pi, q, weight, beta=given["beta"], clip=given["clip"])
        assert loss.item() == pytest.approx(expected["loss"], abs=1e-5)
        loss.backward()
        assert logits.grad is not None
        np.testing.assert_allclose(logits.grad, expected["dloss_dlogits"], atol=1e-5)


def test_other_vectors(vectors: dict[str, Any]) -> None:
    given = vectors["value_loss"]["inputs"]
    player = torch.where(torch.tensor(given["mask_p0"]) > 0, 0, 1)
    loss = value_loss(torch.tensor(given["v"]), torch.tensor(given["v_target"]), weights_of(player))
    assert loss.item() == pytest.approx(vectors["value_loss"]["output"], abs=1e-5)

    given = vectors["entropy_schedule"]["inputs"]
    schedule = EntropySchedule(given["sizes"], given["repeats"])
    for step, (alpha, update) in enumerate(vectors["entropy_schedule"]["outputs"]):
        assert schedule(step) == (pytest.approx(alpha, abs=1e-5), update)

    given, expected = vectors["legal_policy"]["inputs"], vectors["legal_policy"]["outputs"]
    pi, log_pi = legal_policy(torch.tensor(given["logits"]), torch.tensor(given["legal"]))
    np.testing.assert_allclose(pi, expected["pi"], atol=1e-5)
    np.testing.assert_allclose(log_pi, expected["log_pi"], atol=1e-5)
