"""Keys of a PLAYER, by the name that `preset=NAME` gives them."""

from __future__ import annotations

from collections.abc import Mapping

Preset = Mapping[str, str]

# Perolat et al. 2022, supplement, table 5.
DEEPNASH: Preset = {
    "threshold": ".03",
    "quanta": "16",
    "deploy-threshold": ".03",
    "deploy-quanta": "32",
    "eager": "2",
    "memory": "on",
    "repeat-threats": "off",
    "bounds": ".05",
}
# What paid most with barrage-easy, at little cost (bench/strength.md, stratkit-players(7)).
FAST: Preset = {"threshold": ".1", "quanta": "8"}
ATARAXOS: Preset = {
    "search": "mmd",
    "rollouts": "1024",
    "depth": "10",
    "eta": "10",
    "magnet": ".01",
}
ALPHAZE: Preset = {"search": "pc-pimc", "worlds": "3", "nodes": "800", "pick": "best"}
# For who wants to play and not to choose: the best search of those tried, at most a second a move.
STRONG: Preset = {
    **FAST,
    "search": "mmd",
    "rollouts": "4096",
    "depth": "3",
    "eta": "30",
    "belief": "setups",
    "time": "1",
}

# Gray et al. 2021, live games.
SEARCHBOT: Preset = {
    "search": "rm",
    "candidates": "50",
    "per-unit": "3.5",
    "samples": "1024",
    "iterations": "256",
    "depth": "2",
    "rollout-temperature": ".75",
    "top-p": ".95",
    "play": "final",
}

# `strong` of those that come with stratkit and play Diplomacy (bench/diplomacy.md).
STRONG_SEVEN: Preset = {
    "search": "rm",
    "candidates": "16",
    "per-unit": "3.5",
    "samples": "64",
    "iterations": "64",
    "depth": "0",
}
STRONG_TWO: Preset = {
    "search": "rm",
    "candidates": "18",
    "samples": "50",
    "iterations": "256",
    "depth": "0",
}
STRONG_OF: Mapping[str, Preset] = {"diplomacy-v1": STRONG_SEVEN, "fva-v1": STRONG_TWO}

SEARCH_PRESETS: Mapping[str, Preset] = {
    "ataraxos": ATARAXOS,
    "alphaze": ALPHAZE,
    "searchbot": SEARCHBOT,
}
NETWORK_PRESETS: Mapping[str, Preset] = {
    "deepnash": DEEPNASH,
    "fast": FAST,
    **SEARCH_PRESETS,
    "strong": STRONG,
}


def preset_keys(presets: Mapping[str, Preset], name: str, spec: str) -> Preset:
    """The keys that `preset=NAME` sets, of a kind's `presets`, before the SPEC; none without a
    name."""
    if name == "strong" and spec in STRONG_OF:
        return STRONG_OF[spec]
    return presets.get(name, {})
