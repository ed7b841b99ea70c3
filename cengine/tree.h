/* A game's whole tree in sequence form (von Stengel 1996). Between more than two players it has
 * information sets only.
 *
 * A *sequence* is a player's choice at an information set: all that the player did up to there
 * follows from it, since what a player knew once it knows for ever (perfect recall). Number 0 is
 * the empty sequence, of both players; those of information set i are 1 + first[i] .. first[i + 1].
 * So a history is a sequence of either player and what chance did, the histories themselves need
 * not be kept, and what a solver repeats is a pass over the payoffs and one over the information
 * sets. A set comes after the set that its own player saw before.
 */
#ifndef SK_TREE_H
#define SK_TREE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "game.h"
#include "room.h"

typedef struct {
    int32_t sequence[2]; /* of the players */
    double to_first;     /* of player 0, times the probability of chance's moves */
} payoff;                /* a terminal; those where nobody gains are left out */

typedef struct {
    int32_t infoset, other; /* information set of the player to act, sequence of the opponent */
    double chance;          /* probability of chance's moves */
} decision;

typedef struct {
    int32_t before; /* the player's own last sequence */
    int32_t first;  /* where its actions begin among all */
    int8_t player;
} infoset;

typedef struct {
    int32_t sequence[SK_MOST_PLAYERS];
    double chance;
    int32_t infoset; /* -1 where chance acts */
    int32_t choices, next;
    int32_t outcomes[SK_MOST_ACTIONS]; /* of chance only */
    double probabilities[SK_MOST_ACTIONS];
} frame; /* a history on the path that is being enumerated */

typedef struct {
    int32_t sequence[2];
    double chance;
    int actor;
    int32_t infoset; /* -1 where chance acts */
    int32_t choices, next;
    int32_t actions[SK_MOST_ACTIONS];
    double probabilities[SK_MOST_ACTIONS]; /* of chance only */
    double values[SK_MOST_ACTIONS];        /* to player 0, of what was walked through */
} world;                                   /* a history on the path of tree_worlds.c */

struct sk_tree {
    const sk_game *game;
    int64_t most_nodes, nodes, terminals;
    /* Histories are counted, and neither payoffs nor decisions are kept; nor are information sets.
     */
    int sets_only, counts_only;
    memory memory;

    payoff *payoffs;
    decision *decisions;
    infoset *infosets;
    uint8_t *packed;  /* [infosets][observation_bytes] */
    int32_t *actions; /* of all information sets, one after the other */
    int64_t n_payoffs, n_decisions, n_infosets, n_actions;
    int64_t room_payoffs, room_decisions, room_infosets, room_packed, room_actions;

    int32_t *table; /* of hashing: information set + 1, or 0 */
    int64_t slots;  /* a power of two */

    frame *path;
    uint8_t *states; /* [depth + 1][stride]: of the path */
    size_t stride;
    int64_t depth, room_path, room_states;

    sk_batch *kept; /* gets the first state of each information set, or NULL */
    int32_t *kept_depths;
    /* How many sets there are, where that is known before they are enumerated again; else 0. */
    int64_t whole_infosets;

    world *worlds; /* the path of tree_worlds.c, and its states */
    uint8_t *world_states;
    int64_t n_worlds, room_worlds, room_world_states;
};

/* The information set of `player`, who last chose `before` and now chooses, into *set. */
const char *sk_tree_intern(sk_tree *tree, const void *state, int player, int32_t before,
                           int32_t *set);

/* The information set of `player`, who last chose `before` and now sees `packed`; -1: there is
 * none.
 */
int32_t sk_tree_find(const sk_tree *tree, int player, int32_t before, const uint8_t *packed);

static inline int32_t infoset_end(const sk_tree *tree, int64_t set)
{
    return (int32_t)(set + 1 < tree->n_infosets ? tree->infosets[set + 1].first : tree->n_actions);
}

static inline double payoff_to(const payoff *p, int player)
{
    assert(player == 0 || player == 1);
    return player ? -p->to_first : p->to_first;
}

#endif
