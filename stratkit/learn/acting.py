"""What learning from searches asks of the keys of a PLAYER by which self-play searches. What else
they mean is for the players to say."""

from __future__ import annotations

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


def _by_name(keys: str) -> dict[str, str]:
    return {name: value for name, _, value in (key.partition("=") for key in keys.split(","))}
