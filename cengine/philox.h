/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011).
 *
 * A counter-based generator: the number is a function of key and counter alone, so it cannot depend
 * on which thread, slot or order asked for it.
 */
#ifndef SK_PHILOX_H
#define SK_PHILOX_H

#include <stdint.h>

static inline void philox(uint32_t counter[4], uint32_t key0, uint32_t key1)
{
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * counter[0];
        uint64_t b = (uint64_t)0xCD9E8D57u * counter[2];
        uint32_t c0 = (uint32_t)(b >> 32) ^ counter[1] ^ key0;
        uint32_t c2 = (uint32_t)(a >> 32) ^ counter[3] ^ key1;
        counter[1] = (uint32_t)b;
        counter[3] = (uint32_t)a;
        counter[0] = c0;
        counter[2] = c2;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

/* Uniform in [0, 1) with 53 bits. */
static inline double philox_uniform(uint64_t seed, uint32_t stream, int64_t game, int32_t number)
{
    uint32_t c[4] = {(uint32_t)number, stream, (uint32_t)game, (uint32_t)((uint64_t)game >> 32)};
    philox(c, (uint32_t)seed, (uint32_t)(seed >> 32));
    return ((double)(c[0] >> 5) * 67108864.0 + (double)(c[1] >> 6)) / 9007199254740992.0;
}

#endif
