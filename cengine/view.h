/* Beginning a state, and writing one row of what its acting side may know: shared by batches and
 * replay. */
#ifndef SK_VIEW_H
#define SK_VIEW_H

#include <string.h>

#include "game.h"

static inline const char *begin(const sk_game *game, void *state, const uint8_t *start,
                                int64_t size)
{
    if (size == 0) {
        game->ops->reset(game, state);
        return NULL;
    }
    if (size != game->is.start_bytes || !game->ops->start)
        return "a start position of the wrong length";
    return game->ops->start(game, state, start);
}

static inline void view(const sk_game *game, const void *state, int64_t row, int8_t *actors,
                        uint8_t *legal, uint8_t *packed)
{
    int actor = game->ops->actor(game, state);
    size_t bytes = (size_t)game->is.observation_bytes;
    if (actors)
        actors[row] = (int8_t)actor;
    if (legal)
        game->ops->legal_mask(game, state, legal + row * game->is.actions);
    if (packed && actor < 0)
        memset(packed + (size_t)row * bytes, 0, bytes);
    else if (packed)
        game->ops->observe(game, state, packed + (size_t)row * bytes);
}

#endif
