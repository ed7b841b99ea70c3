/* Many states of one game in one block of memory, stepped together. */
#include "batch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "philox.h"
#include "threads.h"
#include "view.h"

struct sk_batch {
    const sk_game *game;
    sk_pool *pool;
    int32_t size;
    uint8_t *states;
};

static void *state_at(const sk_batch *batch, int32_t row)
{
    assert(row >= 0 && row < batch->size);
    return batch->states + (size_t)row * (size_t)batch->game->is.state_bytes;
}

const sk_game *sk_batch_game(const sk_batch *batch) { return batch->game; }

int32_t sk_batch_size(const sk_batch *batch) { return batch->size; }

const void *sk_batch_state(const sk_batch *batch, int32_t row) { return state_at(batch, row); }

sk_batch *sk_batch_open(const sk_game *game, int32_t size, int32_t threads)
{
    sk_batch *batch = calloc(1, sizeof *batch);
    if (!batch)
        return NULL;
    batch->game = game;
    batch->size = size;
    batch->states = aligned_alloc(64, ((size_t)size * (size_t)game->is.state_bytes + 63) / 64 * 64);
    batch->pool = sk_pool_open(threads);
    if (!batch->states || !batch->pool) {
        sk_batch_close(batch);
        return NULL;
    }
    for (int32_t row = 0; row < size; row++)
        game->ops->reset(game, state_at(batch, row));
    return batch;
}

void sk_batch_reset(sk_batch *batch, const int32_t *rows, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        batch->game->ops->reset(batch->game, state_at(batch, rows[i]));
}

void sk_batch_close(sk_batch *batch)
{
    if (!batch)
        return;
    sk_pool_close(batch->pool);
    free(batch->states);
    free(batch);
}

const char *sk_batch_start(sk_batch *batch, int32_t row, const uint8_t *start, int64_t size)
{
    return begin(batch->game, state_at(batch, row), start, size);
}

const char *sk_batch_save(const sk_batch *batch, int32_t row, uint8_t *out)
{
    if (!batch->game->ops->save)
        return "this game has no start positions";
    return batch->game->ops->save(batch->game, state_at(batch, row), out);
}

void sk_batch_copy(sk_batch *to, int32_t to_row, const sk_batch *from, int32_t from_row)
{
    assert(to->game == from->game);
    memmove(state_at(to, to_row), state_at(from, from_row), (size_t)to->game->is.state_bytes);
}

void sk_batch_put(sk_batch *batch, int32_t row, const void *state)
{
    memcpy(state_at(batch, row), state, (size_t)batch->game->is.state_bytes);
}

void sk_batch_gather(sk_batch *to, int32_t to_row, const sk_batch *from, const int32_t *rows,
                     int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        sk_batch_copy(to, to_row + i, from, rows[i]);
}

typedef struct {
    sk_batch *batch;
    int8_t *actors;
    uint8_t *legal, *packed;
} view_job;

static void view_rows(void *context, int32_t begin, int32_t end)
{
    const view_job *job = context;
    for (int32_t row = begin; row < end; row++)
        view(job->batch->game, state_at(job->batch, row), row, job->actors, job->legal,
             job->packed);
}

void sk_batch_view(sk_batch *batch, int8_t *actors, uint8_t *legal, uint8_t *packed)
{
    view_job job = {batch, actors, legal, packed};
    sk_pool_run(batch->pool, view_rows, &job, batch->size, SK_ROWS_AT_A_TIME);
}

void sk_batch_face_up(const sk_batch *batch, uint8_t *packed)
{
    const sk_game *game = batch->game;
    assert(game->ops->face_up);
    for (int32_t row = 0; row < batch->size; row++, packed += game->is.observation_bytes) {
        const void *state = sk_batch_state(batch, row);
        if (game->ops->actor(game, state) >= 0)
            game->ops->face_up(game, state, packed);
    }
}

typedef struct {
    sk_batch *batch;
    const int32_t *actions;
    int32_t first_illegal; /* -1: none */
} apply_job;

static void note_illegal(apply_job *job, int32_t row)
{
    int32_t known = __atomic_load_n(&job->first_illegal, __ATOMIC_RELAXED);
    while ((known < 0 || row < known)
           && !__atomic_compare_exchange_n(&job->first_illegal, &known, row, 0, __ATOMIC_RELAXED,
                                           __ATOMIC_RELAXED))
        ;
}

/* Rows begin .. begin + n - 1, those of a kind together. */
static void by_kind(const sk_batch *batch, int32_t begin, int32_t n, int32_t *rows)
{
    const sk_game *game = batch->game;
    uint8_t kinds[SK_ROWS_AT_A_TIME];
    int32_t at[SK_KINDS + 1] = {0};
    game->ops->kinds(game, state_at(batch, begin), n, kinds);
    for (int32_t i = 0; i < n; i++)
        at[kinds[i] + 1]++;
    for (int kind = 1; kind < SK_KINDS; kind++)
        at[kind] += at[kind - 1];
    for (int32_t i = 0; i < n; i++)
        rows[at[kinds[i]]++] = begin + i;
}

static void apply_one(apply_job *job, int32_t row)
{
    const sk_game *game = job->batch->game;
    void *state = state_at(job->batch, row);
    int32_t action = job->actions[row];
    if (action == -1)
        return;
    if (game->ops->is_legal(game, state, action))
        game->ops->apply(game, state, action);
    else
        note_illegal(job, row);
}

static void apply_rows(void *context, int32_t begin, int32_t end)
{
    apply_job *job = context;
    int32_t rows[SK_ROWS_AT_A_TIME];
    if (!job->batch->game->ops->kinds) {
        for (int32_t row = begin; row < end; row++)
            apply_one(job, row);
        return;
    }
    for (int32_t n; begin < end; begin += n) {
        n = end - begin < SK_ROWS_AT_A_TIME ? end - begin : SK_ROWS_AT_A_TIME;
        by_kind(job->batch, begin, n, rows);
        for (int32_t i = 0; i < n; i++)
            apply_one(job, rows[i]);
    }
}

int32_t sk_batch_apply(sk_batch *batch, const int32_t *actions)
{
    apply_job job = {batch, actions, -1};
    sk_pool_run(batch->pool, apply_rows, &job, batch->size, SK_ROWS_AT_A_TIME);
    return job.first_illegal;
}

static int32_t draw(const sk_game *game, const void *state, double u)
{
    int32_t actions[SK_MOST_ACTIONS];
    double probabilities[SK_MOST_ACTIONS], sum = 0;
    int n = game->ops->legal(game, state, actions), i = 0;
    game->ops->chance(game, state, probabilities);
    while (i < n - 1 && (sum += probabilities[i]) <= u)
        i++;
    return actions[i];
}

void sk_batch_chance(const sk_batch *batch, uint64_t seed, uint32_t stream, const int64_t *games,
                     const int32_t *numbers, int32_t *chosen)
{
    const sk_game *game = batch->game;
    for (int32_t row = 0; game->ops->chance && row < batch->size; row++) {
        const void *state = state_at(batch, row);
        if (game->ops->actor(game, state) == SK_CHANCE)
            chosen[row] = draw(game, state, philox_uniform(seed, stream, games[row], numbers[row]));
    }
}

typedef struct {
    sk_batch *worlds;
    const void *truth;
    uint32_t key[2];
    const char *wrong; /* NULL: nothing */
} redeal_job;

static void redeal_rows(void *context, int32_t begin, int32_t end)
{
    redeal_job *job = context;
    const sk_game *game = job->worlds->game;
    for (int32_t row = begin; row < end; row++) {
        philox_draws draws = philox_world(job->key, row);
        void *state = state_at(job->worlds, row);
        memcpy(state, job->truth, (size_t)game->is.state_bytes);
        const char *wrong = game->ops->redeal(game, state, &draws);
        if (wrong)
            __atomic_store_n(&job->wrong, wrong, __ATOMIC_RELAXED);
    }
}

const char *sk_batch_redeal(sk_batch *worlds, const sk_batch *batch, int32_t row, uint64_t seed,
                            uint32_t stream, int64_t game_number, int32_t number)
{
    const sk_game *game = batch->game;
    redeal_job job = {worlds, state_at(batch, row), {0}, NULL};
    assert(worlds->game == game && worlds != batch);
    if (!game->ops->redeal)
        return "this game has no worlds";
    if (game->ops->actor(game, job.truth) < 0)
        return "worlds are those of a player who is to act";
    philox_decision_key(seed, stream, game_number, number, job.key);
    sk_pool_run(worlds->pool, redeal_rows, &job, worlds->size, SK_ROWS_AT_A_TIME);
    return job.wrong;
}

int sk_batch_history(const sk_batch *batch, int32_t *actions)
{
    const sk_game *game = batch->game;
    for (int32_t row = 0; game->ops->history && row < batch->size; row++) {
        int32_t *out = actions + (size_t)row * (size_t)game->is.max_length;
        for (int n = game->ops->history(game, state_at(batch, row), out); n < game->is.max_length;)
            out[n++] = -1;
    }
    return game->ops->history != NULL;
}

void sk_batch_result(const sk_batch *batch, float *returns, uint8_t *endings, int32_t *plies)
{
    const sk_game *game = batch->game;
    for (int32_t row = 0; row < batch->size; row++) {
        const void *state = state_at(batch, row);
        game->ops->returns(game, state, returns + (size_t)row * (size_t)game->is.players);
        endings[row] = (uint8_t)game->ops->ending(game, state);
        plies[row] = game->ops->plies(game, state);
    }
}

void sk_batch_turns(const sk_batch *batch, int32_t *turns)
{
    const sk_game *game = batch->game;
    for (int32_t row = 0; row < batch->size; row++)
        turns[row] = game->ops->turn ? game->ops->turn(game, state_at(batch, row)) : -1;
}

void sk_batch_rewind(sk_batch *batch)
{
    const sk_game *game = batch->game;
    for (int32_t row = 0; game->ops->turn && row < batch->size; row++) {
        void *state = state_at(batch, row);
        if (game->ops->turn(game, state) < 0)
            continue;
        if (game->ops->rewind)
            game->ops->rewind(game, state);
        else
            game->ops->reset(game, state);
    }
}

void sk_batch_numbers(const sk_batch *batch, const int32_t *rows, int32_t n, int32_t *numbers)
{
    const sk_game *game = batch->game;
    for (int32_t i = 0; game->ops->number && i < n; i++) {
        const void *state = state_at(batch, rows[i]);
        if (game->ops->actor(game, state) >= 0)
            numbers[i] = game->ops->number(game, state);
    }
}

static size_t all_bytes(const sk_batch *batch)
{
    return (size_t)batch->size * (size_t)batch->game->is.state_bytes;
}

void sk_batch_store(const sk_batch *batch, uint8_t *out)
{
    memcpy(out, batch->states, all_bytes(batch));
}

void sk_batch_restore(sk_batch *batch, const uint8_t *states)
{
    memcpy(batch->states, states, all_bytes(batch));
}
