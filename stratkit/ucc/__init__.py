"""Other programs at the board, and our players under other managers, by the UCC protocol.

protocol.py      the words of the protocol
kind.py          programs as a kind of player
process.py       a program as a process
supervisor.py    ends a process with all its children
child.py         a command of ours as a process, and what it cost
process_pool.py  the processes of programs: one for each game, or one for many
stderr.py        what a program writes to its stderr
open_program.py  from a PLAYER to a program
referee.py       one game with programs, told and checked move by move
engine_pool.py   such games at a time, and who is not asked any more
agent.py         a player of ours under somebody else's manager
compliance.py    does a program keep to the protocol?
"""
