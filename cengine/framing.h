/* One byte a square in the frame of a side, eight squares at a time: bytes first .. first + 7 of
 * the frame belong to eight absolute squares, in order for red and in reverse for blue. */
#ifndef SK_FRAMING_H
#define SK_FRAMING_H

#include <string.h>

#include "stratego.h"

/* The lowest absolute square of those that the frame's squares at .. at + 7 are. */
static inline int framed_eight(const stratego *game, int side, int at)
{
    return side == BLUE ? game->squares - 8 - at : at;
}

static inline void write_eight(int side, uint64_t bytes, uint8_t *out)
{
    bytes = side == BLUE ? __builtin_bswap64(bytes) : bytes;
    memcpy(out, &bytes, 8);
}

#endif
