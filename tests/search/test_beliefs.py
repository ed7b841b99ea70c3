"""Beliefs against all setups that agree with what a player has seen, each played through."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from nets.test_belief_net import network as belief_network
from players.sharp import sharp_player
from stratkit.engine import Batch, Game, hidden_types, known_actions, sample
from stratkit.engine.stratego import NO_PIECE, PLACING_ORDER, Position, placements, variant
from stratkit.errors import InputError
from stratkit.nets.evaluator import Evaluator
from stratkit.search.beliefs import (
    BELIEFS,
    FLOOR,
    ImportanceResampling,
    NetworkBelief,
    effective,
    log_likelihoods,
    past,
    tempered,
    uniform_belief,
)
from stratkit.search.decision import Root
from stratkit.search.mmd import WorldPool
from stratkit.search.side_state import SideState

NANO = variant("nano")


def played(seed: int, plies: int) -> np.ndarray | None:
    """The actions of a random game of so many plies, if it lasts so long."""
    game = Game("nano")
    batch, actions = Batch(game, 1), []
    for number in range(2 * (NANO.pieces + plies)):
        if batch.actors()[0] < 0:
            return None
        keys = np.zeros(1, np.int64), np.full(1, number, np.int32)
        chosen = sample(None, batch.legal(), seed, *keys)[0]
        batch.apply(chosen)
        actions.append(int(chosen[0]))
    return np.array(actions, np.int32) if batch.actors()[0] >= 0 else None


def setups() -> list[np.ndarray]:
    """Every setup of one side."""
    pieces = [t for t in PLACING_ORDER for _ in range(NANO.counts[t])]
    whole = [*pieces, *[NO_PIECE] * (NANO.zone - len(pieces))]
    return [np.array(s, np.uint8) for s in sorted(set(itertools.permutations(whole)))]


def consistent(actions: np.ndarray, side: int, network: Evaluator) -> dict[bytes, np.ndarray]:
    """Of each of the enemy's setups in which the side would have seen the same all game long: the
    logarithms of the probabilities of its placements and of its moves, action by action; and
    those of a uniform policy. [2, k]"""
    game, pieces = Game("nano"), NANO.pieces
    first = pieces * (1 - side)
    found = {}
    for setup in setups():
        line = actions.copy()
        line[first : first + pieces] = placements(NANO, setup)
        truth, other, odds = Batch(game, 1), Batch(game, 1), []
        for true, action in zip(actions, line, strict=True):
            one, two = (
                b.observe() if b.actors()[0] == side else b.actors() for b in (truth, other)
            )
            legal = other.legal()
            if not np.array_equal(one, two) or not legal[0, action]:
                break
            if other.actors()[0] == 1 - side:
                policy = float(network.policy(other.observe(), legal)[0, action])
                odds.append((policy, 1 / legal.sum()))
            truth.apply(np.array([true], np.int32))
            other.apply(np.array([action], np.int32))
        else:
            if np.array_equal(truth.observe(), other.observe()):
                found[Position.from_bytes(NANO, other.save(0)).cells.tobytes()] = np.log(odds).T
    return found


@pytest.mark.parametrize(("seed", "plies"), [(3, 3), (4, 4), (8, 5), (9, 6)])
def test_likelihoods_are_exact(seed: int, plies: int) -> None:
    game, side = Game("nano"), plies % 2
    network = sharp_player(game, "plain").evaluator
    for s in range(seed, 99):
        actions = played(s, plies)
        wanted = {} if actions is None else consistent(actions, side, network)
        if len(wanted) > 1:
            break
    assert actions is not None
    truth = Batch(game, 1)
    for action in actions:
        truth.apply(np.array([action], np.int32))
    history = known_actions(game, actions, side)
    assert history is not None and (history < 0).any()
    root = decision(truth, actions, side)
    drawn = root.draw(200, 1)
    one = past(drawn, root)
    assert one is not None
    cells = cells_of(drawn)
    assert set(cells) == set(wanted) and len(wanted) > 1
    pieces = NANO.pieces
    parts = [(True, 0, slice(0, pieces)), (False, 99, slice(pieces, None))]
    parts += [(False, 1, slice(-2, None)), (True, 99, slice(None))]
    for deployment, last, part in parts:
        (found,) = log_likelihoods([one], network, deployment, last, floor=0.0)
        exact = [wanted[one][0, part].sum() for one in cells]
        np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-5)
        if part.start == 0:
            assert np.ptp(found) > 0.01
    for floor in (0.05, 0.5):
        (found,) = log_likelihoods([one], network, True, 99, floor)
        exact = [probably(wanted[one], pieces, np.array([1 - floor, floor])) for one in cells]
        np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-5)


def probably(logs: np.ndarray, pieces: int, shares: np.ndarray) -> float:
    """Logarithm of the probability of a setup and its moves, [2, k], by an enemy who places all of
    it by the first policy or by the second one, with the probabilities `shares`, and chooses
    between them anew for each action that it plays."""
    setup = np.log(shares @ np.exp(logs[:, :pieces].sum(1)))
    return float(setup + np.log(shares @ np.exp(logs[:, pieces:])).sum())


def decision(truth: Batch, actions: np.ndarray | None, side: int) -> Root:
    number = 0 if actions is None else len(actions)
    state = SideState(truth, 0, side, 0, number, actions)
    return Root(state, [(0,), (1,)], np.full(2, 0.5))


def a_game() -> tuple[Game, Evaluator, np.ndarray, Batch]:
    """Nano, a network of it, a game in four plies, and the state that it has come to."""
    actions = next(a for s in range(4, 99) if (a := played(s, 4)) is not None)
    game = Game("nano")
    truth = Batch(game, 1)
    for action in actions:
        truth.apply(np.array([action], np.int32))
    return game, sharp_player(game, "plain").evaluator, actions, truth


def cells_of(batch: Batch) -> list[bytes]:
    rows = range(batch.size)
    return [Position.from_bytes(NANO, batch.save(row)).cells.tobytes() for row in rows]


@pytest.mark.parametrize("size", [3000, 40])
def test_worlds_are_drawn_by_their_weight(size: int) -> None:
    """All at once, or a part and then others, as a search does by the clock."""
    _, network, actions, truth = a_game()
    wanted = consistent(actions, 0, network)
    root, n = decision(truth, actions, 0), 3000
    drawn = root.draw(100, 1)
    told = NetworkBelief(belief_network("nano"))
    views = np.repeat(truth.observe(), drawn.size, 0)
    log_q = told.evaluator.log_probabilities(views, hidden_types(drawn))
    learned = dict(zip(cells_of(drawn), log_q, strict=True))
    assert learned.keys() == wanted.keys() and np.ptp(log_q) > 0.5
    product = ImportanceResampling(deployment=True, last=0, base=told)
    for belief, part, more in (
        (BELIEFS["uniform"], slice(0, 0), 0),
        (BELIEFS["setups"], slice(0, NANO.pieces), 0),
        (product, slice(0, NANO.pieces), 1),
    ):
        search = WorldPool([root], [n], belief, network, 1)
        for count in range(size, n + 1, size):
            (drawn,) = search.at_least([count])
        (believed,) = search.samples
        assert believed.worlds.size == n == drawn.size
        cells = cells_of(drawn)
        odds = np.array([np.exp(more * learned[one]) for one in wanted])
        if part.stop:
            shares = np.array([1 - FLOOR, FLOOR])
            odds *= np.exp([probably(wanted[one][:, part], part.stop, shares) for one in wanted])
        for one, p in zip(wanted, odds / odds.sum(), strict=True):
            found = cells.count(one) / n
            assert abs(found - p) < 4.5 * np.sqrt(p * (1 - p) / n) + 0.003
        assert believed.effective <= believed.candidates
    for belief in (BELIEFS["uniform"], told):
        whole, some, rest = (
            cells_of(belief([root], [part], network, 1)[0].worlds)
            for part in (range(60), range(25), range(25, 60))
        )
        assert some + rest == whole and len(set(rest)) > 1 and some != rest[:25]
    nobody = decision(truth, None, 0)
    found = BELIEFS["policy"]([nobody, root], [range(5), range(6)], network, 1)
    assert [one.candidates for one in found] == [5, 24]  # without a history: uniform


def test_each_part_weighs_other_worlds_and_begins_elsewhere() -> None:
    """Where all weights are equal, a part keeps every fourth one: the first, or the second, ..."""
    _, network, actions, truth = a_game()
    root = decision(truth, actions, 0)
    asked: list[range] = []

    def noted(roots, parts, *more):  # type: ignore[no-untyped-def]
        asked.extend(parts)
        return uniform_belief(roots, parts, *more)

    belief, size, begins = ImportanceResampling(deployment=False, last=0, base=noted), 16, set()
    every = cells_of(root.draw(4 * size * 12, 1))
    for first in range(0, 12 * size, size):
        (believed,) = belief([root], [range(first, first + size)], network, 1)
        some, kept = every[4 * first : 4 * (first + size)], cells_of(believed.worlds)
        begins |= {begin for begin in range(4) if some[begin::4] == kept}
    assert asked == [range(at, at + 4 * size) for at in range(0, 4 * 12 * size, 4 * size)]
    assert begins == {0, 1, 2, 3}


def test_weights_are_flattened_where_few_would_count() -> None:
    assert effective(np.ones(7)) == pytest.approx(7)
    sharp = np.array([0.0, -50.0, -60.0, -70.0] * 10)
    assert effective(tempered(sharp)) == pytest.approx(10, rel=0.1)
    sharper = np.array([0.0] + [-50.0] * 39)
    assert effective(tempered(sharper)) == pytest.approx(10, rel=0.01)
    mild = np.linspace(0, 1, 40)
    np.testing.assert_allclose(tempered(mild), np.exp(mild) / np.exp(mild).sum())


def test_a_history_of_another_game_is_refused() -> None:
    game, network, actions, truth = a_game()
    history = known_actions(game, actions, 0)
    assert history is not None
    history[2 * NANO.pieces] = (history[2 * NANO.pieces] + 5) % NANO.squares
    with pytest.raises(InputError, match="no legal game"):
        BELIEFS["policy"]([decision(truth, history, 0)], [range(4)], network, 1)
