"""The small games are OpenSpiel's: the same trees, chance, information sets and exploitability.

OpenSpiel knows nothing of us. Where it is not installed these tests are skipped.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from slow_tree import keys
from stratkit.engine import Batch, Game, Tree
from stratkit.engine.batch import CHANCE, OVER
from stratkit.solve.exploitability import evaluate

DARK_HEX = "dark_hex(board_size={},gameversion=adh,obstype=reveal-nothing)"
CLASSICAL = "dark_hex(board_size={},gameversion=cdh,obstype=reveal-nothing)"
# Our game, and OpenSpiel's. Its Leduc tells two cards of a rank apart unless it is told not to.
GAMES = {
    "kuhn": "kuhn_poker",
    "leduc": "leduc_poker(suit_isomorphism=True)",
    "liars_dice:1x2": "liars_dice(dice_sides=2)",
    "liars_dice:1x3": "liars_dice(dice_sides=3)",
    "dark_hex:2": DARK_HEX.format(2),
    "hex:2": "hex(board_size=2)",
}
# Too large to be enumerated in Python: games drawn at random.
PHANTOM = "phantom_ttt(gameversion={},obstype=reveal-nothing)"
LARGE = {
    "liars_dice:1x6": "liars_dice",
    "dark_hex:3": DARK_HEX.format(3),
    "phantom_ttt": PHANTOM.format("abrupt"),
    "phantom_ttt:classical": PHANTOM.format("classical"),
    "hex:3": "hex(board_size=3)",
    "hex:5": "hex(board_size=5)",
}
DRAWN = 200


@pytest.fixture(scope="module")
def pyspiel() -> Any:
    return pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")


@dataclass
class Both:
    """What was found while both games were played side by side: of each of our information states
    (player, what it saw and did before, what it sees) OpenSpiel's name, and the other way round;
    the probability that chance and a uniform opponent get there."""

    theirs: dict[Any, str] = field(default_factory=dict)
    ours: dict[tuple[int, str], Any] = field(default_factory=dict)
    weight: dict[Any, float] = field(default_factory=lambda: defaultdict(float))
    histories: int = 0

    def compare(
        self, batch: Batch, state: Any, memory: list[Any], reach: list[float]
    ) -> list[tuple[int, list[Any], list[float]]]:
        """Compares one history; its continuations: action, memory and reach of both players (by
        the other one and chance) after it."""
        self.histories += 1
        actor = int(batch.actors()[0])
        if state.is_terminal():
            assert actor == OVER
            assert batch.returns()[0].tolist() == pytest.approx(state.returns())
            return []
        assert actor == (CHANCE if state.is_chance_node() else state.current_player())
        legal = np.flatnonzero(batch.legal()[0]).tolist()
        assert legal == state.legal_actions()
        if actor == CHANCE:
            outcomes = dict(state.chance_outcomes())
            return [(a, memory, [r * outcomes[a] for r in reach]) for a in legal]
        seen = batch.observe()[0].tobytes()
        key = (actor, memory[actor], seen)
        name = state.information_state_string()
        assert self.theirs.setdefault(key, name) == name
        assert self.ours.setdefault((actor, name), key) == key
        self.weight[key] += reach[actor]
        after = []
        for action in legal:
            known, weights = list(memory), list(reach)
            known[actor] = (*memory[actor], (seen, action))
            weights[1 - actor] /= len(legal)
            after.append((action, known, weights))
        return after

    def walk(
        self, batch: Batch, state: Any, memory: list[Any], reach: list[float], depth: int = 100
    ) -> None:
        """The tree below a history, down to so many actions."""
        after = self.compare(batch, state, memory, reach)
        for action, known, weights in after if depth else ():
            below = Batch(batch.game, 1)
            below.copy_row(0, batch, 0)
            below.apply(np.array([action], np.int32))
            self.walk(below, state.child(action), known, weights, depth - 1)


@pytest.mark.parametrize("name", GAMES)
def test_the_trees_are_the_same(name: str, pyspiel: Any) -> None:
    """Who acts, what is legal, what is paid, what a player cannot tell apart, and how probable
    chance makes it."""
    game = Game(name)
    tree, both = Tree(game), Both()
    state = pyspiel.load_game(GAMES[name]).new_initial_state()
    both.walk(Batch(game, 1), state, [(), ()], [1.0, 1.0])
    assert both.histories == tree.histories
    weights = tree.weights(tree.reach(tree.uniform()))
    ours = dict(zip(keys(tree), weights.tolist(), strict=True))
    assert ours.keys() == both.theirs.keys()
    for key, weight in both.weight.items():
        assert ours[key] == pytest.approx(weight, abs=1e-12)


@pytest.mark.parametrize("name", LARGE)
def test_games_at_random_are_the_same(name: str, pyspiel: Any) -> None:
    game, both, dice = Game(name), Both(), random.Random(1)
    theirs = pyspiel.load_game(LARGE[name])
    for _ in range(DRAWN):
        batch, state = Batch(game, 1), theirs.new_initial_state()
        memory: list[Any] = [(), ()]
        while after := both.compare(batch, state, memory, [1.0, 1.0]):
            action, memory, _ = dice.choice(after)
            batch.apply(np.array([action], np.int32))
            state.apply_action(action)
    assert both.histories > 5 * DRAWN


@pytest.mark.parametrize(
    ("name", "fourth", "states"),
    [
        # What a player tried, and whether the enemy was there.
        ("phantom_ttt", 648 * 8, 1 + 1 + 9 + 18 + 144),
        # Who fails tries again: then fewer cells are left to it.
        ("phantom_ttt:classical", 576 * 8 + 72 * 7, 1 + 1 + 9 + 9 + 9 + 72 + 3 * 72),
    ],
)
def test_the_first_four_tries_of_phantom_ttt_are_the_same(
    name: str, fourth: int, states: int, pyspiel: Any
) -> None:
    both, state = Both(), pyspiel.load_game(LARGE[name]).new_initial_state()
    both.walk(Batch(Game(name), 1), state, [(), ()], [1.0, 1.0], 4)
    assert both.histories == 1 + 9 + 9 * 9 + 9 * 9 * 8 + fourth
    assert len(both.theirs) == states


@pytest.mark.parametrize("name", GAMES)
def test_uniform_play_is_as_exploitable(name: str, pyspiel: Any) -> None:
    from open_spiel.python import policy
    from open_spiel.python.algorithms import exploitability

    theirs = pyspiel.load_game(GAMES[name])
    wanted = exploitability.nash_conv(theirs, policy.UniformRandomPolicy(theirs))
    tree = Tree(Game(name))
    assert evaluate(tree, tree.uniform()).nash_conv == pytest.approx(wanted, abs=1e-9)


def test_the_classical_rule_of_dark_hex_is_the_same(pyspiel: Any) -> None:
    """Who acts, what is legal and who wins; not what is known: OpenSpiel's information states count
    the enemy's failed tries, which nobody sees."""
    theirs, rng, again = pyspiel.load_game(CLASSICAL.format(3)), np.random.default_rng(1), 0
    for _ in range(50):
        state, batch, before = theirs.new_initial_state(), Batch(Game("dark_hex:3:classical"), 1), 1
        while not state.is_terminal():
            player = state.current_player()
            again += player == before
            before = player
            assert batch.actors()[0] == player
            assert np.flatnonzero(batch.legal()[0]).tolist() == state.legal_actions()
            action = int(rng.choice(state.legal_actions()))
            state.apply_action(action)
            batch.apply(np.array([action], np.int32))
        assert batch.actors()[0] == OVER and batch.returns()[0].tolist() == state.returns()
    assert again > 50


def test_the_whole_tree_of_classical_dark_hex_is_the_same(pyspiel: Any) -> None:
    """On 2 x 2 cells every history: who acts, what is legal, who wins."""
    game = Game("dark_hex:2:classical")

    def walk(batch: Batch, state: Any) -> int:
        if state.is_terminal():
            assert batch.actors()[0] == OVER
            assert batch.returns()[0].tolist() == state.returns()
            return 1
        assert batch.actors()[0] == state.current_player()
        legal, n = state.legal_actions(), 1
        assert np.flatnonzero(batch.legal()[0]).tolist() == legal
        for action in legal:
            below = Batch(game, 1)
            below.copy_row(0, batch, 0)
            below.apply(np.array([action], np.int32))
            n += walk(below, state.child(action))
        return n

    theirs = pyspiel.load_game(CLASSICAL.format(2))
    assert walk(Batch(game, 1), theirs.new_initial_state()) == Tree(game).histories
