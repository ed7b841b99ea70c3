"""Players who search simultaneous turns: exact on matrices, consistent and blind in Diplomacy."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from running import ROOT, run
from stratkit.arrays import Bytes, Float32s
from stratkit.engine import Batch, Game, sample
from stratkit.errors import InputError
from stratkit.games.heuristic import UniformBlueprint
from stratkit.games.stratego.heuristic import StrategoHeuristic
from stratkit.players.factory import open_player
from stratkit.players.player import Explainer, PolicyPlayer, Views
from stratkit.players.registry import parse_player
from stratkit.players.testtime.explain import text
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.pipeline import PostprocessedPlayer
from stratkit.search import turn
from stratkit.search.decision import Root, SearchResult

MATRIX = f"matrix:{ROOT / 'formats/samples/modified_rps.matrix'}"
TINY = Game("diplomacy:tiny")


def player(text: str, game: Game, seed: int = 1) -> PolicyPlayer:
    found = open_player(parse_player(text), game, seed, 8).player
    assert isinstance(found, PolicyPlayer)
    return found


def play(game: Game, actions: list[int]) -> Batch:
    batch = Batch(game, 1)
    for action in actions:
        batch.apply(np.array([action], np.int32))
    return batch


def random_action(batch: Batch, seed: int, number: int) -> int:
    zero, numbers = np.zeros(1, np.int64), np.array([number], np.int32)
    return int(sample(None, batch.legal(), seed, zero, numbers)[0][0])


@pytest.mark.parametrize("name", ["diplomacy:tiny", "diplomacy:fva", "nano", MATRIX])
def test_a_turn_goes_back_to_where_it_began(name: str) -> None:
    game = Game(name)
    batch, begun, turn, rewound = Batch(game, 1), Batch(game, 1), 0, 0
    for number in range(150):
        if batch.turns()[0] != turn:
            turn = int(batch.turns()[0])
            begun.copy_row(0, batch, 0)
        back = Views.of_one(batch, 0, number).state(0).turn() if batch.actors()[0] >= 0 else None
        if turn < 0:
            assert back is None
            break
        assert back is not None
        assert back.observe().tobytes() == begun.observe().tobytes()
        assert (back.legal() == begun.legal()).all() and back.turns()[0] == turn
        rewound += back.observe().tobytes() != batch.observe().tobytes()
        batch.apply(np.array([random_action(batch, 3, number)], np.int32))
    assert rewound


def test_exploit_finds_the_equilibrium_of_a_matrix() -> None:
    rm = "search=rm,iterations=1024,depth=0,random"
    done = run("exploit", "--json", "--repeats", 2, MATRIX, "uniform", rm)
    uniform, searched = (p["exploitability"] for p in json.loads(done.out)["policies"])
    assert searched < 0.15 * uniform
    refused = run("exploit", "kuhn", rm)
    assert refused.status == 2
    assert refused.error_line == "exploit: search=rm: kuhn has no simultaneous turns"


def test_search_is_hardly_exploitable_where_its_blueprint_is() -> None:
    """Four provinces, a spring and a fall: the blueprint's exploitability is .55."""
    game = f"diplomacy:{ROOT / 'examples/diplomacy/four.map'}"
    rm = "search=rm,candidates=16,samples=100,games=4,depth=9,iterations=128,random"
    done = run("exploit", "--json", "--repeats", 2, game, "uniform", rm)
    uniform, searched = (p["exploitability"] for p in json.loads(done.out)["policies"])
    assert uniform == pytest.approx(0.55) and searched < 0.1


def whole_choices(one: PolicyPlayer, game: Game, begin: list[int]) -> dict[tuple[int, ...], float]:
    """What the side that acts after `begin` may choose in this turn, with its probability."""
    first = play(game, begin)
    side, turn = first.actors()[0], first.turns()[0]
    found, open_ = {}, [((), 1.0)]
    while open_:
        actions, p = open_.pop()
        batch = play(game, [*begin, *actions])
        if batch.turns()[0] != turn or batch.actors()[0] != side:
            found[actions] = p
            continue
        policy = one.policy(Views.of_one(batch, 0, len(begin) + len(actions)))[0]
        assert policy.sum() == pytest.approx(1) and not policy[batch.legal()[0] == 0].any()
        open_ += [((*actions, int(a)), p * float(policy[a])) for a in np.flatnonzero(policy)]
    return found


@pytest.mark.parametrize(
    ("game", "text"),
    [
        (TINY, "search=rm,candidates=9,samples=150,iterations=64,depth=9,games=2,random"),
        (Game("nano"), "search=rm,candidates=4,samples=99,iterations=64,depth=6,heuristic"),
    ],
)
def test_a_side_draws_from_one_mixture_whatever_the_other_chose(game: Game, text: str) -> None:
    one, most = player(text, game), 9 if game is TINY else 4
    first = whole_choices(one, game, [])
    assert 1 < len(first) <= most and sum(first.values()) == pytest.approx(1)
    answers = [whole_choices(one, game, list(begin)) for begin in list(first)[:2]]
    assert answers[0] == answers[1] and sum(answers[0].values()) == pytest.approx(1)
    assert answers[0] != first  # what Stratego's sides see looks alike
    assert whole_choices(player(text, game, seed=2), game, []) != first


def test_play_goes_on_by_the_blueprint_and_alone_views_have_no_turns() -> None:
    game = Game("nano")
    one = player("search=rm,candidates=4,heuristic", game)
    blueprint = StrategoHeuristic(game)
    batch = play(game, [0, 1, 2, 0, 1, 2])
    views = Views.of_one(batch, 0, 6)
    plain = PostprocessedPlayer(blueprint, game, 1, PostProcessing())
    assert one.policy(views) == pytest.approx(plain.policy(views))
    begin = Views.of_one(Batch(game, 1), 0, 0)
    bare = Views(
        *(getattr(begin, n) for n in ("games", "sides", "numbers", "legal", "observations"))
    )
    with pytest.raises(InputError, match="no search: these views have no turns"):
        one.policy(bare)


def test_behind_a_choice_of_no_candidate_there_is_no_target() -> None:
    """One candidate is found; where the turn has begun otherwise, the blueprint goes on."""
    one = player("search=rm,candidates=1,samples=1,iterations=4,depth=0,random", TINY)
    begin = Batch(TINY, 1)
    policy = one.policy(Views.of_one(begin, 0, 0))[0]
    legal = np.flatnonzero(begin.legal()[0])
    assert (policy > 0).sum() == 1 and len(legal) > 1
    searched = 0
    for action in legal.tolist():
        decision = one.act(Views.of_one(play(TINY, [action]), 0, 1))
        assert decision.targets is not None and decision.root_value is not None
        found = bool(decision.targets.count[0])
        assert found == (policy[action] > 0) == (not np.isnan(decision.root_value[0]))
        searched += found
    assert searched == 1


class SlowToKeep(OrderedDict[bytes, turn.Solved]):
    """Other threads come in between."""

    def move_to_end(self, key: bytes, last: bool = True) -> None:
        time.sleep(0.001)
        super().move_to_end(key, last)


def test_a_turn_is_solved_once_for_each_seed_as_long_as_it_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For both sides, and wherever in the turn they are asked. Who was not asked for longest is
    forgotten."""
    solved: list[tuple[int, bytes]] = []

    def solve(
        self: turn.TurnSearch, begun: Batch, blueprint: UniformBlueprint, seed: int
    ) -> turn.Solved:
        solved.append((seed, begun.observe()[0].tobytes()))
        return whole(self, begun, blueprint, seed)

    whole = turn.TurnSearch._solve
    monkeypatch.setattr(turn.TurnSearch, "_solve", solve)
    monkeypatch.setattr(turn, "KEPT", 2)
    searched, blueprint = turn.TurnSearch(3, 0, 8, 4, games=1, depth=0), UniformBlueprint()

    def ask(seed: int, *begin: int) -> SearchResult | None:
        batch = play(Game(MATRIX), list(begin))
        seen = batch.observe()[0].tobytes()
        state = Views.of_one(batch, 0, len(begin)).state(0)
        root = Root(state, [(0,), (1,), (2,)], np.full(3, 1 / 3), (), seen)
        return searched([root], blueprint, seed)[0]

    first, again, other = ask(1), ask(1), ask(1, 2)
    assert first is not None and again is not None and other is not None
    assert len(solved) == 1 and first.policy.tolist() == again.policy.tolist()
    ask(2)
    assert len(solved) == len(set(solved)) == 2  # by another seed
    ask(1)
    ask(3)
    ask(1)
    assert len(solved) == 3  # seed 2 is forgotten: 1 was asked since
    ask(2)
    ask(3)
    assert len(solved) == 5 and solved[3] == solved[1] and solved[4] == solved[2]


class Leaning(UniformBlueprint):
    """Plays the first legal action, or the last one."""

    def __init__(self, last: bool) -> None:
        self.last = last

    def policy(self, observations: Bytes, legal: Bytes) -> Float32s:
        at = legal.shape[1] - 1 - legal[:, ::-1].argmax(1) if self.last else legal.argmax(1)
        return np.eye(legal.shape[1], dtype=np.float32)[at]


def test_what_no_candidate_makes_has_no_value() -> None:
    """And nobody knows the error of the others' values; the target's value is of these alone."""
    one = player("search=rm,candidates=1,samples=1,iterations=4,depth=0,random", TINY)
    assert isinstance(one, Explainer)
    (explained,) = one.explain(Views.of_one(Batch(TINY, 1), 0, 0))
    found = explained.search
    assert found is not None and np.isnan(found.error).all()
    np.testing.assert_array_equal(np.isnan(found.q), found.policy == 0)
    assert np.isfinite(found.search_target[1])
    shown = text(explained, TINY)
    assert shown.count("  q ") == 1 < (~np.isfinite(found.q)).sum()
    assert "+-" not in shown and "nan" not in shown


def test_other_weights_solve_the_turns_that_begin_later() -> None:
    """A game goes on with a turn as it has begun it: what was chosen then need be no candidate
    now, and learning refuses a choice of no candidate."""
    searched, old, new = (
        turn.TurnSearch(1, 0, 1, 2, games=1, depth=0),
        Leaning(False),
        Leaning(True),
    )

    def chosen(game: int, blueprint: Leaning, *begin: int) -> int | None:
        batch = play(TINY, list(begin))
        actions = [(action,) for action in np.flatnonzero(batch.legal()[0]).tolist()]
        state, seen = Views.of_one(batch, game, len(begin)).state(0), batch.observe()[0].tobytes()
        root = Root(state, actions, np.full(len(actions), 1 / len(actions)), (), seen)
        result = searched([root], blueprint, 1)[0]
        return None if result is None else actions[int(result.policy.argmax())][0]

    first = chosen(0, old)
    assert first is not None and chosen(1, old) == chosen(1, new) == first
    searched.forget()
    last = chosen(2, new)
    assert last is not None and last != first and chosen(2, new, first) is None
    assert chosen(0, new, first) is not None and chosen(0, new, last) is None
    assert chosen(1, new, first) is not None and chosen(3, new) == last


def test_threads_share_what_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in games with programs, which are played side by side; it is forgotten as soon as others
    come."""
    monkeypatch.setattr(turn, "KEPT", 1)
    batch = Batch(Game(MATRIX), 1)
    state = Views.of_one(batch, 0, 0).state(0)
    root = Root(state, [(0,), (1,), (2,)], np.full(3, 1 / 3), (), batch.observe()[0].tobytes())
    searched = turn.TurnSearch(3, 0, 8, 1, games=1, depth=0, _solved=SlowToKeep())
    blueprint = UniformBlueprint()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda seed: searched([root], blueprint, seed), range(24)))
    assert all(result is not None for (result,) in found)
