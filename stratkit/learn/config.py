"""Every setting of a training run.

`RunConfig` says how a run goes about it, whatever it learns. Each algorithm has a dataclass of its
hyper-parameters. Both are configuration, command line and help at once: a setting is a field with a
default, a help text and a range, and its option is its name, with - for _. This module imports
neither torch nor numpy: `train --help` needs it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from stratkit.declared import (
    SEED,
    Kind,
    Rule,
    number,
    one_of,
    option,
    option_name,
    same,
    some_of,
    text,
    whole,
    wholes,
)
from stratkit.errors import InputError
from stratkit.frozen import frozen

# What R-NaD does as the paper's text has it, where that misleads. train(1) says what each means.
AS_WRITTEN = ("policy", "rewards", "force", "mixture", "critic")

STEPS, DECISIONS = "steps", "decisions"  # what a schedule counts


def annealed(start: float, floor: float, power: float, done: int, after: float) -> float:
    """start (1 + done / after)^-power, at least `floor`: constant if power is 0, and all but
    constant for the first `after` steps or decisions."""
    return max(floor, start * math.pow(1 + done / after, -power))


def several_ranks() -> bool:
    """Whether the environment, torchrun's, says that this is one of several ranks."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


def processed(threshold: float, quanta: int) -> str:
    """The keys of a PLAYER by which the policy has no rare actions; empty: it has all."""
    return f"per=action,threshold={threshold!r},quanta={quanta}" if threshold or quanta else ""


def _no_lower(name: str, floor: str) -> Rule:
    """What falls begins no lower than it ends."""

    def check(begin: float, end: float) -> None:
        if begin < end:
            what = f"{option_name(name)} is below {option_name(floor)}, {end:g}"
            raise InputError(what, text=begin)

    return Rule((name, floor), check)


def _check_iterations(sizes: Sequence[int], repeats: Sequence[int]) -> None:
    if not sizes or len(sizes) != len(repeats):
        raise InputError("sizes and repeats must be equally many")


class Magnet(NamedTuple):
    """What `--magnet` says: the policy that pulls.

    network  its name among the algorithm's; None: uniform over the legal actions
    rate     after each `every` updates it moves towards the policy by this part; 0: it is moved
             for another purpose
    """

    network: str | None
    rate: float = 0.0
    every: int = 1

    @staticmethod
    def read(word: str) -> Magnet:
        """`ValueError`: it is none."""
        name, colon, size = word.partition(":")
        if not colon:
            return {"uniform": Magnet(None), "average": Magnet("average")}[_WORDS.accept(name)]
        if name == "copy":
            return Magnet("magnet", 1.0, whole(1).read(size))
        if name != "average":
            raise ValueError
        return Magnet("magnet", number(above=0, most=1).read(size))


_WORDS = one_of("uniform", "average")


def _magnet(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    Magnet.read(value)
    return value


_MAGNET = Kind("WORD", "uniform, average, average:TAU or copy:K", str, _magnet, _WORDS.words)


def _check_window(replays: int, window: int) -> None:
    if replays > window:
        raise InputError("--replays is more than --window keeps", text=replays)


@frozen()
class RunConfig:
    """How a run uses the machine and its folder."""

    batch: int = option(768, whole(1), "episodes a step, or examples (rebel)")
    save_every: int = option(100, whole(1), "steps between two checkpoints")
    keep: int = option(0, whole(0, None), "checkpoints that are kept, the newest ones; 0: all")
    milestone: int = option(
        10_000, whole(1), "and those whose step is a multiple of this, for ever"
    )
    seed: int = option(0, SEED, "seed of the first weights; without one, the system chooses it")
    rows: int = option(128, whole(1), "pad the different states of a step to a multiple of this")
    chunk: int = option(
        4096,
        whole(0),
        "states that the networks evaluate at a time, at most, which bounds memory; 0, cuda's "
        "default: as many as have room in the memory that is free at first",
    )
    precision: str = option(
        "f32",
        one_of("f32", "bf16"),
        "numbers of the networks' layers: f32, or bf16 (autocast), which is cuda's default",
    )
    publish_every: int = option(1, whole(1), "steps between two publications of the acting network")
    threads: int = option(1, whole(1, 1024), "threads that work on a batch, a part each")


@frozen()
class AdamConfig:
    """The hyper-parameters of every algorithm: those of the optimizer. The names are those of
    Kingma and Ba 2015; the defaults those of the DeepNash paper, but that it clips gradients."""

    lr: float = option(5e-5, number(above=0, below=1e6), "learning rate of Adam, at first")
    lr_power: float = option(
        0.0, number(0, 10), "it falls with this power of what is done; 0: constant"
    )
    lr_linear: float = option(
        0.0,
        number(0, below=1e12),
        "steps or decisions over which it falls in a line as well; 0: it does not",
    )
    lr_floor: float = option(0.0, number(0, below=1e6), "and not below this")
    warm_up: int = option(0, whole(0), "steps over which the rate rises to lr, at first")
    anneal_after: float = option(
        100.0, number(1, below=1e12), "steps or decisions after which what is annealed falls"
    )
    anneal_by: str = option(
        STEPS,
        one_of(STEPS, DECISIONS),
        "what is annealed falls with the steps, or with the decisions learned from",
    )
    b1: float = option(0.0, number(0, below=1), "decay of Adam's first moment")
    b2: float = option(0.999, number(0, below=1), "decay of Adam's second moment")
    eps: float = option(1e-8, number(1e-30, below=1e6), "epsilon of Adam")
    grad_norm: float = option(
        0.0, number(0), "clip the global norm of the gradient to this; 0: do not"
    )
    grad_value: float = option(
        0.0, number(0), "then clip each number of the gradient to this; 0: do not"
    )

    rules: ClassVar[tuple[Rule, ...]] = (_no_lower("lr", "lr_floor"),)
    searches: ClassVar[bool] = False  # its `actors` are keys of a PLAYER that searches

    def acting(self, step: int) -> str:
        """What self-play does to the policy published after so many steps, in the words of a
        PLAYER, or `none`."""
        return "none"

    def done(self, step: int, decisions: int) -> int:
        """What is annealed falls with this, before update number `step`, counted from 0, when all
        ranks have learned from so many `decisions`."""
        return decisions if self.anneal_by == DECISIONS else step

    def rate(self, step: int, decisions: int = 0) -> float:
        """Adam's in that update: it rises to `lr`, then falls."""
        rising, done = min(1.0, (step + 1) / max(1, self.warm_up)), self.done(step, decisions)
        rate = annealed(self.lr, self.lr_floor, self.lr_power, done, self.anneal_after)
        if self.lr_linear:
            rate = self.lr_floor + (rate - self.lr_floor) * max(0.0, 1 - done / self.lr_linear)
        return rising * rate

    @property
    def deployment_only(self) -> bool:
        """Whether play stays as it is."""
        return False

    @property
    def searched(self) -> bool:
        """Whether it learns from searched games."""
        return False

    @property
    def face_up(self) -> bool:
        """Whether its network sees the enemy's hidden pieces."""
        return False

    @property
    def imitates(self) -> bool:
        """Whether it learns the actions that were played, whoever played them."""
        return False

    @property
    def replayed(self) -> tuple[int, int]:
        """How many batches of old episodes are kept, and how many come again with a new one."""
        return 0, 0


@frozen()
class PlayConfig(AdamConfig):
    """The hyper-parameters of every algorithm that learns to play from episodes."""

    weight_by: str = option(
        "step",
        one_of("step", "game", "trajectory"),
        "what has one vote in the loss: each decision (step), each player's part of a game (game), "
        "or each game, whoever acts (trajectory)",
    )


@frozen()
class RNaDConfig(PlayConfig):
    """The hyper-parameters of R-NaD. The defaults are those of the DeepNash paper (Perolat et al.
    2022, supplement, table 3) as far as it has them, but for rho, weight_by, as_written:
    train(1)."""

    eta: float = option(0.2, number(0, below=1e6), "strength of the regularisation")
    sizes: tuple[int, ...] = option(
        (10_000, 100_000, 35_000), wholes(1), "steps of an iteration of the regularisation policy"
    )
    repeats: tuple[int, ...] = option(
        (101, 65, 1),
        wholes(1),
        "how many iterations have each of the sizes; the last goes on for ever",
    )
    ramp: float = option(
        0.5, number(0, 1), "part of an iteration over which alpha rises to 1; 0: always 1"
    )
    target_rate: float = option(
        0.001, number(above=0, most=1), "rate at which the target network follows the online one"
    )
    average_rate: float = option(
        0.0003,
        number(above=0, most=1),
        "rate of the exponential average of the weights; higher at first",
    )
    rho: float = option(
        math.inf, number(above=0), "clip of v-trace's importance weight of the TD error"
    )
    c: float = option(1.0, number(above=0), "clip of v-trace's importance weight of the trace")
    policy_c: float = option(
        1.0,
        number(above=0),
        "clip of the trace weights of the policy's targets; below 1 distant rewards fade",
    )
    beta: float = option(
        2.0, number(above=0), "threshold of the centred logits: beyond it, none is pushed on"
    )
    clip: float = option(10_000.0, number(above=0), "clip of the advantage")
    mu_floor: float = option(
        0.0, number(0, 1), "weigh a sampled action by 1/mu of at least this mu"
    )
    threshold: float = option(
        0.0, number(0, 1), "v-trace follows the policy without actions below this"
    )
    quanta: int = option(
        0, whole(0, 10_000), "and rounded to multiples of one part in so many; 0: not rounded"
    )
    actors: str = option(
        "raw",
        one_of("raw", "processed"),
        "self-play plays the raw or the processed policy",
    )
    as_written: tuple[str, ...] = option(
        (), some_of(*AS_WRITTEN), "equations as the paper's text has them, to repeat it"
    )

    rules = (*AdamConfig.rules, Rule(("sizes", "repeats"), _check_iterations))

    def acting(self, step: int) -> str:
        raw = self.actors == "raw"
        return "none" if raw else processed(self.threshold, self.quanta) or "none"


@frozen()
class MMDConfig(PlayConfig):
    """The hyper-parameters of MMD. Eta, lambdas and ratio clip are those of Ataraxos (arXiv
    2511.07312); its filter, its kl_mu of .1 and its falling rate are not the defaults. What R-NaD
    has, too, has its name and means the same."""

    magnet: str = option(
        "uniform",
        _MAGNET,
        "the policy that pulls: uniform over legal actions; average, the averaged network's; "
        "average:TAU, of an average by this rate; copy:K, a copy, replaced every K updates",
    )
    eta: float = option(
        0.05, number(0, below=1e6), "temperature at first, in the game's unit of returns"
    )
    eta_power: float = option(
        0.3, number(0, 10), "eta falls with this power of what is done; 0: constant"
    )
    eta_floor: float = option(0.0, number(0, below=1e6), "and not below this")
    deployment_eta: float = option(
        0.03,
        number(0, below=1e6),
        "the same for placing pieces, constant; more: more different setups",
    )
    learn: str = option(
        "all",
        one_of("all", "deployment"),
        "what is learned: all, or the deployment alone (of a net with one of its own for it)",
    )
    ratio_clip: float = option(
        0.2, number(above=0), "an action whose pi/mu is this far from 1 is pushed no further; inf"
    )
    kl_mu: float = option(
        0.0, number(0, below=1e6), "weight of KL(pi|mu), the distance from self-play's policy"
    )
    advantage_lambda: float = option(
        0.5, number(0, 1), "lambda of the advantage; 1: by the game's end alone"
    )
    value_lambda: float = option(
        0.8, number(0, 1), "lambda of the value's target; 1: the game's end"
    )
    advantage_filter: float = option(
        0.0,
        number(0, below=1),
        "learn from decisions whose absolute advantage is at least this quantile; 0: all",
    )
    value_weight: float = option(
        1.0, number(above=0, below=1e6), "weight of the value's squared error in the loss"
    )
    draw_score: float = option(
        0.0,
        number(-1, 1),
        "what a draw brings each player, in the game's unit; below 0: both lose a part",
    )
    rho: float = same(RNaDConfig, "rho", math.inf)
    c: float = same(RNaDConfig, "c", 1.0)
    average_rate: float = same(RNaDConfig, "average_rate", 0.001)

    rules = (*AdamConfig.rules, _no_lower("eta", "eta_floor"))

    def temperature(self, step: int, decisions: int = 0) -> float:
        """Eta in update number `step`, counted from 0, after so many decisions."""
        done = self.done(step, decisions)
        return annealed(self.eta, self.eta_floor, self.eta_power, done, self.anneal_after)

    @property
    def deployment_only(self) -> bool:
        return self.learn == "deployment"


@frozen()
class PPOConfig(PlayConfig):
    """The hyper-parameters of PPO. The defaults are NashPG's (arXiv 2510.18183, and its authors'
    version for OpenSpiel), without its magnet. What MMD has, too, has its name and means the
    same."""

    lr: float = same(AdamConfig, "lr", 1e-3)
    b1: float = same(AdamConfig, "b1", 0.9)
    eps: float = same(AdamConfig, "eps", 1e-5)
    grad_norm: float = same(AdamConfig, "grad_norm", 0.5)
    epochs: int = option(4, whole(1, 1000), "how often an update learns from each decision")
    minibatches: int = option(
        4, whole(1, 10_000), "gradient steps of an epoch, each by a part of the batch"
    )
    ratio_clip: float = same(MMDConfig, "ratio_clip", 0.2)
    kl_mu: float = same(MMDConfig, "kl_mu", 0.0)
    advantage_lambda: float = same(MMDConfig, "advantage_lambda", 0.95)
    value_weight: float = same(MMDConfig, "value_weight", 0.5)
    entropy_weight: float = option(
        0.1, number(0, below=1e6), "weight of the policy's entropy in the loss, at first"
    )
    entropy_power: float = option(
        0.0, number(0, 10), "it falls with this power of what is done; 0: constant"
    )
    average_rate: float = same(RNaDConfig, "average_rate", 0.003)

    def entropy(self, step: int, decisions: int = 0) -> float:
        """The weight of the entropy in update number `step`, after so many decisions."""
        done = self.done(step, decisions)
        return annealed(self.entropy_weight, 0.0, self.entropy_power, done, self.anneal_after)


@frozen()
class NashPGConfig(PPOConfig):
    """The hyper-parameters of NashPG: PPO's and the magnet's."""

    magnet_weight: float = option(0.2, number(0, below=1e6), "weight of KL(pi|magnet) in the loss")
    magnet: str = same(MMDConfig, "magnet", "copy:40")


@frozen()
class AlphaZeConfig(PlayConfig):
    """The hyper-parameters of AlphaZero's loss. The defaults of self-play are AlphaZe**'s
    (Blüml, Czech, Kersting 2023), but that moves are drawn, and roots have noise."""

    actors: str = option(
        "search=pc-pimc,worlds=3,nodes=800,pick=drawn,noise=.25",
        text("WORD"),
        "self-play searches by these keys of a PLAYER",
    )
    true_sight: int = option(
        0,
        whole(0),
        "steps over which self-play searches the true state instead of worlds, at first",
    )
    root_value: float = option(
        0.15,
        number(0, 1),
        "part of the search's value in the value's target; the rest is the game's end",
    )
    value_weight: float = same(MMDConfig, "value_weight", 1.0)
    decay: float = option(
        1e-4, number(0, below=1), "part of the rate by which a step shrinks the weights"
    )
    momentum: float = option(
        0.0,
        number(0, below=1),
        "gradient descent with this momentum of Nesterov's, instead of Adam; 0: Adam",
    )
    lr_cosine: int = option(
        0,
        whole(0),
        "steps or decisions over which the rate falls to lr-floor along a cosine; 0: it does not",
    )
    targets: str = option(
        "search",
        one_of("search", "played"),
        "what the policy learns: what a search found, or the actions that were played",
    )
    window: int = option(
        20, whole(0, 10_000), "batches of episodes that are kept to be learned from again"
    )
    replays: int = option(
        1, whole(0, 100), "old episodes that a step learns from, for each new one"
    )
    average_rate: float = same(RNaDConfig, "average_rate", 0.003)

    rules = (*AdamConfig.rules, Rule(("replays", "window"), _check_window))
    searches = True

    @property
    def searched(self) -> bool:
        return self.targets == "search"

    @property
    def face_up(self) -> bool:
        return "sees=world" in self.actors.split(",")

    @property
    def imitates(self) -> bool:
        return not self.searched

    @property
    def replayed(self) -> tuple[int, int]:
        return self.window, self.replays

    def acting(self, step: int) -> str:
        if step >= self.true_sight:
            return self.actors
        keys = (key for key in self.actors.split(",") if not key.startswith(("worlds=", "belief=")))
        return ",".join([*keys, "worlds=1", "belief=true"])


@frozen()
class BeliefConfig(AdamConfig):
    """The hyper-parameters of a belief network."""

    average_rate: float = same(RNaDConfig, "average_rate", 0.003)


@frozen()
class ReBeLConfig(AdamConfig):
    """The hyper-parameters of ReBeL's value network. The defaults are for two cores and minutes;
    the paper's (Brown et al. 2020, appendix E) for Liar's Dice are lr 3e-4, halved every 20,000
    steps, a buffer of 2,000,000 and at most 4 uses."""

    lr: float = same(AdamConfig, "lr", 1e-3)
    b1: float = same(AdamConfig, "b1", 0.9)
    grad_norm: float = same(AdamConfig, "grad_norm", 5.0)
    average_rate: float = same(RNaDConfig, "average_rate", 0.005)
    halve: tuple[int, ...] = option((), wholes(0), "steps after which the learning rate is halved")
    uses: float = option(
        8.0, number(above=0, below=1e6), "how often an example is learned from, on average"
    )
    buffer: int = option(100_000, whole(1), "examples that batches are drawn from, the newest")
    exact: int = option(
        0, whole(0, 10_000), "states with exact values to measure checkpoints by; 0: none"
    )
