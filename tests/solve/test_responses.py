"""Best responses as players."""

from __future__ import annotations

import json
import math
import pathlib
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from running import ROOT, run
from solve.small_games import tree_of
from storage.stored import save_network
from stratkit.cli.messages import warn
from stratkit.cli.progress import ProgressLine
from stratkit.engine import Game, Tree
from stratkit.errors import InputError
from stratkit.solve.exploitability import evaluate
from stratkit.solve.judge import Keeping
from stratkit.solve.large import LargeDice, LargePhantom, LargeWalk
from stratkit.solve.sets import on_tree
from stratkit.solve.tree_judge import TreeJudge
from stratkit.storage.responses import Response, load_response
from stratkit.storage.sets import PhantomSets, sets_of


def played(tree: Tree, response: Response) -> tuple[np.ndarray, np.ndarray]:
    """The response as a policy of the tree's information sets, uniform where it does not come; and
    of each set whether it comes there."""
    keys = zip(response.players.tolist(), response.before.tolist(), strict=True)
    rows = zip(keys, response.observations, strict=True)
    number = {(*key, seen.tobytes()): i for i, (key, seen) in enumerate(rows)}
    policy, decision = tree.uniform(), np.full(len(tree), -2)
    for i, seen in enumerate(tree.observations()):
        last, sequence = -1, int(tree.before[i])
        if sequence:
            last = decision[tree.owner[sequence - 1]]
            chosen = last >= 0 and response.actions[last] == tree.actions[sequence - 1]
            last = last if chosen else -2
        decision[i] = number.get((int(tree.players[i]), int(last), seen.tobytes()), -2)
        if decision[i] >= 0:
            some = slice(tree.first[i], tree.first[i + 1])
            policy[some] = tree.actions[some] == response.actions[decision[i]]
            assert policy[some].sum() == 1
    return policy, decision >= 0


def check(tree: Tree, policy: np.ndarray, response: Response) -> None:
    """It wins what the best response wins, and lists nothing else."""
    expected, (mine, comes) = evaluate(tree, policy), played(tree, response)
    first = evaluate(tree, np.where(tree.mine == 0, mine, policy)).value
    second = -evaluate(tree, np.where(tree.mine == 1, mine, policy)).value
    assert (first, second) == pytest.approx(expected.best, abs=1e-9)
    assert comes.sum() == len(response.players)


def drawn(choices: np.ndarray, owner: np.ndarray, seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).random(len(choices)) ** 3
    return np.asarray(x / np.bincount(owner, x)[owner])


@pytest.mark.parametrize("name", ["kuhn", "leduc", "hex:2", "liars_dice:1x3"])
def test_that_of_a_tree_wins_what_is_said(name: str) -> None:
    tree = tree_of(name)
    judge = TreeJudge(tree, ProgressLine, warn, keeping=Keeping(response=True))
    (_,) = judge.entries("uniform", None)
    check(tree, tree.uniform(), judge.responses[0])
    policy = drawn(tree.actions, tree.owner, 1)
    check(tree, policy, judge._respond(policy)[1])
    walk = LargeWalk(Game(name), 2, 1 << 30, 2000)
    for given, value in ((None, tree.uniform()), (policy, policy)):
        check(tree, value, walk.respond(given, ProgressLine)[1])


@pytest.mark.parametrize("name", ["1x3", "2x2", "1x7"])
def test_that_of_dice_wins_what_is_said(name: str) -> None:
    tree = tree_of(f"liars_dice:{name}")
    large = LargeDice(tree.game, 2)
    owner = np.repeat(
        np.arange(len(large.sets)), large.sets.views(0, len(large.sets))[1].sum(1, dtype=int)
    )
    for policy in (large.uniform(), drawn(large.uniform(), owner, 2)):
        value, response = large.respond(policy, ProgressLine)
        assert value == large.evaluate(policy, ProgressLine)
        check(tree, on_tree(large.sets, tree, policy), response)


@pytest.mark.parametrize("name", ["dark_hex:2", "dark_hex:2:classical"])
def test_that_of_a_phantom_game_wins_what_is_said(name: str) -> None:
    tree = tree_of(name)
    large, sets = LargePhantom(tree.game, 2), sets_of(tree)
    assert isinstance(sets, PhantomSets)
    owner = np.repeat(np.arange(len(sets)), sets.views(0, len(sets))[1].sum(1, dtype=int))
    for seed in range(4):
        policy = drawn(np.empty(sets.choices), owner, seed)
        value, response = large.respond(sets.of_each(policy), ProgressLine)
        assert value == large.evaluate(sets.of_each(policy), ProgressLine)
        check(tree, on_tree(sets, tree, policy), response)


@pytest.mark.parametrize(
    ("game", "games"), [("kuhn", 800), ("leduc", 800), ("phantom_ttt:classical", 400)]
)
def test_a_match_comes_to_the_exact_value(game: str, games: int, tmp_path: pathlib.Path) -> None:
    """Within four standard errors, in either seat; and uniform play does not come to it."""
    net, file, record = tmp_path / "net", tmp_path / "net.response", tmp_path / "games.jsonl"
    save_network(net, "mlp:8", Game(game))
    done = run("exploit", "--json", game, net, "--write-response", file)
    (policy,) = json.loads(done.out)["policies"]
    best = policy["gains"][0] + policy["value"], policy["gains"][1] - policy["value"]
    for player, comes in ((f"response:{file}", True), ("random", False)):
        options = ("-n", games, "--game", game, "--seed", 3, "-o", record)
        assert run("match", player, net, *options).status == 0
        lines = map(json.loads, record.read_text().splitlines()[1:])
        returns: list[list[float]] = [[], []]
        for line in lines:
            seat = line["players"].index(0)
            returns[seat].append(line["returns"][seat])
        within = [
            abs(np.mean(some) - wins) < 4 * np.std(some) / math.sqrt(len(some))
            for some, wins in zip(returns, best, strict=True)
        ]
        assert all(within) if comes else not all(within)
        record.unlink()


def test_what_the_policy_never_does_is_answered(tmp_path: pathlib.Path) -> None:
    """The response to a policy that always folds plays against one that does not."""
    sample = ROOT / "formats/samples/kuhn.response"
    with safe_open(sample, "np") as opened:
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        says = opened.metadata()
    few = {name: array[:1] for name, array in tensors.items()}
    save_file(few, tmp_path / "few.response", says)
    done = run("match", f"response:{tmp_path / 'few.response'}", "random", "--game", "kuhn",
               "-n", 40, "--seed", 1, "-o", tmp_path / "g.jsonl")  # fmt: skip
    assert done.status == 0, done.err


def damaged(path: pathlib.Path, change: dict[str, Any], **says: Any) -> None:
    with safe_open(ROOT / "formats/samples/kuhn.response", "np") as opened:
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        metadata = json.loads(opened.metadata()["stratkit"]) | says
    save_file(tensors | change, path, {"stratkit": json.dumps(metadata)})


@pytest.mark.parametrize(
    ("change", "says", "what"),
    [
        ({}, {"kind": "table"}, "not a best response, as exploit --write-response writes"),
        ({}, {"rules": {"open": 1}}, "a best response by other rules"),
        ({}, {"version": 3}, "metadata 'version'"),
        ({"actions": np.zeros(3, np.int32)}, {}, "'actions' is int32 [3], not int32 [10]"),
        ({"actions": np.zeros(10, np.int64)}, {}, "'actions' is int64 [10], not int32 [10]"),
        ({"actions": np.full(10, 99, np.int32)}, {}, "damaged: a decision is none of its game"),
        ({"before": np.arange(10, dtype=np.int32)}, {}, "damaged: a decision is none of its game"),
    ],
)
def test_one_line_says_what_is_wrong_with_a_response(
    change: dict[str, Any], says: dict[str, Any], what: str, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / "r"
    damaged(file, change, **says)
    with pytest.raises(InputError) as error:
        load_response(str(file), Game("kuhn"))
    assert str(error.value).startswith(f"{file}: {what}")


def test_other_files_and_games_are_refused(tmp_path: pathlib.Path) -> None:
    sample, file = ROOT / "formats/samples/kuhn.response", tmp_path / "r"
    file.write_bytes(sample.read_bytes()[:-5])
    match = ("random", "-n", 2, "-o", tmp_path / "g.jsonl")
    for player, game, what in (
        (f"response:{file}", "kuhn", "not a best response, or truncated"),
        (f"response:{tmp_path / 'none'}", "kuhn", "No such file"),
        (f"response:{sample}", "leduc", "a best response in kuhn, not in leduc"),
    ):
        done = run("match", player, *match, "--game", game)
        assert done.status == 1 and what in done.error_line
    done = run("exploit", "kuhn", "uniform", "cfr:2", "--write-response", file)
    assert done.status == 2 and "--write-response responds to one policy" in done.error_line
    done = run("exploit", "kuhn", "uniform", "--write-response", file)
    assert done.status == 1 and "exists already; -f overwrites it" in done.error_line
    done = run("exploit", "kuhn", f"response:{sample}")
    assert done.status == 2 and "not a policy that can be evaluated" in done.error_line
