/* One byte a square, from absolute squares to the frame of a side. */
#ifndef SK_FRAMING_H
#define SK_FRAMING_H

#include <string.h>

#include "stratego.h"

/* Copies one byte for each square of the board; blue gets them in reverse order. */
static inline void frame_bytes(const stratego *game, int side, const uint8_t *bytes, uint8_t *out)
{
    int squares = game->squares, at = 0;
    if (side == RED) {
        memcpy(out, bytes, (size_t)squares);
        return;
    }
    for (; at + 8 <= squares; at += 8) {
        uint64_t eight;
        memcpy(&eight, bytes + squares - 8 - at, 8);
        eight = __builtin_bswap64(eight);
        memcpy(out + at, &eight, 8);
    }
    for (; at < squares; at++)
        out[at] = bytes[squares - 1 - at];
}

#endif
