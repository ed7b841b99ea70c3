"""The learner: four networks and an average, the optimizer, one update at a time."""

from __future__ import annotations

import copy
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
from stratkit.nets import Network, build, legal_policy, place, process
from stratkit.storage.checkpoints import tensors_of

# The acting network is learned by gradients. The target network follows it and gives v-trace its
# values. Regularisation policies, the present and the previous one, are copies of past target
# networks. The average is kept for play.
NETWORKS = ("online", "target", "regularization", "previous", "average")

CPU = torch.device("cpu")

Result = TypeVar("Result")


class Seen(NamedTuple):
    """What the networks say of some views [m] of a batch: the online one's logits [m, A] and value
    [m], which may have their graph; and without any, L of the reward transform [m, A], the policy
    that v-trace estimates the values of [m, A] and its distance from the regularisation policy [m],
    the target network's value [m], and what there is to tell [m, 4]."""

    logits: Tensor
    value: Tensor
    log_ratio: Tensor
    played: Tensor
    kl: Tensor
    target_value: Tensor
    told: Tensor


class Goal(NamedTuple):
    """What the steps [n] of a batch are to learn, and with which weight."""

    gain: Tensor
    estimate: Tensor
    weight: Tensor


TOLD = ("entropy", "kl", "value", "removed")  # means over the states


class Learner:
    """R-NaD's state, and its update.

    net, shape, actions: which network, for which observations and how many actions (see
    `nets.build`). `step` counts the updates done.

    Whole episodes are learned from in two passes, since each step's goal depends on all that
    follows: the networks look at the views chunk by chunk (`config.chunk`), v-trace goes back
    through time, and chunk by chunk the gradient is summed, in any order, since the networks have
    no memory: the paper's reverse order is for those that have one. So, too, a view is evaluated
    once, however many steps have it, and its gradient is the sum of theirs. Where one
    chunk for each of `config.threads` threads is all, the second pass uses what the first one
    computed; else it computes it again, and what a chunk needs bounds the memory. Networks and
    batch are on `device`.

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
        self.online = build(net, shape, config.seed, actions)
        place(self.online, device)
        self.target, self.regularization, self.previous, self.average = (
            copy.deepcopy(self.online).requires_grad_(False) for _ in NETWORKS[1:]
        )
        self.moments: dict[str, list[Tensor]] = {}  # of Adam, for each parameter
        self._fixed_alike = True  # both regularisation policies are the first network
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
        views = self._parts(len(batch.observations), self.config.rows // self.config.threads)
        steps = self._parts(len(batch.player))
        keep = len(views) <= self.config.threads
        parts = list(self._each(lambda part: self._see(batch, part, alpha, keep), views))
        seen = Seen(*(torch.cat(x).detach() for x in zip(*parts, strict=True)))
        looked = parts if keep else [None] * len(views)
        del parts
        counts = self.ranks.sum(rnad.step_counts(batch.player))
        goal = self._goal(batch, seen, counts)
        self._sums.clear()
        self._sums.told += seen.told[batch.view[batch.learned]].sum(0)
        slopes = self._slopes(batch, seen, goal, steps)
        for gradient in self._each(
            lambda part, one: self._gradient(batch, part, one, slopes), views, looked
        ):
            self._sums.add(gradient)
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

    def _parts(self, rows: int, unit: int = 1) -> list[slice]:
        """Rows as slices of neighbours, about equally long: as many as there are threads, or more,
        if they would be longer than a chunk. If the chunk allows it, all but the last have a
        multiple of `unit`, a number of rows that networks have probably met before; a few rows may
        then be fewer slices."""
        number = max(self.config.threads, -(-rows // self.config.chunk))
        size = -(-rows // number)
        if unit and size + -size % unit <= self.config.chunk:
            size += -size % unit
        return [slice(at, min(at + size, rows)) for at in range(0, rows, size)]

    def _see(self, batch: Batch, part: slice, alpha: float, keep: bool) -> Seen:
        """What all networks say of some views, with the graph of the online one if it is kept."""
        legal = batch.legal[part]
        inputs = self.online.prepare(batch.observations[part])
        with torch.set_grad_enabled(keep):
            logits, value = self._online(inputs, legal)
        with torch.no_grad():
            pi, log_pi = legal_policy(logits, legal)
            log_reg, target_value = self._fixed(inputs, legal, alpha)
            log_ratio = rnad.log_ratio(log_pi, log_reg)
            # The policy that v-trace estimates the values of: without rare actions when
            # fine-tuning. The reward transform and the advantage are the network's own.
            played = process(pi, self.config.threshold, self.config.quanta)
            told = (
                -(pi * log_pi).sum(1),
                (pi * log_ratio).sum(1),
                value,
                (pi * (played == 0)).sum(1),
            )
            kl = (played * log_ratio).sum(1)
            return Seen(logits, value, log_ratio, played, kl, target_value, torch.stack(told, 1))

    def _online(self, inputs: Any, legal: Tensor) -> tuple[Tensor, Tensor]:
        with self._autocast():
            embedding = self.online.embed(inputs)
            logits = self.online.logits(embedding, inputs, legal)
            return logits.float(), self.online.value(embedding, inputs).float()

    def _fixed(self, inputs: Any, legal: Tensor, alpha: float) -> tuple[Tensor, Tensor]:
        """The mixture of the regularisation policies as logarithms [m, A], and the target network's
        value [m]: no gradient passes."""

        def log_policy(network: Network) -> Tensor:
            with self._autocast():
                logits = network.logits(network.embed(inputs), inputs, legal)
            return legal_policy(logits.float(), legal)[1]

        log_reg = log_policy(self.regularization)
        if alpha != 1 and not self._fixed_alike:
            log_reg = rnad.mixture(log_reg, log_policy(self.previous), alpha)
        with self._autocast():
            value = self.target.value(self.target.embed(inputs), inputs)
        return log_reg, value.float()

    def _autocast(self) -> torch.autocast:
        """The layers of a network in bfloat16, where that is asked for; weights, what is made of
        the outputs, and sums stay float32."""
        wanted = self.config.precision == "bf16"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=wanted)

    @torch.no_grad()
    def _goal(self, batch: Batch, seen: Seen, counts: Tensor) -> Goal:
        """What v-trace makes of all steps together; `counts` are of all ranks."""
        config = self.config
        chosen = seen.played[batch.view, batch.action]
        trace = rnad.v_trace(
            batch.grid(seen.target_value[batch.view]),
            batch.grid(seen.kl[batch.view]),
            batch.grid(chosen / batch.mu),
            batch.grid(batch.player, fill=-1),
            batch.rewards(),
            eta=config.eta,
            rho_bar=config.rho,
            c_bar=config.c,
            gain_c_bar=config.policy_c,
        )
        gain, estimate = batch.flat(trace.gain), batch.flat(trace.value)
        return Goal(gain, estimate, rnad.step_weights(batch.player, counts))

    def _slopes(
        self, batch: Batch, seen: Seen, goal: Goal, steps: Sequence[slice]
    ) -> tuple[Tensor, Tensor]:
        """The gradient of the losses with respect to each view's logits [u, A] and value [u]: the
        sum of those of all the steps that have it. The losses are added up on the way."""
        slopes = torch.zeros_like(seen.logits), torch.zeros_like(seen.value)
        found = self._each(lambda part: self._losses(batch, seen, goal, part), steps)
        for part, (losses, of_steps) in zip(steps, found, strict=True):
            self._sums.losses += losses
            for slope, more in zip(slopes, of_steps, strict=True):
                slope.index_add_(0, batch.view[part], more)
        return slopes

    def _losses(
        self, batch: Batch, seen: Seen, goal: Goal, part: slice
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Both losses over some steps [2], and the gradient of their sum with respect to each
        step's logits [m, A] and value [m]."""
        config = self.config
        view = batch.view[part]
        legal = batch.legal[view]
        q = rnad.action_values(
            seen.target_value[view],
            seen.log_ratio[view],
            goal.gain[part],
            batch.action[part],
            batch.mu[part],
            eta=config.eta,
            mu_floor=config.mu_floor,
        )
        weight = goal.weight[part]
        logits, value = seen.logits[view].requires_grad_(), seen.value[view].requires_grad_()
        pi = legal_policy(logits.detach(), legal)[0]
        policy_loss = rnad.neurd_loss(
            logits, legal, pi, q, weight, beta=config.beta, clip=config.clip
        )
        value_loss = rnad.value_loss(value, goal.estimate[part], weight)
        slopes = torch.autograd.grad(policy_loss + value_loss, (logits, value))
        return torch.stack([policy_loss, value_loss]).detach(), slopes

    def _gradient(
        self, batch: Batch, part: slice, seen: Seen | None, slopes: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, ...]:
        """The gradient with respect to the parameters that comes through some views; they are
        evaluated again where their graph was not kept."""
        if seen is None:
            inputs = self.online.prepare(batch.observations[part])
            outputs = self._online(inputs, batch.legal[part])
        else:
            outputs = seen.logits, seen.value
        onward = [slope[part] for slope in slopes]
        return torch.autograd.grad(outputs, list(self.online.parameters()), onward)

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
            self._fixed_alike = False
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
                weights = {k: torch.from_numpy(v) for k, v in tensors_of(tensors, network).items()}
                getattr(self, network).load_state_dict(weights)
            except (RuntimeError, TypeError):
                raise self._misfit() from None
        both = zip(self.previous.parameters(), self.regularization.parameters(), strict=True)
        self._fixed_alike = all(torch.equal(one, other) for one, other in both)
        moments = tensors_of(tensors, "optimizer")
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

    def add(self, gradient: Iterable[Tensor]) -> None:
        torch._foreach_add_(self.gradient, list(gradient))
