"""Algorithms by name: the built-in ones, and `py:MODULE:CLASS`, a class of the user's own.

A checkpoint stores the name of its algorithm. Its code runs only where the user has named it, too,
by `train --algorithm` or in a `Request`. This module imports neither torch nor numpy.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, NamedTuple, get_type_hints

from stratkit.errors import InputError, named, nearest_or_all, one_line, shown
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.config import (
    AdamConfig,
    AlphaZeConfig,
    BeliefConfig,
    MMDConfig,
    NashPGConfig,
    PPOConfig,
    ReBeLConfig,
    RNaDConfig,
    RunConfig,
    processed,
)
from stratkit.learn.presets import (
    ALPHAZE_PRESETS,
    BELIEF_PRESETS,
    MMD_PRESETS,
    PBS_PRESETS,
    PPO_PRESETS,
    PRESETS,
)
from stratkit.netnames import DEFAULT_PBS
from stratkit.python_class import PYTHON, check_python_name, python_class

if TYPE_CHECKING:
    import torch

    from stratkit.engine import Game
    from stratkit.learn.algorithm import Algorithm

RNAD = "rnad"  # the default, and the algorithm of checkpoints that name none


class AlgorithmKind(NamedTuple):
    """An entry of `ALGORITHMS`.

    config   its hyper-parameters
    presets  settings by the kind of network, which replace the defaults
    module   where the class is that implements it
    name     of that class, a `learn.algorithm.Algorithm`
    batches  what it learns from
    net      its default network; None: the one of the observation's shape
    keys     of a PLAYER, each with a comma, without which its checkpoints do not play
    """

    config: type[AdamConfig]
    presets: Mapping[str, Mapping[str, Any]]
    module: str
    name: str
    batches: BatchSpec = BatchSpec()
    net: str | None = None
    keys: str = ""


ALGORITHMS: Mapping[str, AlgorithmKind] = {
    RNAD: AlgorithmKind(RNaDConfig, PRESETS, "stratkit.learn.rnad", "RNaD"),
    "mmd": AlgorithmKind(
        MMDConfig, MMD_PRESETS, "stratkit.learn.mmd", "MMD", BatchSpec(slices=True)
    ),
    "ppo": AlgorithmKind(
        PPOConfig, PPO_PRESETS, "stratkit.learn.nashpg", "PPO", BatchSpec(slices=True)
    ),
    "nashpg": AlgorithmKind(
        NashPGConfig, PPO_PRESETS, "stratkit.learn.nashpg", "NashPG", BatchSpec(slices=True)
    ),
    "alphaze": AlgorithmKind(AlphaZeConfig, ALPHAZE_PRESETS, "stratkit.learn.alphaze", "AlphaZe"),
    "belief": AlgorithmKind(
        BeliefConfig, BELIEF_PRESETS, "stratkit.learn.belief", "Belief", BatchSpec(hidden=True)
    ),
    "rebel": AlgorithmKind(
        ReBeLConfig,
        PBS_PRESETS,
        "stratkit.learn.rebel",
        "ReBeL",
        BatchSpec(examples=True),
        DEFAULT_PBS,
        "search=cfr,depth=2,",
    ),
}

_named: dict[str, AlgorithmKind] = {}  # by the user, of those of their own


def name_algorithm(name: str) -> None:
    """The user has named this algorithm: if it is `py:MODULE:CLASS`, the module is imported.
    `InputError`: there is no such algorithm, or the class is none."""
    if name.startswith(PYTHON) and name not in _named:
        check_python_name(name, "an algorithm")
        _named[name] = _python_kind(name)
    algorithm_kind(name)


def algorithm_kind(name: object) -> AlgorithmKind:
    """The algorithm of this name. `InputError`: there is none, or it is code that the user has not
    named."""
    known = {**ALGORITHMS, **_named}
    if isinstance(name, str) and name in known:
        return known[name]
    if isinstance(name, str) and name.startswith(PYTHON):
        what = f"this algorithm runs code of its own: name it by --algorithm {named(name)}"
        raise InputError(what)
    raise InputError(f"unknown algorithm {shown(name)}{nearest_or_all(str(name), ALGORITHMS)}")


def playing_keys(algorithm: str, config: Mapping[str, Any]) -> str:
    """The keys, each with a comma, by which a run's checkpoints play while it learns."""
    keys = processed(config.get("threshold", 0.0), config.get("quanta", 0))
    return algorithm_kind(algorithm).keys + (f"{keys}," if keys else "")


def open_algorithm(
    name: str, net: str, game: Game, config: AdamConfig, seed: int, device: torch.device
) -> Algorithm[Any, Any]:
    """The algorithm of this name with untrained networks (`nets.build`), on a device."""
    entry = algorithm_kind(name)
    kind = getattr(importlib.import_module(entry.module), entry.name)
    made: Algorithm[Any, Any] = kind(net, game, config, seed, device)
    return made


def _python_kind(name: str) -> AlgorithmKind:
    """What the class `py:MODULE:CLASS` says of itself."""
    from stratkit.learn.algorithm import Algorithm

    cls = python_class(name)
    if not issubclass(cls, Algorithm):
        raise InputError("no subclass of stratkit.learn.algorithm.Algorithm", text=name)
    metrics = [word for word in ("loss_metrics", "view_metrics") if not hasattr(cls, word)]
    if missing := [*sorted(cls.__abstractmethods__), *metrics]:
        raise InputError(f"the class has no {', '.join(missing)}", text=name)
    try:
        config = get_type_hints(cls)["config"]
    except Exception as error:
        raise InputError(f"config: {one_line(error)}", text=name) from None
    if not (isinstance(config, type) and issubclass(config, AdamConfig)):
        raise InputError("config: no dataclass that extends AdamConfig", text=name)
    if "__dataclass_fields__" not in vars(config):
        what = f"config: {config.__name__} lacks @dataclass(frozen=True)"
        raise InputError(what, text=name)
    _check_fields(config, name)
    module, _, word = name.removeprefix(PYTHON).partition(":")
    return AlgorithmKind(config, {}, module, word, BatchSpec(slices=cls.slices))


def _check_fields(config: type[AdamConfig], name: str) -> None:
    """`InputError`: a hyper-parameter has no default that tells its type, or a run's name."""
    of_run = {one.name for one in fields(RunConfig)}
    for one in fields(config):
        if one.name in of_run:
            raise InputError(f"config: {one.name} is a setting of every run", text=name)
        if one.default is MISSING or type(one.default) not in (int, float, str, tuple):
            what = "needs a default: a whole number, a number, a word or a tuple of whole numbers"
            raise InputError(f"config: {one.name} {what}", text=name)
