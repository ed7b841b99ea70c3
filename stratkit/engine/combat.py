"""Who wins an attack: the rule of `cengine/combat.h`, for players that look ahead in Python."""

from __future__ import annotations

from stratkit.engine.stratego import BOMB, MARSHAL, MINER, SPY

WINS, LOSES, BOTH_FALL = 1, -1, 0  # the attacker


def fight(attacker: int, defender: int) -> int:
    """How an attack ends, for the attacker; both are types."""
    if attacker == defender:
        return BOTH_FALL
    if defender == BOMB:
        return WINS if attacker == MINER else LOSES
    if attacker == SPY and defender == MARSHAL:
        return WINS
    return WINS if attacker > defender else LOSES
