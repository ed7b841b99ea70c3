"""What a game adds to what all games share: its kit.

kit.py        the interface, and the plain kit of a game that adds nothing
heuristic.py  rules of thumb, as a policy and values
table.py      which game has which kit; nobody else asks which game it is
cards.py      Kuhn and Leduc poker
dice.py       Liar's dice
stones.py     Hex, Dark Hex and phantom tic-tac-toe

`stratego/` and `diplomacy/` have what those add.
"""
