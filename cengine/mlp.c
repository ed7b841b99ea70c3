/* Multilayer perceptrons, a row at a time: observations of vectors have few inputs that are not 0,
 * and behind relu half of them are 0 too, so a layer adds up the weights of the others alone. Sums
 * are in the order of the inputs on every processor, whatever stands beside a row. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "stratkit.h"

typedef float vector __attribute__((vector_size(64), aligned(4), may_alias));

enum { LANES = SK_MLP_LANES, WIDE = 4, MOST = SK_MLP_WIDTH };

#define INLINE __attribute__((always_inline)) static inline

/* The inputs of a row that are not 0. */
typedef struct {
    int32_t n, at[MOST];
    float is[MOST];
} inputs;

/* `wide` vectors of a layer's outputs. */
INLINE void add_up(const inputs *x, const float *weights, const float *biases, size_t width,
                   float *out, const int wide)
{
    vector sum[WIDE];
    for (int i = 0; i < wide; i++)
        sum[i] = *(const vector *)(biases + i * LANES);
    for (int32_t k = 0; k < x->n; k++) {
        const float *row = weights + (size_t)x->at[k] * width;
        for (int i = 0; i < wide; i++)
            sum[i] += x->is[k] * *(const vector *)(row + i * LANES);
    }
    for (int i = 0; i < wide; i++)
        *(vector *)(out + i * LANES) = sum[i];
}

/* Those of a layer: what is above 0 of so many floats. No input is below. */
INLINE void note(inputs *x, const float *out, int32_t width)
{
    x->n = 0;
    for (int32_t i = 0; i < width; i++) {
        x->at[x->n] = i;
        x->is[x->n] = out[i];
        x->n += out[i] > 0;
    }
}

INLINE void run(const int32_t *sizes, int32_t layers, const float *weights, const uint8_t *packed,
                int64_t stride, int64_t n, float *outputs)
{
    inputs x;
    float out[MOST];
    for (int64_t row = 0; row < n; row++) {
        const float *at = weights;
        for (int32_t i = 0; i < sizes[0]; i++)
            out[i] = packed[row * stride + i];
        for (int32_t layer = 0; layer < layers; layer++) {
            size_t width = (size_t)sizes[layer + 1], done = 0;
            const float *biases = at + (size_t)sizes[layer] * width;
            float *to = layer == layers - 1 ? outputs + (size_t)row * width : out;
            note(&x, out, sizes[layer]);
            for (; done + WIDE * LANES <= width; done += WIDE * LANES)
                add_up(&x, at + done, biases + done, width, to + done, WIDE);
            for (; done < width; done += LANES)
                add_up(&x, at + done, biases + done, width, to + done, 1);
            at = biases + width;
        }
    }
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx512f"))) static void run_16(const int32_t *sizes, int32_t layers,
                                                      const float *weights, const uint8_t *packed,
                                                      int64_t stride, int64_t n, float *outputs)
{
    run(sizes, layers, weights, packed, stride, n, outputs);
}

__attribute__((target("avx2"))) static void run_8(const int32_t *sizes, int32_t layers,
                                                  const float *weights, const uint8_t *packed,
                                                  int64_t stride, int64_t n, float *outputs)
{
    run(sizes, layers, weights, packed, stride, n, outputs);
}
#endif

void sk_mlp(const int32_t *sizes, int32_t layers, const float *weights, const uint8_t *packed,
            int64_t stride, int64_t n, float *outputs)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx512f")) {
        run_16(sizes, layers, weights, packed, stride, n, outputs);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        run_8(sizes, layers, weights, packed, stride, n, outputs);
        return;
    }
#endif
    run(sizes, layers, weights, packed, stride, n, outputs);
}

void sk_legal_softmax(const float *logits, int64_t stride, const uint8_t *legal, int64_t n,
                      int32_t actions, float *policy)
{
    for (int64_t row = 0; row < n; row++, logits += stride, legal += actions, policy += actions) {
        float most = -INFINITY, total = 0;
        for (int32_t i = 0; i < actions; i++)
            most = legal[i] && logits[i] > most ? logits[i] : most;
        for (int32_t i = 0; i < actions; i++) {
            policy[i] = legal[i] ? expf(logits[i] - most) : 0;
            total += policy[i];
        }
        for (int32_t i = 0; i < actions && total > 0; i++)
            policy[i] /= total;
    }
}
