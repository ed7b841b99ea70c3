/* Residual blocks on a board: two convolutions of 3 x 3 each, by Winograd's minimal filtering F(2 x
 * 2, 3 x 3) (Lavin and Gray 2016, arXiv 1509.09308), which multiplies 16 times for four outputs
 * instead of 36 times. Of a convolution these are
 *
 *     forth     tiles of 4 x 4 inputs, to 16 frequencies
 *     products  at each frequency, all channels of a tile by the weights
 *     back      to 2 x 2 outputs, with bias, residual and relu
 *
 * They are for processors with AVX2 or AVX-512. Others compute a float at a time, which is slow.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "residual.h"
#include "stratkit.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define VECTORS 1
#include <immintrin.h>
#endif

enum { FREQUENCIES = 16 };

/* One of a board `x` to `y`, both with their borders. `skip` (NULL: none) is added. */
typedef void convolution(const residual_plan *p, const float *x, const float *u, const float *bias,
                         const float *skip, float *y);

#ifdef VECTORS
#define WHOLE   __attribute__((target("avx512f,fma"))) static
#define KERNEL  __attribute__((target("avx512f,fma"), always_inline)) static inline
#define NAME(x) x##_16
#define LANES   16
#define ROWS    13
#define vector  __m512
#define LOAD    _mm512_loadu_ps
#define STORE   _mm512_storeu_ps
#define SET     _mm512_set1_ps
#define ADD     _mm512_add_ps
#define SUB     _mm512_sub_ps
#define MAX     _mm512_max_ps
#define FMA     _mm512_fmadd_ps
#include "residual_lanes.h"

#define WHOLE   __attribute__((target("avx2,fma"))) static
#define KERNEL  __attribute__((target("avx2,fma"), always_inline)) static inline
#define NAME(x) x##_8
#define LANES   8
#define ROWS    5
#define vector  __m256
#define LOAD    _mm256_loadu_ps
#define STORE   _mm256_storeu_ps
#define SET     _mm256_set1_ps
#define ADD     _mm256_add_ps
#define SUB     _mm256_sub_ps
#define MAX     _mm256_max_ps
#define FMA     _mm256_fmadd_ps
#include "residual_lanes.h"
#endif

#define WHOLE        static
#define KERNEL       static inline
#define NAME(x)      x##_1
#define LANES        1
#define ROWS         5
#define vector       float
#define LOAD(at)     (*(at))
#define STORE(at, x) (*(at) = (x))
#define SET(x)       (x)
#define ADD(x, y)    ((x) + (y))
#define SUB(x, y)    ((x) - (y))
#define MAX(x, y)    ((x) > (y) ? (x) : (y))
#define FMA(x, y, z) ((x) * (y) + (z))
#include "residual_lanes.h"

int32_t sk_residual_lanes(void)
{
#ifdef VECTORS
    if (__builtin_cpu_supports("avx512f"))
        return 16;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return 8;
#endif
    return 1;
}

static convolution *of_lanes(int32_t lanes)
{
#ifdef VECTORS
    if (lanes == 16)
        return convolution_16;
    if (lanes == 8)
        return convolution_8;
#endif
    return convolution_1;
}

static float *aligned(size_t floats)
{
    float *out = aligned_alloc(64, (floats * sizeof *out + 63) / 64 * 64);
    if (out)
        memset(out, 0, floats * sizeof *out);
    return out;
}

int sk_residual_open(residual_plan *p, int height, int width, int channels, int lanes)
{
    int down = (height + 1) / 2, rows = lanes == 16 ? 13 : 5;
    assert(lanes > 0 && lanes <= sk_residual_lanes() && channels % lanes == 0);
    *p = (residual_plan){.height = height, .width = width, .channels = channels, .lanes = lanes};
    p->across = (width + 1) / 2;
    p->stride = 2 * p->across + 2;
    p->tiles = down * p->across;
    p->room = (p->tiles + rows - 1) / rows * rows;
    size_t board = (size_t)((2 * down + 2) * p->stride * channels);
    size_t tiles = (size_t)(FREQUENCIES * p->room * channels);
    p->a = aligned(board);
    p->b = aligned(board);
    p->v = aligned(tiles);
    p->m = aligned(tiles);
    return p->a && p->b && p->v && p->m;
}

void sk_residual_close(residual_plan *p)
{
    free(p->a);
    free(p->b);
    free(p->v);
    free(p->m);
}

static void copy_board(const residual_plan *p, float *board, float *bare, int out)
{
    size_t bytes = (size_t)(p->width * p->channels) * sizeof *board;
    for (int rank = 0; rank < p->height; rank++, bare += p->width * p->channels) {
        float *row = board + ((rank + 1) * p->stride + 1) * p->channels;
        memcpy(out ? bare : row, out ? row : bare, bytes);
    }
}

void sk_residual_run(const residual_plan *p, float *board, const float *weights,
                     const float *biases, int32_t blocks)
{
    convolution *convolve = of_lanes(p->lanes);
    size_t size = (size_t)(FREQUENCIES * p->channels * p->channels);
    copy_board(p, p->a, board, 0);
    for (int k = 0; k < 2 * blocks; k += 2) {
        const float *u = weights + (size_t)k * size, *bias = biases + k * p->channels;
        convolve(p, p->a, u, bias, NULL, p->b);
        convolve(p, p->b, u + size, bias + p->channels, p->a, p->a);
    }
    copy_board(p, p->a, board, 1);
}

int32_t sk_residual(int32_t height, int32_t width, int32_t channels, int32_t lanes, float *boards,
                    int64_t n, const float *weights, const float *biases, int32_t blocks)
{
    residual_plan p;
    int done = sk_residual_open(&p, height, width, channels, lanes);
    for (int64_t i = 0; done && i < n; i++, boards += height * width * channels)
        sk_residual_run(&p, boards, weights, biases, blocks);
    sk_residual_close(&p);
    return done;
}
