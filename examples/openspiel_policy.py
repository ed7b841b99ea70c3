"""A tabular policy of OpenSpiel, judged here: CFR after some iterations.

exploit leduc py:openspiel_policy:Leduc,iterations=50 cfr:50
"""

import pyspiel
from open_spiel.python.algorithms import cfr

from stratkit import Game
from stratkit.adapters.openspiel import FromOpenSpiel


class Leduc(FromOpenSpiel):
    def __init__(self, game: Game, iterations: str = "20") -> None:
        solver = cfr.CFRSolver(pyspiel.load_game("leduc_poker(suit_isomorphism=True)"))
        for _ in range(int(iterations)):
            solver.evaluate_and_update_policy()
        super().__init__(game, solver.average_policy())
