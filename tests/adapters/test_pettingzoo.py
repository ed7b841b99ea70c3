"""Every game as an environment of PettingZoo: its own tests, and the engine's games."""

from __future__ import annotations

import copy
import functools
import pickle
import random
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from every_game import GAMES, MATRIX
from stratkit.engine import Batch, Game, IllegalAction, expand_planes
from stratkit.errors import InputError

pettingzoo = pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
from pettingzoo.test import api_test, seed_test  # noqa: E402

from stratkit.adapters.pettingzoo import GameEnv  # noqa: E402

GAMES = [*GAMES, "moves:micro"]

# What PettingZoo warns of everywhere but in its own games: a dict with an action mask, numbers
# below 0 (of a board), and nothing to render.
KNOWN = (
    "Observation space for each agent probably should be gymnasium.spaces.box",
    "Observation is not a NumPy array",
    "Observation numpy array",
    "The observation contains negative numbers",
    "Environment has not defined a render",
)


@pytest.mark.parametrize("name", GAMES, ids=lambda name: name.split("/")[-1])
def test_pettingzoos_own_tests(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for known in KNOWN:
            warnings.filterwarnings("ignore", known)
        api_test(GameEnv(name), num_cycles=300)
        seed_test(functools.partial(GameEnv, name), num_cycles=300)


def pickled(env: GameEnv) -> GameEnv:
    return pickle.loads(pickle.dumps(env))  # type: ignore[no-any-return]


COPIES = pytest.mark.parametrize("copied", [copy.deepcopy, pickled])


@COPIES
def test_pettingzoos_own_tests_on_copies(copied: Callable[[GameEnv], GameEnv]) -> None:
    """Of environments that never played, and of one in the middle of a game."""
    begun = GameEnv("leduc")
    begun.reset(seed=5)
    begun.step(int(begun.observe(begun.agent_selection)["action_mask"].argmax()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for known in KNOWN:
            warnings.filterwarnings("ignore", known)
        api_test(copied(GameEnv("leduc")), num_cycles=100)
        api_test(copied(begun), num_cycles=100)
        seed_test(lambda: copied(begun), num_cycles=100)


def rest(env: GameEnv, seed: int, games: int) -> list[str]:
    """All that an environment says while it is played on at random, for some games."""
    dice, said = random.Random(seed), []
    for _ in range(games):
        while env.agents:
            observation, *told = env.last()
            legal = np.flatnonzero(observation["action_mask"]).tolist()
            said += [f"{env.agent_selection} {told} {legal}", observation["observation"].tobytes()]
            env.step(dice.choice(legal) if legal else None)
        env.reset()
    return said


@COPIES
@pytest.mark.parametrize("name", GAMES, ids=lambda name: name.split("/")[-1])
def test_a_copy_goes_on_alike(name: str, copied: Callable[[GameEnv], GameEnv]) -> None:
    """Chance's outcomes in the games after this one included; and neither disturbs the other."""
    env = GameEnv(name, {"max_plies": 20} if "max_plies" in Game(name).rules else None)
    env.reset(seed=8)
    for _ in range(3):
        if env.terminations[env.agent_selection]:
            break
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    other, third = copied(env), copied(env)
    assert rest(other, 2, 3) == rest(env, 2, 3) == rest(third, 2, 3)
    spaces = env.action_space("player_0"), other.action_space("player_0")
    assert spaces[0] == spaces[1] and spaces[0] is not spaces[1]


@pytest.mark.parametrize("name", ["mini", "leduc", "dark_hex:3", MATRIX])
def test_the_games_are_the_engines(name: str) -> None:
    """Against a batch that takes the same actions: what the acting agent sees and may do, that
    nobody else may do anything, and what all get at the end."""
    env, dice = GameEnv(name), random.Random(1)
    for number in range(20):
        env.reset(seed=7 if number == 0 else None)
        batch = Batch(env.game, 1)
        taken = 0
        while not all(env.terminations.values()):
            while batch.actors()[0] == -1:
                outcome = np.zeros(1, np.int32)
                games, numbers = np.array([number], np.int64), np.array([taken], np.int32)
                batch.draw_chance(7, games, numbers, outcome)
                batch.apply(outcome)
                taken += 1
            agent = env.agent_selection
            assert agent == f"player_{batch.actors()[0]}"
            observation, reward, *_ = env.last()
            assert reward == 0
            assert env.observation_space(agent).contains(observation)
            planes = expand_planes(env.game, batch.observe())[0]
            np.testing.assert_array_equal(observation["observation"], planes)
            np.testing.assert_array_equal(observation["action_mask"], batch.legal()[0])
            others = [env.observe(other) for other in env.agents if other != agent]
            assert not any(seen["action_mask"].any() for seen in others)
            action = dice.choice(np.flatnonzero(observation["action_mask"]).tolist())
            env.step(action)
            batch.apply(np.array([action], np.int32))
            taken += 1
        returns, endings, _ = batch.result()
        assert list(env.rewards.values()) == returns[0].tolist()
        assert {info["ending"] for info in env.infos.values()} == {env.game.endings[endings[0]]}
        total = {}
        for agent in env.agent_iter():
            _, total[agent], *_ = env.last()
            env.step(None)
        assert [total[agent] for agent in env.possible_agents] == returns[0].tolist()
        assert env.agents == []


def deals(env: GameEnv, seed: int | None) -> list[Any]:
    env.reset(seed=seed)
    return env.observe(env.agent_selection)["observation"].tolist()  # type: ignore[no-any-return]


def test_chance_goes_by_the_seed() -> None:
    env, other = GameEnv("liars_dice:1x6"), GameEnv("liars_dice:1x6")
    first = [deals(env, 3), *(deals(env, None) for _ in range(9))]
    assert [deals(other, 3), *(deals(other, None) for _ in range(9))] == first
    assert len({tuple(deal) for deal in first}) > 2
    assert [deals(env, seed) for seed in range(10)] != first
    assert len({tuple(deals(GameEnv("liars_dice:1x6"), None)) for _ in range(20)}) > 1


def test_what_is_wrong_is_refused_and_the_game_goes_on() -> None:
    with pytest.raises(InputError, match="unknown game 'kuhm'"):
        GameEnv("kuhm")
    with pytest.raises(InputError, match="rule"):
        GameEnv("nano", {"three_squares": 1})
    env = GameEnv("nano", {"max_plies": 6})
    env.reset(seed=1)
    before = env.observe("player_0")
    for action, error in ((None, ValueError), (12, ValueError), (-1, ValueError), (1.5, ValueError),
                          (11, IllegalAction)):  # fmt: skip
        with pytest.raises(error):
            env.step(action)  # type: ignore[arg-type]
    after = env.observe("player_0")
    assert all(np.array_equal(before[key], after[key]) for key in before)
    env.step(int(before["action_mask"].argmax()))
    assert Game("nano").rules["max_plies"] != env.game.rules["max_plies"] == 6


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_what_is_no_seed(seed: int) -> None:
    env = GameEnv("kuhn")
    env.reset(seed=3)
    with pytest.raises(ValueError, match=f"seed must be a number from 0 to 2.64 - 1, not {seed}"):
        env.reset(seed=seed)
    env.reset()
    assert env.agents == env.possible_agents


def test_a_game_that_is_over_when_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its agents are told at once."""

    class Over:
        players, actions, max_length, state_bytes, observation_bytes = 2, 1, 1, 1, 1
        reset = legal = apply = observe = lambda self, *_: None
        actor, returns = (lambda self, state: -2), (lambda self, state: (1, -1))

    module = types.ModuleType("over_at_once")
    vars(module)["Over"] = Over
    monkeypatch.setitem(sys.modules, "over_at_once", module)
    env = GameEnv("py:over_at_once:Over")
    env.reset()
    told = {}
    for agent in env.agent_iter():
        told[agent] = env.last(observe=False)[1:3]
        env.step(None)
    assert told == {"player_0": (1, True), "player_1": (-1, True)} and not env.agents
