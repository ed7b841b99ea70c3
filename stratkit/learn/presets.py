"""Settings that go with a kind of network, by algorithm: they replace the defaults of
`stratkit.learn.config`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Where the network, and with it the machine, is smaller, the paper's numbers would hardly move it.
_SMALL_BOARDS = {
    "batch": 8,
    "lr": 3e-3,
    "eta": 0.1,
    "sizes": (200,),
    "repeats": (1,),
    "target_rate": 0.1,
    "average_rate": 0.01,
    "mu_floor": 0.1,
    "policy_c": 0.9,
    "grad_norm": 1.0,
}
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "plain": _SMALL_BOARDS,
    "tiny": {**_SMALL_BOARDS, "lr": 1e-3},
    "small": {
        "batch": 64,
        "lr": 5e-4,
        "sizes": (1000,),
        "repeats": (1,),
        "target_rate": 0.003,
        "average_rate": 0.001,
        "mu_floor": 0.1,
        "chunk": 2048,
    },
    "paper": {},
    "mlp": {
        "batch": 1024,
        "lr": 3e-3,
        "sizes": (500,),
        "repeats": (1,),
        "target_rate": 0.003,
        "average_rate": 0.0003,
        "chunk": 1 << 20,
    },
}

# That of mlp was chosen on Kuhn poker, and NET/GAME on that game, of the sizes of the yardstick. On
# boards the batches, rates and chunks are R-NaD's.
_MMD_SMALL_BOARDS = {
    "batch": 8,
    "lr": 3e-3,
    "eta": 0.1,
    "eta_power": 0.5,
    "eta_floor": 0.01,
    "advantage_lambda": 0.9,
    "value_lambda": 0.95,
    "average_rate": 0.01,
    "grad_norm": 1.0,
}
_MMD_VECTORS = {
    "batch": 1024,
    "lr": 1e-2,
    "lr_power": 1.0,
    "eta": 0.1,
    "eta_power": 0.5,
    "advantage_lambda": 1.0,
    "value_lambda": 1.0,
    "average_rate": 1e-5,
    "chunk": 1 << 20,
}
# Millions of information sets want more steps of fewer games, and a temperature that falls later
# and slower.
_MMD_LARGE = {
    **_MMD_VECTORS,
    "batch": 128,
    "eta_power": 0.3,
    "anneal_by": "decisions",
    "anneal_after": 5e5,
}
MMD_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "plain": _MMD_SMALL_BOARDS,
    "tiny": {**_MMD_SMALL_BOARDS, "lr": 1e-3},
    "small": {"batch": 64, "lr": 5e-4, "chunk": 2048},
    "paper": {"lr": 1e-4},
    # Chosen on France against Austria. Hundreds of actions a game each pay eta, so it is small.
    "graph": {
        "batch": 64,
        "lr": 2e-3,
        "lr_power": 0.25,
        "b1": 0.9,
        "anneal_after": 1000,
        "eta": 2e-3,
        "advantage_lambda": 0.99,
        "value_lambda": 0.99,
        "value_weight": 0.5,
        "average_rate": 0.01,
        "grad_norm": 1.0,
        "chunk": 16384,
    },
    # That of diplomacy-v1, but for the rate's fall, which is a matter of how long one learns.
    "graph+shares": {
        "batch": 64,
        "lr": 1e-3,
        "lr_power": 0.0,
        "b1": 0.9,
        "anneal_after": 1000,
        "magnet": "copy:1000",
        "eta": 1e-3,
        "eta_power": 0.0,
        "advantage_lambda": 0.97,
        "value_lambda": 0.97,
        "value_weight": 0.5,
        "average_rate": 0.01,
        "grad_norm": 1.0,
        "chunk": 16384,
    },
    "mlp": _MMD_VECTORS,
    "mlp/leduc": {**_MMD_VECTORS, "batch": 4096},
    "mlp/phantom_ttt": _MMD_LARGE,
    "mlp/dark_hex": _MMD_LARGE,
    "mlp/dark_hex:3:classical": {**_MMD_LARGE, "eta": 0.03},
    "mlp/liars_dice": _MMD_LARGE,
}

# 400 games of Leduc poker are 1,024 decisions of each player, the paper's batch.
PPO_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "plain": {"batch": 8},
    "tiny": {"batch": 8},
    "small": {"batch": 64, "lr": 5e-4, "chunk": 2048},
    "paper": {"lr": 1e-4},
    "mlp": {"batch": 400, "chunk": 1 << 20},
}

_BELIEF_SMALL = {"batch": 32, "lr": 1e-2, "b1": 0.9, "grad_norm": 1.0}
PBS_PRESETS: Mapping[str, Mapping[str, Any]] = {"pbs": {"batch": 512, "save_every": 2000}}

BELIEF_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "plain": _BELIEF_SMALL,
    "tiny": _BELIEF_SMALL,
    "small": {"batch": 128, "lr": 1e-3, "b1": 0.9, "chunk": 2048},
    "paper": {"lr": 3e-4, "b1": 0.9},
}

_ALPHAZE_SMALL = {"batch": 8, "lr": 3e-3, "b1": 0.9, "average_rate": 0.01, "grad_norm": 1.0}
ALPHAZE_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "plain": _ALPHAZE_SMALL,
    "tiny": {**_ALPHAZE_SMALL, "lr": 1e-3},
    "small": {"batch": 64, "lr": 5e-4, "b1": 0.9, "chunk": 2048},
    "paper": {"lr": 2e-4, "b1": 0.9},
    # Of imitation of the rules of Diplomacy: a game of seven powers is 1,500 actions, enough for a
    # step.
    "graph": {
        "batch": 1,
        "lr": 2e-3,
        "b1": 0.9,
        "average_rate": 0.01,
        "grad_norm": 1.0,
        "chunk": 16384,
    },
    "mlp": {"batch": 64, "lr": 3e-3, "b1": 0.9, "average_rate": 0.01, "chunk": 1 << 20},
}
