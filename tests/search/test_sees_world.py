"""`sees=world`: a search's network sees the pieces of its world, and learns from games face up."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from learn.games import as_parts, episodes
from running import run
from search.shown import face_up
from search.slow_mcts import HashedBlueprint
from stratkit.arrays import Bytes
from stratkit.arrays import Float32s as Floats
from stratkit.engine import Batch, Game, begins_unsure, hidden_types, sample, worlds
from stratkit.engine.mcts import SearchTrees
from stratkit.engine.observation import CELLS, ENEMY_PUBLIC, PHASE
from stratkit.engine.stratego import NO_PIECE, TYPE, UNKNOWN
from stratkit.errors import InputError
from stratkit.learn.alphaze import AlphaZe
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.config import AlphaZeConfig
from stratkit.learn.data import make_batch, truths
from stratkit.nets import expand
from stratkit.nets.expansion import expand_in_torch
from stratkit.nets.features import features, features_in_torch, outcomes, outcomes_in_torch
from stratkit.search.beliefs import uniform_belief
from stratkit.search.decision import Root
from stratkit.search.pimc import PIMC, world_priors
from stratkit.search.side_state import SideState


def in_play(game: Game, actions: int = 30, seed: int = 1) -> Batch:
    """A state of play that random moves have led to, in 8 rows that differ."""
    batch, generator = Batch(game, 8), np.random.default_rng(seed)
    for _ in range(2 * game.shape[1] * game.shape[2] + actions):
        legal = batch.legal()
        chosen = [generator.choice(np.flatnonzero(row)) if row.any() else -1 for row in legal]
        batch.apply(np.array(chosen, np.int32))
        seen = batch.observe()
        actions -= int((seen[:, PHASE] == 0).all())
        if actions <= 0 and begins_unsure(seen, hidden_types(batch)).any():
            break
    return batch


def test_what_is_face_up_is_certain_and_the_rest_is_as_it_was() -> None:
    game = Game("mini", {"max_plies": 0})
    batch = in_play(game)
    seen, types = batch.observe(), hidden_types(batch)
    shown = batch.observe_face_up()
    assert np.array_equal(shown, face_up(seen, types))
    hidden = types != NO_PIECE
    assert hidden.any() and (seen[:, CELLS:][hidden] & TYPE == UNKNOWN).all()
    assert (shown[:, CELLS:][hidden] & TYPE == types[hidden]).all()
    assert (
        shown[:, CELLS:][hidden] & ~np.uint8(TYPE) == seen[:, CELLS:][hidden] & ~np.uint8(TYPE)
    ).all()
    before, after = (expand(torch.from_numpy(x), game.shape).numpy() for x in (seen, shown))
    others = np.ones(82, bool)
    others[ENEMY_PUBLIC] = False
    assert np.array_equal(before[:, others], after[:, others])
    enemy = after[:, ENEMY_PUBLIC].reshape(8, 12, -1)
    for row, square in np.argwhere(hidden):
        assert enemy[row, :, square].tolist() == np.eye(12)[types[row, square]].tolist()
    packed = torch.from_numpy(shown)
    assert torch.equal(expand(packed, game.shape), expand_in_torch(packed, game.shape, None))
    for ours, torchs in (
        (features(packed, game.shape), features_in_torch(packed, game.shape, None)),
        ((outcomes(packed, game.shape),), (outcomes_in_torch(packed, game.shape, None),)),
    ):
        for one, other in zip(ours, torchs, strict=True):
            torch.testing.assert_close(one, other)


class Recorded(HashedBlueprint):
    """Keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Bytes] = []

    def evaluate_distinct(
        self, observations: Bytes, legal: Bytes, values: bool = False
    ) -> tuple[Floats, Floats | None]:
        self.asked.append(observations.copy())
        return super().evaluate_distinct(observations, legal, values)


def root_of(batch: Batch, row: int = 0) -> Root:
    legal = batch.legal()[row]
    moves = []
    for piece in np.flatnonzero(legal):
        after = Batch.gathered([(batch, [row])])
        after.apply(np.array([piece], np.int32))
        moves += [(int(piece), int(to)) for to in np.flatnonzero(after.legal()[0])]
    state = SideState(batch, row, int(batch.actors()[row]), 5, 40)
    policy = np.full(len(moves), 1 / len(moves))
    return Root(state, moves, policy, (), batch.observe()[row].tobytes())


def between_plies(batch: Batch) -> int:
    """A row in which a side begins a move."""
    return int(np.flatnonzero(begins_unsure(batch.observe(), hidden_types(batch)))[0])


@pytest.mark.parametrize("sees", [False, True])
def test_all_that_a_search_asks_is_face_up_or_nothing_is(sees: bool) -> None:
    batch = in_play(Game("mini", {"max_plies": 0}))
    blueprint, root = Recorded(), root_of(batch, between_plies(batch))
    PIMC(3, 40, uniform_belief, actions=2, face_up=sees)([root], blueprint, 1)
    cells = np.concatenate(blueprint.asked)[:, CELLS:]
    enemies = (cells >> 4 > 0) & (cells & TYPE == UNKNOWN)
    lakes = cells == batch.observe()[0, CELLS:].max()
    assert (enemies & ~lakes).any() != sees


def test_it_knows_no_more_than_its_player() -> None:
    """Another truth behind the same view changes nothing."""
    batch = in_play(Game("mini", {"max_plies": 0}))
    row = between_plies(batch)
    search = PIMC(3, 40, uniform_belief, actions=2, face_up=True)
    others = worlds(batch, row, 4, 7)
    assert (hidden_types(others) != hidden_types(batch)[row]).any()
    found = [search([root_of(others, k)], Recorded(), 3)[0] for k in range(4)]
    for one in found[1:]:
        assert np.array_equal(one.policy, found[0].policy) and np.array_equal(one.q, found[0].q)


def test_priors_are_those_of_each_world() -> None:
    batch = in_play(Game("mini", {"max_plies": 0}))
    row = between_plies(batch)
    root, blueprint = root_of(batch, row), HashedBlueprint()
    drawn = worlds(batch, row, 2, 7)
    priors = world_priors(drawn, root, blueprint)
    assert priors.sum(1) == pytest.approx([1, 1]) and not np.allclose(priors[0], priors[1])
    packed = face_up(drawn.observe(), hidden_types(drawn))
    first = blueprint.evaluate_distinct(packed, drawn.legal())[0]
    for k in (0, 1):
        for piece in {move[0] for move in root.moves}:
            mine = [i for i, move in enumerate(root.moves) if move[0] == piece]
            assert priors[k, mine].sum() == pytest.approx(first[k, piece], abs=1e-6)


def test_the_learner_sees_the_truth() -> None:
    game, found = episodes("nano", 4)
    parts = as_parts(game, found)
    batch = make_batch(game, parts, BatchSpec(face_up=True))
    plain = make_batch(game, parts, BatchSpec())
    assert len(batch.action) == len(plain.action)
    types = np.concatenate([truths(game, part.episodes) for part in parts])
    seen = plain.observations[plain.view].numpy()
    assert np.array_equal(batch.observations[batch.view].numpy(), face_up(seen, types))


def test_trees_of_a_game_without_such_pieces_are_refused() -> None:
    with pytest.raises(ValueError, match="kuhn: nothing in its observations could be face up"):
        SearchTrees(Batch(Game("kuhn"), 1), 1, 10, face_up=True)


@pytest.mark.parametrize("name", ["dark_hex:3", "phantom_ttt", "hex:3"])
def test_stones_face_up_are_marked_as_hidden(name: str) -> None:
    """What is seen stays as it is. In the open game there is nothing else."""
    game = Game(name)
    batch, numbers = Batch(game, 40), np.arange(40, dtype=np.int64)
    for action in range(5):
        at = np.full(40, action, np.int32)
        batch.apply(sample(None, batch.legal(), 1, numbers, at)[0])
    batch = Batch.gathered([(batch, np.flatnonzero(batch.actors() >= 0))])
    seen, shown = batch.observe(), batch.observe_face_up()
    hidden = shown == 2
    assert hidden.any() == (name != "hex:3") and not hidden[:, :2].any()
    assert np.array_equal(np.where(hidden, 0, shown), seen)
    assert not hidden[:, 2::2].any()  # own stones are known
    after = Batch.gathered([(batch, np.arange(batch.size))])
    rows = np.flatnonzero(hidden.any(1))
    tried = np.full(batch.size, -1, np.int32)
    tried[rows] = [int(np.flatnonzero(shown[row, 3::2] == 2)[0]) for row in rows]
    after.apply(tried)  # and collides with a stone that was there
    assert not (after.returns()[rows] > 0).any()
    with pytest.raises(ValueError, match="kuhn: nothing in its observations could be face up"):
        Batch(Game("kuhn"), 1).observe_face_up()


def test_a_search_of_dark_hex_sees_its_world_and_the_learner_the_truth() -> None:
    game = Game("dark_hex:3")
    batch = Batch(game, 1)
    for cell in (4, 0, 1):
        batch.apply(np.array([cell], np.int32))
    legal = np.flatnonzero(batch.legal()[0])
    policy = np.full(len(legal), 1 / len(legal))
    root = Root(SideState(batch, 0, 1, 5, 3), [(int(a),) for a in legal], policy)
    blueprint = Recorded()
    PIMC(3, 20, uniform_belief, face_up=True)([root], blueprint, 1)
    assert (np.concatenate(blueprint.asked) == 2).any()
    game, found = episodes("dark_hex:3", 4)
    parts = as_parts(game, found)
    learned = make_batch(game, parts, BatchSpec(face_up=True))
    plain = make_batch(game, parts, BatchSpec())
    shown, seen = (b.observations[b.view].numpy() for b in (learned, plain))
    assert (shown == 2).any() and np.array_equal(np.where(shown == 2, 0, shown), seen)
    AlphaZe("mlp:8", game, AlphaZeConfig(actors="search=pimc,sees=world"), 1)


def test_bad_input() -> None:
    """One line each: no tree, no such game, in a match and in learning."""
    with pytest.raises(InputError, match="no pieces or stones to show face up"):
        AlphaZe("mlp", Game("kuhn"), AlphaZeConfig(actors="search=pimc,sees=world"), 1)
    for words, said in (
        (("match", "search=mmd,sees=world,barrage", "random", "--game", "mini"), "sees"),
        (("match", "sees=world,barrage", "random", "--game", "mini"), "sees"),
        (
            ("match", "search=pimc,sees=world,random", "random", "--game", "kuhn"),
            "sees=world: kuhn has no pieces or stones to show face up",
        ),
    ):
        done = run(*words, "-n", "2", "-o", "-")
        assert done.status and done.err.count("\n") == 1 and said in done.err, done.err
