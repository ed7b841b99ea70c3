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

/* ---- Noise for the root of a search ---- */

/* Gamma(shape + 1), of Marsaglia and Tsang ("A simple method for generating gamma variables",
 * 2000), and from it Gamma(shape), whose shape may be below 1. */
static double gamma_variable(double shape, philox_draws *draws)
{
    double d = shape + 2.0 / 3.0, c = 1 / sqrt(9 * d);
    for (;;) {
        double u = 1 - philox_double(philox_word(draws), philox_word(draws));
        double angle = 6.283185307179586 * philox_double(philox_word(draws), philox_word(draws));
        double x = sqrt(-2 * log(u)) * cos(angle), v = (1 + c * x) * (1 + c * x) * (1 + c * x);
        double accept = 1 - philox_double(philox_word(draws), philox_word(draws));
        double boost = 1 - philox_double(philox_word(draws), philox_word(draws));
        if (v > 0 && log(accept) < x * x / 2 + d - d * v + d * log(v))
            return d * v * pow(boost, 1 / shape);
    }
}

void sk_dirichlet(uint64_t seed, uint32_t stream, int64_t game, int32_t number, double shape,
                  int32_t rows, int32_t n, double *out)
{
    uint32_t key[2];
    philox_decision_key(seed, stream, game, number, key);
    for (int32_t row = 0; row < rows; row++, out += n) {
        philox_draws draws = philox_world(key, row);
        double sum = 0;
        for (int32_t i = 0; i < n; i++)
            sum += out[i] = gamma_variable(shape, &draws) + 1e-300;
        for (int32_t i = 0; i < n; i++)
            out[i] /= sum;
    }
}
