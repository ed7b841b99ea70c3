/* Numbers that the planes and the features of networks share. */
#ifndef SK_PLANES_H
#define SK_PLANES_H

#include "observation.h"

/* One float32 division of two integers, so that every implementation agrees to the last bit. */
static inline float ratio(int numerator, int denominator)
{
    return denominator ? (float)numerator / (float)denominator : 0.0f;
}

/* What a hidden piece of one side is, in public: the probability of each type. */
typedef struct {
    float moved[TYPES], unmoved[TYPES];
} marginals;

/* Under uniform sampling of the consistent assignments: a piece that moved is no bomb and no flag,
 * and that leaves fewer movable pieces for those that did not. */
static inline marginals hidden_marginals(const uint8_t unrevealed[TYPES], int unmoved)
{
    marginals p = {{0}, {0}};
    int immovable = unrevealed[FLAG] + unrevealed[BOMB], movable = 0;
    for (int t = SPY; t <= MARSHAL; t++)
        movable += unrevealed[t];
    for (int t = SPY; movable && t <= MARSHAL; t++)
        p.moved[t] = ratio(unrevealed[t], movable);
    for (int t = SPY; movable && unmoved && t <= MARSHAL; t++)
        p.unmoved[t] = ratio(unrevealed[t] * (unmoved - immovable), unmoved * movable);
    p.unmoved[FLAG] = ratio(unrevealed[FLAG], unmoved);
    p.unmoved[BOMB] = ratio(unrevealed[BOMB], unmoved);
    return p;
}

/* Eq. 7 of the paper, on the square that a ply left: -1, or -(2 + type / 12) if it attacked. */
static inline float leaving(uint8_t attacker)
{
    static const float by_type[16] = {-24 / 12.0f, -25 / 12.0f, -26 / 12.0f, -27 / 12.0f,
                                      -28 / 12.0f, -29 / 12.0f, -30 / 12.0f, -31 / 12.0f,
                                      -32 / 12.0f, -33 / 12.0f, -34 / 12.0f, -35 / 12.0f,
                                      0,           0,           0,           -1.0f};
    _Static_assert((NO_ATTACK & 15) == 15, "the last one");
    return by_type[attacker & 15];
}

#endif
