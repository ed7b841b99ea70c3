"""Matches: who meets whom, how games are run and ended early, and how the score is counted."""

MAX_GAMES = 10**7  # a pairing
