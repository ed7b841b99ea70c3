"""Scripted players of Stratego: one habit each, a page of rules, for any board.

options.py  their names, and what may be asked of them
sight.py    what a side sees: its pieces, its moves, and what an attack is worth
habits.py   the habits: where pieces are placed, and what moves are worth
player.py   a habit at the board
"""
