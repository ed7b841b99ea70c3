/* Residual blocks of a board for who has room for them; sk_residual says of what. */
#ifndef SK_RESIDUAL_H
#define SK_RESIDUAL_H

#include <stdint.h>

/* Of 2 x 2 squares: where the inputs begin that they depend on, and how many of the squares are on
 * the board. */
typedef struct {
    int at, ranks, files;
} residual_tile;

/* Of some boards at a time: one has `area` floats with its border of zeros, and is `stride` squares
 * wide. There are so many `tiles`, and `room` for more. `a`, `b` hold the boards, `v`, `m` the
 * tiles' frequencies. */
typedef struct {
    int height, width, channels, lanes, boards, stride, area, tiles, room;
    float *a, *b, *v, *m;
    residual_tile *tile;
} residual_plan;

/* Whether there was memory for it; closed in either case. */
int sk_residual_open(residual_plan *p, int height, int width, int channels, int lanes, int boards);
void sk_residual_close(residual_plan *p);

/* As many boards as it is for through so many blocks. */
void sk_residual_run(const residual_plan *p, float *board, const float *weights,
                     const float *biases, int32_t blocks);

#endif
