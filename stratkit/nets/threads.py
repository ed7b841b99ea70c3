"""How many threads torch computes in: one, and the commands' own threads beside it."""

from __future__ import annotations

import torch


def one_thread() -> None:
    """Torch computes in the calling thread alone from now on: the same sums on every machine of a
    kind. Its several threads would wait for each other at every operation. That is slow with small
    networks, and slower as soon as a core has something else to do."""
    torch.set_num_threads(1)
