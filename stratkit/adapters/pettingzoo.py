"""Every game as an AEC environment of PettingZoo (Terry et al. 2021): `GameEnv`.

One game at a time, through Python: a `stratkit.Batch` of 1,024 games takes 80 times as many actions
a second in Barrage, and 480 times in Kuhn poker.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv

from stratkit.arguments import Seed, checked
from stratkit.engine import Batch, Game, expand_planes
from stratkit.engine.batch import CHANCE, OVER
from stratkit.errors import shown

Observation = dict[str, npt.NDArray[Any]]

# What a number of an observation can be: on a board from -(2 + 10/12), a move of an attacking
# marshal, to 1; a byte where the observation is a vector.
BOARD_RANGE, VECTOR_RANGE = (-3.0, 1.0), (0.0, 255.0)


class GameEnv(AECEnv[str, Observation, int]):  # type: ignore[misc]  # it has no types
    """`Game(name, rules)` for the agents `player_0`, `player_1`, ...

    An observation is a dict: `observation` float32 [*game.shape], what the acting player may know
    (formats/observation.md has a board's planes), and `action_mask` int8 [actions], 1 where legal;
    both in the acting player's frame. An agent whose turn it is not has an empty mask, and the
    observation of its last decision: the engine observes for who acts. Chance is no agent: it
    decides by the seed of `reset`, and without one goes on to the next game of the seed before.

    The reward at the end of the game is the agent's return, before that 0; `infos` names the
    ending. A draw by a limit of the rules is an end like others: nothing is truncated. Raises
    `InputError` for an unknown game or rule; `step` raises `ValueError` for an action that is none
    of the game, and `IllegalAction` for one that is not legal. Both leave the game as it was.
    """

    metadata: dict[str, Any]
    render_mode = None

    @checked
    def __init__(self, name: str, rules: Mapping[str, int] | None = None) -> None:
        super().__init__()
        self.game = Game(name, rules)
        self.metadata = {"name": name, "render_modes": [], "is_parallelizable": False}
        self.possible_agents = [f"player_{player}" for player in range(self.game.players)]
        self.agents: list[str] = []
        low, high = BOARD_RANGE if len(self.game.shape) == 3 else VECTOR_RANGE
        actions = self.game.actions
        self._observed = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(low, high, self.game.shape, np.float32),
                    "action_mask": spaces.Box(0, 1, (actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self._actions = {agent: spaces.Discrete(actions) for agent in self.possible_agents}
        self._batch = Batch(self.game, 1)
        self._seed: int | None = None
        self._number = 0  # of the game, by its seed
        self._taken = 0  # actions

    def observation_space(self, agent: str) -> Any:
        """What an agent sees: "observation", float32, and "action_mask", int8 [A]. `KeyError`: no
        agent."""
        self._check_agent(agent)
        return self._observed[agent]

    def action_space(self, agent: str) -> Any:
        """`Discrete(A)`, of an agent. `KeyError`: no agent."""
        self._check_agent(agent)
        return self._actions[agent]

    @checked
    def reset(self, seed: Seed | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a game. Chance's outcomes are a function of `seed` and the number of games that
        were begun since it was given; without any the system chooses it. No option means
        anything. `ValueError`: a seed is from 0 to 2^64 - 1."""
        if seed is not None or self._seed is None:
            self._seed = secrets.randbits(63) if seed is None else seed
            self._number = 0
        else:
            self._number += 1
        self._batch.reset()
        self._taken = 0
        self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, str]] = {agent: {} for agent in self.agents}
        nothing = np.zeros(self.game.shape, np.float32)
        self._last_seen = dict.fromkeys(self.agents, nothing)
        self._skip_agent_selection = None
        self.agent_selection = self.agents[0]  # of a game that is over at once
        self._go_on()
        self._accumulate_rewards()

    def _check_agent(self, agent: str) -> None:
        if agent not in self.possible_agents:
            names = ", ".join(self.possible_agents)
            raise ValueError(f"agent must be one of {names}, not {shown(agent)}")

    def observe(self, agent: str) -> Observation:
        """The agent's latest observation, and the mask of its legal actions: zeros unless it
        acts."""
        self._check_agent(agent)
        acts = self._actor >= 0 and self.possible_agents[self._actor] == agent
        mask = self._legal if acts else np.zeros_like(self._legal)
        return {"observation": self._last_seen[agent].copy(), "action_mask": mask.copy()}

    def step(self, action: int | None) -> None:
        """The acting agent's action; None of one whose game is over. `ValueError`: no action of the
        game."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        if action is None or not self._actions[agent].contains(action):
            raise ValueError(f"{self.game.name} has no action {action!r}")
        self._apply(int(action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._go_on()
        self._accumulate_rewards()

    def _apply(self, action: int) -> None:
        self._batch.apply(np.array([action], np.int32))
        self._taken += 1

    def _go_on(self) -> None:
        """Plays for chance until a player acts, or ends the game."""
        while (actor := int(self._batch.actors()[0])) == CHANCE:
            outcome = np.zeros(1, np.int32)
            key = np.array([self._number], np.int64), np.array([self._taken], np.int32)
            self._batch.draw_chance(self._seed or 0, *key, outcome)
            self._apply(int(outcome[0]))
        self._actor = actor
        self._legal = self._batch.legal()[0].astype(np.int8)
        if actor == OVER:
            returns, endings, _ = self._batch.result()
            self.rewards = dict(zip(self.agents, returns[0].tolist(), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
            ending = self.game.endings[endings[0]]
            self.infos = {agent: {"ending": ending} for agent in self.agents}
            return
        self.agent_selection = self.possible_agents[actor]
        self._last_seen[self.agent_selection] = np.ascontiguousarray(
            expand_planes(self.game, self._batch.observe())[0]
        )
