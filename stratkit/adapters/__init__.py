"""The engine's games behind the interfaces of other libraries; each needs its extra.

pettingzoo.py  every game as an AEC environment of PettingZoo
"""
