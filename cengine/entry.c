/* The first layer of the network `fromto` for who learns: of each square relu of its features, the
 * board's counts and its place by their weights. `lanes.h` says how many floats at a time. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "feature_sizes.h"
#include "observation.h"

enum {
    SQUARES = 12, /* at a time: the sums of so many stay in registers */
    BOARDS = 8    /* whose gradients are added up as floats: more would lose digits */
};

typedef struct {
    int32_t squares, channels;
} entry_size;

typedef void enter_board(const entry_size *size, const float *features, const float *counts,
                         const float *weights, float *out);
typedef void enter_gradient(const entry_size *size, const float *features, const float *counts,
                            const float *out, const float *of_out, float *weights);

#define EACH_WIDTH "entry_lanes.h"
#include "widths.h"

void sk_entry(int32_t squares, int32_t channels, int32_t lanes, const float *features,
              const float *counts, int64_t n, const float *weights, float *boards)
{
    const entry_size size = {.squares = squares, .channels = channels};
    enter_board *enter = BY_LANES(lanes, board);
    assert(squares <= MAX_SQUARES && channels % lanes == 0 && lanes <= sk_residual_lanes());
    for (int64_t i = 0; i < n; i++, features += squares * FEATURES, counts += COUNTS) {
        enter(&size, features, counts, weights, boards);
        boards += squares * channels;
    }
}

int32_t sk_entry_gradient(int32_t squares, int32_t channels, int32_t lanes, const float *features,
                          const float *counts, int64_t n, const float *boards,
                          const float *gradients, double *weights)
{
    const entry_size size = {.squares = squares, .channels = channels};
    size_t floats = (size_t)(FEATURES + COUNTS + squares) * (size_t)channels;
    float *some = calloc(floats, sizeof *some);
    enter_gradient *add = BY_LANES(lanes, board_gradient);
    assert(squares <= MAX_SQUARES && channels % lanes == 0 && lanes <= sk_residual_lanes());
    for (int64_t i = 0; some && i < n; i++, features += squares * FEATURES, counts += COUNTS) {
        add(&size, features, counts, boards, gradients, some);
        boards += squares * channels;
        gradients += squares * channels;
        if (i % BOARDS != BOARDS - 1 && i < n - 1)
            continue;
        for (size_t k = 0; k < floats; k++)
            weights[k] += (double)some[k];
        memset(some, 0, floats * sizeof *some);
    }
    free(some);
    return some != NULL;
}
