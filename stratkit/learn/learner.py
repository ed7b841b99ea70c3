"""The learner: four networks and an average, the optimizer, one update at a time."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from stratkit.errors import InputError
from stratkit.learn import rnad
from stratkit.learn.config import Config
from stratkit.learn.data import Batch
from stratkit.nets import UNet, build, legal_policy
from stratkit.nets.unet import Inputs
from stratkit.storage.checkpoints import part_of

# The acting network is learned by gradients. The target network follows it and gives v-trace its
# values. Regularisation policies, the present and the previous one, are copies of past target
# networks. The average is kept for play.
NETWORKS = ("online", "target", "regularization", "previous", "average")


class Learner:
    """R-NaD's state, and its update.

    net, shape: which network, for which observations (see `nets.build`). `step` counts the updates
    done.
    """

    def __init__(self, net: str, shape: tuple[int, int, int], config: Config) -> None:
        self.net, self.config = net, config
        self.step = 0
        self.schedule = rnad.EntropySchedule(config.sizes, config.repeats, config.ramp)
        self.online = build(net, shape, seed=config.seed)
        self.target, self.regularization, self.previous, self.average = (
            _frozen_copy(self.online) for _ in NETWORKS[1:]
        )
        self.optimizer = torch.optim.Adam(
            self.online.parameters(),
            lr=config.lr,
            betas=(config.b1, config.b2),
            eps=config.eps,
            fused=True,
        )

    def update(self, batch: Batch) -> dict[str, float]:
        """One step of gradient descent on `batch`; returns what there is to tell of it."""
        config = self.config
        alpha, move_on = self.schedule(self.step)
        inputs = self.online.prepare(batch.observations)
        weight = rnad.step_weights(batch.player)

        with torch.no_grad():
            log_reg, log_previous = self._regularization(inputs, batch.legal, alpha)
            v_target = self.target.value(self.target.embed(inputs), inputs)
        embedding = self.online.embed(inputs)
        logits = self.online.logits(embedding, inputs, batch.legal)
        value = self.online.value(embedding, inputs)

        with torch.no_grad():
            pi, log_pi = legal_policy(logits, batch.legal)
            ratio = rnad.log_ratio(log_pi, log_reg, log_previous, alpha)
            kl = (pi * ratio).sum(1)
            chosen = pi.gather(1, batch.action[:, None])[:, 0]
            trace = rnad.v_trace(
                batch.grid(v_target),
                batch.grid(kl),
                batch.grid(chosen / batch.mu),
                batch.grid(batch.player, fill=-1),
                batch.rewards(),
                eta=config.eta,
                rho_bar=config.rho,
                c_bar=config.c,
            )
            estimate, gain = batch.flat(trace.value), batch.flat(trace.gain)
            q = rnad.action_values(
                v_target, ratio, gain, batch.action, batch.mu,
                eta=config.eta, mu_floor=config.mu_floor,
            )  # fmt: skip

        policy_loss = rnad.neurd_loss(
            logits, batch.legal, pi, q, weight, beta=config.beta, clip=config.clip
        )
        value_loss = rnad.value_loss(value, estimate, weight)
        self.optimizer.zero_grad(set_to_none=True)
        (policy_loss + value_loss).backward()  # type: ignore[no-untyped-call]
        grad_norm = self._clip_gradient()
        self.optimizer.step()
        self._follow(move_on)
        self.step += 1
        return {
            "policy_loss": policy_loss.item(),
            "value_loss": value_loss.item(),
            "entropy": _mean(-(pi * log_pi).sum(1), weight),
            "kl": _mean(kl, weight),
            "value": _mean(value.detach(), weight),
            "grad_norm": grad_norm,
            "alpha": alpha,
        }

    # ---- what a checkpoint holds ----

    def weights(self, network: str) -> dict[str, NDArray[np.float32]]:
        """The weights of one of `NETWORKS` by their names in it, float32."""
        state: dict[str, Tensor] = getattr(self, network).state_dict()
        return {name: tensor.detach().cpu().numpy() for name, tensor in state.items()}

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Everything that is learned: `NETWORK/NAME` and `optimizer/MOMENT/NAME`, float32."""
        out = {f"{net}/{name}": w for net in NETWORKS for name, w in self.weights(net).items()}
        for name, parameter in self.online.named_parameters():
            for moment, tensor in self.optimizer.state[parameter].items():
                out[f"optimizer/{moment}/{name}"] = tensor.detach().cpu().numpy()
        return out

    def load(self, tensors: Mapping[str, NDArray[np.float32]], step: int) -> None:
        """Goes on from `tensors()` of a learner that had done `step` steps.

        InputError: they are of another network.
        """
        for network in NETWORKS:
            weights = {k: torch.from_numpy(v) for k, v in part_of(tensors, network).items()}
            try:
                getattr(self, network).load_state_dict(weights)
            except RuntimeError:
                raise InputError(f"no checkpoint of a network {self.net!r} of this shape") from None
        for name, parameter in self.online.named_parameters():
            self.optimizer.state[parameter] = {
                moment: torch.from_numpy(tensors[f"optimizer/{moment}/{name}"].copy())
                for moment in ("step", "exp_avg", "exp_avg_sq")
                if f"optimizer/{moment}/{name}" in tensors  # none of them before the first step
            }
        self.step = step

    # ---- the parts of an update ----

    def _regularization(
        self, inputs: Inputs, legal: Tensor, alpha: float
    ) -> tuple[Tensor, Tensor | None]:
        """log pi of the two regularisation policies; of the first alone where the second has no
        say."""
        log_reg = self._log_policy(self.regularization, inputs, legal)
        first = self.schedule.iteration(self.step)[0] == 0  # both are still the first network
        if alpha == 1 or first:
            return log_reg, None
        return log_reg, self._log_policy(self.previous, inputs, legal)

    def _log_policy(self, network: UNet, inputs: Inputs, legal: Tensor) -> Tensor:
        return legal_policy(network.logits(network.embed(inputs), inputs, legal), legal)[1]

    def _clip_gradient(self) -> float:
        limit = self.config.grad_norm or float("inf")
        return float(nn.utils.clip_grad_norm_(self.online.parameters(), limit))

    @torch.no_grad()
    def _follow(self, move_on: bool) -> None:
        """Moves the other networks after the online one."""
        online: list[Tensor] = list(self.online.parameters())
        torch._foreach_lerp_(list(self.target.parameters()), online, self.config.target_rate)
        torch._foreach_lerp_(list(self.average.parameters()), online, self.config.average_rate)
        if move_on:
            self.previous.load_state_dict(self.regularization.state_dict())
            self.regularization.load_state_dict(self.target.state_dict())


def _frozen_copy(network: UNet) -> UNet:
    return copy.deepcopy(network).requires_grad_(False)


def _mean(x: Tensor, weight: Tensor) -> float:
    """The mean over both players' steps of x [n]."""
    return float((x * (weight > 0)).sum() / (weight > 0).sum().clamp_min(1))
