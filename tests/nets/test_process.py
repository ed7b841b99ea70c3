"""The policy without its rare actions: another implementation's outputs, and what always holds."""

from __future__ import annotations

import json
import math
import pathlib

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from stratkit.nets import at_temperature, process


def test_vectors(shared: pathlib.Path) -> None:
    found = json.loads((shared / "data" / "rnad_vectors.json").read_text())
    cases = found["policy_postprocess"]["cases"]
    assert len(cases) >= 6
    for case in cases:
        policy = torch.tensor([case["inputs"]["policy"]])
        threshold, quanta = case["inputs"]["threshold"], case["inputs"]["n_disc"]
        outputs = {
            "after_threshold": process(policy, threshold),
            "after_discretize_only": process(policy, quanta=quanta),
            "final": process(policy, threshold, quanta),
        }
        for name, found_policy in outputs.items():
            wanted = torch.tensor([case["outputs"][name]])
            torch.testing.assert_close(found_policy, wanted, rtol=0, atol=1e-5)


policies = st.lists(st.floats(0, 1), min_size=1, max_size=40).filter(lambda w: sum(w) > 1e-3)


@given(policies, st.floats(0, 1), st.integers(0, 64))
def test_what_is_left_is_a_policy(weights: list[float], threshold: float, quanta: int) -> None:
    policy = torch.tensor([weights], dtype=torch.float32)
    policy /= policy.sum()
    after = process(policy, threshold, quanta)[0]
    assert math.isclose(after.sum(), 1, abs_tol=1e-5) and (after >= 0).all()
    assert (policy[0][after > 0] > 0).all()
    best = float(policy.max())
    if best >= threshold:
        assert (policy[0][after > 0] >= threshold).all()
    if quanta:
        units = after * quanta
        torch.testing.assert_close(units, units.round(), rtol=0, atol=1e-4)
    assert after[int(policy[0].argmax())] > 0


@given(policies, st.floats(0.01, 100))
def test_tempered_probabilities_are_in_powers_of_their_ratios(
    weights: list[float], temperature: float
) -> None:
    policy = torch.tensor([weights, [0.0] * len(weights)], dtype=torch.float32)
    policy[0] /= policy[0].sum()
    after, nothing = at_temperature(policy, temperature)
    assert math.isclose(after.sum(), 1, abs_tol=1e-5) and not nothing.any()
    assert (after[policy[0] == 0] == 0).all()
    best = int(policy[0].argmax())
    wanted = (policy[0] / policy[0, best]).double() ** (1 / temperature)
    torch.testing.assert_close(after.double() / after[best], wanted, rtol=1e-3, atol=1e-6)


def test_temperatures_follow_each_other_and_1_changes_nothing() -> None:
    policy = torch.tensor([[0.5, 0.3, 0.2, 0.0], [0.25, 0.25, 0.25, 0.25]])
    torch.testing.assert_close(at_temperature(policy, 1.0), policy)
    wanted = torch.tensor([[25 / 38, 9 / 38, 4 / 38, 0.0], [0.25] * 4])
    torch.testing.assert_close(at_temperature(policy, 0.5), wanted)
    torch.testing.assert_close(at_temperature(at_temperature(policy, 0.25), 4.0), policy)


def test_exact_multiples_stay_what_they_are() -> None:
    for quanta in range(1, 65):
        for k in range(quanta + 1):
            policy = torch.tensor([[k / quanta, (quanta - k) / quanta]])
            torch.testing.assert_close(process(policy, 0, quanta), policy, rtol=0, atol=1e-6)


def test_ties_by_index_or_by_chance() -> None:
    even = torch.full((200, 50), 0.02)
    assert (process(even, 0.03, 32)[:, :32] == 1 / 32).all()
    ties = torch.rand((200, 50), generator=torch.Generator().manual_seed(1))
    drawn = process(even, 0.03, 32, ties)
    assert ((drawn > 0).sum(1) == 32).all() and (drawn.mean(0) > 0.01).all()
    uneven = torch.tensor([[0.3, 0.1, 0.3, 0.3]])
    drawn_ties = np.eye(4, dtype="f4")
    first = [process(uneven, 0, 2, torch.from_numpy(t[None])).numpy() for t in drawn_ties]
    assert all(policy[0, 1] == 0 for policy in first)


def test_padding_stays_empty() -> None:
    assert (process(torch.zeros(2, 3), 0.03, 16) == 0).all()
