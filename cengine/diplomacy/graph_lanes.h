/* One width of vectors for `graph.c`, which includes this once for each. What is a multiple of
 * LANES are channels and HIDDEN. */
#include "../lanes.h"

/* `n` rows of a product, `wide` vectors of outputs. */
KERNEL void NAME(tile)(float *out, const float *x, const float *w, int in, int width, const int n,
                       const int wide)
{
    vector sum[TILE][2];
#pragma GCC unroll 8
    for (int r = 0; r < n; r++)
#pragma GCC unroll 2
        for (int i = 0; i < wide; i++)
            sum[r][i] = LOAD(out + r * width + i * LANES);
    for (int k = 0; k < in; k++) {
        const float *weights = w + k * width;
#pragma GCC unroll 8
        for (int r = 0; r < n; r++)
#pragma GCC unroll 2
            for (int i = 0; i < wide; i++)
                sum[r][i] = FMA(SET(x[r * in + k]), LOAD(weights + i * LANES), sum[r][i]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < n; r++)
#pragma GCC unroll 2
        for (int i = 0; i < wide; i++)
            STORE(out + r * width + i * LANES, sum[r][i]);
}

/* out += x w of rows [rows][in] and weights [in][width]. */
WHOLE void NAME(product)(float *out, const float *x, const float *w, int rows, int in, int width)
{
    for (int r = 0; r < rows; r += TILE) {
        int at = 0, whole = r + TILE <= rows;
        for (; whole && at + 2 * LANES <= width; at += 2 * LANES)
            NAME(tile)(out + r * width + at, x + r * in, w + at, in, width, TILE, 2);
        for (; at < width; at += LANES)
            for (int one = r; one < rows && one < r + TILE; one++)
                NAME(tile)(out + one * width + at, x + one * in, w + at, in, width, 1, 1);
    }
}

/* A block: to each province a layer of itself and of its neighbours. `work`: two boards. */
WHOLE void NAME(hear)(const sk_graph *net, const float *weights, float *rows, float *work)
{
    int c = net->channels, n = net->map->provinces;
    const float *own = weights, *others = own + c * c, *bias = others + c * c;
    float *told = work, *heard = told + n * c;
    memset(told, 0, (size_t)(n * c) * sizeof *told);
    NAME(product)(told, rows, others, n, c, c);
    for (int at = 0; at < n; at++)
        memcpy(heard + at * c, bias, (size_t)c * sizeof *bias);
    NAME(product)(heard, rows, own, n, c, c);
    for (int at = 0; at < n; at++) {
        int beside = net->neighbours[at];
        float scale = beside ? 1 / sqrtf((float)beside) : 0.0f;
        for (int i = 0; i < c; i += LANES) {
            vector sum = SET(0.0f);
            for (int k = 0; k < beside; k++)
                sum = ADD(sum, LOAD(told + net->near[at][k] * c + i));
            sum = FMA(sum, SET(scale), LOAD(heard + at * c + i));
            STORE(rows + at * c + i, ADD(LOAD(rows + at * c + i), MAX(sum, SET(0.0f))));
        }
    }
}
