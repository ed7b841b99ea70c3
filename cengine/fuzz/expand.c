/* sk_expand, sk_features and sk_outcomes: packed observations of any content, for whoever has an
 * array may hand it in. The input: the game, the number of observations, their bytes. */
#include <math.h>
#include <string.h>

#include "table.h"

/* Everything that small networks read is a number, too. */
static void features(const table *t, const uint8_t *packed, int32_t n)
{
    enum { FEATURES = 48, COUNTS = 51, OUTCOMES = 3 };
    size_t squares = (size_t)(t->is.height * t->is.width), rows = (size_t)n;
    size_t numbers[] = {rows * FEATURES * squares, rows * COUNTS, rows * OUTCOMES * squares};
    float *out[3];
    for (int i = 0; i < 3; i++) {
        out[i] = take_memory(numbers[i] * sizeof *out[i]);
        memset(out[i], 0xff, numbers[i] * sizeof *out[i]); /* NaN */
    }
    sk_features(t->is.width, t->is.height, packed, n, out[0], out[1]);
    sk_outcomes(t->is.width, t->is.height, packed, n, out[2]);
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < numbers[i]; k++)
            MUST(isfinite(out[i][k]));
        free(out[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST_ROWS = 3 };
    input in = {data, size};
    table t = open_table(&in, 1);
    int32_t n = take8(&in) % (MOST_ROWS + 1);
    uint8_t *packed = take_bytes(&in, (size_t)(n * t.is.observation_bytes));
    int32_t squares = t.is.height ? t.is.height * t.is.width : 1;
    size_t numbers = (size_t)(n * t.is.planes * squares);
    float *once = take_memory(numbers * sizeof *once),
          *twice = take_memory(numbers * sizeof *twice);
    memset(once, 0xff, numbers * sizeof *once); /* NaN */
    memset(twice, 0x55, numbers * sizeof *twice);
    sk_expand(t.game, packed, n, once);
    sk_expand(t.game, packed, n, twice);
    for (size_t i = 0; i < numbers; i++)
        MUST(isfinite(once[i]));
    MUST(!memcmp(once, twice, numbers * sizeof *once));
    if (t.is.planes == 82) /* a board of Stratego */
        features(&t, packed, n);
    free(packed);
    free(once);
    free(twice);
    close_table(&t);
    return 0;
}
