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

static inline sk_bits neighbours(const stratego *game, int square)
{
    return beside(game, bit(square));
}

#endif
