/* Sets of squares: bit i is square i of a board of at most 128 squares. */
#ifndef SK_BITS_H
#define SK_BITS_H

#include <assert.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 sk_bits;

static inline sk_bits bit(int square)
{
    assert(square >= 0 && square < 128);
    return (sk_bits)1 << square;
}

static inline int has(sk_bits set, int square)
{
    assert(square >= 0 && square < 128);
    return (int)(set >> square) & 1;
}

static inline uint64_t low_half(sk_bits set) { return (uint64_t)set; }

static inline uint64_t high_half(sk_bits set) { return (uint64_t)(set >> 64); }

/* The lowest square of a set that is not empty. */
static inline int lsb(sk_bits set)
{
    assert(set);
    uint64_t low = low_half(set);
    return low ? __builtin_ctzll(low) : 64 + __builtin_ctzll(high_half(set));
}

/* The highest square of a set that is not empty. */
static inline int msb(sk_bits set)
{
    assert(set);
    uint64_t high = high_half(set);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(low_half(set));
}

/* Bits of each byte of one half, as bytes. (The compiler's own count needs an instruction that old
 * machines lack, or a call.) */
static inline uint64_t count_bytes(uint64_t half)
{
    half -= half >> 1 & 0x5555555555555555u;
    half = (half & 0x3333333333333333u) + (half >> 2 & 0x3333333333333333u);
    return (half + (half >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}

static inline int count(sk_bits set)
{
    /* Of both halves a byte counts 16 at most, and all bytes 128. */
    uint64_t bytes = count_bytes(low_half(set)) + count_bytes(high_half(set));
    return (int)(bytes * 0x0101010101010101u >> 56);
}

/* The square of a half that has exactly `n` of its squares below it. */
static inline int nth_of_half(uint64_t half, int n)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t up_to = count_bytes(half) * ones; /* in byte i: the squares of bytes 0 .. i */
    /* Bytes with no more than n squares up to their end come before the one that we want. */
    uint64_t before = ((ones * (uint64_t)n | 0x80 * ones) - up_to) >> 7 & ones;
    int byte = 8 * (int)(before * ones >> 56);
    int left = n - (int)((up_to << 8) >> byte & 0xff);
    uint64_t bits = half >> byte;
    for (; left; left--)
        bits &= bits - 1;
    return byte + __builtin_ctzll(bits);
}

/* One square of a set that is not empty; uniform if `random` is. */
static inline int random_bit(sk_bits set, uint32_t random)
{
    assert(set);
    int low = (int)(count_bytes(low_half(set)) * 0x0101010101010101u >> 56);
    int n = (int)((uint64_t)random * (uint64_t)count(set) >> 32);
    int upper = n >= low;
    return 64 * upper + nth_of_half(upper ? high_half(set) : low_half(set), upper ? n - low : n);
}

static inline uint64_t reversed_half(uint64_t half)
{
    half = __builtin_bswap64(half);
    half = (half >> 4 & 0x0f0f0f0f0f0f0f0fu) | (half & 0x0f0f0f0f0f0f0f0fu) << 4;
    half = (half >> 2 & 0x3333333333333333u) | (half & 0x3333333333333333u) << 2;
    return (half >> 1 & 0x5555555555555555u) | (half & 0x5555555555555555u) << 1;
}

/* Square i becomes square 127 - i. */
static inline sk_bits reversed_bits(sk_bits set)
{
    return (sk_bits)reversed_half(low_half(set)) << 64 | reversed_half(high_half(set));
}

/* Eight squares as eight bytes, 1 where the set has them: square 7 - i is byte i. */
static inline uint64_t falling_bytes(uint8_t eight)
{
    return eight * 0x8040201008040201u >> 7 & 0x0101010101010101u;
}

#endif
