"""The engine's games, and policies, behind the interfaces of other libraries, which each needs.

diplomacy.py   our players at powers of games of the package diplomacy
openspiel.py   policies of OpenSpiel here, and ours there
pettingzoo.py  every game as an AEC environment of PettingZoo
"""
