/* What a player wins by a best response to a policy: in games too large for tree.h, and between
 * any number of players.
 *
 * A walk, depth first, through the information sets of the player who responds. Beside each lie all
 * histories that lead there, with their *reach*: the probability that chance and the others play
 * so. After an action of the player each history goes on, by all that chance and the others may
 * do, to the player's next decision or to the end of the game. What the player sees there divides
 * them into its next information sets. So every history is reached once, and only those of the
 * decisions on the path are kept.
 *
 * Beside the best response stands the best *deviation*: the player chooses one turn anew, and plays
 * by the policy before and after it. A turn is a simultaneous one (game.h), else a decision.
 */
#include <string.h>

#include "tree.h"

/* Actions of chance and the others between two decisions of the player: each takes 2 KiB of the
 * stack. */
enum { MOST_BETWEEN = 2000 };

typedef struct {
    double reach;
    int32_t last[SK_MOST_PLAYERS]; /* sequences, as in tree.h; 0 where there is no tree */
} history;                         /* its state lies elsewhere */

typedef struct {
    int64_t first, n; /* its histories */
    int64_t parent;   /* -1: none */
    int32_t set;      /* in the tree, if there is one */
    int32_t sequence; /* that of its first action there */
    int32_t choices, next, best_choice;
    int32_t actions[SK_MOST_ACTIONS];
    int32_t turn; /* of the game, -1: none */
    int within;   /* the player's decision before it is of the same turn */
    double own;   /* the probability that the player plays so, by the policy */
    /* Of the actions so far: the best; their mean by the policy; the best deviation. */
    double best, value, once;
    double best_of, value_of, once_of; /* of the action that is being walked through */
} decision_of;

struct sk_response {
    const sk_game *game;
    const sk_tree *tree;
    const double *policy;
    uint8_t *choices; /* [information sets of the tree], or NULL */
    int player;
    memory memory;
    size_t stride;
    double best, value, gains, turns; /* as sk_response_result has them */
    int64_t n_histories, n_infosets;
    int begun;

    decision_of *path;
    history *histories; /* of the decisions on the path, one decision's after the other's */
    uint8_t *states;    /* [histories][stride] */
    int64_t n_path, n_kept, room_path, room_histories, room_states;

    /* Histories that an action leads to, before they are divided. */
    history *found;
    uint8_t *found_states, *seen; /* [found][stride], [found][observation_bytes] */
    int64_t *kinds, *firsts;      /* of each the kind of what is seen; of each kind the first */
    int32_t *table;
    int64_t n_found, room_found, room_found_states, room_seen, room_kinds, room_firsts, room_table;

    uint8_t *trail; /* [depth][stride]: states from a decision to the next */
    uint8_t *packed;
    int64_t room_trail, room_packed;
    double ends; /* what the player gets where the game ends on the way, times reach */
};

static uint8_t *trail_at(const sk_response *r, int64_t depth)
{
    return r->trail + (size_t)depth * r->stride;
}

static const char *const lacks_set = "the policy lacks an information set";

/* The information set in which `who` has n actions; -1: the tree has no such set. A game of the
 * caller's may be another one when it is played again. */
static int32_t set_of(sk_response *r, const void *state, int who, int32_t last, int n)
{
    r->game->ops->observe(r->game, state, r->packed);
    int32_t set = sk_tree_find(r->tree, who, last, r->packed);
    return set < 0 || infoset_end(r->tree, set) - r->tree->infosets[set].first != n ? -1 : set;
}

/* The sequence of a set's first action. */
static int32_t sequence_of(const sk_response *r, int32_t set)
{
    return 1 + r->tree->infosets[set].first;
}

/* ---- From one decision of the player to its next ---- */

static const char *keep(sk_response *r, const void *state, history h)
{
    size_t seen = (size_t)r->game->is.observation_bytes;
    const char *wrong = GROW(r, found, r->n_found + 1);
    wrong = wrong ? wrong : GROW_BY(r, found_states, r->n_found + 1, r->stride);
    wrong = wrong ? wrong : GROW_BY(r, seen, r->n_found + 1, seen);
    if (wrong)
        return wrong;
    int64_t at = r->n_found++;
    r->found[at] = h;
    memcpy(r->found_states + (size_t)at * r->stride, state, (size_t)r->game->is.state_bytes);
    r->game->ops->observe(r->game, state, r->seen + (size_t)at * seen);
    return NULL;
}

/* The probabilities of what chance or another player does; *sequence: of the player's first action,
 * or 0. */
static const char *weigh(sk_response *r, const void *state, int who, int32_t last, int n,
                         double *probabilities, int32_t *sequence)
{
    *sequence = 0;
    if (who == SK_CHANCE) {
        r->game->ops->chance(r->game, state, probabilities);
        return NULL;
    }
    if (r->tree) {
        int32_t set = set_of(r, state, who, last, n);
        if (set < 0)
            return lacks_set;
        *sequence = sequence_of(r, set);
        memcpy(probabilities, r->policy + *sequence - 1, (size_t)n * sizeof *probabilities);
        return NULL;
    }
    for (int i = 0; i < n; i++)
        probabilities[i] = 1.0 / n;
    return NULL;
}

/* Goes on from the history whose state lies at this depth of the trail. */
static const char *spread(sk_response *r, int64_t depth, history h)
{
    const sk_game *game = r->game;
    const void *state = trail_at(r, depth);
    int who = game->ops->actor(game, state);
    r->n_histories++;
    if (who == SK_OVER) {
        float returns[SK_MOST_PLAYERS];
        game->ops->returns(game, state, returns);
        r->ends += h.reach * (double)returns[r->player];
        return game->is.players != 2 || returns[0] == -returns[1]
                   ? NULL
                   : "one player does not win what the other loses";
    }
    if (who == r->player)
        return keep(r, state, h);
    if (depth == MOST_BETWEEN)
        return "more than 2,000 actions lie between two decisions of a player";
    int32_t actions[SK_MOST_ACTIONS], sequence;
    double probabilities[SK_MOST_ACTIONS];
    int n = game->ops->legal(game, state, actions);
    int32_t last = who == SK_CHANCE ? 0 : h.last[who];
    const char *wrong = weigh(r, state, who, last, n, probabilities, &sequence);
    wrong = wrong ? wrong : GROW_BY(r, trail, depth + 2, r->stride);
    for (int i = 0; !wrong && i < n; i++) {
        if (probabilities[i] == 0.0)
            continue;
        history next = h;
        next.reach *= probabilities[i];
        if (sequence)
            next.last[who] = sequence + i;
        memcpy(trail_at(r, depth + 1), trail_at(r, depth), (size_t)game->is.state_bytes);
        game->ops->apply(game, trail_at(r, depth + 1), actions[i]);
        wrong = spread(r, depth + 1, next);
    }
    return wrong;
}

/* ---- The player's next information sets ---- */

/* Finds what kinds there are of what the player sees, into *kinds. */
static const char *tell_apart(sk_response *r, int64_t *kinds)
{
    int64_t slots = 4;
    while (slots <= r->n_found)
        slots *= 2;
    const char *wrong = GROW(r, kinds, r->n_found);
    wrong = wrong ? wrong : GROW(r, firsts, r->n_found);
    wrong = wrong ? wrong : GROW(r, table, slots);
    if (wrong)
        return wrong;
    memset(r->table, 0, (size_t)slots * sizeof *r->table);
    *kinds = sk_distinct_rows(r->seen, r->game->is.observation_bytes, r->seen, 0, r->n_found,
                              r->table, slots, r->firsts, r->kinds);
    return NULL;
}

/* That of the action that is being walked through, by the policy. */
static double probability_of(const sk_response *r, const decision_of *here)
{
    return r->tree ? r->policy[here->sequence - 1 + here->next - 1] : 1.0 / here->choices;
}

/* What the player may choose there, where the first of the histories is number `first`. */
static const char *enter(sk_response *r, decision_of *here)
{
    const sk_game *game = r->game;
    const uint8_t *state = r->states + (size_t)here->first * r->stride;
    int32_t actions[SK_MOST_ACTIONS];
    here->choices = game->ops->legal(game, state, here->actions);
    here->sequence = 0;
    here->turn = game->ops->turn ? game->ops->turn(game, state) : -1;
    here->own = 1;
    if (here->parent >= 0) {
        const decision_of *parent = &r->path[here->parent];
        here->own = parent->own * probability_of(r, parent);
        here->within = here->turn >= 0 && here->turn == parent->turn;
    }
    for (int64_t i = 1; i < here->n; i++) {
        int n = game->ops->legal(game, state + (size_t)i * r->stride, actions);
        if (n != here->choices || memcmp(actions, here->actions, (size_t)n * sizeof *actions) != 0)
            return "legal actions differ within an information set";
    }
    if (!r->tree)
        return NULL;
    int32_t last = r->histories[here->first].last[r->player];
    here->set = set_of(r, state, r->player, last, here->choices);
    if (here->set < 0)
        return lacks_set;
    here->sequence = sequence_of(r, here->set);
    return NULL;
}

/* Moves the histories found to the end of those that are kept, kind by kind. */
static const char *divide(sk_response *r, int64_t parent)
{
    int64_t kinds = 0;
    if (!r->n_found)
        return NULL;
    const char *wrong = tell_apart(r, &kinds);
    wrong = wrong ? wrong : GROW(r, path, r->n_path + kinds);
    wrong = wrong ? wrong : GROW(r, histories, r->n_kept + r->n_found);
    wrong = wrong ? wrong : GROW_BY(r, states, r->n_kept + r->n_found, r->stride);
    if (wrong)
        return wrong;
    decision_of *new = r->path + r->n_path;
    for (int64_t i = 0; i < kinds; i++)
        new[i] = (decision_of){.parent = parent, .best = -1e300, .once = -1e300};
    for (int64_t i = 0; i < r->n_found; i++)
        new[r->kinds[i]].n++;
    for (int64_t i = 0, first = r->n_kept; i < kinds; first += new[i++].n)
        r->firsts[i] = new[i].first = first;
    for (int64_t i = 0; i < r->n_found; i++) {
        int64_t to = r->firsts[r->kinds[i]]++;
        r->histories[to] = r->found[i];
        memcpy(r->states + (size_t)to * r->stride, r->found_states + (size_t)i * r->stride,
               (size_t)r->game->is.state_bytes);
    }
    for (int64_t i = 0; !wrong && i < kinds; i++)
        wrong = enter(r, new + i);
    r->n_path += kinds;
    r->n_kept += r->n_found;
    r->n_infosets += kinds;
    r->n_found = 0;
    return wrong;
}

/* ---- The walk ---- */

/* Of the histories of a decision together. */
static double reach_of(const sk_response *r, const decision_of *here)
{
    double reach = 0;
    for (int64_t i = here->first; i < here->first + here->n; i++)
        reach += r->histories[i].reach;
    return reach;
}

/* A decision is done: what it is worth belongs to the action that led to it. */
static void leave(sk_response *r)
{
    const decision_of *done = &r->path[--r->n_path];
    if (r->choices)
        r->choices[done->set] = (uint8_t)done->best_choice;
    r->n_kept = done->first;
    if (!done->within) {
        r->gains += done->own * (done->once - done->value);
        r->turns += done->own * reach_of(r, done);
    }
    if (done->parent < 0) {
        r->best += done->best;
        r->value += done->value;
        return;
    }
    decision_of *parent = &r->path[done->parent];
    parent->best_of += done->best;
    parent->value_of += done->value;
    parent->once_of += done->within ? done->once : done->value;
}

/* The action that was walked through counts. */
static void settle(const sk_response *r, decision_of *here)
{
    here->value += probability_of(r, here) * here->value_of;
    if (here->once_of > here->once)
        here->once = here->once_of;
    if (here->best_of > here->best) {
        here->best = here->best_of;
        here->best_choice = here->next - 1;
    }
}

/* Goes on with the next action of the last decision on the path. */
static const char *advance(sk_response *r)
{
    int64_t at = r->n_path - 1;
    decision_of *here = &r->path[at];
    if (here->next)
        settle(r, here);
    if (here->next == here->choices) {
        leave(r);
        return NULL;
    }
    int32_t choice = here->next++, action = here->actions[choice];
    r->ends = 0;
    const char *wrong = NULL;
    for (int64_t i = here->first; !wrong && i < here->first + here->n; i++) {
        history next = r->histories[i];
        if (r->tree)
            next.last[r->player] = here->sequence + choice;
        memcpy(r->trail, r->states + (size_t)i * r->stride, (size_t)r->game->is.state_bytes);
        r->game->ops->apply(r->game, r->trail, action);
        wrong = spread(r, 0, next);
    }
    here->best_of = here->value_of = here->once_of = r->ends;
    return wrong ? wrong : divide(r, at);
}

static const char *begin(sk_response *r)
{
    r->begun = 1;
    const char *wrong = GROW_BY(r, trail, 1, r->stride);
    wrong = wrong ? wrong : GROW(r, packed, r->game->is.observation_bytes);
    if (wrong)
        return wrong;
    r->game->ops->reset(r->game, r->trail);
    wrong = spread(r, 0, (history){.reach = 1});
    r->best = r->value = r->ends;
    return wrong ? wrong : divide(r, -1);
}

/* ---- The interface ---- */

const char *sk_response_open(const sk_game *game, const sk_tree *tree, const double *policy,
                             int32_t player, int64_t most_bytes, uint8_t *choices,
                             sk_response **out)
{
    assert(player >= 0 && player < game->is.players && !tree == !policy && (tree || !choices));
    sk_response *r = *out = calloc(1, sizeof *r);
    if (!r)
        return no_memory;
    r->game = game;
    r->tree = tree;
    r->policy = policy;
    r->choices = choices;
    r->player = player;
    r->memory.most_bytes = most_bytes;
    r->stride = ((size_t)game->is.state_bytes + 7) / 8 * 8;
    return NULL;
}

void sk_response_close(sk_response *r)
{
    free(r->path);
    free(r->histories);
    free(r->states);
    free(r->found);
    free(r->found_states);
    free(r->seen);
    free(r->kinds);
    free(r->firsts);
    free(r->table);
    free(r->trail);
    free(r->packed);
    free(r);
}

const char *sk_response_walk(sk_response *r, int64_t steps, int32_t *whole)
{
    int64_t until = r->n_histories + steps;
    const char *wrong = r->begun ? NULL : begin(r);
    while (!wrong && r->n_path && r->n_histories < until)
        wrong = advance(r);
    *whole = !wrong && !r->n_path;
    return wrong;
}

void sk_response_read(const sk_response *r, sk_response_result *out)
{
    *out = (sk_response_result){.best = r->best,
                                .value = r->value,
                                .gains = r->gains,
                                .turns = r->turns,
                                .histories = r->n_histories,
                                .infosets = r->n_infosets,
                                .bytes = r->memory.bytes};
}
