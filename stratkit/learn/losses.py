"""Losses that algorithms have in common."""

from __future__ import annotations

from torch import Tensor


def value_loss(value: Tensor, estimate: Tensor, weight: Tensor) -> Tensor:
    """sum over steps of weight (v - v_hat)^2; all float32 [n]. (The paper says "norm"; it is the
    square, without 1/2.)"""
    return (weight * (value - estimate.detach()).square()).sum()
