/* What is done to a network's policy on its way to the board: the stages `temperature`, `threshold`
 * and `quanta` of stratkit/players/testtime, of actions and of whole moves. */
#ifndef SK_PROCESSING_H
#define SK_PROCESSING_H

#include "network.h"
#include "stratego.h"

typedef struct {
    double temperature; /* 1: none */
    float threshold;    /* 0: none */
    int32_t quanta;     /* 0: none */
} processing;

static inline int is_raw(const processing *how)
{
    return how->temperature == 1 && how->threshold == 0 && how->quanta == 0;
}

/* What was decided when a move began: a policy of `n` moves. */
typedef struct {
    int32_t n;
    uint8_t pairs[2 * SK_MOST_MOVES]; /* in the acting side's frame */
    float policy[SK_MOST_MOVES];
} plan;

/* A policy of n actions or moves, in place. */
void process_policy(float *policy, int n, const processing *how);
/* Its legal moves, ascending as red sees them; without a policy. */
void list_moves(const stratego *game, const stratego_state *state, plan *out);
/* The policy of whole moves of a state in which a move begins. */
void plan_moves(const sk_game *game, const stratego_state *state, network *net,
                const processing *how, plan *out);
/* A plan as a policy [actions] of pieces or, of `selected`, of its destinations. */
void policy_of_plan(const plan *of, int selected, int actions, float *policy);

#endif
