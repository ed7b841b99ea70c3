"""The learner: four networks and an average, the optimizer, one update at a time."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim.adam import adam

from stratkit.errors import InputError
from stratkit.learn import rnad
from stratkit.learn.config import Config
from stratkit.learn.data import Batch
from stratkit.nets import Network, build, legal_policy, process
from stratkit.storage.checkpoints import part_of

# The acting network is learned by gradients. The target network follows it and gives v-trace its
# values. Regularisation policies, the present and the previous one, are copies of past target
# networks. The average is kept for play.
NETWORKS = ("online", "target", "regularization", "previous", "average")

Result = TypeVar("Result")


class Seen(NamedTuple):
    """What the networks say of some steps [n] of a batch. Logits and value have a gradient."""

    logits: Tensor
    value: Tensor
    legal: Tensor
    pi: Tensor
    log_pi: Tensor
    ratio: Tensor  # L of the reward transform, [n, A]
    target_value: Tensor


class Goal(NamedTuple):
    """What some steps [n] of a batch are to learn, and with which weight."""

    q: Tensor
    estimate: Tensor
    weight: Tensor


class Learner:
    """R-NaD's state, and its update.

    net, shape, actions: which network, for which observations and how many actions (see
    `nets.build`). `step` counts the updates done. A batch is worked on by `config.threads` threads,
    a part each.
    """

    def __init__(
        self, net: str, shape: tuple[int, ...], config: Config, actions: int | None = None
    ) -> None:
        self.net, self.config = net, config
        self.step = 0
        self.schedule = rnad.EntropySchedule(config.sizes, config.repeats, config.ramp)
        self.online = build(net, shape, config.seed, actions)
        self.target, self.regularization, self.previous, self.average = (
            copy.deepcopy(self.online).requires_grad_(False) for _ in NETWORKS[1:]
        )
        self.moments: dict[str, list[Tensor]] = {}  # of Adam, for each parameter
        # Threads of our own, and one thread of torch's in each, this one included: torch's several
        # would wait for each other at every operation, which is slow as soon as a core has
        # something else to do.
        torch.set_num_threads(1)
        self._pool = ThreadPoolExecutor(config.threads, "learner", torch.set_num_threads, (1,))

    def update(self, batch: Batch) -> dict[str, float]:
        """One step of gradient descent on `batch`; returns what there is to tell of it."""
        alpha, move_on = self.schedule(self.step)
        parts = _parts(len(batch.player), self.config.threads)
        seen = self._each(lambda part: self._see(batch, part, alpha), parts)
        with torch.no_grad():
            whole = _together(seen)
            played = process(whole.pi, self.config.threshold, self.config.quanta)
            goal = self._goal(batch, whole, played)
        goals = [Goal(*(x[part] for x in goal)) for part in parts]
        losses, gradients = zip(*self._each(self._gradient, seen, goals), strict=True)
        self._descend(gradients)
        self._follow(move_on)
        self.step += 1

        policy_loss, value_loss = (sum(loss) for loss in zip(*losses, strict=True))
        return {
            "policy_loss": policy_loss,
            "value_loss": value_loss,
            "entropy": _mean(-(whole.pi * whole.log_pi).sum(1), goal.weight),
            "kl": _mean((whole.pi * whole.ratio).sum(1), goal.weight),
            "value": _mean(whole.value.detach(), goal.weight),
            "removed": _mean((whole.pi * (played == 0)).sum(1), goal.weight),
            "grad_norm": self.grad_norm,
            "alpha": alpha,
        }

    # ---- the parts of an update ----

    def _see(self, batch: Batch, part: slice, alpha: float) -> Seen:
        """Evaluates the networks on some rows."""
        if batch.row is not None:  # each different row once, then wherever it occurs
            seen = self._evaluate(batch.observations, batch.legal, alpha)
            return Seen(*(x[batch.row[part]] for x in seen))
        return self._evaluate(batch.observations[part], batch.legal[part], alpha)

    def _evaluate(self, observations: Tensor, legal: Tensor, alpha: float) -> Seen:
        inputs = self.online.prepare(observations)
        embedding = self.online.embed(inputs)
        logits = self.online.logits(embedding, inputs, legal)
        value = self.online.value(embedding, inputs)
        with torch.no_grad():
            pi, log_pi = legal_policy(logits, legal)
            log_reg, log_previous = self._regularization(inputs, legal, alpha)
            ratio = rnad.log_ratio(log_pi, log_reg, log_previous, alpha)
            target_value = self.target.value(self.target.embed(inputs), inputs)
        return Seen(logits, value, legal, pi, log_pi, ratio, target_value)

    def _regularization(
        self, inputs: Any, legal: Tensor, alpha: float
    ) -> tuple[Tensor, Tensor | None]:
        """log pi of the two regularisation policies; of one, where the other has no say."""

        def log_policy(network: Network) -> Tensor:
            return legal_policy(network.logits(network.embed(inputs), inputs, legal), legal)[1]

        equal = self.schedule.iteration(self.step)[0] == 0  # both are the first network
        if alpha == 1 or equal:
            return log_policy(self.regularization), None
        return log_policy(self.regularization), log_policy(self.previous)

    def _goal(self, batch: Batch, seen: Seen, played: Tensor) -> Goal:
        """`played` [n, A] is the policy that v-trace estimates the values of: without rare actions
        when fine-tuning. The reward transform and the advantage are the network's own."""
        config = self.config
        chosen = played.gather(1, batch.action[:, None])[:, 0]
        trace = rnad.v_trace(
            batch.grid(seen.target_value),
            batch.grid((played * seen.ratio).sum(1)),
            batch.grid(chosen / batch.mu),
            batch.grid(batch.player, fill=-1),
            batch.rewards(),
            eta=config.eta,
            rho_bar=config.rho,
            c_bar=config.c,
        )
        q = rnad.action_values(
            seen.target_value,
            seen.ratio,
            batch.flat(trace.gain),
            batch.action,
            batch.mu,
            eta=config.eta,
            mu_floor=config.mu_floor,
        )
        return Goal(q, batch.flat(trace.value), rnad.step_weights(batch.player))

    def _gradient(self, seen: Seen, goal: Goal) -> tuple[tuple[float, float], tuple[Tensor, ...]]:
        """Both losses of some rows, and the gradient of their sum."""
        config = self.config
        policy_loss = rnad.neurd_loss(
            seen.logits,
            seen.legal,
            seen.pi,
            goal.q,
            goal.weight,
            beta=config.beta,
            clip=config.clip,
        )
        value_loss = rnad.value_loss(seen.value, goal.estimate, goal.weight)
        gradient = torch.autograd.grad(policy_loss + value_loss, list(self.online.parameters()))
        return (policy_loss.item(), value_loss.item()), gradient

    def _descend(self, gradients: Iterable[tuple[Tensor, ...]]) -> None:
        """One step of Adam with the sum of the gradients."""
        parameters: list[Tensor] = list(self.online.parameters())
        summed: list[Tensor] = []
        for parameter, parts in zip(parameters, zip(*gradients, strict=True), strict=True):
            # Laid out in memory as the parameter is: convolutions give gradients with the channels
            # last, and Adam's fused step goes through memory as it lies.
            parameter.grad = torch.zeros_like(parameter)
            for part in parts:
                parameter.grad += part
            summed.append(parameter.grad)
        limit = self.config.grad_norm or float("inf")
        self.grad_norm = nn.utils.clip_grad_norm_(parameters, limit).item()
        self._adam(parameters, summed)

    @torch.no_grad()
    def _adam(self, parameters: list[Tensor], gradients: list[Tensor]) -> None:
        """What `torch.optim.Adam` does. The class itself would import torch's compiler, which takes
        as long as all of torch."""
        if not self.moments:
            self.moments = {
                "exp_avg": [torch.zeros_like(parameter) for parameter in parameters],
                "exp_avg_sq": [torch.zeros_like(parameter) for parameter in parameters],
                "step": [torch.zeros(()) for _ in parameters],
            }
        adam(
            parameters,
            gradients,
            self.moments["exp_avg"],
            self.moments["exp_avg_sq"],
            [],
            self.moments["step"],
            fused=True,
            amsgrad=False,
            beta1=self.config.b1,
            beta2=self.config.b2,
            lr=self.config.lr,
            weight_decay=0.0,
            eps=self.config.eps,
            maximize=False,
        )

    @torch.no_grad()
    def _follow(self, move_on: bool) -> None:
        """Moves the other networks after the online one."""
        online: list[Tensor] = list(self.online.parameters())
        torch._foreach_lerp_(list(self.target.parameters()), online, self.config.target_rate)
        # At a small rate an average would be of the untrained network for long. Until that rate is
        # reached, step t counts by t^2 (Shamir and Zhang 2013, polynomial-decay averaging).
        rate = max(self.config.average_rate, 3 / (self.step + 3))
        torch._foreach_lerp_(list(self.average.parameters()), online, rate)
        if move_on:
            self.previous.load_state_dict(self.regularization.state_dict())
            self.regularization.load_state_dict(self.target.state_dict())

    def _each(self, function: Callable[..., Result], *arguments: Iterable[object]) -> list[Result]:
        """The function of each part of the batch, at the same time."""
        if self.config.threads == 1:
            return list(map(function, *arguments))
        return list(self._pool.map(function, *arguments))

    # ---- what a checkpoint holds ----

    def weights(self, network: str) -> dict[str, NDArray[np.float32]]:
        """The weights of one of `NETWORKS` by their names in it, float32."""
        state: dict[str, Tensor] = getattr(self, network).state_dict()
        return {name: tensor.detach().cpu().numpy() for name, tensor in state.items()}

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Everything that is learned: `NETWORK/NAME` and `optimizer/MOMENT/NAME`, float32."""
        out = {f"{net}/{name}": w for net in NETWORKS for name, w in self.weights(net).items()}
        for at, (name, _) in enumerate(self.online.named_parameters()):
            for moment, tensors in self.moments.items():
                out[f"optimizer/{moment}/{name}"] = tensors[at].cpu().numpy()
        return out

    def load(self, tensors: Mapping[str, NDArray[np.float32]], step: int) -> None:
        """Goes on from `tensors()` of a learner that had done `step` steps.

        InputError: they are of another network.
        """
        for network in NETWORKS:
            try:
                weights = {k: torch.from_numpy(v) for k, v in part_of(tensors, network).items()}
                getattr(self, network).load_state_dict(weights)
            except (RuntimeError, TypeError):
                raise self._misfit() from None
        moments = part_of(tensors, "optimizer")
        if moments:  # there are none before the first step
            self._load_moments(moments)
        self.step = step

    def _load_moments(self, stored: Mapping[str, NDArray[np.float32]]) -> None:
        moments: dict[str, list[Tensor]] = {"exp_avg": [], "exp_avg_sq": [], "step": []}
        for name, parameter in self.online.named_parameters():
            for moment, tensors in moments.items():
                found = stored.get(f"{moment}/{name}")
                shape = () if moment == "step" else parameter.shape
                if found is None or found.shape != shape or found.dtype != np.float32:
                    raise self._misfit()
                tensors.append(torch.from_numpy(found.copy()))
        self.moments = moments

    def _misfit(self) -> InputError:
        return InputError(f"no checkpoint of a network {self.net!r} of this shape")


def _parts(rows: int, number: int) -> list[slice]:
    """So many rows as slices of neighbours, about equally long."""
    bounds = [rows * k // number for k in range(number + 1)]
    return list(itertools.starmap(slice, itertools.pairwise(bounds)))


def _together(parts: list[Seen]) -> Seen:
    """The rows of all parts."""
    return Seen(*(torch.cat(x) for x in zip(*parts, strict=True))) if len(parts) > 1 else parts[0]


def _mean(x: Tensor, weight: Tensor) -> float:
    """The mean of x [n] over the steps that have a weight."""
    there = weight > 0
    return float((x * there).sum() / there.sum().clamp_min(1))
