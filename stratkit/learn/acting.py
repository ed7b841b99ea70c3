"""The keys of a PLAYER as learning needs them: those by which self-play searches, those of a policy
without rare actions, those by which checkpoints are measured. What else they mean is for the
players to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stratkit.errors import InputError

TREES = ("pimc", "pc-pimc")  # searches that can look at one known world
TIMED = "strong"  # the preset that has a time limit


def check_actors(keys: str, true_sight: bool) -> None:
    """`InputError`: self-play would refuse them, in its own words and perhaps hours later, or
    learning does not go by them. `true_sight`: the true state is searched at first."""
    given = _by_name(keys)
    if "search" not in given:
        what = "--actors needs a search, as search=pc-pimc,worlds=3,nodes=50,pick=drawn"
        raise InputError(what, text=keys)
    if "time" in given or given.get("preset") == TIMED:
        what = (
            f"--actors has no time limit, as by time= or preset={TIMED}, in self-play that learns"
        )
        raise InputError(what, text=keys)
    tree = given["search"] in TREES
    if true_sight and not tree:
        what = "--true-sight needs search=pimc or search=pc-pimc in --actors"
        raise InputError(what, text=keys)
    if given.get("belief") == "true" and not (tree and given.get("worlds", "1") == "1"):
        what = "--actors: belief=true goes with search=pimc or search=pc-pimc, and worlds=1"
        raise InputError(what, text=keys)


def with_true_sight(keys: str) -> str:
    """The keys by which the true state is searched instead of worlds."""
    kept = [key for key in keys.split(",") if not key.startswith(("worlds=", "belief="))]
    return ",".join([*kept, "worlds=1", "belief=true"])


def processed(threshold: float, quanta: int) -> str:
    """The keys of the policy whose values fine-tuning learns; empty: it is the network's own."""
    return f"per=action,threshold={threshold!r},quanta={quanta}" if threshold or quanta else ""


def measured(algorithm: str, config: Mapping[str, Any]) -> str:
    """The keys, each with a comma, by which a run's checkpoints play while it learns."""
    if algorithm == "rebel":
        return "search=cfr,"
    keys = processed(config.get("threshold", 0.0), config.get("quanta", 0))
    return f"{keys}," if keys else ""


def _by_name(keys: str) -> dict[str, str]:
    return {name: value for name, _, value in (key.partition("=") for key in keys.split(","))}
