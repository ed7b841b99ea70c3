"""Other programs at the board, and our players under other managers, by the UCC protocol.

protocol.py      the words of the protocol
process.py       a program as a process; supervisor.py ends it with all its children
open_program.py  from a PLAYER to a program
referee.py       one game with programs, told and checked move by move
engine_pool.py   such games at a time, and who is not asked any more
agent.py         a player of ours under somebody else's manager
compliance.py    does a program keep to the protocol?
"""
