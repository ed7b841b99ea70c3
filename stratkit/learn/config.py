"""Every setting of a training run, and the algorithms by name.

`RunConfig` says how a run goes about it, whatever it learns. Each algorithm has a dataclass of its
hyper-parameters. Both are configuration, command line and help at once: a setting is a field with a
default, a help text and a range, and its option is its name, with - for _. This module imports
neither torch nor numpy: `train --help` needs it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from stratkit.errors import InputError
from stratkit.learn.acting import check_actors, processed, with_true_sight
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.options import Options, option
from stratkit.learn.presets import (
    ALPHAZE_PRESETS,
    BELIEF_PRESETS,
    MMD_PRESETS,
    PBS_PRESETS,
    PPO_PRESETS,
    PRESETS,
)
from stratkit.learn.schedule import annealed
from stratkit.netnames import DEFAULT_PBS


def _average_rate(default: float) -> Any:
    help = "rate of the exponential average of the weights; higher at first"
    return option(default, help, more_than=0, at_most=1)


@dataclass(frozen=True)
class RunConfig(Options):
    """How a run uses the machine and its folder."""

    batch: int = option(768, "episodes a step, or examples (rebel)", at_least=1, less_than=2**31)
    save_every: int = option(100, "steps between two checkpoints", at_least=1, less_than=2**31)
    keep: int = option(0, "checkpoints that are kept, the newest ones; 0: all", at_least=0)
    milestone: int = option(
        10_000, "and those whose step is a multiple of this, for ever", at_least=1, less_than=2**31
    )
    seed: int = option(
        0,
        "seed of the first weights; without one, the system chooses it",
        at_least=0,
        less_than=2**64,
    )
    rows: int = option(
        128, "pad the different states of a step to a multiple of this", at_least=1, less_than=2**31
    )
    chunk: int = option(
        4096,
        "states that the networks evaluate at a time, at most, which bounds memory; 0, cuda's "
        "default: as many as have room in the memory that is free at first",
        at_least=0,
        less_than=2**31,
    )
    precision: str = option(
        "f32",
        "numbers of the networks' layers: f32, or bf16 (autocast), which is cuda's default",
        words=("f32", "bf16"),
    )
    publish_every: int = option(
        1, "steps between two publications of the acting network", at_least=1, less_than=2**31
    )
    threads: int = option(1, "threads that work on a batch, a part each", at_least=1, at_most=1024)


@dataclass(frozen=True)
class AdamConfig(Options):
    """The hyper-parameters of every algorithm: those of the optimizer. The names are those of
    Kingma and Ba 2015; the defaults those of the DeepNash paper, but that it clips gradients."""

    lr: float = option(5e-5, "learning rate of Adam, at first", more_than=0, less_than=1e6)
    lr_power: float = option(
        0.0, "it falls with this power of the steps; 0: constant", at_least=0, at_most=10
    )
    lr_floor: float = option(0.0, "and not below this", floor_of="lr", at_least=0, less_than=1e6)
    warm_up: int = option(
        0, "steps over which the rate rises to lr, at first", at_least=0, less_than=2**31
    )
    anneal_after: float = option(
        100.0, "steps after which what is annealed begins to fall", at_least=1, less_than=1e12
    )
    b1: float = option(0.0, "decay of Adam's first moment", at_least=0, less_than=1)
    b2: float = option(0.999, "decay of Adam's second moment", at_least=0, less_than=1)
    eps: float = option(1e-8, "epsilon of Adam", at_least=1e-30, less_than=1e6)
    grad_norm: float = option(
        0.0, "clip the global norm of the gradient to this; 0: do not", at_least=0
    )

    def acting(self, step: int) -> str:
        """What self-play does to the policy published after so many steps, in the words of a
        PLAYER, or `none`."""
        return "none"

    def rate(self, step: int) -> float:
        """Adam's in update number `step`, counted from 0: it rises to `lr`, then falls."""
        rising = min(1.0, (step + 1) / max(1, self.warm_up))
        return rising * annealed(self.lr, self.lr_floor, self.lr_power, step, self.anneal_after)

    @property
    def deployment_only(self) -> bool:
        """Whether play stays as it is."""
        return False

    @property
    def searched(self) -> bool:
        """Whether it learns from searched games."""
        return False

    @property
    def imitates(self) -> bool:
        """Whether it learns the actions that were played, whoever played them."""
        return False


@dataclass(frozen=True)
class PlayConfig(AdamConfig):
    """The hyper-parameters of every algorithm that learns to play from episodes."""

    weight_by: str = option(
        "step",
        "what has one vote in the loss: each decision (step), or each game",
        words=("step", "game"),
    )


@dataclass(frozen=True)
class RNaDConfig(PlayConfig):
    """The hyper-parameters of R-NaD. The defaults are those of the DeepNash paper (Perolat et al.
    2022, supplement, table 3) as far as it has them, but for rho and weight_by: train(1)."""

    eta: float = option(0.2, "strength of the regularisation", at_least=0, less_than=1e6)
    sizes: tuple[int, ...] = option(
        (10_000, 100_000, 35_000), "steps of an iteration of the regularisation policy"
    )
    repeats: tuple[int, ...] = option(
        (100, 65, 1), "how many iterations have each of the sizes; the last goes on for ever"
    )
    ramp: float = option(
        0.5, "part of an iteration over which alpha rises to 1; 0: always 1", at_least=0, at_most=1
    )
    target_rate: float = option(
        0.001, "rate at which the target network follows the online one", more_than=0, at_most=1
    )
    average_rate: float = _average_rate(0.0003)
    rho: float = option(
        math.inf, "clip of v-trace's importance weight of the TD error", more_than=0
    )
    c: float = option(1.0, "clip of v-trace's importance weight of the trace", more_than=0)
    policy_c: float = option(
        1.0,
        "clip of the trace weights of the policy's targets; below 1 distant rewards fade",
        more_than=0,
    )
    beta: float = option(
        2.0, "threshold of the centred logits: beyond it, none is pushed on", more_than=0
    )
    clip: float = option(10_000.0, "clip of the advantage", more_than=0)
    mu_floor: float = option(
        0.0, "weigh a sampled action by 1/mu of at least this mu", at_least=0, at_most=1
    )
    threshold: float = option(
        0.0, "v-trace follows the policy without actions below this", at_least=0, at_most=1
    )
    quanta: int = option(
        0,
        "and rounded to multiples of one part in so many; 0: not rounded",
        at_least=0,
        at_most=10_000,
    )
    actors: str = option(
        "raw", "self-play plays the raw or the processed policy", words=("raw", "processed")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.sizes or len(self.sizes) != len(self.repeats):
            raise InputError("sizes and repeats must be equally many")
        if min(*self.sizes, *self.repeats) < 1:
            raise InputError("sizes and repeats must be at least 1")

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """`sizes` and `repeats` are equally many; the missing one may be the preset's."""
        out = super().completed(values)
        for name, other in (("sizes", "repeats"), ("repeats", "sizes")):
            if name in out and other not in out:
                out[other] = (1,) * len(out[name])
        return out

    def acting(self, step: int) -> str:
        raw = self.actors == "raw"
        return "none" if raw else processed(self.threshold, self.quanta) or "none"


@dataclass(frozen=True)
class MMDConfig(PlayConfig):
    """The hyper-parameters of MMD. Eta, lambdas and ratio clip are those of Ataraxos (arXiv
    2511.07312); its filter, its kl_mu of .1 and its falling rate are not the defaults. What R-NaD
    has, too, has its name and means the same."""

    magnet: str = option(
        "uniform",
        "the policy that pulls: uniform over legal actions, or the averaged network's",
        words=("uniform", "average"),
    )
    eta: float = option(
        0.05, "temperature at first, in the game's unit of returns", at_least=0, less_than=1e6
    )
    eta_power: float = option(
        0.3, "eta falls with this power of the steps; 0: constant", at_least=0, at_most=10
    )
    eta_floor: float = option(0.0, "and not below this", floor_of="eta", at_least=0, less_than=1e6)
    deployment_eta: float = option(
        0.03,
        "the same for placing pieces, constant; more: more different setups",
        at_least=0,
        less_than=1e6,
    )
    learn: str = option(
        "all",
        "what is learned: all, or the deployment alone (of a net with one of its own for it)",
        words=("all", "deployment"),
    )
    ratio_clip: float = option(
        0.2, "an action whose pi/mu is this far from 1 is pushed no further; inf", more_than=0
    )
    kl_mu: float = option(
        0.0, "weight of KL(pi|mu), the distance from self-play's policy", at_least=0, less_than=1e6
    )
    advantage_lambda: float = option(
        0.5, "lambda of the advantage; 1: by the game's end alone", at_least=0, at_most=1
    )
    value_lambda: float = option(
        0.8, "lambda of the value's target; 1: the game's end", at_least=0, at_most=1
    )
    advantage_filter: float = option(
        0.0,
        "learn from decisions whose absolute advantage is at least this quantile; 0: all",
        at_least=0,
        less_than=1,
    )
    value_weight: float = option(
        1.0, "weight of the value's squared error in the loss", more_than=0, less_than=1e6
    )
    draw_score: float = option(
        0.0,
        "what a draw brings each player, in the game's unit; below 0: both lose a part",
        at_least=-1,
        at_most=1,
    )
    rho: float = option(
        math.inf, "clip of v-trace's importance weight of the TD error", more_than=0
    )
    c: float = option(1.0, "clip of v-trace's importance weight of the trace", more_than=0)
    average_rate: float = _average_rate(0.001)

    @property
    def deployment_only(self) -> bool:
        return self.learn == "deployment"


@dataclass(frozen=True)
class PPOConfig(PlayConfig):
    """The hyper-parameters of PPO. The defaults are NashPG's (arXiv 2510.18183, and its authors'
    version for OpenSpiel), without its magnet. What MMD has, too, has its name and means the
    same."""

    lr: float = option(1e-3, "learning rate of Adam, at first", more_than=0, less_than=1e6)
    b1: float = option(0.9, "decay of Adam's first moment", at_least=0, less_than=1)
    eps: float = option(1e-5, "epsilon of Adam", at_least=1e-30, less_than=1e6)
    grad_norm: float = option(
        0.5, "clip the global norm of the gradient to this; 0: do not", at_least=0
    )
    epochs: int = option(
        4, "how often an update learns from each decision", at_least=1, at_most=1000
    )
    minibatches: int = option(
        4, "gradient steps of an epoch, each by a part of the batch", at_least=1, at_most=10_000
    )
    ratio_clip: float = option(
        0.2, "an action whose pi/mu is this far from 1 is pushed no further; inf", more_than=0
    )
    advantage_lambda: float = option(
        0.95, "lambda of the advantage; 1: by the game's end alone", at_least=0, at_most=1
    )
    value_weight: float = option(
        0.5, "weight of the value's squared error in the loss", more_than=0, less_than=1e6
    )
    entropy_weight: float = option(
        0.1, "weight of the policy's entropy in the loss", at_least=0, less_than=1e6
    )
    average_rate: float = _average_rate(0.003)


@dataclass(frozen=True)
class NashPGConfig(PPOConfig):
    """The hyper-parameters of NashPG: PPO's and the magnet's."""

    magnet_weight: float = option(
        0.2, "weight of KL(pi|magnet) in the loss", at_least=0, less_than=1e6
    )
    magnet_every: int = option(
        40, "updates after which the magnet becomes a copy of the policy", at_least=1
    )


@dataclass(frozen=True)
class AlphaZeConfig(PlayConfig):
    """The hyper-parameters of AlphaZero's loss. The defaults of self-play are AlphaZe**'s
    (Blüml, Czech, Kersting 2023), but that moves are drawn, and roots have noise."""

    actors: str = option(
        "search=pc-pimc,worlds=3,nodes=800,pick=drawn,noise=.25",
        "self-play searches by these keys of a PLAYER",
    )
    true_sight: int = option(
        0,
        "steps over which self-play searches the true state instead of worlds, at first",
        at_least=0,
        less_than=2**31,
    )
    root_value: float = option(
        0.15,
        "part of the search's value in the value's target; the rest is the game's end",
        at_least=0,
        at_most=1,
    )
    value_weight: float = option(
        1.0, "weight of the value's squared error in the loss", more_than=0, less_than=1e6
    )
    decay: float = option(
        1e-4, "part of the rate by which a step shrinks the weights", at_least=0, less_than=1
    )
    lr_cosine: int = option(
        0,
        "steps over which the rate falls to lr-floor along a cosine; 0: it does not",
        at_least=0,
        less_than=2**31,
    )
    targets: str = option(
        "search",
        "what the policy learns: what a search found, or the actions that were played",
        words=("search", "played"),
    )
    window: int = option(
        20, "batches of episodes that are kept to be learned from again", at_least=0, at_most=10_000
    )
    replays: int = option(
        1, "old episodes that a step learns from, for each new one", at_least=0, at_most=100
    )
    average_rate: float = _average_rate(0.003)

    @property
    def searched(self) -> bool:
        return self.targets == "search"

    @property
    def imitates(self) -> bool:
        return not self.searched

    def __post_init__(self) -> None:
        super().__post_init__()
        check_actors(self.actors, self.true_sight > 0)
        if self.replays > self.window:
            raise InputError("--replays is more than --window keeps", text=self.replays)

    def acting(self, step: int) -> str:
        if step >= self.true_sight:
            return self.actors
        return with_true_sight(self.actors)


@dataclass(frozen=True)
class BeliefConfig(AdamConfig):
    """The hyper-parameters of a belief network."""

    average_rate: float = _average_rate(0.003)


@dataclass(frozen=True)
class ReBeLConfig(AdamConfig):
    """The hyper-parameters of ReBeL's value network. The defaults are for two cores and minutes;
    the paper's (Brown et al. 2020, appendix E) for Liar's Dice are lr 3e-4, halved every 20,000
    steps, a buffer of 2,000,000 and at most 4 uses."""

    lr: float = option(1e-3, "learning rate of Adam, at first", more_than=0, less_than=1e6)
    b1: float = option(0.9, "decay of Adam's first moment", at_least=0, less_than=1)
    grad_norm: float = option(
        5.0, "clip the global norm of the gradient to this; 0: do not", at_least=0
    )
    average_rate: float = _average_rate(0.005)
    halve: tuple[int, ...] = option((), "steps after which the learning rate is halved")
    uses: float = option(
        8.0, "how often an example is learned from, on average", more_than=0, less_than=1e6
    )
    buffer: int = option(
        100_000, "examples that batches are drawn from, the newest", at_least=1, less_than=2**31
    )
    exact: int = option(
        0, "states with exact values to measure checkpoints by; 0: none", at_least=0, at_most=10_000
    )


class AlgorithmKind(NamedTuple):
    """An entry of `ALGORITHMS`.

    config   its hyper-parameters
    presets  settings by the kind of network, which replace the defaults
    module   where the class is that implements it
    name     of that class, a `learn.algorithm.Algorithm`
    batches  what it learns from
    net      its default network; None: the one of the observation's shape
    """

    config: type[AdamConfig]
    presets: Mapping[str, Mapping[str, Any]]
    module: str
    name: str
    batches: BatchSpec = BatchSpec()
    net: str | None = None


RNAD = "rnad"  # the default, and the algorithm of checkpoints that name none
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
    ),
}
