/* Eight bytes at once in a 64-bit word. */
#ifndef SK_BYTES_H
#define SK_BYTES_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "bits.h"

static inline uint64_t broadcast(uint8_t byte) { return 0x0101010101010101u * byte; }

/* Bit i is set where byte i has the bit `flag`. */
static inline uint64_t bytes_with(const uint8_t *bytes, uint8_t flag)
{
    assert(flag && !(flag & (flag - 1)));
    uint64_t eight;
    memcpy(&eight, bytes, 8);
    eight = eight / flag & broadcast(1); /* a shift: flag is a power of two */
    return eight * 0x0102040810204080u >> 56;
}

/* The squares of a board of at least eight whose bytes have this bit. */
static inline sk_bits having(const uint8_t *cells, int squares, uint8_t flag)
{
    sk_bits set = 0;
    for (int at = 0; at + 8 <= squares; at += 8)
        set |= (sk_bits)bytes_with(cells + at, flag) << at;
    return set | (sk_bits)bytes_with(cells + squares - 8, flag) << (squares - 8);
}

#endif
