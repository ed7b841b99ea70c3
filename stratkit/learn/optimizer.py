"""The optimizer: one update of any algorithm, by chunks, threads and ranks.

It knows no algorithm (`algorithm.py`), and needs of a batch its different views (`observations`,
`legal`), which `view` each step has, the rows `trained` of those learned from, and their
`step_counts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim.adam import adam

from stratkit.errors import InputError
from stratkit.learn.algorithm import CPU, Algorithm, DistinctViews, Outputs, Steps
from stratkit.learn.config import AdamConfig, RunConfig
from stratkit.learn.memory import fitting
from stratkit.learn.ranks import ALONE, Ranks
from stratkit.nets.threads import one_thread
from stratkit.storage.checkpoints import Tensors, tensors_of

Result = TypeVar("Result")
MEASURED = 1024  # views that tell what one of them needs


LearnedBatch = Any  # `data.StepBatch`, or `buffer.ExampleBatch`


class _Known(NamedTuple):
    """What is known of a batch when the gradient is computed.

    outputs: of all views, without a graph. forward, targets: as `Algorithm` makes them.
    counts: float32 [P], steps of each player that all ranks learn from.
    """

    batch: LearnedBatch
    outputs: Outputs
    forward: Any
    targets: Any
    counts: Tensor


class Optimizer:
    """An algorithm's networks, Adam's moments, and how many updates are done (`step`).

    A step's target may depend on all that follows in its episode, so an update has two passes. In
    the first the networks evaluate the views chunk by chunk (`config.chunk`). The algorithm then
    computes the targets of all steps at once. In the second pass the gradient is summed chunk by
    chunk, in any order, since the networks have no memory. (The paper's reverse order is for those
    that have one.) A view is evaluated once, however many steps have it; its gradient is the sum of
    theirs.

    If one chunk for each of `config.threads` threads is all, the second pass uses the graphs of the
    first. Else it computes them again, and what a chunk needs bounds the memory. If the config has
    no chunk, the first update finds what fits into the memory. Networks and batch are on `device`.

    If an algorithm has minibatches, each of them has a second pass, and a step of Adam's. Its views
    are evaluated again, since the weights have moved.

    Several ranks, each with its part of a batch, do the same update as one that has all of it:
    counts are those of all ranks, gradients are summed. Targets that depend on the whole batch see
    to that by themselves (`Algorithm.ranks`).

    To a run it is a learner: `add` takes a batch of the source, `learn` makes an update while one
    is `due`.
    """

    def __init__(
        self,
        algorithm: Algorithm[Any, Any],
        config: RunConfig,
        ranks: Ranks | None = None,
        device: torch.device = CPU,
    ) -> None:
        self.algorithm, self.config, self.device = algorithm, config, device
        self.ranks = algorithm.ranks = ranks or ALONE
        self.step, self.chunk = 0, config.chunk
        self._next: LearnedBatch = None
        parameters = list(algorithm.trained.parameters())
        self.adam = (
            SGD(parameters, algorithm.config, algorithm.momentum)
            if algorithm.momentum
            else Adam(parameters, algorithm.config)
        )
        sums = len(algorithm.loss_metrics) + len(algorithm.view_metrics)
        self._sums = _Sums(self.adam.parameters, sums)
        # Threads of our own, and one thread of torch's in each, this one included.
        one_thread()
        self._pool = ThreadPoolExecutor(config.threads, "learner", one_thread)

    def add(self, batch: Any) -> None:
        """Takes the next batch of a source."""
        self._next = batch

    @property
    def due(self) -> bool:
        """Whether what was added is enough for an update; the same on all ranks."""
        return self._next is not None

    def learn(self) -> dict[str, float]:
        """The update that is due. Returns its metrics."""
        assert self._next is not None
        batch, self._next = self._next, None
        return self.update(batch)

    def update(self, batch: LearnedBatch) -> dict[str, float]:
        """One optimizer step on `batch`. Returns its metrics: `decisions` so far, of the loss and
        of the views (see `Algorithm`), `grad_norm` before it is clipped, and the schedule's."""
        batch = batch.to(self.device)
        algorithm = self.algorithm
        self.chunk = self.chunk or self._fitting(batch)
        views = self._split(len(batch.observations), self.config.rows // self.config.threads)
        minibatches = algorithm.minibatches(batch.trained, self.step)
        keep = minibatches is None and self._keeps(views)
        forwards = list(self._each(lambda part: self._forward(batch, part, keep), views))
        graphs = [outputs if keep else None for outputs, _ in forwards]
        outputs = tuple(torch.cat(x).detach() for x in zip(*(o for o, _ in forwards), strict=True))
        columns = zip(*(f for _, f in forwards), strict=True)
        forward = type(forwards[0][1])(*map(torch.cat, columns))
        del forwards
        counts = self.ranks.sum(batch.step_counts())
        with torch.no_grad():
            targets = algorithm.targets(batch, outputs, forward, counts)
        known = _Known(batch, outputs, forward, targets, counts)
        if minibatches is None:
            metrics = [self._descend(known, self._split(len(batch.view)), views, graphs)]
        else:
            metrics = [self._descend_again(known, rows) for rows in minibatches]
        names = (*algorithm.loss_metrics, *algorithm.view_metrics, "grad_norm")
        means = (sum(values) / len(metrics) for values in zip(*metrics, strict=True))
        schedule = algorithm.after_step(self.step)
        self.step += 1
        algorithm.decisions += int(counts.sum())
        learned = {"decisions": algorithm.decisions}
        return {**learned, **dict(zip(names, means, strict=True)), **schedule}

    def _descend(
        self,
        known: _Known,
        steps: Sequence[Steps],
        views: Sequence[slice | Tensor],
        graphs: Sequence[Outputs | None],
    ) -> list[float]:
        """One of Adam's steps, by the loss of some steps, in parts. `views`: theirs, in parts, and
        the outputs' graph of each where it was kept. Returns the metrics of losses and views, and
        the norm of the gradient."""
        batch, number = known.batch, len(self.algorithm.loss_metrics)
        self._sums.clear()
        losses, means = self._sums.metrics[:number], self._sums.metrics[number:]
        means += known.forward.metrics[batch.view[batch.trained]].sum(0)
        grad_outputs = tuple(torch.zeros_like(x) for x in known.outputs)
        parts = self._each(lambda part: self._loss(known, part), steps)
        for part, (metrics, gradients) in zip(steps, parts, strict=True):
            losses += metrics
            for of_views, of_steps in zip(grad_outputs, gradients, strict=True):
                of_views.index_add_(0, batch.view[part], of_steps)
        if self.algorithm.sparse:
            touched = torch.stack([x.reshape(len(x), -1).ne(0).any(1) for x in grad_outputs]).any(0)
            views = self._rows(touched)
            graphs = [None] * len(views)
        for gradient in self._each(
            lambda part, graph: self._backward(batch, part, graph, grad_outputs), views, graphs
        ):
            self._sums.add(gradient)
        self.ranks.sum(self._sums.flat)
        means /= known.counts.sum().clamp_min(1)
        grad_norm = self._optimizer_step()
        return [*losses.tolist(), *means.tolist(), grad_norm]

    def _descend_again(self, known: _Known, steps: Tensor) -> list[float]:
        """The same by a minibatch, int64 rows, whose views are evaluated again: the weights have
        moved since."""
        touched = torch.zeros(len(known.batch.observations), dtype=torch.bool, device=self.device)
        touched[known.batch.view[steps]] = True
        views = self._rows(touched)
        keep = self._keeps(views)
        results = list(self._each(lambda part: self._outputs(known.batch, part, keep), views))
        for part, outputs in zip(views, results, strict=True):
            for old, new in zip(known.outputs, outputs, strict=True):
                old[part] = new.detach()
        parts = [steps[part] for part in self._split(len(steps))]
        return self._descend(known, parts, views, results if keep else [None] * len(views))

    # ---- the parts of an update ----

    def _fitting(self, batch: LearnedBatch) -> int:
        """The chunk of each thread for which the memory that is free now has room."""
        part = slice(0, min(len(batch.observations), MEASURED))

        def compute() -> Outputs:
            return self._forward(batch, part, True)[0]

        return max(1, fitting(part.stop, compute, self.adam.parameters) // self.config.threads)

    def _keeps(self, views: Sequence[slice | Tensor]) -> bool:
        """Whether the graphs of these parts are kept for their gradient."""
        return len(views) <= self.config.threads and not self.algorithm.sparse

    def _split(self, rows: int, unit: int = 1) -> list[slice]:
        """Rows as slices of neighbours, about equally long: as many as there are threads, or more,
        if they would be longer than a chunk. If the chunk allows it, all but the last have a
        multiple of `unit`, a number of rows that networks have probably met before; a few rows may
        then be fewer slices."""
        number = max(self.config.threads, -(-rows // self.chunk))
        size = max(1, -(-rows // number))
        if unit and size + -size % unit <= self.chunk:
            size += -size % unit
        return [slice(at, min(at + size, rows)) for at in range(0, rows, size)]

    def _forward(self, batch: LearnedBatch, part: slice, keep: bool) -> tuple[Outputs, Any]:
        """What the networks say of some views; the outputs with their graph if it is kept."""
        views = self._views(batch, part)
        with self._autocast():
            with torch.set_grad_enabled(keep):
                outputs = self.algorithm.outputs(views)
            with torch.no_grad():
                detached = tuple(x.detach() for x in outputs)
                return outputs, self.algorithm.forward(views, detached, self.step)

    def _outputs(self, batch: LearnedBatch, part: slice | Tensor, keep: bool) -> Outputs:
        """The outputs alone, with their graph if it is kept."""
        with self._autocast(), torch.set_grad_enabled(keep):
            return self.algorithm.outputs(self._views(batch, part))

    def _rows(self, touched: Tensor) -> list[Tensor]:
        """The rows of the views `touched`, bool [u], in parts as those of `_split`. Others may be
        among them: of an amount of rows, too, networks like to have met it before. Not so one that
        looks at each position once, of which it meets any number."""
        alone = self.device.type == "cpu" and self.algorithm.trained.shares_positions
        unit = self.config.threads if alone else self.config.rows
        first = touched.byte().argsort(descending=True, stable=True)
        number = int(touched.sum())
        first = first[: max(1, number + -number % unit)].sort().values
        return [first[part] for part in self._split(len(first), unit // self.config.threads)]

    def _views(self, batch: LearnedBatch, part: slice | Tensor) -> DistinctViews:
        return DistinctViews(self.algorithm.prepare(batch.observations[part]), batch.legal[part])

    def _autocast(self) -> torch.autocast:
        """The layers of networks in bfloat16, where that is asked for. Weights, the last layers,
        what is made of the outputs, and sums stay float32."""
        bf16 = self.config.precision == "bf16"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=bf16)

    def _loss(self, known: _Known, part: Steps) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The metrics of the loss of some steps, and its gradient with respect to the outputs of
        each of these steps."""
        batch, outputs, forward, targets, _ = known
        view = batch.view[part]
        leaves = tuple(x[view].requires_grad_() for x in outputs)
        loss, metrics = self.algorithm.loss(batch, part, leaves, forward, targets)
        return metrics, torch.autograd.grad(loss, leaves)

    def _backward(
        self,
        batch: LearnedBatch,
        part: slice | Tensor,
        outputs: Outputs | None,
        grad_outputs: Outputs,
    ) -> tuple[Tensor, ...]:
        """The gradient with respect to the parameters that comes through some views. They are
        evaluated again where their graph was not kept."""
        outputs = outputs or self._outputs(batch, part, True)
        onward = [gradient[part] for gradient in grad_outputs]
        return torch.autograd.grad(outputs, self.adam.parameters, onward)

    def _optimizer_step(self) -> float:
        """Adam's step by the sum of the gradients; the norm of the gradient before it is
        clipped."""
        limit = self.algorithm.config.grad_norm or float("inf")
        norm = nn.utils.clip_grad_norm_(self.adam.parameters, limit).item()
        if self.algorithm.config.grad_value:
            nn.utils.clip_grad_value_(self.adam.parameters, self.algorithm.config.grad_value)
        rate = self.algorithm.learning_rate(self.step)
        self.adam.step(self._sums.gradient, rate, self.algorithm.decay)
        return norm

    def _each(
        self, function: Callable[..., Result], *arguments: Iterable[object]
    ) -> Iterator[Result]:
        """The function of each part of the batch in their order, some at the same time."""
        if self.config.threads == 1:
            return map(function, *arguments)
        return self._pool.map(function, *arguments)

    # ---- what a checkpoint holds ----

    def weights(self, network: str, copy: bool = False) -> dict[str, NDArray[np.float32]]:
        """The weights of one of the algorithm's networks by their names in it, float32. On a CPU
        they change with the network's, unless they are a copy."""
        state: dict[str, Tensor] = self.algorithm.networks[network].state_dict()
        return {k: tensor.detach().to("cpu", copy=copy).numpy() for k, tensor in state.items()}

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Everything that is learned: `NETWORK/NAME` and `optimizer/MOMENT/NAME`, float32."""
        networks = self.algorithm.networks
        out = {f"{net}/{name}": w for net in networks for name, w in self.weights(net).items()}
        for at, (name, _) in enumerate(self.algorithm.trained.named_parameters()):
            for moment, tensors in self.adam.moments.items():
                out[f"optimizer/{moment}/{name}"] = tensors[at].cpu().numpy()
        return out

    def own(self) -> dict[str, NDArray[Any]]:
        """What of its state is this rank's alone."""
        return {}

    def load_own(self, parts: Sequence[Tensors], episodes: int) -> None:
        """Goes on from what `own` of each rank gave, behind so many episodes or examples."""

    def load(
        self, tensors: Mapping[str, NDArray[np.float32]], step: int, decisions: int = 0
    ) -> None:
        """Goes on from `tensors()` of an optimizer that had done `step` updates, by so many
        decisions.

        InputError: they are of another network.
        """
        for name, network in self.algorithm.networks.items():
            try:
                weights = {k: torch.from_numpy(v) for k, v in tensors_of(tensors, name).items()}
                network.load_state_dict(weights)
            except (RuntimeError, TypeError):
                raise self._misfit() from None
        self.algorithm.after_load()
        moments = tensors_of(tensors, "optimizer")
        if moments:  # there are none before the first step
            names = [name for name, _ in self.algorithm.trained.named_parameters()]
            if not self.adam.load(names, moments):
                raise self._misfit()
        self.step, self.algorithm.decisions = step, decisions

    def _misfit(self) -> InputError:
        return InputError(f"no checkpoint of a network {self.algorithm.net!r} of this shape")


class Adam:
    """What `torch.optim.Adam` does, its fused kind, and nothing else. The class itself would import
    torch's compiler, which takes as long as all of torch. (Kingma and Ba 2015.)

    `moments`: of each parameter, by torch's names; none before the first step.
    """

    names: tuple[str, ...] = ("exp_avg", "exp_avg_sq", "step")

    def __init__(self, parameters: list[nn.Parameter], config: AdamConfig) -> None:
        self.parameters, self.config = parameters, config
        self.moments: dict[str, list[Tensor]] = {}

    @torch.no_grad()
    def step(self, gradients: list[Tensor], lr: float, decay: float = 0.0) -> None:
        """Moves the parameters against these gradients, at this rate. First they lose `decay` times
        the rate of their size (Loshchilov and Hutter 2019, AdamW)."""
        if decay:
            torch._foreach_mul_(list(self.parameters), 1 - lr * decay)
        if not self.moments:
            self.moments = {
                "exp_avg": [torch.zeros_like(parameter) for parameter in self.parameters],
                "exp_avg_sq": [torch.zeros_like(parameter) for parameter in self.parameters],
                "step": [torch.zeros((), device=p.device) for p in self.parameters],
            }
        adam(
            list(self.parameters),
            gradients,
            self.moments["exp_avg"],
            self.moments["exp_avg_sq"],
            [],
            self.moments["step"],
            fused=True,
            amsgrad=False,
            beta1=self.config.b1,
            beta2=self.config.b2,
            lr=lr,
            weight_decay=0.0,
            eps=self.config.eps,
            maximize=False,
        )

    def load(self, names: Sequence[str], stored: Mapping[str, NDArray[np.float32]]) -> bool:
        """Moments `MOMENT/NAME` of the parameters of these names. False: they are of others."""
        moments: dict[str, list[Tensor]] = {name: [] for name in self.names}
        for name, parameter in zip(names, self.parameters, strict=True):
            for moment, tensors in moments.items():
                value = stored.get(f"{moment}/{name}")
                shape = () if moment == "step" else parameter.shape
                if value is None or value.shape != shape or value.dtype != np.float32:
                    return False
                like = parameter if shape else parameter.new_zeros(())
                restored = torch.empty_like(like, requires_grad=False)
                tensors.append(restored.copy_(torch.from_numpy(value)))
        self.moments = moments
        return True


class SGD(Adam):
    """Gradient descent with Nesterov's momentum, and the gradient of decay times half the squared
    weights, as `torch.optim.SGD` has them (Sutskever et al. 2013)."""

    names = ("momentum_buffer",)

    def __init__(self, parameters: list[nn.Parameter], config: AdamConfig, momentum: float) -> None:
        super().__init__(parameters, config)
        self.momentum = momentum

    @torch.no_grad()
    def step(self, gradients: list[Tensor], lr: float, decay: float = 0.0) -> None:
        """Moves the parameters against these gradients, at this rate."""
        parameters: list[Tensor] = list(self.parameters)
        if decay:
            gradients = list(torch._foreach_add(gradients, parameters, alpha=decay))
        if not self.moments:
            self.moments = {self.names[0]: [torch.zeros_like(p) for p in parameters]}
        moments = self.moments[self.names[0]]
        torch._foreach_mul_(moments, self.momentum)
        torch._foreach_add_(moments, gradients)
        torch._foreach_add_(parameters, gradients, alpha=-lr)
        torch._foreach_add_(parameters, moments, alpha=-lr * self.momentum)


class _Sums:
    """The sums over all parts of the gradients and the metrics, in one piece of memory, which ranks
    exchange at once.

    It is laid out in memory as the parameters are: convolutions give gradients with the channels
    last, and Adam's fused step goes through memory as it lies.
    """

    def __init__(self, parameters: Sequence[Tensor], metrics: int) -> None:
        size = sum(p.numel() for p in parameters)
        self.flat = parameters[0].new_zeros(size + metrics, requires_grad=False)
        self.metrics = self.flat[size:]
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
