/* What all targets share: an input taken byte by byte, and a check that ends the process.
 *
 * A target is one function of some bytes. libFuzzer calls it where clang is at hand, driver.c where
 * it is not; both look for inputs that reach new code, and both keep the input of a failure in a
 * file.
 */
#ifndef SK_FUZZ_INPUT_H
#define SK_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../game.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                             \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                \
        }                                                                           \
    } while (0)

typedef struct {
    const uint8_t *at;
    size_t left;
} input;

/* After its end an input goes on with zeros. */
static inline uint8_t take8(input *in)
{
    if (!in->left)
        return 0;
    in->left--;
    return *in->at++;
}

static inline uint16_t take16(input *in)
{
    unsigned low = take8(in);
    return (uint16_t)(low | (unsigned)take8(in) << 8);
}

static inline uint32_t take32(input *in)
{
    uint32_t low = take16(in);
    return low | (uint32_t)take16(in) << 16;
}

/* Memory of exactly this size, so that the sanitizer sees the first byte too many; never NULL. */
static inline void *take_memory(size_t size)
{
    void *memory = malloc(size ? size : 1);
    MUST(memory);
    return memory;
}

/* The next `size` bytes in such memory. */
static inline uint8_t *take_bytes(input *in, size_t size)
{
    uint8_t *bytes = take_memory(size);
    for (size_t i = 0; i < size; i++)
        bytes[i] = take8(in);
    return bytes;
}

#endif
