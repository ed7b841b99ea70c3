"""How much work the tests of the engine do that compare random games.

STRATKIT_TEST_SCALE=50 makes them compare fifty times as much as the suite does; with `pytest -s`
they say what they compared.
"""

from __future__ import annotations

import os

SCALE = float(os.environ.get("STRATKIT_TEST_SCALE", "1"))


def scaled(amount: int) -> int:
    return max(1, round(amount * SCALE))
