"""Policies as arrays, for who plays on a CPU: what `policy.py` does with tensors."""

from __future__ import annotations

import numpy as np

from stratkit.arrays import Float32s

SLACK = 1e-6  # what rounding may add to a probability that is an exact multiple of a quantum
_LEAST, _TINY = np.finfo(np.float32).min, np.finfo(np.float32).tiny


def softmax(logits: Float32s) -> Float32s:
    """The policy float32 [n, A] of logits, -inf where illegal; 0 in a row without legal actions."""
    weights = np.exp(logits - np.maximum(logits.max(1, keepdims=True), _LEAST))
    return _divided(weights, weights.sum(1, keepdims=True))


def at_temperature(pi: Float32s, temperature: float) -> Float32s:
    """As of `policy.at_temperature`."""
    powers = _divided(pi, pi.max(1, keepdims=True)) ** np.float32(1 / temperature)
    return np.asarray(powers / np.maximum(powers.sum(1, keepdims=True), 1))


def nucleus(pi: Float32s, top_p: float) -> Float32s:
    """Of each row of pi, float32 [n, A], the most probable actions that together have at least
    `top_p`, renormalised: the one that reaches it is the last."""
    order = np.argsort(-pi, axis=1, kind="stable")
    sorted_ = np.take_along_axis(pi, order, 1)
    kept = sorted_.cumsum(1) - sorted_ < np.float32(top_p)
    out = np.zeros_like(pi)
    np.put_along_axis(out, order, np.where(kept, sorted_, 0), 1)
    return _divided(out, out.sum(1, keepdims=True))


def process(
    pi: Float32s, threshold: float = 0.0, quanta: int = 0, ties: Float32s | None = None
) -> Float32s:
    """As of `policy.process`."""
    frequent = np.where(pi >= np.float32(threshold), pi, np.float32(0))
    total = frequent.sum(1, keepdims=True)
    frequent = np.where(total > 0, _divided(frequent, total), pi)
    if not quanta:
        return frequent
    keys = (-frequent,) if ties is None else (ties, -frequent)
    order = np.lexsort(keys, axis=1)
    sorted_ = np.take_along_axis(frequent, order, 1)
    due = np.maximum(np.ceil((sorted_ - np.float32(SLACK)) * np.float32(quanta)), 0)
    before = due.cumsum(1, dtype=np.float32) - due
    given = np.minimum(due, np.maximum(quanta - before, 0))
    given[:, 0] += quanta - given.sum(1)
    given *= frequent.sum(1, keepdims=True) > 0  # there may be nothing to give away
    out = np.zeros_like(frequent)
    np.put_along_axis(out, order, given / np.float32(quanta), 1)
    return out


def _divided(x: Float32s, total: Float32s) -> Float32s:
    return np.asarray(x / np.maximum(total, _TINY), np.float32)
