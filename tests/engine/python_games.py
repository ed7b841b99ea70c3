"""Games in Python that the engine has in C, too, with the same actions and observations."""

from __future__ import annotations

import itertools

import numpy as np

from test_small_games import SlowTicTacToe

PASS, BET = 0, 1


class Kuhn:
    """A state: the first card and the second from 1, the bets made, and each bet."""

    players, actions, max_length, state_bytes, observation_bytes = 2, 3, 5, 6, 11

    def reset(self, state):
        assert not state.any()

    def bets(self, state):
        return tuple(state[3 : 3 + state[2]].tolist())

    def actor(self, state):
        if not state[:2].all():
            return -1
        over = self.bets(state) in {(0, 0), (1, 0), (1, 1), (0, 1, 0), (0, 1, 1)}
        return -2 if over else int(state[2] % 2)

    def legal(self, state):
        if state[1] == 0:
            return [card for card in range(3) if card + 1 != state[0]]
        return [PASS, BET]

    def chance(self, state):
        n = len(self.legal(state))
        return [1 / n] * n

    def apply(self, state, action):
        dealt = int((state[:2] > 0).sum())
        if dealt < 2:
            state[dealt] = action + 1
        else:
            state[3 + state[2]] = action
            state[2] += 1

    def returns(self, state):
        *_, before, last = self.bets(state)
        winner = state[2] % 2 if (before, last) == (BET, PASS) else int(state[1] > state[0])
        stake = 2 if (before, last) == (BET, BET) else 1
        return (stake, -stake) if winner == 0 else (-stake, stake)

    def observe(self, state):
        seen = np.zeros(11, np.uint8)
        player = state[2] % 2
        seen[[player, 1 + state[player]]] = 1
        for i, bet in enumerate(self.bets(state)):
            seen[5 + 2 * i + bet] = 1
        return seen

    def redeal(self, state, rng):
        player = state[2] % 2
        state[1 - player] = rng.choice([card for card in (1, 2, 3) if card != state[player]])


class PhantomTTT:
    """The slow twin of the tests of small games: a state is the tries, from 1."""

    players, actions, max_length, state_bytes, observation_bytes = 2, 9, 17, 17, 20

    def twin(self, state):
        twin = SlowTicTacToe(3, dark=True)
        for cell in itertools.takewhile(bool, state.tolist()):
            twin.play(cell - 1)
        return twin

    def reset(self, state):
        pass

    def actor(self, state):
        twin = self.twin(state)
        return -2 if twin.gain() is not None else twin.turn % 2

    def legal(self, state):
        twin = self.twin(state)
        return [cell for cell in range(9) if cell not in twin.known[twin.turn % 2]]

    def apply(self, state, action):
        state[np.flatnonzero(state == 0)[0]] = action + 1

    def returns(self, state):
        gain = self.twin(state).gain()
        return gain, -gain

    def observe(self, state):
        return self.twin(state).observation()
