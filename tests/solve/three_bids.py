"""A game of three players that is not zero-sum."""

from __future__ import annotations


class ThreeBids:
    """Three players bid 0 or 1 in turn, twice. In between they see how many bids of 1 there were. A
    state: the bids so far, from 1."""

    players, actions, max_length, state_bytes, observation_bytes = 3, 2, 6, 6, 2

    def reset(self, state):
        pass

    def bids(self, state):
        return [bid - 1 for bid in state.tolist() if bid]

    def actor(self, state):
        made = len(self.bids(state))
        return -2 if made == 6 else made % 3

    def legal(self, state):
        return [0, 1]

    def apply(self, state, action):
        state[len(self.bids(state))] = action + 1

    def returns(self, state):
        a, b, c, d, e, f = self.bids(state)
        return a * e + b - 2 * d * f, 3 * (b != d) + c - e, (a + b + c) * f - 2 * e * f + d

    def observe(self, state):
        bids = self.bids(state)
        return len(bids), sum(bids[:3]) if len(bids) >= 3 else 0
