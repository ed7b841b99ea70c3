"""The engine's games, and policies, behind the interfaces of other libraries, which each needs.

openspiel.py   policies of OpenSpiel here, and ours there
pettingzoo.py  every game as an AEC environment of PettingZoo
"""
