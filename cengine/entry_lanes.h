/* One width of vectors for `entry.c`, which includes this once for each. */
#include "lanes.h"

/* So many `rows` of squares' features by LANES columns of their weights, and what is added to each:
 * relu of that. */
KERNEL void NAME(enter)(const float *features, const float *weights, const float *place, vector all,
                        size_t c, float *out, const int rows)
{
    vector sum[SQUARES];
    for (int r = 0; r < rows; r++)
        sum[r] = ADD(LOAD(place + (size_t)r * c), all);
    for (int k = 0; k < FEATURES; k++, weights += c) {
        vector w = LOAD(weights);
        for (int r = 0; r < rows; r++)
            sum[r] = FMA(SET(features[r * FEATURES + k]), w, sum[r]);
    }
    for (int r = 0; r < rows; r++)
        STORE(out + (size_t)r * c, MAX(sum[r], SET(0.0f)));
}

WHOLE void NAME(board)(const entry_size *size, const float *features, const float *counts,
                       const float *weights, float *out)
{
    size_t c = (size_t)size->channels;
    const float *of_counts = weights + FEATURES * c, *place = of_counts + COUNTS * c;
    for (size_t n = 0; n < c; n += LANES) {
        vector all = SET(0.0f);
        for (size_t k = 0; k < COUNTS; k++)
            all = FMA(SET(counts[k]), LOAD(of_counts + k * c + n), all);
        const float *in = features, *at = place + n;
        float *to = out + n;
        int left = size->squares;
        for (; left >= SQUARES; left -= SQUARES) {
            NAME(enter)(in, weights + n, at, all, c, to, SQUARES);
            in += SQUARES * FEATURES;
            at += SQUARES * c;
            to += SQUARES * c;
        }
        for (; left; left--, in += FEATURES, at += c, to += c)
            NAME(enter)(in, weights + n, at, all, c, to, 1);
    }
}

/* Adds the weights' gradients: of all squares, their features by the gradients [squares][LANES]. */
KERNEL void NAME(outer)(int squares, const float *features, const float *gradients, size_t c,
                        float *weights)
{
    for (int k = 0; k < FEATURES; k += LANES) {
        const float *in = features + k, *at = gradients;
        vector sum[LANES];
        for (int r = 0; r < LANES; r++)
            sum[r] = LOAD(weights + (size_t)(k + r) * c);
        for (int s = 0; s < squares; s++, in += FEATURES, at += LANES) {
            vector gradient = LOAD(at);
            for (int r = 0; r < LANES; r++)
                sum[r] = FMA(SET(in[r]), gradient, sum[r]);
        }
        for (int r = 0; r < LANES; r++)
            STORE(weights + (size_t)(k + r) * c, sum[r]);
    }
}

/* Adds to the gradients of all weights what a board brings: its outputs `out`, whose gradients are
 * `of_out`. */
WHOLE void NAME(board_gradient)(const entry_size *size, const float *features, const float *counts,
                                const float *out, const float *of_out, float *weights)
{
    size_t c = (size_t)size->channels;
    float *of_counts = weights + FEATURES * c, *place = of_counts + COUNTS * c;
    float gradients[MAX_SQUARES * LANES];
    for (size_t n = 0; n < c; n += LANES) {
        vector all = SET(0.0f);
        for (int s = 0; s < size->squares; s++) {
            size_t at = (size_t)s * c + n;
            vector gradient = WHERE(LOAD(out + at), LOAD(of_out + at));
            STORE(gradients + s * LANES, gradient);
            STORE(place + at, ADD(LOAD(place + at), gradient));
            all = ADD(all, gradient);
        }
        NAME(outer)(size->squares, features, gradients, c, weights + n);
        for (size_t k = 0; k < COUNTS; k++) {
            float *to = of_counts + k * c + n;
            STORE(to, FMA(SET(counts[k]), all, LOAD(to)));
        }
    }
}
