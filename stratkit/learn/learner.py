"""The learner: four networks and an average, the optimizer, one update at a time."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from stratkit.learn.ranks import Ranks
from stratkit.nets import Network, build, channels_last, legal_policy, process
from stratkit.storage.checkpoints import part_of

# The acting network is learned by gradients. The target network follows it and gives v-trace its
# values. Regularisation policies, the present and the previous one, are copies of past target
# networks. The average is kept for play.
NETWORKS = ("online", "target", "regularization", "previous", "average")

CPU = torch.device("cpu")

Result = TypeVar("Result")


class Seen(NamedTuple):
    """What the networks say of some steps [m] of a batch. Logits and value may have a gradient."""

    logits: Tensor
    value: Tensor
    legal: Tensor
    pi: Tensor
    log_pi: Tensor
    ratio: Tensor  # L of the reward transform, [m, A]
    target_value: Tensor


class Fixed(NamedTuple):
    """What the networks say that no gradient passes: the mixture of the regularisation policies
    as logarithms [m, A], and the target network's value [m]."""

    log_reg: Tensor
    target_value: Tensor


class First(NamedTuple):
    """What the first pass over some steps [m] leaves: what the target and the regularisation
    networks say, which are asked but once; what v-trace wants of the policy, its probability of
    the action taken and its tax [m]; sums of what there is to tell [4]; and all that was seen,
    with its graph, if nothing has to be computed again."""

    fixed: Fixed
    chosen: Tensor
    tax: Tensor
    told: Tensor
    seen: Seen | None


class Goal(NamedTuple):
    """What some steps [n] of a batch are to learn, and with which weight."""

    gain: Tensor
    estimate: Tensor
    weight: Tensor


TOLD = ("entropy", "kl", "value", "removed")  # means over the states


class Learner:
    """R-NaD's state, and its update.

    net, shape, actions: which network, for which observations and how many actions (see
    `nets.build`). `step` counts the updates done.

    Whole episodes are learned from in two passes, since each state's goal depends on all that
    follows: the networks look at the states chunk by chunk (`config.chunk`), v-trace goes back
    through time, and chunk by chunk the gradient is summed. The networks have no memory, so a chunk
    may be any states, in any order. Where one chunk for each of `config.threads` threads is all,
    the second pass uses what the first one computed; else it computes it again, and what a chunk
    needs bounds the memory. Networks and batch are on `device`.

    Several learners (`ranks`) that have a part of the batch each do the same update as one that has
    all of it: counts are those of all, gradients are summed.
    """

    def __init__(
        self,
        net: str,
        shape: tuple[int, ...],
        config: Config,
        actions: int | None = None,
        ranks: Ranks | None = None,
        device: torch.device = CPU,
    ) -> None:
        self.net, self.config, self.device = net, config, device
        self.ranks = ranks or Ranks()
        self.step = 0
        self.schedule = rnad.EntropySchedule(config.sizes, config.repeats, config.ramp)
        self.online = build(net, shape, config.seed, actions).to(device)
        if device.type != "cpu":
            channels_last(self.online)
        self.target, self.regularization, self.previous, self.average = (
            copy.deepcopy(self.online).requires_grad_(False) for _ in NETWORKS[1:]
        )
        self.moments: dict[str, list[Tensor]] = {}  # of Adam, for each parameter
        self._sums = _Sums(list(self.online.parameters()))
        # Threads of our own, and one thread of torch's in each, this one included: torch's several
        # would wait for each other at every operation, which is slow as soon as a core has
        # something else to do.
        torch.set_num_threads(1)
        self._pool = ThreadPoolExecutor(config.threads, "learner", torch.set_num_threads, (1,))

    def update(self, batch: Batch) -> dict[str, float]:
        """One step of gradient descent on `batch`; returns what there is to tell of it."""
        batch = batch.to(self.device)
        alpha, move_on = self.schedule(self.step)
        parts = self._parts(len(batch.player))
        keep = len(parts) == self.config.threads
        first = list(self._each(lambda part: self._first(batch, part, alpha, keep), parts))
        counts = self.ranks.sum(rnad.step_counts(batch.player))
        goal = self._goal(batch, first, counts)
        self._sums.clear()
        for losses, gradient in self._each(
            lambda part, found: self._second(batch, part, found, goal), parts, first
        ):
            self._sums.add(losses, gradient)
        self._sums.told += torch.stack([found.told for found in first]).sum(0)
        self.ranks.sum(self._sums.flat)
        told = self._sums.told / counts.sum().clamp_min(1)
        self._descend()
        self._follow(move_on)
        self.step += 1

        policy_loss, value_loss = self._sums.losses.tolist()
        return {
            "policy_loss": policy_loss,
            "value_loss": value_loss,
            **dict(zip(TOLD, told.tolist(), strict=True)),
            "grad_norm": self.grad_norm,
            "alpha": alpha,
        }

    # ---- the parts of an update ----

    def _parts(self, rows: int) -> list[slice]:
        """The rows as slices of neighbours, about equally long: as many as there are threads, or
        more, if they would be longer than a chunk."""
        number = max(self.config.threads, -(-rows // self.config.chunk))
        bounds = [rows * k // number for k in range(number + 1)]
        return list(itertools.starmap(slice, itertools.pairwise(bounds)))

    def _first(self, batch: Batch, part: slice, alpha: float, keep: bool) -> First:
        """The first pass over some rows."""
        with torch.set_grad_enabled(keep):
            seen, fixed = self._see(batch, part, alpha)
        with torch.no_grad():
            # The policy that v-trace estimates the values of: without rare actions when
            # fine-tuning. The reward transform and the advantage are the network's own.
            played = process(seen.pi, self.config.threshold, self.config.quanta)
            chosen = played.gather(1, batch.action[part, None])[:, 0]
            tax = (played * seen.ratio).sum(1)
            told = (
                -(seen.pi * seen.log_pi).sum(1),
                (seen.pi * seen.ratio).sum(1),
                seen.value,
                (seen.pi * (played == 0)).sum(1),
            )
            there = batch.player[part] >= 0
            sums = torch.stack([(x * there).sum() for x in told])
        return First(fixed, chosen, tax, sums, seen if keep else None)

    def _see(
        self, batch: Batch, part: slice, alpha: float, fixed: Fixed | None = None
    ) -> tuple[Seen, Fixed]:
        """Evaluates the networks on some rows; `fixed`, where it is known already, is not evaluated
        again."""
        # Of a game with vectors: each different row once, then wherever it occurs.
        rows = part if batch.row is None else slice(None)
        legal = batch.legal[rows]
        inputs = self.online.prepare(batch.observations[rows])
        with self._autocast():
            embedding = self.online.embed(inputs)
            logits = self.online.logits(embedding, inputs, legal).float()
            value = self.online.value(embedding, inputs).float()
        if batch.row is not None:
            logits, value, legal = (x[batch.row[part]] for x in (logits, value, legal))
        with torch.no_grad():
            if fixed is None:
                fixed = self._fixed(inputs, batch.legal[rows], alpha)
                if batch.row is not None:
                    fixed = Fixed(*(x[batch.row[part]] for x in fixed))
            pi, log_pi = legal_policy(logits, legal)
            ratio = rnad.log_ratio(log_pi, fixed.log_reg)
        return Seen(logits, value, legal, pi, log_pi, ratio, fixed.target_value), fixed

    def _fixed(self, inputs: Any, legal: Tensor, alpha: float) -> Fixed:
        def log_policy(network: Network) -> Tensor:
            with self._autocast():
                logits = network.logits(network.embed(inputs), inputs, legal)
            return legal_policy(logits.float(), legal)[1]

        log_reg = log_policy(self.regularization)
        equal = self.schedule.iteration(self.step)[0] == 0  # both are the first network
        if alpha != 1 and not equal:
            log_reg = rnad.mixture(log_reg, log_policy(self.previous), alpha)
        with self._autocast():
            value = self.target.value(self.target.embed(inputs), inputs)
        return Fixed(log_reg, value.float())

    def _autocast(self) -> torch.autocast:
        """The layers of a network in bfloat16, where that is asked for; weights, what is made of
        the outputs, and sums stay float32."""
        wanted = self.config.precision == "bf16"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=wanted)

    @torch.no_grad()
    def _goal(self, batch: Batch, first: Sequence[First], counts: Tensor) -> Goal:
        """What v-trace makes of all parts together; `counts` are of all ranks."""
        config = self.config
        chosen, tax, value = (
            torch.cat(x)
            for x in zip(*((f.chosen, f.tax, f.fixed.target_value) for f in first), strict=True)
        )
        trace = rnad.v_trace(
            batch.grid(value),
            batch.grid(tax),
            batch.grid(chosen / batch.mu),
            batch.grid(batch.player, fill=-1),
            batch.rewards(),
            eta=config.eta,
            rho_bar=config.rho,
            c_bar=config.c,
        )
        gain, estimate = batch.flat(trace.gain), batch.flat(trace.value)
        return Goal(gain, estimate, rnad.step_weights(batch.player, counts))

    def _second(
        self, batch: Batch, part: slice, first: First, goal: Goal
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The second pass over some rows: both losses [2], and the gradient of their sum."""
        config = self.config
        seen = first.seen or self._see(batch, part, 0, first.fixed)[0]
        q = rnad.action_values(
            seen.target_value,
            seen.ratio,
            goal.gain[part],
            batch.action[part],
            batch.mu[part],
            eta=config.eta,
            mu_floor=config.mu_floor,
        )
        weight = goal.weight[part]
        policy_loss = rnad.neurd_loss(
            seen.logits, seen.legal, seen.pi, q, weight, beta=config.beta, clip=config.clip
        )
        value_loss = rnad.value_loss(seen.value, goal.estimate[part], weight)
        gradient = torch.autograd.grad(policy_loss + value_loss, list(self.online.parameters()))
        return torch.stack([policy_loss, value_loss]).detach(), gradient

    def _descend(self) -> None:
        """One step of Adam with the sum of the gradients."""
        parameters: list[Tensor] = list(self.online.parameters())
        limit = self.config.grad_norm or float("inf")
        self.grad_norm = nn.utils.clip_grad_norm_(parameters, limit).item()
        self._adam(parameters, self._sums.gradient)

    @torch.no_grad()
    def _adam(self, parameters: list[Tensor], gradients: list[Tensor]) -> None:
        """What `torch.optim.Adam` does. The class itself would import torch's compiler, which takes
        as long as all of torch."""
        if not self.moments:
            self.moments = {
                "exp_avg": [torch.zeros_like(parameter) for parameter in parameters],
                "exp_avg_sq": [torch.zeros_like(parameter) for parameter in parameters],
                "step": [torch.zeros((), device=p.device) for p in parameters],
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

    def _each(
        self, function: Callable[..., Result], *arguments: Iterable[object]
    ) -> Iterator[Result]:
        """The function of each part of the batch in their order, some at the same time."""
        if self.config.threads == 1:
            return map(function, *arguments)
        return self._pool.map(function, *arguments)

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
                like = parameter if shape else parameter.new_zeros(())
                kept = torch.empty_like(like, requires_grad=False)
                tensors.append(kept.copy_(torch.from_numpy(found)))
        self.moments = moments

    def _misfit(self) -> InputError:
        return InputError(f"no checkpoint of a network {self.net!r} of this shape")


class _Sums:
    """The sums over all parts, of the gradients, of both losses and of what there is to tell, in
    one piece of memory.

    It is laid out in memory as the parameters are: convolutions give gradients with the channels
    last, and Adam's fused step goes through memory as it lies.
    """

    def __init__(self, parameters: Sequence[Tensor]) -> None:
        size = sum(p.numel() for p in parameters)
        self.flat = parameters[0].new_zeros(size + 2 + len(TOLD), requires_grad=False)
        self.losses, self.told = self.flat[size : size + 2], self.flat[size + 2 :]
        self.gradient = []
        at = 0
        for parameter in parameters:
            view = torch.as_strided(self.flat, parameter.shape, parameter.stride(), at)
            parameter.grad = view
            self.gradient.append(view)
            at += parameter.numel()

    def clear(self) -> None:
        self.flat.zero_()

    def add(self, losses: Tensor, gradient: Iterable[Tensor]) -> None:
        self.losses += losses
        for total, part in zip(self.gradient, gradient, strict=True):
            total += part
