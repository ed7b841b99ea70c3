"""Untrained networks whose last layers say something, and comparisons that constants fail.

`build` begins some layers with zeros: fresh networks say the same of everything, and whatever
mixes their answers up compares zeros with zeros.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import torch

from stratkit.nets import Network

N = TypeVar("N", bound=Network)


def drawn(network: N) -> N:
    """The same network; what was all zeros is drawn."""
    generator = torch.Generator().manual_seed(1)
    for parameter in network.parameters():
        if not parameter.any():
            said = torch.empty(parameter.shape).normal_(std=0.1, generator=generator)
            parameter.data.copy_(said)
    return network


def assert_close(found: object, wanted: object, rtol: float = 1e-5, atol: float = 1e-6) -> None:
    """Both are the same of each row, [n] or [n, A]; fails where `wanted` is constant.

    Constant are values that are the same in all rows; and logits or policies whose actions are
    all alike wherever they are legal (finite and not 0).
    """
    found, wanted = np.asarray(found), np.asarray(wanted)
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol)
    rows = wanted if wanted.ndim == 2 else wanted[None]
    said = [row[np.isfinite(row) & (row != 0)] for row in rows]
    spread = max((np.ptp(some) for some in said if len(some)), default=0.0)
    assert spread > 10 * (atol + rtol * np.abs(np.concatenate(said)).max(initial=0)), (
        f"a comparison of constants: nothing differs by more than {spread:.2g}"
    )
