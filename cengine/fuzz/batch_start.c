/* sk_batch_start and sk_batch_save: any start position, and play on from it. Every position between
 * two plies is saved and started again in a second row, which must know the same, history apart.
 * The input: the game, the position, actions. */
#include <string.h>

#include "../observation.h"
#include "table.h"

enum { PLAYED, STARTED, ROWS };

static int running(const table *t, int32_t row) { return t->now.actors[row] >= 0; }

/* Observations of both rows are equal but for the recent moves, which a start position does not
 * have, and what follows from them by the rules. */
static int same_apart_from_moves(const table *t)
{
    size_t from = offsetof(observation, only_attacks);
    size_t to = offsetof(observation, moves) + sizeof((observation *)0)->moves;
    const uint8_t *a = t->now.packed, *b = a + t->is.observation_bytes;
    return !memcmp(a, b, from) && !memcmp(a + to, b + to, (size_t)t->is.observation_bytes - to);
}

/* The repetition rules only ever forbid, so a position without its history allows no less. */
static void check_legal(const table *t)
{
    for (int32_t a = 0; a < t->is.actions; a++) {
        int played = is_legal(t, PLAYED, a), started = is_legal(t, STARTED, a);
        MUST(played <= started);
        MUST(!t->without_history || played == started);
    }
}

static void check_round_trip(table *t)
{
    size_t bytes = (size_t)t->is.start_bytes;
    uint8_t *saved = take_memory(bytes), *again = take_memory(bytes);
    memset(saved, 0x55, bytes);
    memset(again, 0xaa, bytes);
    if (!sk_batch_save(t->batch, PLAYED, saved)) {
        MUST(!sk_batch_start(t->batch, STARTED, saved, t->is.start_bytes));
        MUST(!sk_batch_save(t->batch, STARTED, again));
        MUST(memcmp(saved, again, bytes) == 0);
        look(t);
        if (running(t, PLAYED)) {
            MUST(running(t, STARTED));
            MUST(t->now.actors[PLAYED] == t->now.actors[STARTED]);
            MUST(same_apart_from_moves(t));
            check_legal(t);
        }
    }
    free(saved);
    free(again);
}

/* A row that was just started has no history to lose: nothing at all may differ. */
static void check_fresh(table *t)
{
    uint8_t *saved = take_memory((size_t)t->is.start_bytes);
    MUST(!sk_batch_save(t->batch, PLAYED, saved));
    MUST(!sk_batch_start(t->batch, STARTED, saved, t->is.start_bytes));
    look(t);
    MUST(same_row(t, &t->now, PLAYED, &t->now, STARTED));
    sk_batch_start(t->batch, STARTED, NULL, 0);
    sk_batch_copy(t->batch, STARTED, t->batch, PLAYED);
    look(t);
    MUST(same_row(t, &t->now, PLAYED, &t->now, STARTED));
    free(saved);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size};
    table t = open_table(&in, ROWS);
    int odd = take8(&in); /* now and then a position of the wrong length */
    int32_t length = odd < 8 ? odd : t.is.start_bytes;
    uint8_t *start = take_bytes(&in, (size_t)length);
    if (sk_batch_start(t.batch, PLAYED, start, length))
        MUST(!sk_batch_start(t.batch, PLAYED, NULL, 0));
    else if (length)
        check_fresh(&t);
    look(&t);
    while (in.left) {
        step(&t, (int32_t[ROWS]){take_action(&t, PLAYED, &in), -1});
        check_round_trip(&t);
    }
    free(start);
    close_table(&t);
    return 0;
}
