"""R-NaD as the text of its paper has it, word by word of `as_written`, against transcriptions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from learn import slow_rnad
from learn.games import as_parts, episodes, optimizer
from learn.test_rnad_equations import a_step, estimate
from stratkit.errors import InputError
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.config import AS_WRITTEN, RNaDConfig
from stratkit.learn.data import StepBatch, make_batch
from stratkit.learn.optimizer import Optimizer
from stratkit.learn.request import accepted, resolve
from stratkit.learn.rnad import RNaD, mixture_as_written, neurd_loss_as_written
from stratkit.learn.step_weights import trajectory_weights
from stratkit.nets import legal_policy


@given(
    st.lists(a_step(), min_size=1, max_size=9),
    st.sampled_from([0.0, 0.2, 1.5]),
    st.sampled_from([1.0, math.inf]),
    st.sampled_from([0.5, 1.0]),
)
@settings(max_examples=80)
def test_equations_1_to_5(
    steps: list[slow_rnad.Step], eta: float, rho_bar: float, c_bar: float
) -> None:
    trace, q = estimate([list(steps)], eta, rho_bar, c_bar, as_written=True)
    for k in (0, 1):
        v_hat, values = slow_rnad.as_written(steps, k, eta, rho_bar, c_bar)
        for t in (t for t, step in enumerate(steps) if step.player == k):
            scale = 1e-5 * max(1, *map(abs, values[t]), abs(v_hat[t]))
            assert math.isclose(trace.value[t, 0], v_hat[t], rel_tol=1e-5, abs_tol=scale)
            np.testing.assert_allclose(q[t, 0], values[t], rtol=1e-5, atol=scale)


def test_they_differ_from_the_default_off_policy_alone() -> None:
    """Without a price. With one, they agree on average."""
    generator = np.random.default_rng(1)

    def steps(same: bool) -> list[slow_rnad.Step | None]:
        out: list[slow_rnad.Step | None] = []
        for t in range(6):
            pi, other = generator.dirichlet([3, 3, 3]), generator.dirichlet([3, 3, 3])
            rewards = (1.0, -1.0) if t == 5 else (0.0, 0.0)
            mu = (pi if same else other).tolist()
            action, value = int(generator.integers(3)), float(generator.uniform(-1, 1))
            out.append(slow_rnad.Step(t % 2, pi.tolist(), mu, [0.0] * 3, action, rewards, value))
        return out

    for same in (True, False):
        played = steps(same)
        usual, written = (estimate([played], 0.2, 1.0, 1.0, as_written=x) for x in (False, True))
        assert np.allclose(usual[1], written[1], atol=1e-5) == same


@given(st.data())
@settings(max_examples=60)
def test_the_force(data: st.DataObject) -> None:
    """Q itself, on each logit by itself, while the step stays within beta."""
    some = st.lists(st.floats(-3, 3, width=32), min_size=3, max_size=3)
    logits, q = data.draw(some), data.draw(some)
    legal = [True, *data.draw(st.lists(st.booleans(), min_size=2, max_size=2))]
    lr, clip = data.draw(st.sampled_from([1e-3, 1.0])), data.draw(st.sampled_from([0.5, 1e4]))
    x = torch.tensor([logits]).masked_fill(~torch.tensor([legal]), -torch.inf).requires_grad_()
    arguments = torch.tensor([legal]), torch.tensor([q]), torch.tensor([0.5])
    neurd_loss_as_written(x, *arguments, beta=2.0, clip=clip, lr=lr).backward()
    for a, (logit, value, allowed) in enumerate(zip(logits, q, legal, strict=True)):
        push = max(-clip, min(clip, value))
        stays = abs(np.float32(logit) + np.float32(lr) * np.float32(push)) <= 2
        assert x.grad is not None
        assert x.grad[0, a].item() == pytest.approx(-0.5 * push if allowed and stays else 0.0)


def test_the_mixture_is_of_probabilities() -> None:
    new, old = (torch.tensor(p).log() for p in ([0.5, 0.5], [0.9, 0.1]))
    assert mixture_as_written(new, old, 0.25).exp().tolist() == pytest.approx([0.8, 0.2])


def test_a_trajectory_has_one_vote() -> None:
    player = torch.tensor([[0, 0, -1], [1, 1, -1], [-1, 0, -1]])
    weight = trajectory_weights(player, torch.tensor([2.0]))
    assert weight.tolist() == [[1 / 4, pytest.approx(1 / 6), 0]] * 2 + [
        [0, pytest.approx(1 / 6), 0]
    ]


def a_learner(**options: Any) -> tuple[Optimizer, StepBatch]:
    """Whose four policies differ."""
    game, found = episodes("nano", 6)
    batch = make_batch(game, as_parts(game, found), BatchSpec())
    values = {"seed": 1, "policy_c": 1.0, "rho": 1.0, "sizes": (4,), "lr": 0.1, **options}
    learner = optimizer("plain", game, resolve("tiny", {}, {}, values))
    algorithm = learner.algorithm
    assert isinstance(algorithm, RNaD)
    algorithm._one_regularization = False
    with torch.no_grad():
        for seed, network in enumerate(algorithm.networks.values()):
            torch.manual_seed(seed)
            for parameter in network.parameters():
                parameter += 0.1 * torch.randn_like(parameter)
    learner.step = 1  # alpha is 1/2
    return learner, batch


def by_hand(learner: Optimizer, batch: StepBatch) -> tuple[float, float]:
    """The losses of policy and value as the paper has them, game by game and step by step."""
    config = learner.algorithm.config
    assert isinstance(config, RNaDConfig)
    observations, legal = batch.observations, batch.legal
    with torch.no_grad():
        found = {k: n(observations, legal) for k, n in learner.algorithm.networks.items()}
    logits, value = found["online"]
    pi = {name: legal_policy(outputs[0], legal)[0] for name, outputs in found.items()}
    mixed = (pi["regularization"] + pi["previous"]) / 2
    policy_loss = value_loss = 0.0
    first = 0
    for game, length in enumerate(batch.lengths.tolist()):
        rows = range(first, first + length)
        first += length
        steps = []
        for row in rows:
            view = int(batch.view[row])
            log = (pi["online"][view] / mixed[view]).log().nan_to_num()
            ends = batch.returns[game].tolist() if row == rows[-1] else [0.0, 0.0]
            values = pi["target"][view].tolist(), [float(batch.mu[row])] * legal.shape[1]
            action, worth = int(batch.action[row]), float(found["target"][1][view])
            player = int(batch.player[row])
            steps.append(slow_rnad.Step(player, *values, log.tolist(), action, tuple(ends), worth))
        for player in (0, 1):
            v_hat, q = slow_rnad.as_written(steps, player, config.eta, config.rho, config.c)
            for t, row in enumerate(rows):
                if steps[t].player == player:
                    view = int(batch.view[row])
                    value_loss += abs(float(value[view]) - v_hat[t]) / length
                    for a in legal[view].nonzero()[:, 0].tolist():
                        logit, push = float(logits[view, a]), q[t][a]
                        push = max(-config.clip, min(config.clip, push))
                        if abs(logit + config.lr * push) <= config.beta:
                            policy_loss -= logit * push / length
    games = len(batch.lengths)
    return policy_loss / games, value_loss / games


def test_a_whole_update() -> None:
    options = {"as_written": AS_WRITTEN, "weight_by": "trajectory", "mu_floor": 0.0}
    learner, batch = a_learner(**options)
    policy_loss, value_loss = by_hand(learner, batch)
    metrics = learner.update(batch)
    assert metrics["policy_loss"] == pytest.approx(policy_loss, rel=1e-4)
    assert metrics["value_loss"] == pytest.approx(value_loss, rel=1e-4)


def test_each_word_does_something() -> None:
    def losses(*words: str, **options: Any) -> tuple[float, float]:
        learner, batch = a_learner(as_written=words, mu_floor=0.0, **options)
        metrics = learner.update(batch)
        return metrics["policy_loss"], metrics["value_loss"]

    seen = [losses(), losses(weight_by="trajectory"), *(losses(word) for word in AS_WRITTEN)]
    assert len(set(seen)) == len(seen)


def test_each_number_of_the_gradient_is_clipped() -> None:
    learner, batch = a_learner(grad_value=1e-3)
    learner.update(batch)
    grads = [p.grad for p in learner.algorithm.trained.parameters() if p.grad is not None]
    assert max(float(g.abs().max()) for g in grads) == pytest.approx(1e-3)


def test_words_are_read_and_refused() -> None:
    def read(text: str) -> Any:
        return accepted({"as_written": text}, "rnad", texts=True)["as_written"]

    assert read("all") == AS_WRITTEN and read("none") == ()
    assert read("force,policy") == ("policy", "force")
    with pytest.raises(InputError, match="--as-written must be some of policy, rewards, force"):
        read("forces")
    stored = resolve("tiny", {}, {}, {"as_written": ("critic",)}).to_json()
    assert resolve("tiny", stored, {}, {}).hyper.as_written == ("critic",)  # type: ignore[attr-defined]
