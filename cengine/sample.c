/* Choosing actions: the inverse CDF in index order, with counter-based random numbers. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "game.h"
#include "philox.h"

void sk_uniform(uint64_t seed, uint32_t stream, const int64_t *games, const int32_t *numbers,
                int64_t n, double *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = philox_uniform(seed, stream, games[i], numbers[i]);
}

#define ONES 0x0101010101010101u /* in each of eight bytes */

/* Entries at .. at + 7 of a row, as far as there are any: one where the row is not zero. */
static uint64_t eight_of(const uint8_t *legal, int32_t actions, int32_t at)
{
    uint64_t eight = 0;
    if (at + 8 <= actions)
        memcpy(&eight, legal + at, 8);
    else
        memcpy(&eight, legal + at, (size_t)(actions - at));
    if (!(eight & ~ONES))
        return eight;
    eight |= eight >> 4; /* not zeros and ones: the lowest bit of each byte gathers the others */
    eight |= eight >> 2;
    eight |= eight >> 1;
    return eight & ONES;
}

static int ones_in(uint64_t eight) { return (int)(eight * ONES >> 56); }

static int choose_uniform(const uint8_t *legal, int32_t actions, double u, float *mu)
{
    int count = 0, at = 0;
    for (int a = 0; a < actions; a += 8)
        count += ones_in(eight_of(legal, actions, a));
    if (count == 0)
        return -1;
    *mu = 1.0f / (float)count;
    int index = (int)(u * count);
    for (int here; index >= (here = ones_in(eight_of(legal, actions, at))); at += 8)
        index -= here;
    uint64_t eight = eight_of(legal, actions, at);
    while (index-- > 0)
        eight &= eight - 1;
    return at + __builtin_ctzll(eight) / 8;
}

static int choose(const float *p, const uint8_t *legal, int32_t actions, double u, float *mu)
{
    double total = 0, sum = 0;
    for (int a = 0; a < actions; a++)
        if (legal[a] && p[a] > 0)
            total += p[a];
    /* Probabilities of a float32 softmax do not sum to one exactly: scale the target instead. */
    double target = u * total;
    int last = -1;
    for (int a = 0; a < actions; a++) {
        if (!legal[a] || !(p[a] > 0))
            continue;
        last = a;
        sum += p[a];
        if (sum > target)
            break;
    }
    if (last >= 0)
        *mu = p[last];
    return last;
}

void sk_sample(const float *probabilities, const uint8_t *legal, int64_t n, int32_t actions,
               uint64_t seed, uint32_t stream, const int64_t *games, const int32_t *numbers,
               int32_t *chosen, float *mu)
{
    for (int64_t i = 0; i < n; i++) {
        const uint8_t *row = legal + i * actions;
        double u = philox_uniform(seed, stream, games[i], numbers[i]);
        mu[i] = NAN;
        chosen[i] = probabilities ? choose(probabilities + i * actions, row, actions, u, &mu[i])
                                  : choose_uniform(row, actions, u, &mu[i]);
    }
}
