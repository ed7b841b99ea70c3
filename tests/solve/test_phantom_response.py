"""Best responses in phantom games, by views, against the whole tree and a slow twin."""

from __future__ import annotations

import numpy as np
import pytest

from solve.small_games import tree_of
from stratkit.engine import Batch, Game, Tree
from stratkit.engine.phantom import PhantomResponses, PhantomViews, view_numbers
from stratkit.solve.exploitability import evaluate

SMALL = ("dark_hex:2", "dark_hex:2:classical")
LARGE = ("dark_hex:3", "dark_hex:3:classical", "phantom_ttt", "phantom_ttt:classical")
Policies = tuple[np.ndarray, np.ndarray]


def drawn(views: PhantomViews, seed: int, power: float = 4) -> Policies:
    """A random policy of either player."""
    both = np.random.default_rng(seed).random((2, *views.legal.shape)) ** power * views.legal
    both /= np.maximum(both.sum(2, keepdims=True), 1e-300)
    return both[0], both[1]


def responses(game: Game, policies: Policies, threads: int = 2) -> PhantomResponses:
    found = PhantomResponses(game, policies, threads)
    while found.step(500):
        pass
    return found


def flat(tree: Tree, views: PhantomViews, policies: Policies) -> np.ndarray:
    """The policy of a tree's information sets."""
    seen = {
        (player, row.tobytes()): policies[player][number]
        for player in (0, 1)
        for number, row in enumerate(views.observations(player))
    }
    rows = zip(tree.players, tree.observations(), strict=True)
    return tree.flat(np.array([seen[int(player), row.tobytes()] for player, row in rows]))


@pytest.mark.parametrize("name", SMALL)
def test_it_is_the_whole_trees(name: str) -> None:
    tree, views = tree_of(name), PhantomViews(Game(name))
    for policies in ((views.uniform(), views.uniform()), drawn(views, 1), drawn(views, 2)):
        expected = evaluate(tree, flat(tree, views, policies))
        found = responses(views.game, policies)
        assert found.best == pytest.approx(expected.best, abs=1e-9)
        assert found.values == pytest.approx((expected.value, -expected.value), abs=1e-9)
        assert found.infosets == tuple((tree.players == player).sum() for player in (0, 1))
        assert found.histories == tree.histories


@pytest.mark.parametrize("name", SMALL)
def test_a_fault_in_one_view_shows(name: str) -> None:
    """Two probabilities of player 1's first try change places: the value is another one."""
    views = PhantomViews(Game(name))
    policies = drawn(views, 5, power=1)
    right = responses(views.game, policies).values
    policies[1][0, :2] = policies[1][0, 1::-1].copy()
    assert abs(responses(views.game, policies).values[0] - right[0]) > 1e-3


@pytest.mark.parametrize("name", LARGE)
def test_views_are_what_players_see(name: str) -> None:
    """In random games of the engine."""
    views = PhantomViews(Game(name))
    batch, rng = Batch(views.game, 200), np.random.default_rng(7)
    sees = [
        {row.tobytes(): number for number, row in enumerate(views.observations(player))}
        for player in (0, 1)
    ]
    for _ in range(17):
        running = np.flatnonzero(batch.actors() >= 0)
        actors, legal, seen = batch.actors(), batch.legal(), batch.observe()
        for row in running:
            number = sees[actors[row]][seen[row].tobytes()]
            assert (views.legal[number] == legal[row]).all()
        actions = np.where(batch.actors() >= 0, (legal * rng.random(legal.shape)).argmax(1), -1)
        batch.apply(actions.astype(np.int32))


def number_of(seen: np.ndarray) -> np.ndarray:
    """Numbers of the views that packed observations show."""
    digits = seen[:, 2::2].astype(np.int64) + 2 * seen[:, 3::2]
    return np.asarray(digits @ 3 ** np.arange(digits.shape[1]))


def opponent_plays(batch: Batch, player: int, reach: np.ndarray, policies: Policies) -> tuple:
    """Histories in which the other player has made all its tries, and of each where it comes from
    and its reach."""
    origin = np.arange(batch.size)
    while (others := batch.actors() == 1 - player).any():
        rows, actions = np.nonzero(batch.legal())
        chance = policies[1 - player][number_of(batch.observe())[rows], actions]
        waits = np.flatnonzero(~others)
        goes = others[rows] & (chance > 0)
        rows, actions, chance = rows[goes], actions[goes], chance[goes]
        both = np.concatenate([waits, rows])
        reach = np.concatenate([reach[waits], reach[rows] * chance])
        origin, batch = origin[both], Batch.gathered([(batch, both)])
        batch.apply(np.concatenate([np.full(len(waits), -1), actions]).astype(np.int32))
    return batch, origin, reach


def slow_best(game: Game, player: int, policies: Policies) -> float:
    """Level by level: all histories that the opponent's policy allows after so many tries of the
    player, and the player's information sets, which its own tries and what it sees tell apart."""
    batch, _, reach = opponent_plays(Batch(game, 1), player, np.ones(1), policies)
    sets = np.zeros(batch.size, np.int64)
    levels: list[tuple[np.ndarray, np.ndarray]] = []  # of each action: its set, what ends there
    children: list[np.ndarray] = []  # of each set: the action that it comes from
    while True:
        rows, actions = np.nonzero(batch.legal())
        owners, which = np.unique(sets[rows] * 9 + actions, return_inverse=True)
        after = Batch.gathered([(batch, rows)])
        after.apply(actions.astype(np.int32))
        after, origin, reach = opponent_plays(after, player, reach[rows], policies)
        gains = np.zeros(len(owners))
        np.add.at(gains, which[origin], reach * after.returns()[:, player])
        levels.append((owners // 9, gains))
        on = np.flatnonzero(after.actors() == player)
        if not len(on):
            break
        batch, reach = Batch.gathered([(after, on)]), reach[on]
        keys = np.stack([which[origin][on], number_of(batch.observe())], 1)
        kinds, sets = np.unique(keys, axis=0, return_inverse=True)
        sets = sets.ravel()
        children.append(kinds[:, 0])
    children.append(np.zeros(0, np.int64))
    worth = np.zeros(0)
    for (owners, gains), comes in zip(reversed(levels), reversed(children), strict=True):
        np.add.at(gains, comes, worth)
        worth = np.full(owners.max() + 1, -np.inf)
        np.maximum.at(worth, owners, gains)
    return float(worth[0])


@pytest.mark.parametrize(("name", "player"), list(zip(LARGE, (0, 1, 1, 0), strict=True)))
def test_it_is_that_of_a_slow_twin(name: str, player: int) -> None:
    """Against an opponent who knows one try at most views, and two at its first."""
    views = PhantomViews(Game(name))
    policies = drawn(views, 11)
    sparse = policies[1 - player]
    sparse[:] = sparse == sparse.max(1, keepdims=True)
    sparse *= views.legal
    sparse[0] = [0.3, 0, 0.7, 0, 0, 0, 0, 0, 0]
    found = responses(views.game, policies)
    assert found.best[player] == pytest.approx(slow_best(views.game, player, policies), abs=1e-9)


def test_against_uniform_play_the_first_player_of_dark_hex_always_wins() -> None:
    """By the classical rule; the sizes are the published ones."""
    views = PhantomViews(Game("dark_hex:3:classical"))
    found = responses(views.game, (views.uniform(), views.uniform()))
    assert found.best[0] == pytest.approx(1, abs=1e-9)
    assert found.histories == 19_119_486_979  # 19.12 thousand million
    assert sum(found.infosets) == 6_072_917  # 6.07 million


def test_other_games_have_no_views() -> None:
    for name in ("kuhn", "hex:3", "dark_hex:4"):
        assert view_numbers(Game(name)) == 0
        with pytest.raises(ValueError, match="game must be a phantom game of at most 9 cells"):
            PhantomViews(Game(name))
    views = PhantomViews(Game("dark_hex:2"))
    unfinished = PhantomResponses(views.game, (views.uniform(), views.uniform()), 1)
    with pytest.raises(ValueError, match="24 pieces are left|36 pieces are left"):
        _ = unfinished.best
