/* Sets of squares: bit i is square i of a board of at most 128 squares. */
#ifndef SK_BITS_H
#define SK_BITS_H

#include <stdint.h>

__extension__ typedef unsigned __int128 sk_bits;

static inline sk_bits bit(int square) { return (sk_bits)1 << square; }

static inline int has(sk_bits set, int square) { return (int)(set >> square) & 1; }

static inline uint64_t low_half(sk_bits set) { return (uint64_t)set; }

static inline uint64_t high_half(sk_bits set) { return (uint64_t)(set >> 64); }

/* The lowest square of a set that is not empty. */
static inline int first(sk_bits set)
{
    uint64_t low = low_half(set);
    return low ? __builtin_ctzll(low) : 64 + __builtin_ctzll(high_half(set));
}

/* The highest square of a set that is not empty. */
static inline int last(sk_bits set)
{
    uint64_t high = high_half(set);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(low_half(set));
}

/* Bits of one half. (The compiler's own needs an instruction that old machines lack, or a call.) */
static inline int count_half(uint64_t half)
{
    half -= half >> 1 & 0x5555555555555555u;
    half = (half & 0x3333333333333333u) + (half >> 2 & 0x3333333333333333u);
    half = (half + (half >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int)(half * 0x0101010101010101u >> 56);
}

static inline int count(sk_bits set) { return count_half(low_half(set)) + count_half(high_half(set)); }

/* The square of a half that has exactly `n` of its squares below it. */
static inline int nth_of_half(uint64_t half, int n)
{
    while (n--)
        half &= half - 1;
    return __builtin_ctzll(half);
}

/* One square of a set that is not empty; uniform if `random` is. */
static inline int any(sk_bits set, uint32_t random)
{
    int low = count_half(low_half(set)), high = count_half(high_half(set));
    int n = (int)((uint64_t)random * (uint64_t)(low + high) >> 32);
    return n < low ? nth_of_half(low_half(set), n) : 64 + nth_of_half(high_half(set), n - low);
}

/* The lowest eight squares as eight bytes, 1 where the set has them. */
static inline uint64_t eight_bytes(sk_bits set)
{
    /* Multiplied, bit i is in bit 7 of byte 7 - i. */
    uint64_t spread = ((uint64_t)set & 0xff) * 0x8040201008040201u >> 7;
    return __builtin_bswap64(spread & 0x0101010101010101u);
}

#endif
