"""Policies of games too large for a tree, and those of small games by the same ways."""

from __future__ import annotations

import json
import pathlib
import signal
from typing import Any

import numpy as np
import pytest

from running import run
from solve.small_games import tree_of
from storage.stored import save_network
from stratkit.cli.messages import warn
from stratkit.cli.progress import ProgressLine
from stratkit.engine import Game
from stratkit.engine.dice import DiceSets
from stratkit.engine.tree import MemoryExceeded, histories_up_to
from stratkit.errors import InputError
from stratkit.players.registry import parse_player
from stratkit.players.searching import pbs
from stratkit.solve.cfr import CFR, EXPONENTS, DiceCFR
from stratkit.solve.exploitability import evaluate
from stratkit.solve.judge import Keeping
from stratkit.solve.large import LargeDice, LargeGame, LargePhantom, LargeWalk, open_large
from stratkit.solve.large_judge import LargeJudge
from stratkit.solve.sets import on_tree
from stratkit.solve.tree_judge import TreeJudge


def large_of(name: str) -> LargeGame[Any]:
    if name.startswith("liars_dice"):
        return LargeDice(Game(name), 2)
    game = Game(name)
    return LargePhantom(game, 2) if "dark" in name else LargeWalk(game, 2, 1 << 30, 2000)


@pytest.mark.parametrize(
    "name", ["leduc", "liars_dice:1x3", "liars_dice:2x2", "dark_hex:2", "dark_hex:2:classical"]
)
def test_small_games_come_to_the_same(name: str, tmp_path: pathlib.Path) -> None:
    """Uniform play, and a network."""
    path, tree, large = tmp_path / "net", tree_of(name), large_of(name)
    save_network(path, "mlp:8", tree.game)
    of_tree = TreeJudge(tree, ProgressLine, warn, keeping=Keeping(pairs=True))
    of_walk = LargeJudge(large, ProgressLine, warn, Keeping(pairs=True))
    network = str(path), parse_player(str(path))
    for text, policy in (network, ("uniform", None)):
        (expected,) = of_tree.entries(text, policy)
        (found,) = of_walk.entries(text, policy)
        within = 1e-9 if policy is None else 1e-7  # a network rounds by how much it is asked
        assert found.result.value == pytest.approx(expected.result.value, abs=within)
        assert found.result.best == pytest.approx(expected.result.best, abs=within)
        assert (found.name, found.step) == (expected.name, expected.step)
        assert of_walk.size == of_tree.size
        if text != "uniform":
            alike = evaluate(tree, tree.uniform()).nash_conv
            assert abs(found.result.nash_conv - alike) > 1e-4
    for expected, found in zip(of_tree.pairs(), of_walk.pairs(), strict=True):
        assert (found.name, found.opponent) == (expected.name, expected.opponent)
        assert found.result.value == pytest.approx(expected.result.value, abs=1e-7)
        assert found.result.best == pytest.approx(expected.result.best, abs=1e-7)


def test_a_search_of_public_belief_states_comes_to_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Average play: in the whole tree by its information sets, in a merged one by sets of bids."""
    name, text = "liars_dice:1x3", "search=cfr,iterations=8,depth=2,mode=average,random"
    tree, player = tree_of(name), parse_player(text)
    (expected,) = TreeJudge(tree, ProgressLine, warn).entries(text, player)
    for most in (0, pbs.MAX_HISTORIES):
        monkeypatch.setattr(pbs, "MAX_HISTORIES", most)
        walk = LargeJudge(large_of(name), ProgressLine, warn)
        (found,) = walk.entries(text, player)
        assert found.result.best == pytest.approx(expected.result.best, abs=1e-12)
        assert (found.search, found.error) == (expected.search, None)
    assert expected.result.nash_conv < evaluate(tree, tree.uniform()).nash_conv - 0.1


def test_a_network_of_phantom_tic_tac_toe(tmp_path: pathlib.Path) -> None:
    """The command, from end to end."""
    path = tmp_path / "net"
    save_network(path, "mlp:8", Game("phantom_ttt:classical"))
    done = run("exploit", "--json", "phantom_ttt:classical", path)
    assert (done.status, done.err) == (0, "")
    told = json.loads(done.out)
    assert (told["histories"], told["information_sets"]) == (19_934_533_171, 5_990_669)
    (policy,) = told["policies"]
    assert np.isclose(sum(policy["gains"]), policy["nash_conv"], atol=1e-7)
    assert 1 < policy["nash_conv"] < 2


def test_what_random_play_loses_in_dark_hex() -> None:
    """bench/dark_hex_ceiling.c, another program, has .954015 and .808590 of the games."""
    done = run("exploit", "--json", "dark_hex:3", "random")
    assert (done.status, done.err) == (0, "")
    (policy,) = json.loads(done.out)["policies"]
    value, (first, second) = policy["value"], policy["gains"]
    assert (1 + value + first) / 2 == pytest.approx(0.954015, abs=1e-6)
    assert (1 - value + second) / 2 == pytest.approx(0.808590, abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dark_hex:3", "cfr:10"], "dark_hex:3 is too large for solvers: 'cfr'"),
        (["dark_hex:3", "search=pc-pimc,random"], "dark_hex:3 is too large for searches: 'search"),
        (["dark_hex:4", "uniform"], "dark_hex:4 is too large to enumerate: it has more than 10,0"),
    ],
)
def test_one_line_says_what_is_too_large(arguments: list[str], said: str) -> None:
    done = run("exploit", *arguments)
    assert (done.status, done.out) == (1, "")
    assert said in done.error_line


def test_what_is_large_is_told_first(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    for name in ("leduc", "dark_hex:2"):
        assert open_large(Game(name), 1, 1 << 30, said.append) is None
    monkeypatch.setattr("stratkit.solve.large.MAX_HISTORIES", 1000)
    large = open_large(Game("leduc"), 1, 1 << 30, said.append)
    assert isinstance(large, LargeWalk)
    assert said == ["leduc: 1,939 histories; a policy takes minutes"]


def test_two_dice_of_five_faces_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    large = open_large(Game("liars_dice:2x5"), 1, 1 << 30, said.append)
    assert isinstance(large, LargeDice) and large.size == (471_858_991, 15_728_640)
    assert not said  # searches and best responses ask no network
    large.say_cost_of_network()
    assert "15,728,640 information sets; seconds of a small one, minutes of a large" in said[0]
    with pytest.raises(InputError, match=r"a policy takes 0\.5 GiB \(--memory\)"):
        open_large(large.game, 1, 1 << 20, said.append)


@pytest.mark.parametrize(
    ("game", "name", "iterations", "bound"),
    [("1x3", "cfr+", 40, 0.05), ("1x3", "dcfr", 40, 0.05), ("1x7", "dcfr", 4, 0.9)],
)
def test_dice_are_solved_without_a_tree_as_with_one(
    game: str, name: str, iterations: int, bound: float
) -> None:
    """1x7 has 14 bids: its walk has parts."""
    tree = tree_of(f"liars_dice:{game}")
    sets = DiceSets(tree.game)
    ours, other = DiceCFR(sets, EXPONENTS[name]), CFR(tree, EXPONENTS[name])
    for _ in range(iterations):
        ours.step()
        other.step()
    assert np.abs(on_tree(sets, tree, ours.solution()) - other.solution()).max() < 1e-9
    assert evaluate(tree, other.solution()).nash_conv < bound


def test_an_iteration_without_a_tree_is_interrupted_soon() -> None:
    """Of a fifth of a CPU second, by a signal that comes after .01. Regrets at the root change when
    all others of a player have, and averages of the highest bids at first."""
    solver = DiceCFR(DiceSets(Game("liars_dice:1x9")), EXPONENTS["cfr"])
    before = signal.signal(signal.SIGPROF, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_PROF, 0.01)
            solver.step()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert solver._average[-100_000:].any()
    assert not solver._regrets[: solver.sets.bids].any()


def test_a_solver_of_dice_tells_what_it_takes() -> None:
    said: list[str] = []
    large = LargeDice(Game("liars_dice:2x5"), 1, 2 << 30, said.append)
    large.open_solver("cfr+")
    assert said == ["liars_dice:2x5: cfr+ takes 1.4 GiB"]
    with pytest.raises(
        InputError, match="liars_dice:2x5 is too large for this solver, and not for cfr, .*: 'fp'"
    ):
        large.open_solver("fp")
    with pytest.raises(InputError, match=r"solvers: cfr takes 1\.4 GiB \(--memory\)"):
        LargeDice(large.game, 1, 1 << 29).open_solver("cfr")


def test_histories_are_counted() -> None:
    for name in ("kuhn", "leduc", "liars_dice:2x3", "dark_hex:2:classical"):
        tree = tree_of(name)
        assert histories_up_to(tree.game) == tree.histories
        assert histories_up_to(tree.game, tree.histories) == tree.histories
        assert histories_up_to(tree.game, 50) == 51


def test_memory_has_a_limit() -> None:
    done = run("exploit", "leduc", "uniform", "--memory", "1e-5")
    said = "leduc is too large to enumerate: it takes more than 1e-05 GiB (--memory)"
    assert (done.status, done.error_line) == (1, f"exploit: {said}")
    with pytest.raises(MemoryExceeded, match="leduc is too large .* more than 9.31e-06 GiB$"):
        LargeWalk(Game("leduc"), 1, 10_000, 2000).evaluate(None, ProgressLine)


def test_policies_that_meet_have_to_fit_into_memory() -> None:
    """Two of 24 choices, of 8 bytes each."""
    for size in (383, 384):
        keeping = Keeping(pairs=True, bytes=size)
        judge = TreeJudge(tree_of("kuhn"), ProgressLine, print, keeping=keeping)
        assert len([*judge.entries("uniform", None)]) == 1
        if size < 384:
            said = r"the first 2 policies of --pairs take .* GiB \(--memory\)$"
            with pytest.raises(InputError, match=said):
                list(judge.entries("cfr:2", ("cfr", 2)))
        else:
            assert len([*judge.entries("cfr:2", ("cfr", 2))]) == 1
            assert len([*judge.pairs()]) == 2
