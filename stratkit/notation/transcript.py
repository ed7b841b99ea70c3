"""The actions of a whole game of Stratego as people write them: two setups and moves."""

from __future__ import annotations

from stratkit.arrays import Int32s
from stratkit.engine.stratego import Variant, setup_of
from stratkit.notation.setups import setup_text
from stratkit.notation.squares import move_text


def transcript(variant: Variant, actions: Int32s) -> tuple[tuple[str, str], list[str]]:
    """Setups (red's, blue's; `.setups` letters) and moves ("A4A5") of a game.

    The game is given as actions, int32 [T]. A piece that was selected but not yet moved when the
    game was cut is left out.
    """
    n = variant.pieces
    red, blue = (setup_of(variant, actions[at : at + n]) for at in (0, n))
    plies = actions[2 * n :]
    plies = plies[: len(plies) // 2 * 2].reshape(-1, 2).astype(int)
    plies[1::2] = variant.flip(plies[1::2])
    moves = [move_text(from_, to, variant.width) for from_, to in plies.tolist()]
    return (setup_text(red), setup_text(blue)), moves
