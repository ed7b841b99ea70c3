"""Other programs at the board, and our players at other boards, by the UCC protocol.

referee.py  one game with programs, told and checked move by move
hall.py     such games at a time, and who is not asked any more
match.py    a match: these games, and those among our own players
agent.py    a player of ours under somebody else's manager
check.py    does a program keep to the protocol?
"""
