"""What Diplomacy adds to what all games share.

kit.py            its kit
orders.py         orders, units and phases as text
games.py          whole games as JSON
saved.py          the JSON of other programs
told.py           phases in words: orders, and what came of them
svg.py            pictures
text_map.py       a map of characters
maps_page.py      a game as a page of maps
scored_orders.py  rules of thumb that weigh whole orders
heuristic.py      of these: the nearest centres
dumbbot.py        of these: the value of provinces
"""
