/* sk_expand: packed observations of any content, for whoever has an array may hand it in. The
 * input: the game, the number of observations, their bytes. */
#include <math.h>
#include <string.h>

#include "table.h"

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
    free(packed);
    free(once);
    free(twice);
    close_table(&t);
    return 0;
}
