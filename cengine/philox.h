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

/* Uniform in [0, 1) with 53 bits, of two words that are. */
static inline double philox_double(uint32_t high, uint32_t low)
{
    return ((double)(high >> 5) * 67108864.0 + (double)(low >> 6)) / 9007199254740992.0;
}

static inline double philox_uniform(uint64_t seed, uint32_t stream, int64_t game, int32_t number)
{
    uint32_t c[4] = {(uint32_t)number, stream, (uint32_t)game, (uint32_t)((uint64_t)game >> 32)};
    philox(c, (uint32_t)seed, (uint32_t)(seed >> 32));
    return philox_double(c[0], c[1]);
}

/* A sequence of random numbers of its own for every world of a decision: the decision (seed,
 * stream, game, number) makes a key, under which (block, world) is the counter. */
typedef struct {
    uint32_t key[2], world, block;
    uint32_t words[4];
    int left; /* of the words */
} philox_draws;

static inline void philox_decision_key(uint64_t seed, uint32_t stream, int64_t game, int32_t number,
                                       uint32_t key[2])
{
    uint32_t c[4] = {(uint32_t)number, stream, (uint32_t)game, (uint32_t)((uint64_t)game >> 32)};
    philox(c, (uint32_t)seed, (uint32_t)(seed >> 32));
    key[0] = c[0];
    key[1] = c[1];
}

static inline philox_draws philox_world(const uint32_t key[2], int32_t world)
{
    return (philox_draws){.key = {key[0], key[1]}, .world = (uint32_t)world};
}

static inline uint32_t philox_word(philox_draws *draws)
{
    if (!draws->left) {
        uint32_t c[4] = {draws->block++, draws->world, 0, 0};
        philox(c, draws->key[0], draws->key[1]);
        for (int i = 0; i < 4; i++)
            draws->words[i] = c[i];
        draws->left = 4;
    }
    return draws->words[4 - draws->left--];
}

/* Uniform in 0 .. n - 1, exactly: draws that would favour some numbers are rejected (Lemire: "Fast
 * random integer generation in an interval", 2019). n is at least 1. */
static inline int philox_below(philox_draws *draws, int n)
{
    uint32_t range = (uint32_t)n;
    uint64_t product = (uint64_t)philox_word(draws) * range;
    if ((uint32_t)product < range)
        for (uint32_t least = -range % range; (uint32_t)product < least;)
            product = (uint64_t)philox_word(draws) * range;
    return (int)(product >> 32);
}

/* Takes one of the n entries of a list out of it, uniformly; the last one fills the gap. */
static inline int philox_take(philox_draws *draws, uint8_t *list, int *n)
{
    int at = *n > 1 ? philox_below(draws, *n) : 0, taken = list[at];
    list[at] = list[--*n];
    return taken;
}

#endif
