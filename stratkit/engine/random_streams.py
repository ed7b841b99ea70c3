"""The streams of random numbers: of one seed, game and number each has its own.

The values are a promise: equal seeds give equal games as long as they stay.
"""

from __future__ import annotations

import enum


@enum.unique
class Stream(enum.IntEnum):
    """What a random number decides; the third word of the generator's counter."""

    ACTION = 0  # a player's action
    CHANCE = 1  # the outcome of a chance node
    HUMAN_SETUP = 5  # the setup that a person is offered
    HEURISTIC_NOISE = 7  # which of two moves the heuristic takes that are about as good
    SCRIPT_NOISE = 8  # which of two moves a scripted player makes that are about as good
    SCRIPT_SLIP = 9  # whether it follows its habit
    SCRIPT_LOT = 10  # what its setup is about
    TIES = 11  # which of two actions post-processing keeps that are equally likely
    MIRROR = 20  # whether a setup is mirrored
    ZONES = 21  # how many pieces of a type each group of squares gets
    SQUARES = 22  # which squares of a group are taken
    PIECES = 23  # which piece goes to which square
    SETUP_LINES = 24  # which line of a file of setups
    RESAMPLING = 25  # which of several setups is kept
    WORLDS = 30  # what is hidden in a world
    ROLLOUTS = 31  # the actions of a rollout
    BELIEF = 32  # which worlds are kept of those that were weighed
    REGRET_MATCHING = 33  # the actions that regret matching draws
    CANDIDATES = 34  # the whole actions among which candidates are
    MIXTURE = 35  # which candidate of a mixed policy is played
    NOISE = 36  # what is added to the priors of a search
    WINDOW = 37  # which old episodes are learned from again
    MEMBER = 38  # which member of a mixture plays a game
    OPPONENT = 39  # whom self-play meets
    STOP = 40  # after how many iterations a search of public belief states is stopped
    WALK = 41  # how a game goes on from a search of public belief states
    HANDS = 42  # which own hands a search of an endgame has beside the true one
