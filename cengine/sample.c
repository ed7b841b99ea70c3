/* Choosing actions: the inverse CDF in index order, with counter-based random numbers. */
#include <math.h>
#include <stddef.h>

#include "game.h"
#include "philox.h"

void sk_uniform(uint64_t seed, uint32_t stream, const int64_t *games, const int32_t *numbers, int64_t n,
                double *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = philox_uniform(seed, stream, games[i], numbers[i]);
}

static int choose_uniform(const uint8_t *legal, int32_t actions, double u, float *mu)
{
    int count = 0;
    for (int a = 0; a < actions; a++)
        count += legal[a] != 0;
    if (count == 0)
        return -1;
    int index = (int)(u * count);
    *mu = 1.0f / (float)count;
    for (int a = 0;; a++)
        if (legal[a] && index-- == 0)
            return a;
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
