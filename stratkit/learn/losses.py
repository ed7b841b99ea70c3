"""Targets and losses that algorithms have in common."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class SurrogateTargets(NamedTuple):
    """What n steps are to learn. All float32 [n].

    advantage   in the game's unit, or normalised
    value       the estimate
    weight      of the step
    explained   its part in the explained variance
    """

    advantage: Tensor
    value: Tensor
    weight: Tensor
    explained: Tensor


def value_loss(value: Tensor, estimate: Tensor, weight: Tensor) -> Tensor:
    """sum over steps of weight (v - v_hat)^2; all float32 [n]. (The paper of DeepNash says "norm";
    it is the square, without 1/2.)"""
    return (weight * (value - estimate.detach()).square()).sum()


def value_loss_as_written(value: Tensor, estimate: Tensor, weight: Tensor) -> Tensor:
    """sum over steps of weight |v - v_hat|, DeepNash's "norm"; all float32 [n]."""
    return (weight * (value - estimate.detach()).abs()).sum()


def surrogate_loss(ratio: Tensor, advantage: Tensor, weight: Tensor, clip: float) -> Tensor:
    """- sum over steps of weight min(r A, r_clipped A), r within 1 - clip and 1 + clip (Schulman et
    al. 2017, PPO). All float32 [n]; ratio: pi(a_t) / mu(a_t), with a graph."""
    clipped = ratio.clamp(1 - clip, 1 + clip)
    return -(weight * torch.minimum(ratio * advantage, clipped * advantage)).sum()


def magnet_loss(pi: Tensor, log_pi: Tensor, log_magnet: Tensor, weight: Tensor) -> Tensor:
    """sum over steps of weight KL(pi | magnet), exact over all actions. pi, log_pi: float32 [n, A],
    with a graph, 0 on illegal actions; log_magnet: the same, or [n, 1] where all are alike."""
    return (weight * (pi * (log_pi - log_magnet)).sum(1)).sum()


def behaviour_loss(log_ratio: Tensor, weight: Tensor) -> Tensor:
    """sum over steps of weight (r log r - r + 1); its mean over mu's actions is KL(pi | mu). Of mu
    only the sampled action's probability is known. float32 [n]; log_ratio: log r, with a graph."""
    ratio = log_ratio.exp()
    return (weight * (ratio * log_ratio - ratio + 1)).sum()
