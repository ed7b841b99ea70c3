"""Sampled searches against exact ones, in games with a state of each information set."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from search.tabular import TabularBlueprint, uniform_values
from search.test_step import after, searched
from solve.small_games import dense, tree_of
from stratkit.engine import Batch, Tree
from stratkit.nets.evaluator import MANY
from stratkit.players.searching.options import EVALUATED
from stratkit.search import mmd
from stratkit.search.beliefs import uniform_belief
from stratkit.search.decision import Root, SearchResult
from stratkit.search.mmd import MMDSearch
from stratkit.search.side_state import SideState
from stratkit.solve.exploitability import evaluate
from stratkit.threads import use_threads

END = 50  # plies: all games are over


def roots_of(tree: Tree, policy: np.ndarray) -> list[Root]:
    batch, numbers = tree.states()
    choices, legal = dense(tree, policy), tree.legal()

    def root(i: int) -> Root:
        actions = np.flatnonzero(legal[i])
        state = SideState(batch, i, int(tree.players[i]), i, int(numbers[i]))
        return Root(state, [(int(action),) for action in actions], choices[i, actions])

    return [root(i) for i in range(len(tree))]


def asked(tree: Tree, n: int, eta: float, depth: int = END) -> MMDSearch:
    return MMDSearch(1, depth, eta, 0.0, uniform_belief, n, unit=tree.game.unit)


def flat(found: list[SearchResult]) -> np.ndarray:
    return np.concatenate([one.policy for one in found])


@pytest.mark.parametrize("name", ["kuhn", "leduc", "liars_dice:1x3"])
def test_a_state_of_every_information_set(name: str) -> None:
    tree = tree_of(name)
    batch, numbers = tree.states()
    np.testing.assert_array_equal(batch.observe(), tree.observations())
    np.testing.assert_array_equal(batch.legal(), tree.legal())
    np.testing.assert_array_equal(batch.actors(), tree.players)
    assert numbers.min() == 2  # two cards, or two rolls


@pytest.mark.parametrize("steps", [20, 200])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_256_worlds_come_to_what_all_of_them_do(name: str, steps: int) -> None:
    tree = tree_of(name)
    policy, unit = after(tree, steps).solution(), tree.game.unit
    q = uniform_values(tree, policy) / unit if name == "kuhn" else None
    blueprint, roots = TabularBlueprint(tree, policy), roots_of(tree, policy)
    found = [asked(tree, 256, 1.0)(roots, blueprint, seed) for seed in range(4)]
    mean = np.mean([flat(one) for one in found], axis=0)
    nash_conv = evaluate(tree, tree.flat(dense(tree, mean))).nash_conv / unit
    if q is not None:
        exact = searched(tree, policy, q, 1.0, 0.0)
        assert nash_conv == pytest.approx(evaluate(tree, exact).nash_conv, abs=0.02)
        sampled = np.concatenate([one.q for one in found[0]])
        error = np.concatenate([one.error for one in found[0]])
        assert (abs(sampled - q) < 4.5 * error + 0.01).all() and error.max() < 0.15
    else:  # of the same policies with the exact figure of a page of figures, .0906
        assert steps != 200 or nash_conv == pytest.approx(0.0906, abs=0.02)


def test_one_call_of_the_blueprint_a_ply_serves_all_decisions() -> None:
    tree = tree_of("leduc")
    policy = tree.uniform()
    roots = roots_of(tree, policy)
    blueprint = TabularBlueprint(tree, policy)
    asked(tree, 4, 1.0)(roots, blueprint, 1)
    assert blueprint.calls <= 10


def test_company_does_not_change_what_is_found_and_the_seed_does() -> None:
    tree = tree_of("kuhn")
    policy = after(tree, 5).solution()
    roots, blueprint = roots_of(tree, policy), TabularBlueprint(tree, policy)
    together = asked(tree, 8, 1.0)(roots, blueprint, 3)
    alone = [asked(tree, 8, 1.0)([root], blueprint, 3)[0] for root in roots]
    np.testing.assert_array_equal(flat(together), flat(alone))
    assert abs(flat(asked(tree, 8, 1.0)(roots, blueprint, 4)) - flat(alone)).max() > 0.01


def test_all_moves_meet_the_same_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fold in Kuhn poker costs what it costs in every world; the other move's value is that of
    the worlds that were drawn."""
    tree = tree_of("kuhn")
    roots = roots_of(tree, tree.uniform())
    drawn: list[Batch] = []
    real = Root.draw

    def spy(root: Root, n: int, seed: int) -> Batch:
        drawn.append(real(root, n, seed))
        return drawn[-1]

    monkeypatch.setattr(Root, "draw", spy)
    asked(tree, 16, 1.0)(roots[:1], TabularBlueprint(tree, tree.uniform()), 1)
    assert len(drawn) == 1 and drawn[0].size == 16


class Slow(TabularBlueprint):
    """A machine that needs `each` seconds for an evaluation, by its own clock; after half a second
    it is `slower`."""

    now, each, slower = 0.0, 0.0, 1.0

    def monotonic(self) -> float:
        return self.now

    def evaluate_distinct(self, *arguments, **more):  # type: ignore[no-untyped-def]
        rows = len(arguments[0])
        self.now += self.each * rows * (self.slower if self.now > 0.5 else 1.0)
        return super().evaluate_distinct(*arguments, **more)


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views are evaluated as often as rollouts come to them."""
    monkeypatch.setattr(mmd, "remembered", lambda blueprint: blueprint)


@pytest.mark.usefixtures("forgetful")
@pytest.mark.parametrize("slower", [1.0, 2.0])
@pytest.mark.parametrize("each", [1e-5, 1e-3, 3e-3])
def test_a_time_limit_is_kept_within_a_fifth(
    each: float, slower: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tree_of("leduc")
    policy = tree.uniform()
    roots, blueprint = roots_of(tree, policy)[:3], Slow(tree, policy)
    blueprint.each, blueprint.slower = each, slower
    monkeypatch.setattr(mmd, "time", blueprint)
    limited = MMDSearch(1, END, 1.0, 0.0, uniform_belief, 4096, unit=13.0, seconds=1 / 3)
    found = limited(roots, blueprint, 1)
    (done,) = {one.worlds for one in found}
    assert done == 4096 if each == 1e-5 else 8 < done < 4096 and 0.9 < blueprint.now < 1.1


def test_the_time_of_a_belief_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tree_of("leduc")
    policy = tree.uniform()
    roots, blueprint = roots_of(tree, policy)[:3], Slow(tree, policy)
    blueprint.each, blueprint.slower = 1e-4, 1.0
    monkeypatch.setattr(mmd, "time", blueprint)
    calls = []

    def slow(roots, parts, *more):  # type: ignore[no-untyped-def]
        blueprint.now += 0.1
        calls.append([len(part) for part in parts])
        return uniform_belief(roots, parts, *more)

    limited = MMDSearch(1, END, 1.0, 0.0, slow, 4096, unit=13.0, seconds=1 / 3)
    (done,) = {one.worlds for one in limited(roots, blueprint, 1)}
    assert 0.8 < blueprint.now < 1.2 and 3 < len(calls) < 12
    assert min(min(sizes) for sizes in calls) >= mmd.BLOCK < done < 4096


@pytest.mark.parametrize("threads", [1, 2])
def test_worlds_of_the_next_part_are_drawn_while_others_play(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And those of a search are the same, as many as it may have."""
    tree = tree_of("leduc")
    policy = tree.uniform()
    monkeypatch.setattr(mmd, "search_threads", lambda: threads)
    monkeypatch.setattr("stratkit.nets.threads.search_threads", lambda: threads)
    roots, blueprint = roots_of(tree, policy)[:1], TabularBlueprint(tree, policy)
    monkeypatch.setattr(blueprint, "by_threads", True, raising=False)
    calls: list[tuple[range, bool]] = []
    playing = threading.Event()
    plays = mmd.play_out_by_threads

    def play(*arguments, **more):  # type: ignore[no-untyped-def]
        playing.set()
        out = plays(*arguments, **more)
        playing.clear()
        return out

    def belief(roots, parts, *more):  # type: ignore[no-untyped-def]
        calls.append((parts[0], playing.is_set()))
        return uniform_belief(roots, parts, *more)

    monkeypatch.setattr(mmd, "play_out_by_threads", play)
    limited = MMDSearch(1, END, 1.0, 0.0, belief, 700, unit=13.0, seconds=600)
    (found,) = limited(roots, blueprint, 1)
    assert found.worlds == 700
    drawn = [world for part, _ in calls for world in part]
    assert drawn == list(range(700))
    assert any(ahead for _, ahead in calls) == (threads > 1) and not calls[0][1]
    free = MMDSearch(1, END, 1.0, 0.0, uniform_belief, 700, unit=13.0)
    np.testing.assert_allclose(flat([found]), flat(free(roots, blueprint, 1)), atol=1e-12)


def test_a_time_limit_that_is_not_reached_changes_nothing() -> None:
    tree = tree_of("leduc")
    policy = tree.uniform()
    roots, blueprint = roots_of(tree, policy), TabularBlueprint(tree, policy)
    limited = MMDSearch(1, END, 1.0, 0.0, uniform_belief, 64, unit=13.0, seconds=1e-6)
    assert {one.worlds for one in limited(roots[:3], blueprint, 1)} == {mmd.FIRST_WORLDS}
    longer = MMDSearch(1, END, 1.0, 0.0, uniform_belief, 64, unit=13.0, seconds=600)
    whole = longer(roots[:3], blueprint, 1)
    assert {one.worlds for one in whole} == {64}
    free = asked(tree, 64, 1.0)(roots[:3], blueprint, 1)
    np.testing.assert_allclose(flat(whole), flat(free), atol=1e-12)


class Counting(TabularBlueprint):
    """Keeps the views whose values it was asked for, and how many decisions at a time."""

    def evaluate_distinct(self, *arguments, **more):  # type: ignore[no-untyped-def]
        self.most = max(getattr(self, "most", 0), len(arguments[0]))
        self.rows = getattr(self, "rows", 0) + len(arguments[0])
        return super().evaluate_distinct(*arguments, **more)

    def values(self, observations: np.ndarray) -> np.ndarray:
        self.asked = [*getattr(self, "asked", []), *map(bytes, observations)]
        return np.float32(observations @ np.arange(observations.shape[1]) % 7 / 7)


def test_a_view_is_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tree_of("leduc")
    policy = tree.uniform()
    once, again = Counting(tree, policy), Counting(tree, policy)
    search = asked(tree, 64, 1.0, depth=2)
    found = search(roots_of(tree, policy), once, 1)
    monkeypatch.setattr(mmd, "remembered", lambda blueprint: blueprint)
    wanted = search(roots_of(tree, policy), again, 1)
    np.testing.assert_array_equal(flat(found), flat(wanted))
    assert set(once.asked) == set(again.asked) and len(again.asked) > 5 * len(once.asked)
    assert len(once.asked) == len(set(once.asked)) and flat(found).std() > 0.1
    assert once.rows <= len(tree) and again.rows > 5 * once.rows


@pytest.mark.usefixtures("forgetful")
@pytest.mark.parametrize("threads", [1, 3])
def test_a_clock_leaves_no_more_rollouts_at_a_time_than_an_evaluator_has_rows(threads: int) -> None:
    """Whatever the threads of the process: these may not share the blueprint."""
    assert mmd.MOST_ROWS == EVALUATED == MANY
    use_threads(threads)
    tree = tree_of("leduc")
    policy = tree.uniform()
    blueprint = Counting(tree, policy)
    search = MMDSearch(1, END, 1.0, 0.0, uniform_belief, 4096, unit=13.0, seconds=600)
    found = search(roots_of(tree, policy)[:2], blueprint, 1)
    assert {one.worlds for one in found} == {4096} and 100 < blueprint.most <= mmd.MOST_ROWS


@pytest.mark.usefixtures("forgetful")
def test_a_clock_spends_little_on_what_comes_to_nothing() -> None:
    """And finds the same: two thousandths of a probability may differ, of several decisions that
    end at different times."""
    tree = tree_of("leduc")
    policy = tree.uniform()
    few, all_ = Counting(tree, policy), Counting(tree, policy)
    limited = MMDSearch(1, END, 1000.0, 0.0, uniform_belief, 512, unit=13.0, seconds=600)
    free = MMDSearch(1, END, 1000.0, 0.0, uniform_belief, 512, unit=13.0)
    roots = roots_of(tree, policy)[::9]
    found, wanted = limited(roots, few, 1), free(roots, all_, 1)
    np.testing.assert_allclose(flat(found), flat(wanted), atol=2e-3)
    assert few.rows < 0.9 * all_.rows
    ended = [one.worlds for one in found]
    assert min(ended) < 64 and max(ended) == 512 and {one.worlds for one in wanted} == {512}
    assert all(np.isfinite(one.q).all() and np.isfinite(one.error).all() for one in found)


def test_decisions_with_few_worlds_end_before_those_with_many() -> None:
    """Of three moves there are fewer worlds than of two, and some decisions are clear at once."""
    tree = tree_of("leduc")
    policy = tree.uniform()
    roots = roots_of(tree, policy)[::9]
    assert {len(root.moves) for root in roots} == {2, 3}
    limited = MMDSearch(600, END, 1000.0, 0.0, uniform_belief, unit=13.0, seconds=600)
    for some in (roots, roots[::-1], roots[:1], *([one, two] for one in roots for two in roots)):
        found = limited(some, TabularBlueprint(tree, policy), 1)
        assert all(
            one.worlds <= 600 // len(root.moves) for one, root in zip(found, some, strict=True)
        )
    assert len({one.worlds for one in limited(roots, TabularBlueprint(tree, policy), 1)}) > 3
