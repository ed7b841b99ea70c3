"""R-NaD where the truth is known: its step by a slow twin, Figure 3, and the exact gates."""

from __future__ import annotations

import math
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from examples import replicator
from examples.replicator import MATCHING_PENNIES, Iteration, iterate, nash_conv, orbit
from running import ROOT as PROJECT
from solve.slow_tree import Node, grow, reaches, spelt_out, value
from solve.small_games import tree_of
from stratkit.engine import Game
from stratkit.solve.exploitability import evaluate
from stratkit.solve.tabular import RNaDSettings, TabularRNaD, log_softmax, on_views

START = np.array([0.999, 0.001])


@pytest.fixture(scope="module")
def figure3() -> list[Iteration]:
    return iterate(MATCHING_PENNIES, (START, START), 5)


def test_figure_3(figure3: list[Iteration]) -> None:
    fixed = [
        ([0.8969, 0.1031], [0.2628, 0.7372]),
        ([0.4716, 0.5284], [0.3862, 0.6138]),
        ([0.4766, 0.5234], [0.5010, 0.4990]),
    ]
    for iteration, expected in zip(figure3, fixed, strict=False):
        for found, policy in zip(iteration.fixed, expected, strict=True):
            assert found == pytest.approx(policy, abs=1e-4)
    gains = [nash_conv(MATCHING_PENNIES, iteration.fixed) for iteration in figure3]
    assert gains == pytest.approx([1.268, 0.284, 0.049, 0.0105, 0.0023], abs=5e-4)
    assert gains[-1] < 0.003


def test_the_lyapunov_function_falls(figure3: list[Iteration]) -> None:
    for before, iteration in zip([None, *figure3], figure3, strict=False):
        h = iteration.lyapunov
        assert h[-1] == 0 < h[0]
        large = h[:-1] > 1e-12  # below, it is the last point that is not quite the fixed one
        assert large.sum() > 150
        assert (np.diff(h)[large] < 0).all()
        if before:
            assert np.array_equal(iteration.regularisation, before.fixed)


def test_figure_3_is_drawn(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "figure3.png"
    script = [sys.executable, PROJECT / "examples" / "figure3.py", picture]
    environment = {"PYTHONPATH": str(PROJECT)}
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("[0.8969, 0.1031]  [0.2628, 0.7372]  NashConv 1.2682\n")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_game_that_is_not_square() -> None:
    """Three rows, two columns, the last row never worth playing: value 0 by [1/2, 1/2, 0]."""
    payoffs = np.array([[1.0, -1.0], [-1.0, 1.0], [-2.0, -2.0]])
    start = np.full(3, 1 / 3), np.array([0.9, 0.1])
    last = iterate(payoffs, start, 4, tolerance=1e-6)[-1].fixed
    assert nash_conv(payoffs, last) < 0.01
    assert last[0] == pytest.approx([0.5, 0.5, 0], abs=0.01)


def test_without_regularisation_it_goes_round_for_ever() -> None:
    """The product of all probabilities stays what it was: an orbit, and no way inwards."""
    start = np.array([0.8, 0.2])
    points = orbit(MATCHING_PENNIES, (start, start), 2000)
    products = points[0].prod(1) * points[1].prod(1)
    assert products == pytest.approx(0.16**2, rel=1e-3)
    gains = [nash_conv(MATCHING_PENNIES, point) for point in zip(*points, strict=True)]
    assert min(gains) > 0.7
    turns = np.diff(points[0][:, 0] > 0.5).sum()
    assert turns > 100
    inwards = orbit(MATCHING_PENNIES, (start, start), 300, eta=0.2)
    fixed = iterate(MATCHING_PENNIES, (start, start), 1, eta=0.2)[0].fixed
    assert inwards[0][-1] == pytest.approx(fixed[0], abs=1e-3)


@pytest.mark.parametrize(("eta", "least", "most"), [(0.0, 0.05, 1.0), (0.2, 0.0, 0.001)])
def test_kuhn_with_and_without_regularisation(eta: float, least: float, most: float) -> None:
    tree = tree_of("kuhn")
    learner = TabularRNaD(tree, RNaDSettings(eta=eta, beta=4.0))
    gains = []
    for step in range(6000):
        learner.step()
        if step >= 5000 and step % 50 == 0:
            gains.append(evaluate(tree, learner.solution()).nash_conv)
    assert least <= np.mean(gains) <= most


def test_cycling_is_drawn(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "cycling.png"
    script = [sys.executable, PROJECT / "examples" / "cycling.py", picture]
    environment = {"PYTHONPATH": str(PROJECT)}
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=True)
    assert "Kuhn, eta 0: NashConv of the last half 0.0851, max 0.1297\n" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_no_fixed_point_without_regularisation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicator, "MOST_STEPS", 1000)
    with pytest.raises(ValueError, match="no fixed point within 1000 steps"):
        iterate(MATCHING_PENNIES, (START, START), 1, eta=0)


def test_advantages_are_those_of_the_regularised_game() -> None:
    """Q - sum pi Q by recursion over histories, every logarithm written out."""
    tree, root, eta, alpha = tree_of("kuhn"), grow(Game("kuhn")), 0.3, 0.25
    rng = np.random.default_rng(2)
    learner = TabularRNaD(tree, RNaDSettings(eta=eta))
    log_pi, log_reg, log_old = (log_softmax(tree, rng.normal(size=24)) for _ in range(3))
    learner._regularisation, learner._previous = log_reg, log_old
    found = spelt_out(tree, learner._advantage(log_pi, alpha))
    pi, reg, old = (spelt_out(tree, np.exp(x)) for x in (log_pi, log_reg, log_old))

    def ratio(node: Node, a: int) -> float:
        wanted = reg[node.key][a] ** alpha * old[node.key][a] ** (1 - alpha)
        return math.log(pi[node.key][a] / wanted)

    def charge(node: Node) -> float:
        """The regularisation, as it counts for player 0."""
        if node.key is None:
            return 0.0
        kl = sum(p * ratio(node, a) for a, p in pi[node.key].items())
        return eta * kl * (1 if node.actor else -1)

    met = list(reaches(root, pi))
    for key, row in found.items():
        here = [(node, p) for node, p, _ in met if node.key == key]
        total = sum(p for _, p in here)
        sign = -1 if key[0] else 1
        q = {
            a: sum(sign * p * value(node.children[a], pi, charge) for node, p in here) / total
            - eta * ratio(here[0][0], a)
            for a in row
        }
        mean = sum(pi[key][a] * q[a] for a in q)
        assert row == pytest.approx({a: q[a] - mean for a in q}, abs=1e-9)


def learned(game: str, steps: int, settings: RNaDSettings) -> list[float]:
    """NashConv of the target after every hundredth of the steps."""
    tree = tree_of(game)
    learner = TabularRNaD(tree, settings)
    curve = []
    for step in range(steps):
        learner.step()
        if (step + 1) % (steps // 100) == 0:
            curve.append(evaluate(tree, learner.solution()).nash_conv)
    return curve


def test_where_all_sets_look_different_views_change_nothing() -> None:
    tree = tree_of("kuhn")
    learner, other = TabularRNaD(tree), on_views(tree)
    for _ in range(50):
        learner.step()
        other.step()
    np.testing.assert_array_equal(other.solution(), learner.solution())


def test_sets_that_look_alike_move_by_the_mean_of_their_forces() -> None:
    tree = tree_of("nano")
    _, _, kinds = tree.distinct_views()
    learner = on_views(tree)
    for _ in range(3):
        before = learner.logits.copy()
        log_pi = log_softmax(tree, before)
        alpha = min(1.0, 2 * learner.iteration / learner.settings.size)
        force = learner._force(learner._advantage(log_pi, alpha))
        learner.step()
        moved = learner.logits - before
        deploying = np.flatnonzero(np.bincount(kinds)[kinds] > 1)
        pairs = [np.flatnonzero(kinds == kind) for kind in np.unique(kinds[deploying])]
        assert len(pairs) == 10  # both sides deploy in turn and see only their own pieces
        for pair in pairs:
            one, other = (slice(*tree.first[k : k + 2]) for k in pair)
            assert tree.mine[one][0] != tree.mine[other][0]
            assert moved[one].tolist() == moved[other].tolist()
            mean = (force[one] + force[other]) / 2
            assert (np.sign(moved[one]) == np.sign(mean)).all()


def test_kuhn_by_exact_rnad() -> None:
    curve = learned("kuhn", 8000, RNaDSettings(beta=8))
    assert max(curve[-5:]) < 0.001


def test_leduc_by_exact_rnad() -> None:
    curve = learned("leduc", 12_000, RNaDSettings(beta=8))
    assert max(curve[-5:]) < 0.10


def test_beta_sets_the_floor() -> None:
    """No probability can fall far below the one at which its logit is blocked."""
    curve = learned("kuhn", 5000, RNaDSettings(beta=2))
    assert 0.011 < curve[-1] < 0.014


def test_without_regularisation_it_does_not_converge() -> None:
    curve = learned("kuhn", 4000, RNaDSettings(eta=0, beta=4))
    assert np.mean(curve[-50:]) > 0.05


def test_the_schedule() -> None:
    """The regularisation policy becomes the target's on the last step of an iteration."""
    learner = TabularRNaD(tree_of("kuhn"), RNaDSettings(size=3, target_rate=0.5))
    uniform = learner._regularisation
    for _ in range(2):
        learner.step()
    assert learner._regularisation is uniform
    learner.step()
    assert learner._previous is uniform
    assert np.exp(learner._regularisation) == pytest.approx(learner.solution())
    learner.step()
    assert np.abs(np.exp(learner._regularisation) - learner.solution()).max() > 0
