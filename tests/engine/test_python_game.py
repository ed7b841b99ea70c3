"""Games in Python: the engine plays them as it plays those in C, and notices what cannot be."""

from __future__ import annotations

import copy
import pickle
import sys

import numpy as np
import pytest

import python_games
from stratkit.engine import Batch, Game, Tree, has_worlds, replay, worlds
from stratkit.engine import game as games_of_engine
from stratkit.engine.batch import OVER
from stratkit.engine.best_response import BestResponse
from stratkit.errors import InputError, StratkitError
from stratkit.solve.exploitability import evaluate
from test_small_games import play, sights

TWINS = {"py:python_games:Kuhn": "kuhn", "py:python_games:PhantomTTT": "phantom_ttt"}


@pytest.mark.parametrize("name", TWINS)
def test_a_game_in_python_is_its_twin_in_c(name: str) -> None:
    """Equal games by equal seeds, chance's actions included, and the same is seen on the way."""
    n = 300 if "Kuhn" in name else 20
    actions, returns = play(name, n, 3)
    twins, twin_returns = play(TWINS[name], n, 3)
    assert actions == twins and returns.tolist() == twin_returns.tolist()
    for one in actions[:10]:
        assert sights(name, one) == sights(TWINS[name], one)
    whole = np.array(actions[0], np.int32)
    ours, theirs = replay(Game(name), whole), replay(Game(TWINS[name]), whole)
    assert ours.observations.tobytes() == theirs.observations.tobytes()


def test_its_tree_is_its_twins() -> None:
    ours, twin = Tree(Game("py:python_games:Kuhn")), Tree(Game("kuhn"))
    assert (ours.histories, len(ours)) == (twin.histories, len(twin)) == (58, 12)
    assert ours.observations().tobytes() == twin.observations().tobytes()
    assert ours.states()[1].tolist() == twin.states()[1].tolist()
    np.testing.assert_array_equal(ours.world_values, twin.world_values)
    found, known = evaluate(ours, ours.uniform()), evaluate(twin, twin.uniform())
    assert found.nash_conv == known.nash_conv


def test_its_worlds_are_seen_alike() -> None:
    game = Game("py:python_games:Kuhn")
    batch = Batch(game, 1, threads=2)
    for card in (0, 2):
        batch.apply(np.array([card], np.int32))
    some = worlds(batch, 0, 200, 7, threads=2)
    assert (some.observe() == batch.observe()).all()
    for action in (1, 1):
        some.apply(np.full(200, action, np.int32))
    assert (some.returns()[:, 0] == -2).all()  # whatever the other's card is, the lowest loses
    cards = {tuple(world[:2]) for world in some.__reduce__()[1][3][:, 32:].tolist()}
    assert cards == {(1, 2), (1, 3)}
    assert worlds(batch, 0, 5, 7).__reduce__()[1][3].tobytes() == (
        worlds(batch, 0, 50, 7).__reduce__()[1][3][:5].tobytes()
    )
    assert has_worlds(game) and not has_worlds(Game("py:python_games:PhantomTTT"))


def test_a_copy_goes_on_alike() -> None:
    batch = Batch(Game("py:python_games:PhantomTTT"), 2)
    batch.apply(np.array([4, 5], np.int32))
    for other in (copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
        assert (other.observe() == batch.observe()).all()
        other.apply(np.array([4, 4], np.int32))
        assert other.plies().tolist() == [2, 2] and batch.plies().tolist() == [1, 1]


def test_data_run_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games_of_engine, "_named", set())
    monkeypatch.delitem(sys.modules, "python_games")
    name = "py:python_games:Kuhn"
    with pytest.raises(InputError, match=f"{name}: unknown, and data run no code: only the"):
        Game.stored(name)
    assert "python_games" not in sys.modules
    Game(name)
    assert Game.stored(name).players == 2


def says(method: str, value: object) -> type:
    """Kuhn poker whose class says that."""
    what = value if callable(value) else lambda self, *args: value
    return type("Liar", (python_games.Kuhn,), {method: what})


def fails(error: BaseException) -> object:
    def method(self: object, *args: object) -> None:
        raise error

    return method


def writes(self: object, state: np.ndarray) -> None:
    state[0] = 1


@pytest.mark.parametrize(
    ("method", "value", "wrong"),
    [
        ("actor", 2, "actor: 2 is not from -2 to 1"),
        ("actor", -3, "actor: -3 is not from -2 to 1"),
        ("actor", None, "actor: a whole number is needed, not NoneType"),
        ("actor", 0.0, "actor: a whole number is needed, not float"),
        ("legal", [0, 3], "legal: 3 is not from 1 to 2, ascending"),
        ("legal", [1, 1], "legal: 1 is not from 2 to 2, ascending"),
        ("legal", [], "legal: there is no action, and the game is not over"),
        ("legal", ["x"], "legal: a whole number is needed, not str"),
        ("legal", None, "reset: TypeError: 'NoneType' object is not iterable"),
        ("chance", [0.5], "chance: 3 probabilities that sum to 1 are needed"),
        ("chance", [0.5, 0.6, 0.1], "chance: 3 probabilities that sum to 1 are needed"),
        ("chance", [2, 0, -1], "chance: 3 probabilities that sum to 1 are needed"),
        ("observe", [0] * 10, "observe: 11 whole numbers are needed"),
        ("observe", [0.5] * 11, "observe: 11 whole numbers are needed"),
        ("observe", [256] * 11, "observe: numbers are from 0 to 255"),
        ("observe", np.full(11, -1, np.int8), "observe: numbers are from 0 to 255"),
        ("returns", [1, 1], r"returns: \[1.0, 1.0\] do not sum to 0"),
        ("returns", [1], "returns: 2 finite numbers are needed"),
        ("returns", [np.inf, -np.inf], "returns: 2 finite numbers are needed"),
        ("observe", writes, "observe: ValueError: assignment destination is read-only"),
        ("actor", writes, "reset: ValueError: assignment destination is read-only"),
        ("reset", fails(ValueError("a\nb")), "reset: ValueError: a b"),
        ("apply", fails(SystemExit(0)), "apply: action [0-2]: SystemExit: 0"),
        ("apply", lambda *args: None, r"actor: the game goes on after 5 actions \(max_length\)"),
    ],
)
def test_what_a_class_says_wrongly(
    method: str, value: object, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the call that met it, and again by every one after it."""
    monkeypatch.setattr(python_games, "Liar", says(method, value), raising=False)
    game = Game("py:python_games:Liar")
    whole = f"^game py:python_games:Liar: {wrong}$"
    with pytest.raises(StratkitError, match=whole):
        batch, games = Batch(game, 3), np.arange(3)
        for number in range(6):
            batch.observe()
            chosen = batch.legal().argmax(1).astype(np.int32)
            batch.draw_chance(1, games, np.full(3, number, np.int32), chosen)
            batch.apply(chosen)
    with pytest.raises(StratkitError, match=whole):
        Batch(game, 1)
    with pytest.raises(StratkitError, match=whole):
        Tree(game)


def test_a_class_may_keep_a_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine's memory has gone by then."""
    kept: list[np.ndarray] = []

    class Liar(python_games.Kuhn):
        def apply(self, state: np.ndarray, action: int) -> None:
            super().apply(state, action)
            kept.append(state)

    monkeypatch.setattr(python_games, "Liar", Liar, raising=False)
    Batch(Game("py:python_games:Liar"), 1).apply(np.array([2], np.int32))
    assert kept[0].tolist() == [3, 0, 0, 0, 0, 0]


def test_an_interrupt_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        python_games, "Liar", says("apply", fails(KeyboardInterrupt())), raising=False
    )
    batch = Batch(Game("py:python_games:Liar"), 1, threads=2)
    with pytest.raises(KeyboardInterrupt):
        batch.apply(np.zeros(1, np.int32))
    assert batch.actors().tolist() == [OVER]


def test_a_world_that_shows_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def redeal(self: object, state: np.ndarray, rng: np.random.Generator) -> None:
        state[:2] = state[1::-1]

    monkeypatch.setattr(python_games, "Liar", says("redeal", redeal), raising=False)
    batch = Batch(Game("py:python_games:Liar"), 1)
    for card in (0, 2):
        batch.apply(np.array([card], np.int32))
    with pytest.raises(StratkitError, match="redeal: the acting player can tell the state from"):
        worlds(batch, 0, 1, 7)


def test_a_game_that_is_another_when_played_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a tree or a search remembers of it is wrong then: no memory is written for it."""
    looks = iter(range(1000))

    def observe(self: object, state: np.ndarray) -> np.ndarray:
        return np.full(11, max(0, next(looks) - 30), np.uint8)  # the tree has 30 decisions

    monkeypatch.setattr(python_games, "Liar", says("observe", observe), raising=False)
    tree = Tree(Game("py:python_games:Liar"))
    assert tree.histories == 58 and len(tree) < 12
    for again in (tree.states, lambda: tree.world_values):
        with pytest.raises(InputError, match="not the same game when it is played again"):
            again()


def test_a_response_refuses_a_game_that_has_other_actions_than_the_tree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The policy has no numbers for them."""
    most = [2]

    def legal(self: python_games.Kuhn, state: np.ndarray) -> list[int]:
        return python_games.Kuhn.legal(self, state) if state[1] == 0 else list(range(most[0]))

    monkeypatch.setattr(python_games, "Liar", says("legal", legal), raising=False)
    tree = Tree(Game("py:python_games:Liar"))
    most[0] = 3
    for player in (0, 1):
        with pytest.raises(InputError, match="the policy lacks an information set"):
            BestResponse(tree.game, player, tree, tree.uniform()).step()


def test_a_response_refuses_a_player_who_waits_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each action between two decisions takes some of the stack."""

    class Waits(python_games.Kuhn):
        max_length, state_bytes = 100_000, 4

        def actor(self, state: np.ndarray) -> int:
            done = int(state.view(np.uint32)[0])
            return OVER if done > waits else int(done > 0)

        def legal(self, state: np.ndarray) -> list[int]:
            return [0]

        def apply(self, state: np.ndarray, action: int) -> None:
            state.view(np.uint32)[0] += 1

        def returns(self, state: np.ndarray) -> tuple[int, int]:
            return 1, -1

        def observe(self, state: np.ndarray) -> np.ndarray:
            return np.zeros(11, np.uint8)

    monkeypatch.setattr(python_games, "Liar", Waits, raising=False)
    game, waits = Game("py:python_games:Liar"), 2000
    response = BestResponse(game, 0)
    assert response.step() and response.best == 1
    waits = 6000  # more than 8 MiB would be
    with pytest.raises(InputError, match="more than 2,000 actions lie between two decisions"):
        BestResponse(game, 0).step()


@pytest.mark.parametrize(
    ("attributes", "wrong"),
    [
        ({"players": 1}, "its class needs players, a whole number from 2 to 7"),
        ({"actions": 129}, "its class needs actions, a whole number from 1 to 128"),
        ({"max_length": None}, "its class needs max_length, a whole number from 1 to 100,000"),
        ({"state_bytes": 2.0}, "its class needs state_bytes, a whole number from 1 to 65,536"),
        ({"observation_bytes": True}, "its class needs observation_bytes, a whole number"),
        ({"legal": 3}, "its class has no method legal"),
        ({"__init__": fails(RuntimeError("no"))}, "RuntimeError: no"),
    ],
)
def test_classes_that_are_no_game(
    attributes: dict[str, object], wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    liar = type("Liar", (python_games.Kuhn,), attributes)
    monkeypatch.setattr(python_games, "Liar", liar, raising=False)
    with pytest.raises(InputError, match=f"^game py:python_games:Liar: {wrong}"):
        Game("py:python_games:Liar")


def test_names_that_are_no_game() -> None:
    for name, wrong in {
        "py:": "a game of one's own is named py:MODULE:CLASS",
        "py:python_games": "a game of one's own is named py:MODULE:CLASS",
        "py:no_such_module:X": "no such module: no_such_module",
        "py:python_games:Khun": r"no class Khun in python_games \(did you mean 'Kuhn'\?\)",
    }.items():
        with pytest.raises(InputError, match=wrong):
            Game(name)
    with pytest.raises(InputError, match="this game has no rules to set"):
        Game("py:python_games:Kuhn", {"max_plies": 3})
