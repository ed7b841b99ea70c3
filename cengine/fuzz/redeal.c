/* sk_batch_redeal: worlds of whoever acts, at any time of a game. The input: the game, then an
 * action and a seed at a time. */
#include "table.h"

#include <string.h>

#include "../batch.h"

enum { TRUTH, WORLDS = 3, ROWS };

/* The worlds of a row: sound states, seen as that row is seen, and the same ones from the first of
 * them, whose truth is another. */
static void check_worlds(table *t, sk_batch *worlds, uint32_t seed)
{
    size_t bytes = (size_t)t->is.state_bytes;
    const char *wrong = sk_batch_redeal(worlds, t->batch, TRUTH, seed, 1, seed >> 8, 7);
    MUST(!wrong == (t->now.actors[TRUTH] >= 0));
    if (wrong)
        return;
    for (int32_t i = 0; i < WORLDS; i++)
        sk_batch_copy(t->batch, TRUTH + 1 + i, worlds, i);
    look(t);
    /* What is known of the number of actions: all of it, in most games. */
    static const int32_t rows[ROWS] = {0, 1, 2, 3};
    int32_t numbers[ROWS];
    memcpy(numbers, t->now.plies, sizeof numbers);
    sk_batch_numbers(t->batch, rows, ROWS, numbers);
    for (int32_t i = 0; i < WORLDS; i++) {
        MUST(same_view(t, &t->now, TRUTH, &t->now, TRUTH + 1 + i));
        MUST(numbers[TRUTH] == numbers[TRUTH + 1 + i]);
    }
    MUST(!sk_batch_redeal(worlds, t->batch, TRUTH + 1, seed, 1, seed >> 8, 7));
    for (int32_t i = 0; i < WORLDS; i++)
        MUST(!memcmp(sk_batch_state(worlds, i), sk_batch_state(t->batch, TRUTH + 1 + i), bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size};
    table t = open_table(&in, ROWS);
    sk_batch *worlds = sk_batch_open(t.game, WORLDS, 1);
    MUST(worlds);
    while (in.left) {
        int32_t actions[ROWS];
        for (int32_t row = 0; row < ROWS; row++)
            actions[row] = take_action(&t, row, &in);
        step(&t, actions);
        check_worlds(&t, worlds, take16(&in));
    }
    sk_batch_close(worlds);
    close_table(&t);
    return 0;
}
