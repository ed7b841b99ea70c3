"""AlphaZero's loss against a slow transcription, its schedule, its targets and its window."""

from __future__ import annotations

import math
import pathlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from learn.games import as_parts, episodes, optimizer
from running import here, run
from stratkit.engine import Game
from stratkit.errors import InputError, UsageError
from stratkit.learn.alphaze import AlphaZe
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.config import AlphaZeConfig
from stratkit.learn.data import make_batch
from stratkit.learn.optimizer import Optimizer
from stratkit.learn.request import Settings, resolve
from stratkit.learn.window import Window
from stratkit.play.acting import acting_policy, check_actors
from stratkit.players.presets import SEARCH_PRESETS
from stratkit.players.registry import NETWORK
from stratkit.storage.columns import WHOLE_SHARE, Episode, PolicyTargets


def setting(net: str = "plain", **options: object) -> Settings:
    return resolve(net, {}, {}, {"seed": 1, **options}, "alphaze")


def searched(name: str, number: int = 6, seed: int = 3) -> tuple[Game, list[Episode]]:
    """Random games, each decision with a made-up target and value; some values are missing."""
    game, found = episodes(name, number)
    rng, out = np.random.default_rng(seed), []
    batch = make_batch(game, as_parts(game, found))
    legal, at = batch.legal.numpy()[batch.view.numpy()], 0
    for one in found:
        policies: list[Any] = []
        for row in range(at, at + len(one.actions)):
            actions = np.flatnonzero(legal[row])
            weights = rng.random(len(actions)) * (rng.random(len(actions)) < 0.7) + 1e-9
            policies.append((actions, weights / weights.sum()))
        value = rng.uniform(-1, 1, len(policies)).astype(np.float32)
        value[rng.random(len(value)) < 0.3] = np.nan
        out.append(replace(one, targets=PolicyTargets.of(policies), root_value=value))
        at += len(policies)
    return game, out


def outputs_of(learner: Optimizer, batch: Any) -> tuple[Any, Any]:
    from stratkit.learn.algorithm import DistinctViews

    algorithm = learner.algorithm
    outputs = algorithm.outputs(DistinctViews(algorithm.prepare(batch.observations), batch.legal))
    return tuple(x.detach().double() for x in outputs)  # type: ignore[return-value]


@pytest.mark.parametrize(("name", "net"), [("nano", "plain"), ("hex:3", "mlp:8")])
@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_loss_is_equation_5(name: str, net: str, share: float) -> None:
    """Term by term in plain Python, from the episodes themselves; and so are its gradients."""
    game, found = searched(name)
    learner = optimizer(net, game, setting(net, root_value=share, value_weight=0.5))
    batch = make_batch(game, as_parts(game, found), BatchSpec(16, searched=True))
    logits, value = outputs_of(learner, batch)
    algorithm = learner.algorithm
    assert isinstance(algorithm, AlphaZe)
    counts = batch.step_counts()
    policy_term = value_term = 0.0
    slow = torch.zeros_like(logits), torch.zeros_like(value)
    row = 0
    for one in found:
        assert one.targets is not None and one.root_value is not None
        for t in range(len(one.actions)):
            u, player = int(batch.view[row]), int(batch.player[row])
            target = one.targets.take(slice(t, t + 1))
            allowed = [a for a in range(game.actions) if batch.legal[u, a]]
            most = max(float(logits[u, a]) for a in allowed)
            total = sum(math.exp(float(logits[u, a]) - most) for a in allowed)
            pi = {a: math.exp(float(logits[u, a]) - most) / total for a in allowed}
            wanted = dict(zip(target.actions.tolist(), target.share / WHOLE_SHARE, strict=True))
            z, root = float(one.returns[player]), float(one.root_value[t])
            aim = z if math.isnan(root) else (1 - share) * z + share * root
            weight = 1 / float(counts[player])
            policy_term -= weight * sum(p * math.log(pi[a]) for a, p in wanted.items())
            value_term += weight * (float(value[u]) - aim) ** 2
            for a in allowed:
                slow[0][u, a] += weight * (pi[a] - wanted.get(a, 0.0))
            slow[1][u] += 0.5 * weight * 2 * (float(value[u]) - aim)
            row += 1
    targets = algorithm.targets(batch, (logits, value), None, counts)  # type: ignore[arg-type]
    leaves = logits[batch.view].requires_grad_(), value[batch.view].requires_grad_()
    loss, metrics = algorithm.loss(batch, slice(None), leaves, None, targets)  # type: ignore[arg-type]
    assert metrics[:2].tolist() == pytest.approx([policy_term, value_term], rel=1e-6)
    assert loss.item() == pytest.approx(policy_term + 0.5 * value_term, rel=1e-6)
    for slowly, leaf in zip(slow, torch.autograd.grad(loss, leaves), strict=True):
        fast = torch.zeros_like(slowly).index_add_(0, batch.view, leaf)
        torch.testing.assert_close(fast, slowly, rtol=1e-5, atol=1e-8)
    entropy = float(metrics[0] - metrics[2])
    assert 0 < entropy < policy_term


def test_of_games_without_a_search_the_actions_are_learned() -> None:
    """One by one, and the result alone is the value's target, whatever `root_value` is."""
    game, found = episodes("hex:3", 3)
    learner = optimizer("mlp:64", game, setting("mlp:64", targets="played", lr=0.01))
    batch = make_batch(game, as_parts(game, found))
    outputs = outputs_of(learner, batch)
    algorithm = learner.algorithm
    targets = algorithm.targets(batch, outputs, None, batch.step_counts())  # type: ignore[arg-type]
    actions = np.concatenate([one.actions for one in found])
    np.testing.assert_array_equal(targets.policy.argmax(1), actions)
    np.testing.assert_array_equal(targets.policy.sum(1), np.ones(len(actions)))
    results = np.concatenate([one.returns[np.arange(len(one.actions)) % 2] for one in found])
    np.testing.assert_array_equal(targets.value, results)


def test_updates_come_to_the_targets() -> None:
    """What is learned again and again is the mean target of each view."""
    game, found = searched("hex:3", 3)
    learner = optimizer("mlp:64", game, setting("mlp:64", lr=0.01, decay=0.0))
    batch = make_batch(game, as_parts(game, found), BatchSpec(16, searched=True))
    first = learner.update(batch)
    for _ in range(150):
        last = learner.update(batch)
    assert first["target_kl"] > 0.5 and last["target_kl"] < 0.2 * first["target_kl"]
    assert list(learner.algorithm.networks) == ["online", "average"]


def test_the_rate_falls_along_a_cosine_and_weights_decay() -> None:
    game, _ = episodes("hex:3", 1)
    learner = optimizer(
        "mlp:8", game,
        setting("mlp:8", lr=1.0, lr_floor=0.2, warm_up=4, lr_cosine=10, decay=0.1),
    )  # fmt: skip
    rates = [learner.algorithm.learning_rate(step) for step in (0, 3, 4, 9, 14, 99)]
    assert rates == pytest.approx([0.25, 1, 1, 0.6, 0.2, 0.2])
    by = {"anneal_by": "decisions", "anneal_after": 1.0}
    algorithm = optimizer("mlp:8", game, setting("mlp:8", lr=1.0, lr_cosine=10, **by)).algorithm
    for algorithm.decisions, rate in ((0, 1), (5, 0.5), (10, 0), (99, 0)):
        assert algorithm.learning_rate(1) == pytest.approx(rate)
    before = [p.detach().clone() for p in learner.adam.parameters]
    learner.adam.step([torch.zeros_like(p) for p in before], 0.5, learner.algorithm.decay)
    for old, new in zip(before, learner.adam.parameters, strict=True):
        torch.testing.assert_close(new.detach(), old * 0.95)


def test_true_sight_comes_first() -> None:
    config = AlphaZeConfig(actors="search=pc-pimc,worlds=4,nodes=50,pick=drawn", true_sight=3)
    assert config.acting(2) == "search=pc-pimc,nodes=50,pick=drawn,worlds=1,belief=true"
    assert config.acting(3) == config.actors
    with pytest.raises(InputError, match="--replays is more than --window keeps: '21'"):
        resolve("plain", {}, {}, {"replays": 21}, "alphaze")


@pytest.mark.parametrize(
    ("keys", "sight", "what"),
    [
        ("search=mmd,rollouts=8", 0, None),
        ("search=mmd,rollouts=8", 9, "--true-sight needs search=pimc"),
        ("search=endgame,hands=9", 0, "search=endgame leaves decisions"),
        ("search=rm", 9, "--true-sight needs"),
        ("search=pimc,worlds=4,belief=uniform", 9, None),
        ("preset=alphaze,search=pc-pimc,nodes=9", 9, None),
        ("search=pimc,belief=true", 0, None),
        ("search=pc-pimc,belief=true,worlds=1", 0, None),
        ("search=pimc,belief=true,worlds=2", 9, "belief=true is one known world"),
        ("search=mmd,belief=true", 0, "belief=true is one known world"),
        ("search=mmd,time=1", 0, "--actors has no time limit"),
        ("search=pimc,time=1", 9, "--actors has no time limit"),
        ("search=pimc,quiet=9", 0, "quiet=9 leaves decisions without a target"),
        ("search=pimc,sees=all", 0, "sees=all: one of mover, world is needed"),
        *((f"preset={preset},search=pimc", 9, "no time limit" if preset == "strong" else None)
          for preset in NETWORK.presets),
    ],
)  # fmt: skip
def test_keys_are_refused_that_self_play_would_not_obey(
    keys: str, sight: int, what: str | None
) -> None:
    """Of both phases, before anything is learned; and no others."""
    if what is not None:
        with pytest.raises(UsageError, match=what) as caught:
            check_actors(keys, sight > 0)
        assert caught.value.text == keys
        return
    check_actors(keys, sight > 0)
    check_actors(keys, sight > 0, searched=False)
    config = AlphaZeConfig(actors=keys, true_sight=sight)
    for phase in (config.acting(0), config.acting(sight)):
        assert acting_policy(phase).searching.time is None
    assert acting_policy(config.acting(0)).true_sight or not sight


def test_a_search_that_leaves_decisions_alone_is_for_those_who_learn_what_was_played() -> None:
    """As rm on boards, whose moves are in no simultaneous turn."""
    rm, what = "search=rm,games=1", "search=rm leaves moves without a target"
    with pytest.raises(InputError, match=what):
        AlphaZe("plain", Game("nano"), AlphaZeConfig(actors=rm), 1)
    for name in (name for name, keys in SEARCH_PRESETS.items() if keys["search"] == "rm"):
        with pytest.raises(InputError, match=what):
            AlphaZe("plain", Game("nano"), AlphaZeConfig(actors=f"games=1,preset={name}"), 1)
    AlphaZe("plain", Game("nano"), AlphaZeConfig(actors=rm, targets="played"), 1)
    AlphaZe("mlp:8", Game("diplomacy:tiny"), AlphaZeConfig(actors=rm), 1)
    for keys in ("search=endgame", "search=pimc,quiet=9"):
        check_actors(keys, False, searched=False)
    done = run("train", "--algorithm", "alphaze", "--actors", "search=endgame", "--out", "RUN")
    assert done.status == 2 and done.error_line.startswith("train: search=endgame leaves decisions")


@pytest.mark.parametrize(
    ("keys", "game", "key"),
    [
        ("search=pc-pimc,nodes=2,worlds=1,quiet=5", "nano", "quiet=5"),
        ("search=endgame", "nano", "search=endgame"),
        ("search=rm,games=1,samples=4,iterations=2", "nano", "search=rm"),
        ("search=pc-pimc,nodes=2,worlds=1", "nano", None),
    ],
)
def test_self_play_tells_what_its_games_are_for(
    keys: str, game: str, key: str | None, tmp_path: pathlib.Path
) -> None:
    """Games of which only some decisions were searched, before the first is played."""
    words = ("--game", game, "-n", 1, "--policy", "random", "--actors", keys, "--max-actions", 9)
    done = here("selfplay", *words, "--seed", 1, "-o", tmp_path / "a.eps")
    what = "leaves decisions without a target: only train --targets played learns from these games"
    told = [line for line in done.err.splitlines() if "target" in line]
    assert (done.status, told) == (0, [f"selfplay: {key} {what}"] if key else [])


def test_targets_that_cannot_be_learned_are_refused() -> None:
    game, found = searched("nano", 2)
    one = found[1]
    assert one.targets is not None

    def refusal(changed: Episode) -> str:
        with pytest.raises(InputError) as caught:
            make_batch(game, as_parts(game, [found[0], changed]), BatchSpec(searched=True))
        return str(caught.value)

    said = refusal(replace(one, targets=None))
    assert said.startswith("x.eps: episode 1, action ") and "no target" in said
    actions = one.targets.actions.copy()
    at = int(np.flatnonzero(one.targets.count == 1)[-1])
    place = int(one.targets.count[:at].sum())
    for illegal in (9999, int(actions[place]) ^ 1):
        actions[place] = illegal
        said = refusal(replace(one, targets=replace(one.targets, actions=actions)))
        assert said == f"x.eps: episode 1, action {at}: its target has an illegal action"


def test_a_window_hands_out_what_it_has_met() -> None:
    game, found = episodes("hex:3", 12)
    batches = [as_parts(game, found[k : k + 2]) for k in range(0, 12, 2)]

    def drawn(seed: int, size: int = 3, replays: int = 2) -> list[list[int]]:
        window = Window(size, replays, seed)
        return [
            [int(n) // 2 for chunk in window.meet(one) for n in chunk.episodes.number][::2]
            for one in batches
        ]

    once = drawn(1)
    assert once == drawn(1) and any(drawn(seed) != once for seed in range(2, 6))
    for number, old in enumerate(once):
        assert len(set(old)) == len(old) == min(number, 2)
        assert all(max(0, number - 3) <= k < number for k in old)
    assert Window(3, 1, 0).missing == 3


def test_shares_are_rounded_to_a_whole() -> None:
    rng = np.random.default_rng(1)
    for m in (1, 2, 7, 100):
        policy = rng.dirichlet(np.full(m, 0.2))
        made = PolicyTargets.of([None, (rng.permutation(m), policy.astype(np.float32))])
        assert made.count[0] == 0 and int(made.share.astype(int).sum()) == WHOLE_SHARE
        assert (np.diff(made.actions) > 0).all() and (made.share > 0).all()
        dense = np.zeros(m)
        dense[made.actions] = made.share / WHOLE_SHARE
        assert abs(np.sort(dense) - np.sort(policy)).max() < 1.1 / WHOLE_SHARE
    with pytest.raises(ValueError, match="sum to 1"):
        PolicyTargets.of([([0, 1], [0.5, 0.4])])
