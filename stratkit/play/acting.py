"""What keys of a PLAYER ask of self-play, and which ones it takes. This module imports neither
torch nor numpy: `train` checks --actors by it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from stratkit.errors import UsageError
from stratkit.players.registry import parse_keys, parse_player
from stratkit.players.searching.options import TREES, SearchOptions
from stratkit.players.testtime.options import PostProcessing


@dataclass(frozen=True)
class ActingPolicy:
    """How self-play plays a policy: `options` of a PLAYER, and whether a search sees the truth."""

    options: Any
    true_sight: bool = False

    @property
    def searching(self) -> SearchOptions:
        """How it searches, if it does."""
        options: SearchOptions = getattr(self.options, "searching", self.options)
        return options

    @property
    def stages(self) -> tuple[bool | None, PostProcessing] | None:
        """Of a network: whether it searches simultaneous turns or others, None without a search,
        and its post-processing; None: nothing but threshold and quanta of single actions, which
        `NetworkPlayer` has itself."""
        post: PostProcessing = self.options.post
        of_turns = self.searching.of_turns if self.searching else None
        return None if of_turns is None and post.of_single_actions else (of_turns, post)


def acting_policy(keys: str, policy: str = "policy") -> ActingPolicy:
    """What the keys of a PLAYER, or `none`, ask for. `UsageError`: they are no such keys."""
    options = (parse_player(policy) if keys == "none" else parse_keys(keys, policy)).options
    if getattr(options, "net", None) not in (None, "online"):
        raise UsageError("self-play plays the online network, and no other", text=keys)
    searching = getattr(options, "searching", options)
    if not (searching and searching.belief == "true"):
        return ActingPolicy(options)
    if not searching.trees or (searching.worlds or 1) > 1:
        what = f"belief=true is one known world: it goes with {TREES} and worlds=1"
        raise UsageError(what, text=keys)
    seen = replace(searching, belief="uniform", worlds=1)
    if options is searching:
        return ActingPolicy(seen, True)
    return ActingPolicy(replace(options, searching=seen), True)


def unsearched(searching: SearchOptions, moves_in_turn: bool = False) -> str | None:
    """The key by which decisions go without a search, of which a network could learn; None: there
    is none. `moves_in_turn`: of a game whose deployment alone is simultaneous."""
    if searching.search == "endgame" or (searching.of_turns and moves_in_turn):
        return f"search={searching.search}"
    return f"quiet={searching.quiet}" if searching.quiet else None


def check_actors(keys: str, true_sight: bool, searched: bool = True) -> None:
    """`UsageError`: learning does not go by what these keys ask of self-play, or self-play would
    refuse them, perhaps hours later. `true_sight`: the true state is searched at first. `searched`:
    what a search finds is learned."""
    searching = acting_policy(keys).searching
    if not searching:
        what = "--actors needs a search, as search=pc-pimc,worlds=3,nodes=50,pick=drawn"
        raise UsageError(what, text=keys)
    if searching.time is not None:
        what = "--actors has no time limit, as by time= or preset=strong, in self-play that learns"
        raise UsageError(what, text=keys)
    if searched and (key := unsearched(searching)):
        what = f"{key} leaves decisions without a target: it goes with --targets played"
        raise UsageError(what, text=keys)
    if true_sight and not searching.trees:
        raise UsageError(f"--true-sight needs {TREES} in --actors", text=keys)
