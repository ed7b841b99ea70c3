"""Re-solving of endgames against exact truth: hands, and subgames that reach the end."""

from __future__ import annotations

import io

import numpy as np
import pytest

from running import run
from stratkit.arrays import Bytes, Float64s, Int32s, Int64s
from stratkit.engine import (
    Batch,
    Game,
    PublicTree,
    Subgames,
    hidden_types,
    replay_many,
    uniform,
    worlds,
)
from stratkit.engine.observation import observation_dtype
from stratkit.errors import UsageError
from stratkit.games.heuristic import UniformBlueprint
from stratkit.players.factory import open_player
from stratkit.players.player import Explainer, Views
from stratkit.players.registry import parse_player
from stratkit.players.searching.options import SearchOptions
from stratkit.players.searching.stage import SearchStage
from stratkit.players.testtime.explain import text
from stratkit.search.beliefs import NetworkBelief, uniform_belief
from stratkit.search.decision import Root
from stratkit.search.endgame import EndgameSearch, hands
from stratkit.search.side_state import SideState
from stratkit.search.subgame import CFRD
from stratkit.storage.episodes import EpisodeReader


def played(game: Game, actions: int, seed: int) -> Batch | None:
    """A game of random actions, so many; None if it is over before."""
    batch, rng = Batch(game, 1), np.random.default_rng(seed)
    for _ in range(actions):
        legal = np.flatnonzero(batch.legal()[0])
        if not len(legal):
            return None
        batch.apply(np.array([rng.choice(legal)], np.int32))
    return batch if batch.actors()[0] >= 0 else None


def root_of(batch: Batch) -> Root:
    side = int(batch.actors()[0])
    moves = batch.moves(0, side)
    return Root(
        SideState(batch, 0, side, 0, 0),
        moves,
        np.full(len(moves), 1 / len(moves)),
        seen=batch.observe()[0].tobytes(),
    )


def test_hands_are_those_of_the_worlds() -> None:
    """Every assignment is found among many worlds, and no other."""
    compared = 0
    for seed in range(40):
        batch = played(Game("mini"), 16 + 2 * 30, seed)
        if batch is None:
            continue
        seen = batch.observe().view(observation_dtype(36))[0, 0]
        found = hands(seen["cells"], seen["enemy_unrevealed"].tolist(), True, 60)
        if found is None:
            continue
        drawn = hidden_types(worlds(batch, 0, 1500, seed))
        assert {row.tobytes() for row in drawn} == {row.tobytes() for row in found}
        assert len(found) == len({row.tobytes() for row in found})
        compared += len(found)
    assert compared > 30


@pytest.fixture(scope="module")
def tree() -> PublicTree:
    return PublicTree(Game("nano"))


def test_two_plies_before_the_end_it_is_exact(tree: PublicTree) -> None:
    """The value of the subgame is that of its public belief state, which CFR-D solves, with every
    hand as likely as the others."""
    search = EndgameSearch(100, eta=0, tau=0, belief=uniform_belief, own=6, min_probability=0)
    compared, uneven = 0, 0
    sets = {
        (int(who), seen.tobytes()): int(node)
        for who, seen, node in zip(tree.set_players, tree.packed, tree.set_nodes, strict=True)
    }
    for seed in range(14):
        batch = played(tree.game, 6 + 2 * 6, seed)
        if batch is None:
            continue
        root = root_of(batch)
        node = sets[root.side, root.seen]
        own_hands = search.hands(root, 1)
        assert own_hands is not None
        seen = batch.observe().view(observation_dtype(12))[0, 0]
        other = hands(seen["cells"], seen["enemy_unrevealed"].tolist(), True, 100)
        assert other is not None
        game = search.subgame(root, own_hands, other, 1)
        game.set_policy(UniformBlueprint().evaluate(game.views, game.legal)[0], 0.0)
        assert not len(game.leaves)
        own = int(game.own.sets.max()) + 1
        ranges = [slice(tree.hand[node, p], tree.hand[node + 1, p]) for p in (0, 1)]
        numbers = [tree.number[p][ranges[p]] for p in (0, 1)]
        sizes = own, game.pairs // own
        if [len(x) for x in numbers] != list(sizes[:: 1 - 2 * root.side]):
            uneven += 1
            continue
        beliefs = []
        for p in (0, 1):
            belief = np.zeros((1, tree.game.hands))
            belief[0, numbers[p]] = 1 / len(numbers[p])
            beliefs.append(belief)
        solver = CFRD(Subgames(tree, np.array([node], np.int32), 0), tuple(beliefs))
        solver.solve(400)
        exact = float(np.nansum(solver.values(root.side) * beliefs[root.side]))
        policy, worth = game.solve(np.empty(0, np.float32), 500, 500.0, 500.0)
        assert policy @ worth / own == pytest.approx(exact, abs=0.01), seed
        compared += 1
    assert compared > 10 and uneven == 0


def test_it_is_for_boards() -> None:
    asked = SearchOptions(search="endgame")
    with pytest.raises(UsageError, match="is for Stratego on boards, not for moves:nano"):
        SearchStage(Game("moves:nano"), UniformBlueprint(), asked, 1)


def test_a_hand_that_is_there_twice_is_twice_as_likely() -> None:
    batch = played(Game("nano"), 6 + 2 * 2, 5)
    assert batch is not None
    root = root_of(batch)
    search = EndgameSearch(100, eta=0, tau=0, belief=uniform_belief, own=6, min_probability=0)
    own = search.hands(root, 1)
    other = np.unique(hidden_types(worlds(batch, 0, 40, 1)), axis=0)
    assert own is not None and len(other) > 1

    def total(*rows: int) -> np.ndarray:
        """q, times the number of hands."""
        game = search.subgame(root, own, other[list(rows)], 1)
        game.set_policy(UniformBlueprint().evaluate(game.views, game.legal)[0], 0.0)
        values = (game.leaves.sum(1) % 17 / 17).astype(np.float32)
        return game.solve(values, 1, 0.0, 0.0)[1] * len(rows)

    assert np.ptp(total(0) - total(1)) > 0.01
    assert total(0, 0, 1) == pytest.approx(2 * total(0) + total(1), abs=1e-5)


def test_own_hands_are_drawn_apart_from_the_worlds_of_a_belief(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A belief network draws the enemy's pieces by numbers of the same decision."""
    batch = played(Game("nano"), 6 + 2 * 2, 5)
    assert batch is not None
    root, asked = root_of(batch), list[dict[tuple[int, int, int], float]]()

    def noted(seed: int, games: Int64s, numbers: Int32s, stream: int) -> Float64s:
        drawn = uniform(seed, games, numbers, stream)
        keys = zip(games.tolist(), numbers.tolist(), [int(stream)] * len(games), strict=True)
        asked.append(dict(zip(keys, drawn.tolist(), strict=True)))
        return drawn

    def noted_rows(seed: int, games: Int64s, numbers: Int32s, width: int, stream: int) -> Float64s:
        each = (numbers[:, None] * width + np.arange(width)).astype(np.int32).ravel()
        return noted(seed, np.repeat(games, width), each, stream).reshape(-1, width)

    class Evaluator:
        def draw(self, views: Bytes, of: Int64s, u: Float64s) -> Bytes:
            return hidden_types(worlds(batch, 0, len(u), 1))

    monkeypatch.setattr("stratkit.search.endgame.uniform", noted)
    monkeypatch.setattr("stratkit.search.beliefs.uniform_rows", noted_rows)
    belief = NetworkBelief(Evaluator())  # type: ignore[arg-type]
    search = EndgameSearch(10_000, eta=1, tau=0, belief=belief)
    assert search([root], UniformBlueprint(), 1)[0] is not None
    hands_by, worlds_by = asked
    assert hands_by and worlds_by and not hands_by.keys() & worlds_by.keys()


def test_an_explanation_has_no_error_where_none_is_known() -> None:
    batch = played(Game("nano"), 6 + 2 * 2, 5)
    assert batch is not None
    player = open_player(parse_player("search=endgame,hands=10000,random"), batch.game, 1, 8).player
    assert isinstance(player, Explainer)
    (turn,) = player.explain(Views.of_one(batch, 0, 10))
    assert turn.search is not None and np.isfinite(turn.search.q).all()
    shown = text(turn, batch.game)
    assert "  q " in shown and "+-" not in shown and "nan" not in shown


def test_what_it_leaves_alone_has_no_target() -> None:
    """Nor a value; searched decisions have both."""
    keys, game = "search=endgame,hands=60", Game("mini")
    asked = ("--game", "mini", "--policy", "heuristic", "-n", 3, "--max-actions", 160)
    done = run("selfplay", *asked, "--actors", keys, "--seed", 1)
    assert done.status == 0 and done.error_line.startswith("selfplay: search=endgame leaves decis")
    games = list(EpisodeReader(io.BytesIO(done.data), "games"))
    played = replay_many(game, [(b"", one.actions) for one in games])
    at, few, many = 0, 0, 0
    for one in games:
        assert one.targets is not None and one.root_value is not None
        for t in range(len(one.actions)):
            seen = played.observations[at + t].view(observation_dtype(36))[0]
            if seen["phase"] or seen["stage"] or played.legal[at + t].sum() < 2:
                continue
            sides = (("own_unrevealed", False), ("enemy_unrevealed", True))
            left = [hands(seen["cells"], seen[of].tolist(), enemy, 60) for of, enemy in sides]
            alone = any(some is None for some in left)
            assert (one.targets.count[t] == 0) == np.isnan(one.root_value[t]) == alone
            few, many = few + (not alone), many + alone
        at += len(one.actions)
    assert few > 10 and many > 10


def test_an_explanation_claims_no_search_where_there_was_none() -> None:
    batch = played(Game("mini"), 16, 1)
    assert batch is not None
    player = open_player(parse_player("search=endgame,heuristic"), batch.game, 1, 8).player
    assert isinstance(player, Explainer)
    (turn,) = player.explain(Views.of_one(batch, 0, 16))
    assert turn.search is None and [name for name, _ in turn.stages] == ["network", "search"]
    np.testing.assert_array_equal(turn.stages[0][1], turn.stages[1][1])
