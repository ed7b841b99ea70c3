"""Every number of a training run: one dataclass is configuration, command line and help.

This module imports neither torch nor numpy: `train --help` needs it. A field's name, with - for _,
is the option, its help the option's help. What counts is, in this order: the option, the
configuration file, what a resumed run has stored or else the preset of the network, the default
below.
"""

from __future__ import annotations

import math
import operator
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from stratkit.errors import InputError, in_file, named, nearest
from stratkit.netnames import check_net

CHOICES: Mapping[str, tuple[str, ...]] = {
    "actors": ("raw", "processed"),
    "precision": ("f32", "bf16"),
}
MOST_FILE = 1 << 16  # bytes of a configuration file


def _option(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "at least": operator.ge,
    "more than": operator.gt,
    "at most": operator.le,
    "less than": operator.lt,
}


@dataclass(frozen=True)
class Config:
    """The hyper-parameters of R-NaD and of a run. The defaults are those of the DeepNash paper
    (Perolat et al. 2022, supplement, table of hyper-parameters) as far as it has them."""

    batch: int = _option(768, "episodes a step")
    lr: float = _option(5e-5, "learning rate of Adam")
    b1: float = _option(0.0, "decay of Adam's first moment")
    b2: float = _option(0.999, "decay of Adam's second moment")
    eps: float = _option(1e-8, "epsilon of Adam")
    grad_norm: float = _option(0.0, "clip the global norm of the gradient to this; 0: do not")
    eta: float = _option(0.2, "strength of the regularisation")
    sizes: tuple[int, ...] = _option(
        (10_000, 100_000, 35_000), "steps of an iteration of the regularisation policy"
    )
    repeats: tuple[int, ...] = _option(
        (100, 65, 1), "how many iterations have each of the sizes; the last goes on for ever"
    )
    ramp: float = _option(0.5, "part of an iteration over which alpha rises to 1; 0: always 1")
    target_rate: float = _option(0.001, "rate at which the target network follows the online one")
    average_rate: float = _option(
        0.0003, "rate at which the averaged network follows it, after 3 / X steps"
    )
    rho: float = _option(math.inf, "clip of v-trace's importance weight of the TD error")
    c: float = _option(1.0, "clip of v-trace's importance weight of the trace")
    policy_c: float = _option(1.0, "the same of what the policy learns from; below 1 it fades")
    beta: float = _option(2.0, "threshold of the centred logits: beyond it, none is pushed on")
    clip: float = _option(10_000.0, "clip of the advantage")
    mu_floor: float = _option(0.0, "weigh a sampled action by 1/mu of at least this mu")
    threshold: float = _option(0.0, "v-trace follows the policy without actions below this")
    quanta: int = _option(0, "and rounded to multiples of one part in so many; 0: not rounded")
    actors: str = _option("raw", "what self-play acts by: raw, or the processed policy")
    rows: int = _option(128, "pad the different states of a step to a multiple of this")
    chunk: int = _option(
        4096, "states that the networks look at at a time, at most, which bounds memory"
    )
    precision: str = _option("f32", "numbers of the networks' layers: f32, or bf16 (autocast)")
    publish_every: int = _option(1, "steps between two publications of the acting network")
    save_every: int = _option(100, "steps between two checkpoints")
    keep: int = _option(0, "checkpoints that are kept, the newest ones; 0: all")
    milestone: int = _option(10_000, "and those whose step is a multiple of this, for ever")
    threads: int = _option(1, "threads that work on a batch, a part each")
    seed: int = _option(0, "seed of the first weights; without one, the system chooses it")

    def __post_init__(self) -> None:
        for name in (
            "batch",
            "rows",
            "chunk",
            "publish_every",
            "save_every",
            "milestone",
            "threads",
        ):
            self._check(name, "at least", 1)
            self._check(name, "less than", 2**31)
        for name in ("seed", "grad_norm", "eta", "ramp", "mu_floor", "b1", "b2", "eps"):
            self._check(name, "at least", 0)
        for name in ("threshold", "quanta", "keep"):
            self._check(name, "at least", 0)
        for name in ("lr", "rho", "c", "policy_c", "beta", "clip", "target_rate", "average_rate"):
            self._check(name, "more than", 0)
        for name in ("target_rate", "average_rate", "ramp", "mu_floor", "threshold"):
            self._check(name, "at most", 1)
        for name in ("b1", "b2"):
            self._check(name, "less than", 1)
        self._check("threads", "at most", 1024)
        self._check("seed", "less than", 2**64)
        self._check("quanta", "at most", 10_000)
        for name, words in CHOICES.items():
            if getattr(self, name) not in words:
                what = f"{option_name(name)} is {' or '.join(words)}"
                raise InputError(what, text=getattr(self, name))
        if not self.sizes or len(self.sizes) != len(self.repeats):
            raise InputError("sizes and repeats must be equally many")
        if min(*self.sizes, *self.repeats) < 1:
            raise InputError("sizes and repeats must be at least 1")

    def _check(self, name: str, what: str, limit: int) -> None:
        """NaN fails every comparison, and so this one."""
        value = getattr(self, name)
        if not _COMPARISONS[what](value, limit):
            raise InputError(f"{option_name(name)} must be {what} {limit}", text=value)

    @property
    def post(self) -> str:
        """What self-play does to the published policy, in the words of a PLAYER, or `none`."""
        if self.actors == "raw" or not (self.threshold or self.quanta):
            return "none"
        return f"threshold={self.threshold!r},quanta={self.quanta}"

    def to_json(self) -> dict[str, Any]:
        """As JSON has it, which knows no infinity."""
        return {k: "inf" if v == math.inf else v for k, v in asdict(self).items()}


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
        "batch": 256,
        "lr": 3e-3,
        "sizes": (500,),
        "repeats": (1,),
        "target_rate": 0.003,
        "average_rate": 0.0003,
        "chunk": 1 << 20,
    },
}


def option_name(name: str) -> str:
    """The option of a field."""
    return "--" + name.replace("_", "-")


def help_of(name: str) -> str:
    """A field's help, with its default and those of the presets that differ."""
    (found,) = (f for f in fields(Config) if f.name == name)
    if name == "seed":
        return str(found.metadata["help"])
    presets = [f"{net} {_text(p[name])}" for net, p in PRESETS.items() if name in p]
    default = "; ".join([_text(found.default), ", ".join(presets)]) if presets else found.default
    return f"{found.metadata['help']} (default: {_text(default)})"


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def resolve(
    net: str, stored: Mapping[str, Any], file: Mapping[str, Any], options: Mapping[str, Any]
) -> Config:
    """The configuration of a run: preset of `net`, or what a resumed run has `stored`, the file,
    the options; the later ones win. Without any seed, the system gives one.

    What an older version did not store was no setting then: the default below is what it did."""
    drawn = {"seed": int.from_bytes(os.urandom(4))}
    preset = PRESETS.get(net.partition(":")[0], {})
    values = {**drawn, **(stored or preset), **file, **options}
    return Config(**{name: _typed(name, value, _kinds()) for name, value in values.items()})


def _kinds() -> dict[str, type]:
    """Each field's type."""
    return {f.name: type(f.default) for f in fields(Config)}


def _typed(name: str, value: Any, known: Mapping[str, type]) -> Any:
    if name not in known:
        raise InputError(f"unknown setting {name!r}{nearest(name, known)}")
    kind = known[name]
    if kind is float and (value == "inf" or (type(value) is int and abs(value) < 2**63)):
        return float(value)
    if kind is tuple and isinstance(value, list | tuple | int):
        numbers = (value,) if isinstance(value, int) else tuple(value)
        if all(type(n) is int for n in numbers):
            return numbers
    elif type(value) is kind:
        return value
    wanted = {int: "a whole number", float: "a number", tuple: "whole numbers", str: "a word"}[kind]
    raise InputError(f"{name} must be {wanted}", text=value)


def read_file(path: str) -> dict[str, Any]:
    """The settings in a TOML file, under the fields' names; `net` may be among them.

    InputError: no TOML, an unknown name, a value of a wrong type.
    """
    with named(path), open(path, "rb") as stream, in_file(path):
        text = stream.read(MOST_FILE + 1)
        if len(text) > MOST_FILE:
            raise InputError(f"over {MOST_FILE} bytes")
        try:
            found = tomllib.loads(text.decode())
        except (ValueError, RecursionError) as error:  # not UTF-8, endless numbers, too deep
            raise InputError(f"not TOML: {error}") from None
        values = {name.replace("-", "_"): value for name, value in found.items()}
        net = values.pop("net", None)
        check_settings(values)
        if net is not None:
            check_net(net)
    return values if net is None else {"net": net, **values}


def check_settings(values: Mapping[str, Any]) -> None:
    """Raises `InputError` unless these settings, which need not be all, are right."""
    typed = {name: _typed(name, value, _kinds()) for name, value in values.items()}
    for name, other in (("sizes", "repeats"), ("repeats", "sizes")):
        if name in typed and other not in typed:  # it may be the preset's
            typed[other] = (1,) * len(typed[name])
    Config(**typed)
