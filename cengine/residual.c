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

enum { FREQUENCIES = 16 };

/* One of a board `x` to `y`, both with their borders. `skip` (NULL: none) is added. */
typedef void convolution(const residual_plan *p, const float *x, const float *u, const float *bias,
                         const float *skip, float *y);

/* Of its outputs' gradients `y` to those of its inputs `x`, by `turned` weights: skip is added, and
 * where `mask` (NULL: none) is not above 0 they are 0. Adds to the gradients of weights `u` and
 * biases. */
typedef void gradients(const residual_plan *p, const float *x, const float *y, const float *turned,
                       const float *skip, const float *mask, float *to, float *u, float *biases);
typedef void masks(const residual_plan *p, const float *mask, float *y);

#define EACH_WIDTH "residual_lanes.h"
#include "widths.h"

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

static float *aligned(size_t floats)
{
    float *out = aligned_alloc(64, (floats * sizeof *out + 63) / 64 * 64);
    if (out)
        memset(out, 0, floats * sizeof *out);
    return out;
}

/* How many rows of a matrix are multiplied at a time. */
static int rows_of(int lanes) { return lanes == 16 ? 13 : 5; }

static int with_room(int tiles, int lanes)
{
    int rows = rows_of(lanes);
    return (tiles + rows - 1) / rows * rows;
}

int sk_residual_open(residual_plan *p, int height, int width, int channels, int lanes, int boards)
{
    int down = (height + 1) / 2, across = (width + 1) / 2, tiles = boards * down * across;
    assert(lanes > 0 && lanes <= sk_residual_lanes() && channels % lanes == 0);
    *p = (residual_plan){.height = height, .width = width, .channels = channels, .lanes = lanes};
    p->boards = boards;
    p->stride = 2 * across + 2;
    p->area = (2 * down + 2) * p->stride * channels;
    p->tiles = tiles;
    p->room = with_room(tiles, lanes);
    size_t frequencies = (size_t)(FREQUENCIES * p->room * channels);
    p->a = aligned((size_t)(boards * p->area));
    p->b = aligned((size_t)(boards * p->area));
    p->v = aligned(frequencies);
    p->m = aligned(frequencies);
    p->tile = malloc((size_t)tiles * sizeof *p->tile);
    for (int t = 0; p->tile && t < tiles; t++) {
        int rank = t / across % down * 2, file = t % across * 2;
        p->tile[t].at = t / across / down * p->area + (rank * p->stride + file) * channels;
        p->tile[t].ranks = rank + 1 < height ? 2 : 1;
        p->tile[t].files = file + 1 < width ? 2 : 1;
    }
    return p->a && p->b && p->v && p->m && p->tile;
}

/* The same plan for fewer boards. */
static residual_plan of_boards(const residual_plan *p, int64_t boards)
{
    residual_plan out = *p;
    if (boards < p->boards) {
        out.tiles = p->tiles / p->boards * (int)boards;
        out.boards = (int)boards;
        out.room = with_room(out.tiles, p->lanes);
    }
    return out;
}

/* How many boards leave few rows of a matrix empty. */
static int together(int height, int width, int lanes)
{
    int tiles = (height + 1) / 2 * ((width + 1) / 2), boards = 1;
    while (boards < 8 && 12 * (with_room(boards * tiles, lanes) - boards * tiles) > boards * tiles)
        boards++;
    return boards;
}

void sk_residual_close(residual_plan *p)
{
    free(p->a);
    free(p->b);
    free(p->v);
    free(p->m);
    free(p->tile);
}

/* Bare boards from or to those with a border. */
static void copy_boards(const residual_plan *p, float *boards, float *bare, int out)
{
    size_t bytes = (size_t)(p->width * p->channels) * sizeof *boards;
    for (int i = 0; i < p->boards; i++, boards += p->area)
        for (int rank = 0; rank < p->height; rank++, bare += p->width * p->channels) {
            float *row = boards + ((rank + 1) * p->stride + 1) * p->channels;
            memcpy(out ? bare : row, out ? row : bare, bytes);
        }
}

static size_t floats_of(const residual_plan *p)
{
    return (size_t)(p->height * p->width * p->channels);
}

void sk_residual_run(const residual_plan *p, float *boards, const float *weights,
                     const float *biases, int32_t blocks)
{
    convolution *convolve = BY_LANES(p->lanes, convolution);
    size_t size = (size_t)(FREQUENCIES * p->channels * p->channels);
    copy_boards(p, p->a, boards, 0);
    for (int k = 0; k < 2 * blocks; k += 2) {
        const float *u = weights + (size_t)k * size, *bias = biases + k * p->channels;
        convolve(p, p->a, u, bias, NULL, p->b);
        convolve(p, p->b, u + size, bias + p->channels, p->a, p->a);
    }
    copy_boards(p, p->a, boards, 1);
}

int32_t sk_residual(int32_t height, int32_t width, int32_t channels, int32_t lanes, float *boards,
                    int64_t n, const float *weights, const float *biases, int32_t blocks)
{
    residual_plan p;
    int done = sk_residual_open(&p, height, width, channels, lanes, together(height, width, lanes));
    for (int64_t i = 0; done && i < n; i += p.boards) {
        residual_plan some = of_boards(&p, n - i);
        sk_residual_run(&some, boards + (size_t)i * floats_of(&p), weights, biases, blocks);
    }
    sk_residual_close(&p);
    return done;
}

int32_t sk_residual_keep(int32_t height, int32_t width, int32_t channels, int32_t lanes,
                         float *boards, int64_t n, const float *weights, const float *biases,
                         int32_t blocks)
{
    residual_plan p;
    int done = sk_residual_open(&p, height, width, channels, lanes, together(height, width, lanes));
    convolution *convolve = BY_LANES(lanes, convolution);
    size_t board = floats_of(&p), size = (size_t)(FREQUENCIES * channels * channels);
    for (int64_t i = 0; done && i < n; i += p.boards) {
        residual_plan some = of_boards(&p, n - i);
        float *kept = boards + (size_t)i * board;
        copy_boards(&some, p.a, kept, 0);
        for (int k = 0; k < 2 * blocks; k++) {
            const float *u = weights + (size_t)k * size, *bias = biases + k * channels;
            if (k % 2)
                convolve(&some, p.b, u, bias, p.a, p.a);
            else
                convolve(&some, p.a, u, bias, NULL, p.b);
            copy_boards(&some, k % 2 ? p.a : p.b, kept += (size_t)n * board, 1);
        }
    }
    sk_residual_close(&p);
    return done;
}

/* What `sk_residual_gradient` does with as many boards as `p` is for. What is kept of one
 * convolution and the next is so many floats `apart`. */
static void boards_gradient(const residual_plan *p, float *input, float *kept, size_t apart,
                            const float *turned, int32_t blocks, float *boards, float *weights,
                            float *biases)
{
    masks *mask = BY_LANES(p->lanes, masked);
    gradients *of = BY_LANES(p->lanes, gradient);
    size_t size = (size_t)(FREQUENCIES * p->channels * p->channels);
    kept += 2 * (size_t)blocks * apart;
    copy_boards(p, input, kept, 0);
    copy_boards(p, p->a, boards, 0);
    mask(p, input, p->a);
    for (int k = 2 * blocks - 1; k >= 0; k--) {
        float *u = weights + (size_t)k * size, *bias = biases + k * p->channels;
        const float *back = turned + (size_t)k * size;
        copy_boards(p, input, kept -= apart, 0);
        if (k % 2)
            of(p, input, p->a, back, NULL, input, p->b, u, bias);
        else
            of(p, input, p->b, back, p->a, k ? input : NULL, p->a, u, bias);
    }
    copy_boards(p, p->a, boards, 1);
}

int32_t sk_residual_gradient(int32_t height, int32_t width, int32_t channels, int32_t lanes,
                             float *kept, int64_t n, const float *turned, int32_t blocks,
                             float *boards, float *weights, float *biases)
{
    residual_plan p;
    int done = sk_residual_open(&p, height, width, channels, lanes, together(height, width, lanes));
    size_t board = floats_of(&p);
    float *input = aligned((size_t)(p.boards * p.area));
    done = done && input;
    for (int64_t i = 0; done && i < n; i += p.boards) {
        residual_plan some = of_boards(&p, n - i);
        float *own = kept + (size_t)i * board, *of_outputs = boards + (size_t)i * board;
        boards_gradient(&some, input, own, (size_t)n * board, turned, blocks, of_outputs, weights,
                        biases);
    }
    free(input);
    sk_residual_close(&p);
    return done;
}
