/* One width of vectors for `residual.c`, which includes this once for each: LANES floats of a
 * `vector`, ROWS tiles at a time, and a suffix for names. `WHOLE` and
 * `KERNEL` begin a function of it. */

KERNEL vector NAME(relu)(vector x) { return MAX(x, SET(0.0f)); }

/* The tiles' inputs B^T d B: 16 numbers a tile and channel, those of one frequency together. */
KERNEL void NAME(forth)(const residual_plan *p, const float *x, float *v)
{
    int c = p->channels, row = p->stride * c;
    size_t next = (size_t)(p->room * c);
    for (int t = 0; t < p->tiles; t++) {
        for (int n = 0; n < c; n += LANES) {
            const float *at = x + t / p->across * 2 * row + t % p->across * 2 * c + n;
            float *out = v + t * c + n;
            vector d[4][4], e[4][4];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    d[i][j] = LOAD(at + i * row + j * c);
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
                STORE(out + 3 * next, SUB(e[i][1], e[i][3]));
            }
        }
    }
}

/* ROWS tiles [ROWS, c] by c x c weights: `wide` vectors of the outputs, beginning at `u`, `m`. */
KERNEL void NAME(product)(const float *v, const float *u, int c, float *m, const int wide)
{
    vector sum[ROWS][2];
    for (int r = 0; r < ROWS; r++)
        for (int n = 0; n < wide; n++)
            sum[r][n] = SET(0.0f);
    for (int k = 0; k < c; k++) {
        vector w[2];
        for (int n = 0; n < wide; n++)
            w[n] = LOAD(u + k * c + n * LANES);
        for (int r = 0; r < ROWS; r++) {
            vector input = SET(v[r * c + k]);
            for (int n = 0; n < wide; n++)
                sum[r][n] = FMA(input, w[n], sum[r][n]);
        }
    }
    for (int r = 0; r < ROWS; r++)
        for (int n = 0; n < wide; n++)
            STORE(m + r * c + n * LANES, sum[r][n]);
}

KERNEL void NAME(products)(const residual_plan *p, const float *v, const float *u, float *m)
{
    int c = p->channels;
    for (int f = 0; f < FREQUENCIES; f++, u += c * c)
        for (int t = 0; t < p->room; t += ROWS, v += ROWS * c, m += ROWS * c) {
            int n = 0;
            for (; n + 2 * LANES <= c; n += 2 * LANES)
                NAME(product)(v, u + n, c, m + n, 2);
            if (n < c)
                NAME(product)(v, u + n, c, m + n, 1);
        }
}

/* The outputs relu(A^T m A + bias + skip) on the board; what lies beside it stays 0. */
KERNEL void NAME(back)(const residual_plan *p, const float *m, const float *bias, const float *skip,
                       float *y)
{
    int c = p->channels;
    size_t next = (size_t)(p->room * c);
    for (int t = 0; t < p->tiles; t++) {
        int rank = t / p->across * 2, file = t % p->across * 2;
        for (int n = 0; n < c; n += LANES) {
            const float *in = m + t * c + n;
            vector e[2][4], b = LOAD(bias + n);
            for (int j = 0; j < 4; j++) {
                vector d[4];
                for (int i = 0; i < 4; i++)
                    d[i] = LOAD(in + (size_t)(4 * i + j) * next);
                e[0][j] = ADD(ADD(d[0], d[1]), d[2]);
                e[1][j] = SUB(SUB(d[1], d[2]), d[3]);
            }
            for (int i = 0; i < 2 && rank + i < p->height; i++) {
                int at = ((rank + i + 1) * p->stride + file + 1) * c + n;
                vector first = ADD(ADD(ADD(e[i][0], e[i][1]), e[i][2]), b);
                vector second = ADD(SUB(SUB(e[i][1], e[i][2]), e[i][3]), b);
                STORE(y + at, NAME(relu)(skip ? ADD(first, LOAD(skip + at)) : first));
                if (file + 1 < p->width)
                    STORE(y + at + c, NAME(relu)(skip ? ADD(second, LOAD(skip + at + c)) : second));
            }
        }
    }
}

WHOLE void NAME(convolution)(const residual_plan *p, const float *x, const float *u,
                             const float *bias, const float *skip, float *y)
{
    NAME(forth)(p, x, p->v);
    NAME(products)(p, p->v, u, p->m);
    NAME(back)(p, p->m, bias, skip, y);
}

#undef WHOLE
#undef KERNEL
#undef NAME
#undef LANES
#undef ROWS
#undef vector
#undef LOAD
#undef STORE
#undef SET
#undef ADD
#undef SUB
#undef MAX
#undef FMA
