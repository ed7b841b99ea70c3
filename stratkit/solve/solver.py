"""Solvers by name: `NAME:ITERATIONS`, or only `NAME` of those that do not iterate."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Protocol

from stratkit.engine.tree import Tree, Vector
from stratkit.errors import UsageError, named, nearest
from stratkit.solve.cfr import CFR, EXPONENTS
from stratkit.solve.determinized import DETERMINIZED
from stratkit.solve.fictitious_play import TabularFP, flop, linear_fp
from stratkit.solve.mmd import TabularMMD
from stratkit.solve.regret_matching import TurnRegretMatching, final_policy
from stratkit.solve.tabular import TabularRNaD, on_views


class TabularSolver(Protocol):
    """What approaches an equilibrium step by step."""

    def step(self) -> None:
        """One iteration."""

    def solution(self) -> Vector:
        """The policy [E] so far."""


OTHERS: Mapping[str, Callable[[Tree], TabularSolver]] = {
    "fp": TabularFP,
    "linear-fp": linear_fp,
    "flop": flop,
    "mmd": TabularMMD,
    "rm": TurnRegretMatching,
    "rm-final": final_policy,
    "rnad": TabularRNaD,
    "rnad-views": on_views,
}
NAMES = (*EXPONENTS, *OTHERS)
MAX_ITERATIONS = 10**9


def parse_solver(text: str) -> tuple[str, int] | None:
    """(name, iterations) of a `text` like `cfr:1000`, (name, 0) of one like `pimc`; None when it
    names no solver.

    Raises `UsageError` for a solver without a sound number of iterations.
    """
    name, colon, number = text.partition(":")
    if name in DETERMINIZED and colon:
        raise UsageError(f"{name} takes no number of iterations", text=text)
    if name in DETERMINIZED:
        return name, 0
    if name not in NAMES:
        if colon and re.fullmatch(r"\d+", number) and nearest(name, NAMES):
            raise UsageError(f"no solver is called {name!r}{nearest(name, NAMES)}", text=text)
        return None
    if not re.fullmatch("[1-9][0-9]*", number):
        file = f"; a file or folder of this name is ./{named(text)}" if os.path.exists(text) else ""
        what = f"a number of iterations is needed, as in {name}:1000{file}"
        raise UsageError(what, text=text)
    if len(number) > len(str(MAX_ITERATIONS)) or int(number) > MAX_ITERATIONS:
        raise UsageError(f"a solver does at most {MAX_ITERATIONS} iterations", text=text)
    return name, int(number)


def open_solver(name: str, tree: Tree) -> TabularSolver:
    """The solver called `name`, one of `NAMES` or `DETERMINIZED`, before its first iteration."""
    if name in DETERMINIZED:
        return DETERMINIZED[name](tree)
    return OTHERS[name](tree) if name in OTHERS else CFR(tree, EXPONENTS[name])
