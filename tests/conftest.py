from __future__ import annotations

import os
import pathlib

import pytest

# The suite shares its cores among its processes; threads of each would only disturb the others.
os.environ.setdefault("OMP_NUM_THREADS", "1")

SHARED = pathlib.Path(__file__).parents[2] / "shared"


@pytest.fixture
def shared() -> pathlib.Path:
    """The folder of reference data beside the repository; without it the test is skipped."""
    if not SHARED.is_dir():
        pytest.skip(f"the reference data is not at {SHARED}")
    return SHARED
