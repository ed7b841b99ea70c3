"""Matches: who meets whom, how games are run and ended early, and how the score is counted."""

from stratkit.humans.kind import HUMAN
from stratkit.players.registry import KINDS
from stratkit.ucc.kind import PROGRAM

PLAYERS = (*KINDS, HUMAN, PROGRAM)  # the kinds of everybody who can be at a board
MAX_GAMES = 10**7  # a pairing
