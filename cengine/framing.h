/* One byte a square in the frame of a side, eight squares at a time: bytes first .. first + 7 of
 * the frame belong to eight absolute squares, in order for red and in reverse for blue. */
#ifndef SK_FRAMING_H
#define SK_FRAMING_H

#include <string.h>

#include "stratego.h"

static inline void write_eight(int side, uint64_t bytes, uint8_t *out)
{
    bytes = side == BLUE ? __builtin_bswap64(bytes) : bytes;
    memcpy(out, &bytes, 8);
}

#endif
