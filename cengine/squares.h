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

static inline int rises(int direction) { return direction == NORTH || direction == EAST; }

/* The squares from `from` (left out) to the first of `blockers` (included) or to the edge. */
static inline sk_bits ray(const stratego *game, int from, int direction, sk_bits blockers)
{
    const sk_bits *rays = game->rays[direction];
    sk_bits hit = rays[from] & blockers;
    if (!hit)
        return rays[from];
    return rays[from] ^ rays[rises(direction) ? lsb(hit) : msb(hit)];
}

#endif
