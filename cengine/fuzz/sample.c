/* sk_sample: any probabilities, any legal actions. The input: rows, actions, whether there are
 * probabilities, the seed; of each row its game, number, legal actions and probabilities. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "input.h"

/* Most often one that is apt to make trouble, else any bits at all. */
static float take_probability(input *in)
{
    const float odd[] = {0,       -0.0f,    1,          -1,        NAN,
                         -NAN,    INFINITY, FLT_MIN,    -INFINITY, FLT_TRUE_MIN,
                         FLT_MAX, -FLT_MAX, FLT_EPSILON};
    size_t kind = take8(in);
    if (kind < sizeof odd / sizeof *odd)
        return odd[kind];
    if (kind < 200)
        return (float)kind / 200.0f;
    uint32_t bits = take32(in);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* `p` may be NULL: every legal action counts one. */
static double weight(const float *p, const uint8_t *legal, int32_t a)
{
    if (!legal[a])
        return 0;
    return !p ? 1 : p[a] > 0 ? (double)p[a] : 0;
}

static void check_row(const float *p, const uint8_t *legal, int32_t actions, double u,
                      int32_t chosen, float mu)
{
    double total = 0, below = 0;
    for (int32_t a = 0; a < actions; a++)
        total += weight(p, legal, a);
    if (chosen == -1) {
        MUST(total == 0 && isnan(mu));
        return;
    }
    MUST(chosen >= 0 && chosen < actions && weight(p, legal, chosen) > 0);
    MUST(p ? mu == p[chosen] : mu == 1.0f / (float)total);
    if (isinf(total))
        return;
    for (int32_t a = 0; a < chosen; a++)
        below += weight(p, legal, a);
    MUST(below <= u * total);
    MUST(below + weight(p, legal, chosen) > u * total);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST_ROWS = 4, MOST_ACTIONS = 128 };
    input in = {data, size};
    int32_t n = take8(&in) % (MOST_ROWS + 1), actions = 1 + take8(&in) % MOST_ACTIONS;
    int uniform = take8(&in) & 1;
    uint64_t seed = take32(&in) | (uint64_t)take32(&in) << 32;
    uint32_t stream = take32(&in);
    size_t cells = (size_t)(n * actions);
    int64_t games[MOST_ROWS];
    int32_t numbers[MOST_ROWS], chosen[MOST_ROWS];
    float mu[MOST_ROWS];
    double u[MOST_ROWS];
    for (int i = 0; i < n; i++) {
        games[i] = (int64_t)(take32(&in) | (uint64_t)take32(&in) << 32);
        numbers[i] = (int32_t)take32(&in);
    }
    uint8_t *legal = take_bytes(&in, cells);
    float *p = take_memory(cells * sizeof *p);
    for (size_t i = 0; i < cells; i++)
        p[i] = take_probability(&in);
    const float *given = uniform ? NULL : p;
    sk_uniform(seed, stream, games, numbers, n, u);
    sk_sample(given, legal, n, actions, seed, stream, games, numbers, chosen, mu);
    for (int i = 0; i < n; i++) {
        int32_t alone;
        float mu_alone;
        const float *row = given ? given + i * actions : NULL;
        MUST(u[i] >= 0 && u[i] < 1);
        check_row(row, legal + i * actions, actions, u[i], chosen[i], mu[i]);
        sk_sample(row, legal + i * actions, 1, actions, seed, stream, games + i, numbers + i,
                  &alone, &mu_alone);
        MUST(alone == chosen[i] && memcmp(&mu_alone, &mu[i], sizeof mu_alone) == 0);
    }
    free(legal);
    free(p);
    return 0;
}
