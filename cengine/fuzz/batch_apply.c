/* sk_batch_apply: several rows, any actions. The input: the game, the number of rows, actions. */
#include "table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST_ROWS = 4 };
    input in = {data, size};
    int32_t rows = 1 + take8(&in) % MOST_ROWS;
    table t = open_table(&in, rows);
    int32_t *actions = take_memory((size_t)rows * sizeof *actions);
    while (in.left) {
        for (int32_t row = 0; row < rows; row++)
            actions[row] = take_action(&t, row, &in);
        step(&t, actions);
    }
    free(actions);
    close_table(&t);
    return 0;
}
