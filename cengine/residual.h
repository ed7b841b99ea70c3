/* Residual blocks of a board for who has room for them; sk_residual says of what. */
#ifndef SK_RESIDUAL_H
#define SK_RESIDUAL_H

#include <stdint.h>

/* A board is `stride` squares wide with its border of zeros. The tiles of it are `across` side by
 * side, and there is `room` for so many. `a`, `b` hold a board, `v`, `m` the tiles' frequencies. */
typedef struct {
    int height, width, channels, lanes, stride, across, tiles, room;
    float *a, *b, *v, *m;
} residual_plan;

/* Whether there was memory for it; closed in either case. */
int sk_residual_open(residual_plan *p, int height, int width, int channels, int lanes);
void sk_residual_close(residual_plan *p);

/* A board through so many blocks. */
void sk_residual_run(const residual_plan *p, float *board, const float *weights,
                     const float *biases, int32_t blocks);

#endif
