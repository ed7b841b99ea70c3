"""R-NaD's equations once more, for one trajectory, in plain Python: a literal transcription."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass
class Step:
    """One decision: who acts, the policies there, what was done, and the reward that followed."""

    player: int
    pi: list[float]
    mu: list[float]
    log_ratio: list[float]
    action: int
    rewards: tuple[float, ...]
    value: float


def v_trace(
    steps: list[Step | None], player: int, eta: float, rho_bar: float, c_bar: float
) -> tuple[list[float], list[list[float]]]:
    """v_hat and Q of one player, 0 where it does not act. None is a step of padding."""
    v_hat = [0.0] * len(steps)
    q: list[list[float]] = [[] for _ in steps]
    r_a, r_u, v_n, v_t, xi = 0.0, 0.0, 0.0, 0.0, 1.0
    for t in reversed(range(len(steps))):
        step = steps[t]
        if step is None:
            r_a, r_u, v_n, v_t, xi = 0.0, 0.0, 0.0, 0.0, 1.0
            continue
        reward = step.rewards[player]
        kl = sum(p * log for p, log in zip(step.pi, step.log_ratio, strict=True))
        w = step.pi[step.action] / step.mu[step.action]
        if step.player != player:
            r_a = eta * kl + w * (reward + r_a)
            r_u = reward + r_u + eta * kl
            xi = w * xi
            continue
        v = step.value
        rho, c = min(rho_bar, w * xi), min(c_bar, w * xi)
        v_hat[t] = v + rho * (reward - eta * kl + r_u + v_n - v) + c * (v_t - v_n)
        q[t] = [v - eta * log for log in step.log_ratio]
        q[t][step.action] += (reward + r_a + xi * v_t - v) / step.mu[step.action]
        r_a, r_u, v_n, v_t, xi = 0.0, 0.0, v, v_hat[t], 1.0
    return v_hat, q


def on_policy(steps: list[Step], eta: float) -> tuple[list[float], list[list[float]]]:
    """The closed form where pi = mu and the rewards of the two players cancel: C_t is what is still
    to come for player 0, the reward less what each player pays for its distance."""
    to_come = [0.0] * (len(steps) + 1)
    sign = [1 if step.player == 0 else -1 for step in steps]
    for t in reversed(range(len(steps))):
        kl = sum(p * log for p, log in zip(steps[t].pi, steps[t].log_ratio, strict=True))
        to_come[t] = to_come[t + 1] + steps[t].rewards[0] - sign[t] * eta * kl
    q = []
    for t, step in enumerate(steps):
        row = [step.value - eta * log for log in step.log_ratio]
        gain = sign[t] * (to_come[t + 1] + step.rewards[0]) - step.value
        row[step.action] += gain / step.mu[step.action]
        q.append(row)
    return [s * c for s, c in zip(sign, to_come, strict=False)], q


def neurd(
    logits: list[float], legal: list[bool], q: list[float], beta: float, clip: float
) -> list[float]:
    """The force on each logit of one step, 0 on illegal actions."""
    allowed = [a for a, ok in enumerate(legal) if ok]
    mean = sum(logits[a] for a in allowed) / len(allowed)
    weights = {a: math.exp(logits[a] - max(logits[b] for b in allowed)) for a in allowed}
    expected = sum(weights[a] * q[a] for a in allowed) / sum(weights.values())
    force = [0.0] * len(logits)
    for a in allowed:
        advantage = max(-clip, min(clip, q[a] - expected))
        outward = (logits[a] - mean >= beta and advantage > 0) or (
            logits[a] - mean <= -beta and advantage < 0
        )
        force[a] = 0.0 if outward else advantage
    return force


def as_written(
    steps: list[Step], player: int, eta: float, rho_bar: float, c_bar: float
) -> tuple[list[float], list[list[float]]]:
    """Equations 1 to 5 of the paper's text, for one trajectory, under its own names: v_hat and Q of
    one player, 0 where it does not act.

    Eq. 2 has v_{t+1} without a hat, which a player who does not act there does not have; it is read
    as v_hat_{t+1}. log_ratio: log pi_n / pi_reg of each action, which transforms the rewards.
    """
    values = [0.0] * len(steps)
    q: list[list[float]] = [[] for _ in steps]
    v_hat, v_next, r_hat, xi = 0.0, 0.0, 0.0, 1.0  # of t + 1
    for t, step in reversed(list(enumerate(steps))):
        acts = step.player == player
        log = step.log_ratio[step.action]
        r = step.rewards[player] + (1 - 2 * acts) * eta * log  # the transformed reward
        ratio = step.pi[step.action] / step.mu[step.action]
        if not acts:
            r_hat, xi = r + ratio * r_hat, ratio * xi  # 1
            continue
        v = step.value
        rho, c = min(rho_bar, ratio * xi), min(c_bar, ratio * xi)  # 4
        q[t] = [-eta * each + v for each in step.log_ratio]  # 5
        bracket = r + eta * log + ratio * (r_hat + v_hat) - v
        q[t][step.action] += bracket / step.mu[step.action]
        delta = rho * (r + ratio * r_hat + v_next - v)  # 3
        v_hat, v_next, r_hat, xi = v + delta + c * (v_hat - v_next), v, 0.0, 1.0  # 2
        values[t] = v_hat
    return values, q
