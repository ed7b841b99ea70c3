"""How rates fall with the steps. This module imports neither torch nor numpy."""

from __future__ import annotations

import math


def annealed(start: float, floor: float, power: float, step: int, after: float) -> float:
    """start (1 + step / after)^-power, at least `floor`: constant if power is 0, and all but
    constant for the first `after` steps."""
    return max(floor, start * math.pow(1 + step / after, -power))
