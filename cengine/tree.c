/* Enumerating a game's histories, depth first, and what stays of them (tree.h). */
#include "tree.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "philox.h"

/* ---- Information sets ---- */

static const uint8_t *packed_of(const sk_tree *tree, int64_t set)
{
    return tree->packed + set * tree->game->is.observation_bytes;
}

/* Where the information set of `player`, who last chose `before` and now sees `packed`, is in the
 * table, or the free slot where it belongs. */
static int32_t *slot_of(const sk_tree *tree, int player, int32_t before, const uint8_t *packed)
{
    int32_t size = tree->game->is.observation_bytes;
    assert(tree->slots > 0 && (tree->slots & (tree->slots - 1)) == 0);
    uint64_t key = (uint64_t)before * SK_MOST_PLAYERS + (uint64_t)player + 1;
    uint64_t mask = (uint64_t)tree->slots - 1, at = hash_bytes(key, packed, size) & mask;
    for (; tree->table[at]; at = (at + 1) & mask) {
        int64_t found = tree->table[at] - 1;
        const infoset *s = &tree->infosets[found];
        if (s->before == before && s->player == player
            && memcmp(packed_of(tree, found), packed, (size_t)size) == 0)
            break;
    }
    return &tree->table[at];
}

static int32_t *slot_of_set(const sk_tree *tree, int64_t set)
{
    const infoset *s = &tree->infosets[set];
    return slot_of(tree, s->player, s->before, packed_of(tree, set));
}

int32_t sk_tree_find(const sk_tree *tree, int player, int32_t before, const uint8_t *packed)
{
    return *slot_of(tree, player, before, packed) - 1;
}

static const char *widen_table(sk_tree *tree)
{
    if (tree->n_infosets * 2 < tree->slots)
        return NULL;
    int64_t slots = tree->slots ? tree->slots * 2 : 1024;
    tree->memory.bytes += (slots - tree->slots) * (int64_t)sizeof *tree->table;
    if (tree->memory.bytes > tree->memory.most_bytes)
        return too_large;
    int32_t *table = calloc((size_t)slots, sizeof *table);
    if (!table)
        return no_memory;
    free(tree->table);
    tree->table = table;
    tree->slots = slots;
    for (int64_t i = 0; i < tree->n_infosets; i++)
        *slot_of_set(tree, i) = (int32_t)i + 1;
    return NULL;
}

/* It is written behind the others, and stays there if it is new. */
const char *sk_tree_intern(sk_tree *tree, const void *state, int player, int32_t before,
                           int32_t *set)
{
    int32_t size = tree->game->is.observation_bytes;
    int64_t new = tree->n_infosets;
    assert(player >= 0 && player < tree->game->is.players);
    assert(before >= 0 && before <= tree->n_actions);
    assert(new < INT32_MAX && tree->n_actions <= INT32_MAX - SK_MOST_ACTIONS);
    const char *wrong = widen_table(tree);
    wrong = wrong ? wrong : GROW(tree, infosets, new + 1);
    wrong = wrong ? wrong : GROW(tree, packed, (new + 1) * size);
    wrong = wrong ? wrong : GROW(tree, actions, tree->n_actions + SK_MOST_ACTIONS);
    if (wrong)
        return wrong;
    tree->infosets[new] = (infoset){before, (int32_t)tree->n_actions, (int8_t)player};
    tree->game->ops->observe(tree->game, state, tree->packed + new *size);
    int32_t *legal = tree->actions + tree->n_actions;
    int n = tree->game->ops->legal(tree->game, state, legal);
    assert(n > 0 && n <= SK_MOST_ACTIONS);
    int32_t *slot = slot_of_set(tree, new);
    if (!*slot) {
        if (tree->whole_infosets && new >= tree->whole_infosets)
            return "not the same game when it is played again";
        *slot = (int32_t) new + 1;
        tree->n_infosets++;
        tree->n_actions += n;
    } else {
        int64_t old = *slot - 1;
        int32_t first = tree->infosets[old].first;
        if (infoset_end(tree, old) - first != n
            || memcmp(legal, tree->actions + first, (size_t)n * sizeof *legal) != 0)
            return "legal actions differ within an information set";
    }
    *set = *slot - 1;
    return NULL;
}

/* ---- Histories ---- */

static void *state_at(const sk_tree *tree, int64_t depth)
{
    assert(depth >= 0 && depth < tree->room_states);
    return tree->states + (size_t)depth * tree->stride;
}

static const char *enter_terminal(sk_tree *tree, const void *state, const int32_t *sequence,
                                  double chance)
{
    float returns[SK_MOST_PLAYERS];
    tree->game->ops->returns(tree->game, state, returns);
    tree->terminals++;
    if (tree->game->is.players == 2 && returns[0] != -returns[1])
        return "one player does not win what the other loses";
    if (tree->sets_only || returns[0] == 0.0f)
        return NULL;
    const char *wrong = GROW(tree, payoffs, tree->n_payoffs + 1);
    if (!wrong)
        tree->payoffs[tree->n_payoffs++] =
            (payoff){{sequence[0], sequence[1]}, chance * (double)returns[0]};
    return wrong;
}

/* Enters the history whose state lies at the end of the path. */
static const char *enter(sk_tree *tree, const int32_t *sequence, double chance)
{
    const sk_game *game = tree->game;
    const void *state = state_at(tree, tree->depth);
    assert(chance > 0 && chance <= 1);
    int who = game->ops->actor(game, state);
    if (++tree->nodes > tree->most_nodes)
        return too_large;
    if (who == SK_OVER)
        return enter_terminal(tree, state, sequence, chance);
    const char *wrong = GROW(tree, path, tree->depth + 1);
    wrong = wrong ? wrong : GROW_BY(tree, states, tree->depth + 2, tree->stride);
    if (wrong)
        return wrong;
    state = state_at(tree, tree->depth);
    frame *top = &tree->path[tree->depth];
    memcpy(top->sequence, sequence, sizeof top->sequence);
    top->chance = chance;
    top->next = 0;
    if (who == SK_CHANCE || tree->counts_only) {
        top->infoset = -1;
        top->choices = game->ops->legal(game, state, top->outcomes);
        for (int i = 0; i < top->choices; i++)
            top->probabilities[i] = 1;
        if (who == SK_CHANCE)
            game->ops->chance(game, state, top->probabilities);
    } else {
        int64_t known = tree->n_infosets;
        wrong = sk_tree_intern(tree, state, who, sequence[who], &top->infoset);
        if (!wrong && tree->kept && tree->n_infosets > known) {
            sk_batch_put(tree->kept, top->infoset, state);
            tree->kept_depths[top->infoset] = (int32_t)tree->depth;
        }
        if (!tree->sets_only)
            wrong = wrong ? wrong : GROW(tree, decisions, tree->n_decisions + 1);
        if (wrong)
            return wrong;
        if (!tree->sets_only)
            tree->decisions[tree->n_decisions++] = (decision){top->infoset, sequence[!who], chance};
        top->choices = infoset_end(tree, top->infoset) - tree->infosets[top->infoset].first;
    }
    tree->depth++;
    return NULL;
}

/* Goes on to the next child of the last history on the path. */
static const char *advance(sk_tree *tree)
{
    const sk_game *game = tree->game;
    assert(tree->depth > 0);
    frame *top = &tree->path[tree->depth - 1];
    assert(top->next >= 0 && top->next <= top->choices);
    if (top->next == top->choices) {
        tree->depth--;
        return NULL;
    }
    int32_t choice = top->next++, sequence[SK_MOST_PLAYERS], action;
    double chance = top->chance;
    memcpy(sequence, top->sequence, sizeof sequence);
    if (top->infoset < 0) {
        if (top->probabilities[choice] == 0.0)
            return NULL;
        action = top->outcomes[choice];
        chance *= top->probabilities[choice];
    } else {
        int32_t index = tree->infosets[top->infoset].first + choice;
        action = tree->actions[index];
        sequence[tree->infosets[top->infoset].player] = index + 1;
    }
    memcpy(state_at(tree, tree->depth), state_at(tree, tree->depth - 1),
           (size_t)game->is.state_bytes);
    game->ops->apply(game, state_at(tree, tree->depth), action);
    return enter(tree, sequence, chance);
}

/* ---- The interface ---- */

const char *sk_tree_open(const sk_game *game, int64_t most_nodes, int64_t most_bytes, sk_tree **out)
{
    sk_tree *tree = *out = calloc(1, sizeof *tree);
    if (!tree)
        return no_memory;
    tree->game = game;
    tree->most_nodes = most_nodes < INT32_MAX / 2 ? most_nodes : INT32_MAX / 2;
    tree->memory.most_bytes = most_bytes;
    tree->stride = ((size_t)game->is.state_bytes + 63) / 64 * 64;
    return NULL;
}

void sk_tree_keep(sk_tree *tree, sk_batch *states, int32_t *depths)
{
    tree->kept = states;
    tree->whole_infosets = sk_batch_size(states);
    tree->kept_depths = depths;
}

void sk_tree_sets_only(sk_tree *tree) { tree->sets_only = 1; }

void sk_tree_counts_only(sk_tree *tree) { tree->sets_only = tree->counts_only = 1; }

void sk_tree_close(sk_tree *tree)
{
    free(tree->payoffs);
    free(tree->decisions);
    free(tree->infosets);
    free(tree->packed);
    free(tree->actions);
    free(tree->table);
    free(tree->path);
    free(tree->states);
    free(tree->worlds);
    free(tree->world_states);
    free(tree);
}

static const char *begin_tree(sk_tree *tree)
{
    const int32_t empty[SK_MOST_PLAYERS] = {0};
    if (tree->game->is.players != 2 && !tree->sets_only) /* a payoff has two sequences (tree.h) */
        return "not a game of two players";
    const char *wrong = GROW_BY(tree, states, 1, tree->stride);
    if (wrong)
        return wrong;
    tree->game->ops->reset(tree->game, tree->states);
    return enter(tree, empty, 1.0);
}

const char *sk_tree_grow(sk_tree *tree, int64_t steps, int32_t *whole)
{
    const char *wrong = tree->nodes ? NULL : begin_tree(tree);
    for (; !wrong && steps > 0 && tree->depth; steps--)
        wrong = advance(tree);
    *whole = !wrong && !tree->depth;
    if (*whole)
        tree->whole_infosets = tree->n_infosets;
    return wrong;
}

void sk_tree_describe(const sk_tree *tree, sk_tree_size *out)
{
    *out = (sk_tree_size){.nodes = tree->nodes,
                          .terminals = tree->terminals,
                          .payoffs = tree->n_payoffs,
                          .decisions = tree->n_decisions,
                          .infosets = tree->n_infosets,
                          .actions = tree->n_actions,
                          .bytes = tree->memory.bytes};
}

void sk_tree_infosets(const sk_tree *tree, int8_t *players, int32_t *before, int32_t *first,
                      uint8_t *packed)
{
    for (int64_t i = 0; i < tree->n_infosets; i++) {
        players[i] = tree->infosets[i].player;
        before[i] = tree->infosets[i].before;
        first[i] = tree->infosets[i].first;
    }
    first[tree->n_infosets] = (int32_t)tree->n_actions;
    if (packed)
        memcpy(packed, tree->packed,
               (size_t)tree->n_infosets * (size_t)tree->game->is.observation_bytes);
}

void sk_tree_actions(const sk_tree *tree, int32_t *actions)
{
    memcpy(actions, tree->actions, (size_t)tree->n_actions * sizeof *actions);
}

/* ---- How large a tree is, without growing it (Knuth 1975) ---- */

/* The product of the numbers of choices along one random game, as a logarithm: its mean over games
 * is the number of terminals. Stops at `enough`. */
static double one_descent(const sk_game *game, void *state, int64_t number, double enough)
{
    int32_t actions[SK_MOST_ACTIONS];
    double size = 0.0;
    game->ops->reset(game, state);
    for (int32_t t = 0; size < enough && game->ops->actor(game, state) != SK_OVER; t++) {
        int n = game->ops->legal(game, state, actions);
        size += log10(n);
        game->ops->apply(game, state, actions[(int)(philox_uniform(0, 0, number, t) * n)]);
    }
    return size;
}

/* No more than a tenth of all random games can have ten times the mean (Markov); that a fifth of
 * these do by chance happens once in 10^20. */
int32_t sk_tree_exceeds(const sk_game *game, double terminals)
{
    enum { GAMES = 1001 };
    int32_t larger = 0;
    void *state = aligned_alloc(64, ((size_t)game->is.state_bytes + 63) / 64 * 64);
    if (!state)
        return 0;
    for (int64_t i = 0; i < GAMES; i++)
        larger += one_descent(game, state, i, log10(terminals) + 1.0) >= log10(terminals) + 1.0;
    free(state);
    return larger > GAMES / 5;
}
