/* sk_replay: several episodes with any starts and any actions; all that it says must be what a
 * batch said when the same actions were applied one by one. The input: the game, the number of
 * episodes; of each its start (a byte that tells how long, the bytes), the number of its actions,
 * the actions. */
#include <string.h>

#include "../observation.h"
#include "table.h"

enum { MOST_EPISODES = 4, MOST_ACTIONS = 600, MOST_WRONG = 8 };

/* Episodes as sk_replay takes them, and what the batch said of them. */
typedef struct {
    int32_t n;
    int64_t starts_size, total;
    int64_t start_offsets[MOST_EPISODES + 1], offsets[MOST_EPISODES + 1];
    uint8_t *starts;
    int32_t *actions;
    sight said; /* actors, legal and packed a row an action, returns and endings a row an episode */
    sk_fault fault;
} record;

static sight open_said(const sk_description *is, size_t actions, size_t episodes)
{
    return (sight){.actors = take_memory(actions),
                   .legal = take_memory(actions * (size_t)is->actions),
                   .packed = take_memory(actions * (size_t)is->observation_bytes),
                   .returns = take_memory(episodes * (size_t)is->players * sizeof(float)),
                   .endings = take_memory(episodes)};
}

static void close_said(sight *s)
{
    free(s->actors);
    free(s->legal);
    free(s->packed);
    free(s->returns);
    free(s->endings);
}

static void note_view(record *r, const table *t)
{
    size_t at = (size_t)r->total, actions = (size_t)t->is.actions;
    size_t bytes = (size_t)t->is.observation_bytes;
    r->said.actors[at] = t->now.actors[0];
    memcpy(r->said.legal + at * actions, t->now.legal, actions);
    memcpy(r->said.packed + at * bytes, t->now.packed, bytes);
}

/* After the first fault the batch stays as it is and only the actions are recorded. */
static void add_actions(record *r, table *t, input *in)
{
    for (int n = take16(in) % MOST_ACTIONS; n > 0 && in->left; n--) {
        int32_t action = take_action(t, 0, in);
        r->actions[r->total] = action;
        if (r->fault.episode < 0) {
            note_view(r, t);
            if (is_legal(t, 0, action))
                step(t, &action);
            else
                r->fault = (sk_fault){r->n, r->total - r->offsets[r->n]};
        }
        r->total++;
    }
}

static void add_episode(record *r, table *t, input *in)
{
    int kind = take8(in);
    int64_t length = kind < 128 ? 0 : kind < 128 + MOST_WRONG ? kind - 128 : t->is.start_bytes;
    uint8_t *start = take_bytes(in, (size_t)length);
    if (sk_batch_start(t->batch, 0, start, length) && r->fault.episode < 0)
        r->fault = (sk_fault){r->n, -1};
    look(t);
    memcpy(r->starts + r->starts_size, start, (size_t)length);
    free(start);
    r->starts_size += length;
    add_actions(r, t, in);
    size_t players = (size_t)t->is.players;
    memcpy(r->said.returns + (size_t)r->n * players, t->now.returns, players * sizeof(float));
    r->said.endings[r->n] = t->now.endings[0];
    r->n++;
    r->start_offsets[r->n] = r->starts_size;
    r->offsets[r->n] = r->total;
}

static int is_deployment(const table *t, const uint8_t *packed, size_t row)
{
    return packed[row * (size_t)t->is.observation_bytes + offsetof(observation, phase)];
}

/* Views of some actions only are the rows that all of them have for these. */
static void check_seen(const record *r, const table *t, size_t rows)
{
    sight s = open_said(&t->is, (size_t)r->total, (size_t)r->n);
    uint8_t *seen = take_memory((size_t)r->total);
    for (size_t i = 0; i < (size_t)r->total; i++)
        seen[i] = (r->actions[i] ^ i) % 3 == 0;
    sk_replay(t->game, r->n, r->starts, r->start_offsets, r->actions, r->offsets, seen, NULL,
              s.legal, s.packed, NULL, s.returns, s.endings);
    size_t actions = (size_t)t->is.actions, bytes = (size_t)t->is.observation_bytes, at = 0;
    for (size_t i = 0; i < rows; i++)
        if (seen[i]) {
            MUST(!memcmp(s.legal + at * actions, r->said.legal + i * actions, actions));
            MUST(!memcmp(s.packed + at * bytes, r->said.packed + i * bytes, bytes));
            at++;
        }
    free(seen);
    close_said(&s);
}

static void check_replay(const record *r, const table *t)
{
    size_t total = (size_t)r->total, n = (size_t)r->n, players = (size_t)t->is.players;
    sight s = open_said(&t->is, total, n);
    uint8_t *given = take_memory(total);
    memset(given, 0xaa, total);
    sk_fault fault = sk_replay(t->game, r->n, r->starts, r->start_offsets, r->actions, r->offsets,
                               NULL, s.actors, s.legal, s.packed, given, s.returns, s.endings);
    MUST(fault.episode == r->fault.episode && fault.action == r->fault.action);
    size_t whole = fault.episode < 0 ? n : (size_t)fault.episode; /* episodes without a fault */
    size_t rows = fault.episode < 0 ? total : (size_t)(r->offsets[whole] + fault.action + 1);
    MUST(!memcmp(s.actors, r->said.actors, rows));
    MUST(!memcmp(s.legal, r->said.legal, rows * (size_t)t->is.actions));
    MUST(!memcmp(s.packed, r->said.packed, rows * (size_t)t->is.observation_bytes));
    MUST(!memcmp(s.returns, r->said.returns, whole * players * sizeof(float)));
    MUST(!memcmp(s.endings, r->said.endings, whole));
    /* The deployment is what may be given, on a board. */
    for (size_t i = 0; i < rows; i++)
        MUST(given[i] == (t->is.height && s.actors[i] >= 0 && is_deployment(t, s.packed, i)));
    free(given);
    close_said(&s);
    check_seen(r, t, rows);
}

/* The same episodes in memory of exactly their size. */
static void fit(record *r)
{
    uint8_t *starts = take_memory((size_t)r->starts_size);
    int32_t *actions = take_memory((size_t)r->total * sizeof *actions);
    memcpy(starts, r->starts, (size_t)r->starts_size);
    memcpy(actions, r->actions, (size_t)r->total * sizeof *actions);
    free(r->starts);
    free(r->actions);
    r->starts = starts;
    r->actions = actions;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size};
    table t = open_table(&in, 1);
    int32_t episodes = take8(&in) % (MOST_EPISODES + 1);
    size_t most =
        (size_t)(episodes * MOST_ACTIONS < (int64_t)size ? episodes * MOST_ACTIONS : (int64_t)size);
    int32_t longest = t.is.start_bytes > MOST_WRONG ? t.is.start_bytes : MOST_WRONG;
    record r = {.starts = take_memory((size_t)(episodes * longest)),
                .actions = take_memory(most * sizeof(int32_t)),
                .said = open_said(&t.is, most, (size_t)episodes),
                .fault = {-1, -1}};
    while (r.n < episodes)
        add_episode(&r, &t, &in);
    fit(&r);
    check_replay(&r, &t);
    free(r.starts);
    free(r.actions);
    close_said(&r.said);
    close_table(&t);
    return 0;
}
