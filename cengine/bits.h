/* Sets of squares: bit i is square i of a board of at most 128 squares. */
#ifndef SK_BITS_H
#define SK_BITS_H

#include <stdint.h>

__extension__ typedef unsigned __int128 sk_bits;

static inline sk_bits bit(int square) { return (sk_bits)1 << square; }

static inline int has(sk_bits set, int square) { return (int)(set >> square) & 1; }

/* The lowest square of a set that is not empty. */
static inline int first(sk_bits set)
{
    uint64_t low = (uint64_t)set;
    return low ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t)(set >> 64));
}

#endif
