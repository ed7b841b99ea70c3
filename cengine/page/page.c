/* A game of Stratego against a network, as a page in a browser plays it. What the module exports is
 * all that the page calls (stratkit/humans/standalone); squares are absolute, actions in the acting
 * side's frame. */
#include <stdlib.h>
#include <string.h>

#include "network.h"
#include "processing.h"
#include "stratego.h"
#include "view.h"

#define EXPORT(name) __attribute__((export_name(#name))) page_##name

typedef struct {
    sk_game *game;
    network *net;
    processing play, deployment;
    stratego_state state;
    uint8_t *packed, *legal;
    plan plan;
} page;

void *EXPORT(room)(size_t n) { return malloc(n); }

/* A game of the engine's list; weights as of network_open. NULL: other rules, or no memory. */
page *EXPORT(open)(const char *name, const char *rules, int32_t channels, int32_t blocks,
                   int32_t kind, const float *weights)
{
    char error[64];
    page *p = calloc(1, sizeof *p);
    if (!p || !(p->game = stratego_open(name, rules, error, sizeof error)))
        return NULL;
    p->packed = calloc(1, (size_t)p->game->is.observation_bytes);
    p->legal = calloc(1, MAX_SQUARES);
    p->net = network_open(p->game->is.width, p->game->is.height, channels, blocks,
                          (network_kind)kind, weights);
    stratego_reset(p->game, &p->state);
    return p->packed && p->legal && p->net ? p : NULL;
}

int32_t EXPORT(weights)(const page *p) { return (int32_t)network_weights(p->net); }

void EXPORT(process)(page *p, double temperature, float threshold, int32_t quanta,
                     float deploy_threshold, int32_t deploy_quanta)
{
    p->play = (processing){temperature, threshold, quanta};
    p->deployment = (processing){1, deploy_threshold, deploy_quanta};
}

void EXPORT(reset)(page *p) { stratego_reset(p->game, &p->state); }

/* The side that acts, or -2: the game is over. */
int32_t EXPORT(actor)(const page *p) { return stratego_actor(p->game, &p->state); }
int32_t EXPORT(phase)(const page *p) { return p->state.phase; }
int32_t EXPORT(winner)(const page *p) { return p->state.winner; }
int32_t EXPORT(plies)(const page *p) { return p->state.plies; }
/* The board, [squares], with all that is hidden. */
const uint8_t *EXPORT(cells)(const page *p) { return p->state.cells; }
const char *EXPORT(ending_name)(const page *p) { return p->game->endings[p->state.ending]; }

/* What the acting side may know: the packed observation. */
const uint8_t *EXPORT(view)(page *p)
{
    p->game->ops->observe(p->game, &p->state, p->packed);
    return p->packed;
}

const uint8_t *EXPORT(legal)(page *p)
{
    p->game->ops->legal_mask(p->game, &p->state, p->legal);
    return p->legal;
}

/* 0: the action is not legal. */
int32_t EXPORT(apply)(page *p, int32_t action)
{
    if (!p->game->ops->is_legal(p->game, &p->state, action))
        return 0;
    stratego_apply(p->game, &p->state, action);
    return 1;
}

/* Legal moves where a move begins, to `pairs` of squares in the acting side's frame; their number.
 */
int32_t EXPORT(moves)(page *p)
{
    list_moves(as_stratego(p->game), &p->state, &p->plan);
    return p->plan.n;
}

/* The same, with the player's policy of them in `shares`. */
int32_t EXPORT(plan)(page *p)
{
    plan_moves(p->game, &p->state, p->net, &p->play, &p->plan);
    return p->plan.n;
}

/* What who moves may expect. */
float EXPORT(value)(page *p) { return network_value(p->net, page_view(p)); }

const uint8_t *EXPORT(pairs)(const page *p) { return p->plan.pairs; }
const float *EXPORT(shares)(const page *p) { return p->plan.policy; }

/* The policy of the next action. */
static void next_policy(page *p, float *policy)
{
    int32_t actions = p->game->is.actions;
    int placing = p->state.phase == PLACING, moving = p->state.phase == MOVING;
    const processing *how = placing ? &p->deployment : &p->play;
    if (placing || is_raw(how)) {
        network_policy(p->net, page_view(p), page_legal(p), policy);
        process_policy(policy, actions, how);
        return;
    }
    if (!moving)
        page_plan(p);
    int selected = moving ? framed(as_stratego(p->game), p->state.side, p->state.selected) : 255;
    policy_of_plan(&p->plan, selected, actions, policy);
}

/* What the player does: its action number `number` of the game, drawn by a seed of two halves. */
int32_t EXPORT(choose)(page *p, uint32_t seed_low, uint32_t seed_high, int32_t game, int32_t number)
{
    float policy[MAX_SQUARES], mu;
    int64_t games = game;
    int32_t chosen;
    next_policy(p, policy);
    sk_sample(policy, page_legal(p), 1, p->game->is.actions, (uint64_t)seed_high << 32 | seed_low,
              0, &games, &number, &chosen, &mu);
    return chosen;
}
