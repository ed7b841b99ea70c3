/* Who wins an attack. */
#ifndef SK_COMBAT_H
#define SK_COMBAT_H

#include "stratego.h"

typedef enum { ATTACKER_WINS, DEFENDER_WINS, BOTH_FALL } outcome;

static inline outcome fight(int attacker, int defender)
{
    assert(type_moves(attacker) && attacker < TYPES && defender < TYPES);
    if (attacker == defender)
        return BOTH_FALL;
    if (defender == BOMB)
        return attacker == MINER ? ATTACKER_WINS : DEFENDER_WINS;
    if (attacker == SPY && defender == MARSHAL)
        return ATTACKER_WINS;
    /* The types are numbered by rank, and the flag is the lowest. */
    return attacker > defender ? ATTACKER_WINS : DEFENDER_WINS;
}

#endif
