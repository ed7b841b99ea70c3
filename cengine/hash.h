/* What a row of bytes has as its place in a hash table. */
#ifndef SK_HASH_H
#define SK_HASH_H

#include <stdint.h>
#include <string.h>

/* Of `bytes` bytes, going on from `hash`. */
static inline uint64_t hash_bytes(uint64_t hash, const uint8_t *row, int32_t bytes)
{
    for (int32_t at = 0; at < bytes; at += 8) {
        uint64_t eight = 0;
        memcpy(&eight, row + at, (size_t)(bytes - at < 8 ? bytes - at : 8));
        hash = (hash ^ eight) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    hash *=
        0x9E3779B97F4A7C15u; /* the last bytes, too, reach the low bits, which choose the slot */
    return hash ^ hash >> 32;
}

#endif
