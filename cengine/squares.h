/* Neighbourhood of squares. */
#ifndef SK_SQUARES_H
#define SK_SQUARES_H

#include "stratego.h"

/* The squares beside each square of the set. */
static inline sk_bits beside(const stratego *game, sk_bits set)
{
    return (((set >> 1) & game->not_last) | ((set << 1) & game->not_first) | (set >> game->width)
            | (set << game->width))
           & game->board;
}

/* The squares from `from` (left out) to the first of `blockers` (included) or to the edge. */
static inline sk_bits ray(const stratego *game, int from, int direction, sk_bits blockers)
{
    sk_bits whole = game->rays[direction][from], hit = whole & blockers;
    if (direction == NORTH || direction == EAST)
        return whole & (hit ^ (hit - 1)); /* squares rise up to the first that is hit */
    return whole ^ game->rays[direction][msb(hit | bit(0))]; /* from A1 no ray falls */
}

#endif
