"""What Diplomacy adds to what all games share.

kit.py        its kit
orders.py     orders, units and phases as text
games.py      whole games as JSON
saved.py      the JSON of other programs
svg.py        pictures
heuristic.py  rules of thumb
"""
