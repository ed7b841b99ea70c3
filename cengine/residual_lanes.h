/* One width of vectors for `residual.c`, which includes this once for each. */
#include "lanes.h"

#undef ROWS
#define ROWS (LANES == 16 ? 13 : 5) /* tiles at a time */

KERNEL vector NAME(relu)(vector x) { return MAX(x, SET(0.0f)); }

/* The tiles' inputs B^T d B: 16 numbers a tile and channel, those of one frequency together. */
KERNEL void NAME(forth)(const residual_plan *p, const float *x, float *v)
{
    size_t c = (size_t)p->channels, row = (size_t)p->stride * c, next = (size_t)p->room * c;
    for (int t = 0; t < p->tiles; t++) {
        for (size_t n = 0; n < c; n += LANES) {
            const float *at = x + p->tile[t].at + n;
            float *out = v + (size_t)t * c + n;
            vector d[4][4], e[4][4];
            for (int i = 0; i < 4; i++, at += row) {
                d[i][0] = LOAD(at);
                d[i][1] = LOAD(at + c);
                d[i][2] = LOAD(at + 2 * c);
                d[i][3] = LOAD(at + 2 * c + c);
            }
            for (int j = 0; j < 4; j++) {
                e[0][j] = SUB(d[0][j], d[2][j]);
                e[1][j] = ADD(d[1][j], d[2][j]);
                e[2][j] = SUB(d[2][j], d[1][j]);
                e[3][j] = SUB(d[1][j], d[3][j]);
            }
            for (int i = 0; i < 4; i++, out += 4 * next) {
                STORE(out, SUB(e[i][0], e[i][2]));
                STORE(out + next, ADD(e[i][1], e[i][2]));
                STORE(out + 2 * next, SUB(e[i][2], e[i][1]));
                STORE(out + 2 * next + next, SUB(e[i][1], e[i][3]));
            }
        }
    }
}

/* ROWS tiles [ROWS, c] by c x c weights: `wide` vectors of the outputs, beginning at `u`, `m`.
 * Three rows have a pointer together: what a processor adds to it by itself costs nothing. */
KERNEL void NAME(product)(const float *v, const float *u, size_t c, float *m, const int wide)
{
    const float *at[(ROWS + 2) / 3];
    vector sum[ROWS][2];
    for (int i = 0; i < (ROWS + 2) / 3; i++)
        at[i] = v + 3 * (size_t)i * c;
    for (int r = 0; r < ROWS; r++)
        for (int n = 0; n < wide; n++)
            sum[r][n] = SET(0.0f);
    for (size_t k = 0; k < c; k++, u += c) {
        vector w[2];
        for (int n = 0; n < wide; n++)
            w[n] = LOAD(u + n * LANES);
        for (int r = 0; r < ROWS; r++) {
            vector input = SET(at[r / 3][(size_t)(r % 3) * c]);
            for (int n = 0; n < wide; n++)
                sum[r][n] = FMA(input, w[n], sum[r][n]);
        }
        for (int i = 0; i < (ROWS + 2) / 3; i++)
            at[i]++;
    }
    for (int r = 0; r < ROWS; r++, m += c)
        for (int n = 0; n < wide; n++)
            STORE(m + n * LANES, sum[r][n]);
}

KERNEL void NAME(products)(const residual_plan *p, const float *v, const float *u, float *m)
{
    size_t c = (size_t)p->channels;
    for (int f = 0; f < FREQUENCIES; f++, u += c * c)
        for (int t = 0; t < p->room; t += ROWS, v += ROWS * c, m += ROWS * c) {
            size_t n = 0;
            for (; n + 2 * LANES <= c; n += 2 * LANES)
                NAME(product)(v, u + n, c, m + n, 2);
            if (n < c)
                NAME(product)(v, u + n, c, m + n, 1);
        }
}

/* The outputs A^T m A, with bias and skip, unless they are NULL. Where `mask` is not above 0 they
 * are 0; without a mask relu is taken of them, unless they are `raw`. */
KERNEL vector NAME(output)(vector x, const float *skip, const float *mask, const int raw, size_t at)
{
    if (skip)
        x = ADD(x, LOAD(skip + at));
    if (mask)
        return WHERE(LOAD(mask + at), x);
    return raw ? x : NAME(relu)(x);
}

/* These outputs on the board; what lies beside it stays 0. */
KERNEL void NAME(back)(const residual_plan *p, const float *m, const float *bias, const float *skip,
                       const float *mask, const int raw, float *y)
{
    size_t c = (size_t)p->channels, next = (size_t)p->room * c;
    for (int t = 0; t < p->tiles; t++) {
        const residual_tile *tile = &p->tile[t];
        for (size_t n = 0; n < c; n += LANES) {
            const float *in = m + (size_t)t * c + n;
            vector e[2][4], b = bias ? LOAD(bias + n) : SET(0.0f);
            for (int j = 0; j < 4; j++, in += next) {
                vector d[4] = {LOAD(in), LOAD(in + 4 * next), LOAD(in + 8 * next),
                               LOAD(in + 12 * next)};
                e[0][j] = ADD(ADD(d[0], d[1]), d[2]);
                e[1][j] = SUB(SUB(d[1], d[2]), d[3]);
            }
            size_t at = (size_t)tile->at + ((size_t)p->stride + 1) * c + n;
            for (int i = 0; i < tile->ranks; i++, at += (size_t)(p->stride - 1) * c) {
                vector first = ADD(ADD(ADD(e[i][0], e[i][1]), e[i][2]), b);
                vector second = ADD(SUB(SUB(e[i][1], e[i][2]), e[i][3]), b);
                STORE(y + at, NAME(output)(first, skip, mask, raw, at));
                at += c;
                if (tile->files > 1)
                    STORE(y + at, NAME(output)(second, skip, mask, raw, at));
            }
        }
    }
}

WHOLE void NAME(convolution)(const residual_plan *p, const float *x, const float *u,
                             const float *bias, const float *skip, float *y)
{
    NAME(forth)(p, x, p->v);
    NAME(products)(p, p->v, u, p->m);
    NAME(back)(p, p->m, bias, skip, NULL, 0, y);
}

/* What `back` does, backwards: the tiles' A d A^T of the outputs' gradients d. */
KERNEL void NAME(spread)(const residual_plan *p, const float *y, float *m)
{
    size_t c = (size_t)p->channels, row = (size_t)p->stride * c, next = (size_t)p->room * c;
    for (int t = 0; t < p->tiles; t++) {
        for (size_t n = 0; n < c; n += LANES) {
            const float *at = y + p->tile[t].at + row + c + n;
            float *out = m + (size_t)t * c + n;
            vector e[4][2];
            for (int j = 0; j < 2; j++, at += c) {
                vector first = LOAD(at), second = LOAD(at + row);
                e[0][j] = first;
                e[1][j] = ADD(first, second);
                e[2][j] = SUB(first, second);
                e[3][j] = SUB(SET(0.0f), second);
            }
            for (int i = 0; i < 4; i++, out += 4 * next) {
                STORE(out, e[i][0]);
                STORE(out + next, ADD(e[i][0], e[i][1]));
                STORE(out + 2 * next, SUB(e[i][0], e[i][1]));
                STORE(out + 2 * next + next, SUB(SET(0.0f), e[i][1]));
            }
        }
    }
}

/* Adds the weights' gradients: at each frequency, of all tiles, inputs `v` by outputs `m`. */
KERNEL void NAME(outer)(const residual_plan *p, const float *v, const float *m, float *u)
{
    size_t c = (size_t)p->channels, next = (size_t)p->room * c;
    for (int f = 0; f < FREQUENCIES; f++, u += c * c, v += next, m += next)
        for (size_t n = 0; n < c; n += LANES)
            for (size_t k = 0; k < c; k += LANES) {
                const float *in = v + k, *out = m + n;
                vector sum[LANES];
                for (int r = 0; r < LANES; r++)
                    sum[r] = LOAD(u + (k + (size_t)r) * c + n);
                for (int t = 0; t < p->tiles; t++, in += c, out += c) {
                    vector output = LOAD(out);
                    for (int r = 0; r < LANES; r++)
                        sum[r] = FMA(SET(in[r]), output, sum[r]);
                }
                for (int r = 0; r < LANES; r++)
                    STORE(u + (k + (size_t)r) * c + n, sum[r]);
            }
}

/* Adds the biases' gradients: the sums of a tile's outputs stand at one frequency. */
KERNEL void NAME(add_biases)(const residual_plan *p, const float *m, float *biases)
{
    int c = p->channels;
    m += 5 * p->room * c;
    for (int n = 0; n < c; n += LANES) {
        vector sum = LOAD(biases + n);
        for (int t = 0; t < p->tiles; t++)
            sum = ADD(sum, LOAD(m + t * c + n));
        STORE(biases + n, sum);
    }
}

/* Clears what of boards `y` is not above 0 in `mask`. */
WHOLE void NAME(masked)(const residual_plan *p, const float *mask, float *y)
{
    for (int at = 0; at < p->boards * p->area; at += LANES)
        STORE(y + at, WHERE(LOAD(mask + at), LOAD(y + at)));
}

/* Backwards, of the outputs' gradients `y` to the inputs' `to`, by `turned` weights. Inputs are
 * `x`; adds to the weights' gradients. */
WHOLE void NAME(gradient)(const residual_plan *p, const float *x, const float *y,
                          const float *turned, const float *skip, const float *mask, float *to,
                          float *u, float *biases)
{
    NAME(forth)(p, x, p->v);
    NAME(spread)(p, y, p->m);
    NAME(outer)(p, p->v, p->m, u);
    NAME(add_biases)(p, p->m, biases);
    NAME(forth)(p, y, p->v);
    NAME(products)(p, p->v, turned, p->m);
    NAME(back)(p, p->m, NULL, skip, mask, 1, to);
}
