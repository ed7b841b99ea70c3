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

static inline uint64_t low_half(sk_bits set) { return (uint64_t)set; }

static inline uint64_t high_half(sk_bits set) { return (uint64_t)(set >> 64); }

static inline int has(sk_bits set, int square)
{
    assert(square >= 0 && square < 128);
    return (square < 64 ? low_half(set) : high_half(set)) >> (square & 63) & 1;
}

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

/* Eight squares as eight bytes, 1 where the set has them: square 7 - i is byte i. */
static inline uint64_t falling_bytes(uint8_t eight)
{
    return eight * 0x8040201008040201u >> 7 & 0x0101010101010101u;
}

/* How many of eight sums, each a byte of at most 127, are no more than `n`. */
static inline int sums_up_to(uint64_t sums, int n)
{
    const uint64_t ones = 0x0101010101010101u;
    return (int)(((((uint64_t)n * ones | 0x80 * ones) - sums) >> 7 & ones) * ones >> 56);
}

/* One square of a set that is not empty; uniform if `random` is. */
static inline int random_bit(sk_bits set, uint32_t random)
{
    assert(set);
    const uint64_t ones = 0x0101010101010101u;
    /* In byte i of a half's sums: how many squares its bytes 0 .. i have. */
    uint64_t low = count_bytes(low_half(set)) * ones, high = count_bytes(high_half(set)) * ones;
    int below = (int)(low >> 56), n = (int)(random * ((low >> 56) + (high >> 56)) >> 32);
    int upper = n >= below;
    uint64_t half = upper ? high_half(set) : low_half(set), sums = upper ? high : low;
    n -= upper ? below : 0;
    int byte = 8 * sums_up_to(sums, n);
    n -= (int)(sums << 8 >> byte & 0xff);
    uint64_t squares = __builtin_bswap64(falling_bytes((uint8_t)(half >> byte)));
    return 64 * upper + byte + sums_up_to(squares * ones, n);
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

#endif
