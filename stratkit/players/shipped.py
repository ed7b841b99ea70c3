"""Trained players that come with stratkit, by name: an opponent for whoever has trained none."""

from __future__ import annotations

import os
from pathlib import Path

from stratkit.storage.checkpoints import StrPath, resolve

SHIPPED = ("barrage-v0",)  # BENCHMARKS.md tells how each was trained, and what it is worth


def weights_file(spec: str) -> StrPath:
    """The file of the weights of a shipped player, or of a checkpoint or RUN at that path.

    `InputError`: there is none.
    """
    if spec in SHIPPED:
        return Path(__file__).parent / "trained" / f"{spec}.safetensors"
    return resolve(spec)


def is_network(spec: str) -> bool:
    """Whether there is anything that `weights_file` could be asked for."""
    return spec in SHIPPED or os.path.exists(spec)
