/* What the small games share: few actions, and an observation that is a vector of bytes. */
#ifndef SK_SMALL_H
#define SK_SMALL_H

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "game.h"

/* Endings of a game that has only one. */
static const char *const one_ending[] = {"", "over", NULL};

/* The observation as the network sees it: the first bytes as numbers, in most games all of them. */
static inline void expand_bytes(const sk_game *game, const uint8_t *packed, float *out)
{
    for (int32_t i = 0; i < game->is.planes; i++)
        out[i] = (float)packed[i];
}

static inline void mask_from_list(const sk_game *game, const void *state, uint8_t *mask)
{
    int32_t actions[SK_MOST_ACTIONS];
    int n = game->ops->legal(game, state, actions);
    memset(mask, 0, (size_t)game->is.actions);
    for (int i = 0; i < n; i++)
        mask[actions[i]] = 1;
}

static inline int in_list(const sk_game *game, const void *state, int32_t action)
{
    int32_t actions[SK_MOST_ACTIONS];
    int n = game->ops->legal(game, state, actions);
    for (int i = 0; i < n; i++)
        if (actions[i] == action)
            return 1;
    return 0;
}

/* All outcomes of chance alike. */
static inline void uniform_chance(const sk_game *game, const void *state, double *probabilities)
{
    int32_t actions[SK_MOST_ACTIONS];
    int n = game->ops->legal(game, state, actions);
    for (int i = 0; i < n; i++)
        probabilities[i] = 1.0 / n;
}

/* A game without settings. */
static inline void no_rules(const sk_game *game, char *out, size_t size)
{
    if (size)
        out[0] = 0;
}

/* A game that has only one ending. */
static inline int is_over(const sk_game *game, const void *state)
{
    return game->ops->actor(game, state) == SK_OVER;
}

/* Of two players one gets what the other pays. */
static inline void pay(float *out, float to_first)
{
    out[0] = to_first;
    out[1] = 0 - to_first; /* not -0 */
}

/* The entries of a game that lists its actions and is seen as a vector of bytes, ... */
#define LISTED_GAME .legal_mask = mask_from_list, .is_legal = in_list, .expand = expand_bytes
/* ... and that has one ending and no settings. Its functions have the names of the entries. */
#define SMALL_GAME                                                                         \
    .reset = reset, .actor = actor, .legal = legal, .apply = apply, .returns = returns,    \
    .plies = plies, .observe = observe, .redeal = redeal, .history = history, LISTED_GAME, \
    .ending = is_over, .rules = no_rules

/* A game of few hands: its functions have the names of the entries. */
#define BELIEF_GAME .observe_public = observe_public, .hand = hand

/* Memory for a game of two players, zeros; NULL and a text in `error` if there is none, or if there
 * are `rules`. */
static inline void *new_game(size_t size, const char *rules, char *error, size_t error_size)
{
    void *game = *rules ? NULL : calloc(1, size);
    if (!game)
        snprintf(error, error_size, *rules ? "this game has no rules to set" : "out of memory");
    return game;
}

/* A game that is seen as a vector of `sees` bytes; it has no board, a move is one action, and
 * returns are taken as they are. */
static inline sk_game small_game(const sk_ops *ops, int actions, int max_length, size_t state_bytes,
                                 int sees)
{
    return (sk_game){.ops = ops,
                     .endings = one_ending,
                     .is = {.players = 2,
                            .actions = actions,
                            .max_length = max_length,
                            .state_bytes = (int32_t)state_bytes,
                            .observation_bytes = sees,
                            .planes = sees,
                            .actions_per_ply = 1,
                            .unit = 1,
                            .largest_return = INFINITY}};
}

/* Reads digits at *text, without zeros before them, and moves on; 0 if there are none or too many.
 */
static inline int read_number(const char **text, int *out)
{
    const char *at = *text;
    *out = 0;
    while (*at >= '0' && *at <= '9' && at - *text < 5)
        *out = 10 * *out + (*at++ - '0');
    int digits = (int)(at - *text), padded = **text == '0' && digits > 1;
    *text = at;
    return digits > 0 && digits < 5 && !padded;
}

#endif
