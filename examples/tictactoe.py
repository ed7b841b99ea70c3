"""Tic-tac-toe as a game in Python, for the engine to play.

selfplay --game py:tictactoe:TicTacToe -n 100 -o games.eps
match search=pimc,nodes=50,worlds=1,random name=b,random -n 20 --game py:tictactoe:TicTacToe
"""

LINES = ("012", "345", "678", "036", "147", "258", "048", "246")


class TicTacToe:
    players = 2
    actions = 9
    max_length = 9
    state_bytes = 9  # the cells: 0, or the player's number from 1
    observation_bytes = 18  # own stones, then the enemy's

    def reset(self, state):
        pass  # it comes as zeros

    def won(self, state, player):
        return any(all(state[int(cell)] == player + 1 for cell in line) for line in LINES)

    def actor(self, state):
        """0 or 1; -2 when the game is over."""
        if state.all() or self.won(state, 0) or self.won(state, 1):
            return -2
        return sum(state > 0) % 2

    def legal(self, state):
        return (state == 0).nonzero()[0]

    def apply(self, state, action):
        state[action] = sum(state > 0) % 2 + 1

    def returns(self, state):
        gain = self.won(state, 0) - self.won(state, 1)
        return gain, -gain

    def observe(self, state):
        """Of the player to act: the first mover's stones are 1, the other's are 2."""
        own = sum(state > 0) % 2 + 1
        return [*(state == own), *(state == 3 - own)]

    def redeal(self, state, rng):
        pass  # nothing is hidden; for search=pimc


class Late(TicTacToe):
    """The same with four stones on the board: few enough histories for `exploit`."""

    def reset(self, state):
        state[[0, 4, 8, 2]] = 1, 2, 1, 2
