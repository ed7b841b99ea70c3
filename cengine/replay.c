/* Replaying episodes: the actions are the data, everything else is made again from them. */
#include <stdlib.h>

#include "view.h"

typedef struct {
    const uint8_t *seen; /* of which actions there are views, NULL: of all */
    int64_t views;       /* so many so far */
    int8_t *actors;
    uint8_t *legal, *packed, *given;
} outputs;

/* What is known before action t. */
static void note(const sk_game *game, const void *state, int64_t t, outputs *out)
{
    if (out->actors)
        view(game, state, t, out->actors, NULL, NULL);
    if (out->given)
        out->given[t] = out->actors[t] >= 0 && game->ops->given && game->ops->given(game, state);
    if (!out->seen || out->seen[t])
        view(game, state, out->seen ? out->views++ : t, NULL, out->legal, out->packed);
}

/* Returns the index of the first action that is not legal, or -1. */
static int64_t replay_one(const sk_game *game, void *state, const int32_t *actions, int64_t begin,
                          int64_t end, outputs *out)
{
    for (int64_t t = begin; t < end; t++) {
        note(game, state, t, out);
        if (!game->ops->is_legal(game, state, actions[t]))
            return t - begin;
        game->ops->apply(game, state, actions[t]);
    }
    return -1;
}

sk_fault sk_replay(const sk_game *game, int64_t n, const uint8_t *starts,
                   const int64_t *start_offsets, const int32_t *actions, const int64_t *offsets,
                   const uint8_t *seen, int8_t *actors, uint8_t *legal, uint8_t *packed,
                   uint8_t *given, float *returns, uint8_t *endings)
{
    outputs out = {seen, 0, actors, legal, packed, given};
    sk_fault fault = {-1, -1};
    void *state = aligned_alloc(64, ((size_t)game->is.state_bytes + 63) / 64 * 64);
    if (!state)
        return (sk_fault){0, 0};
    for (int64_t i = 0; i < n && fault.episode < 0; i++) {
        const char *wrong =
            begin(game, state, starts + start_offsets[i], start_offsets[i + 1] - start_offsets[i]);
        if (wrong) {
            fault = (sk_fault){i, -1};
            break;
        }
        int64_t at = replay_one(game, state, actions, offsets[i], offsets[i + 1], &out);
        if (at >= 0)
            fault = (sk_fault){i, at};
        game->ops->returns(game, state, returns + i * game->is.players);
        endings[i] = (uint8_t)game->ops->ending(game, state);
    }
    free(state);
    return fault;
}

void sk_recurrence(const double *a, const double *b, double *x, int64_t steps, int64_t n)
{
    for (int64_t i = steps * n - 1; i >= 0; i--)
        x[i] = b[i] * x[i + n] + a[i];
}
