/* What the actions of every information set are worth in its worlds, each searched to the end as if
 * it were known: the limit of determinized search with all worlds (stratkit.h).
 *
 * A second walk through all histories. A history's value is known when its last child's is.
 */
#include <string.h>

#include "tree.h"

static const double TIE = 1e-9;

static void *state_at(const sk_tree *tree, int64_t depth)
{
    return tree->world_states + (size_t)depth * tree->stride;
}

/* The values of its actions count for the information set; returns that of the history. */
static double leave(const sk_tree *tree, const world *top, double *values, double *best)
{
    double sum = 0, most = -1e300;
    double sign = top->actor == 1 ? -1 : 1;
    for (int i = 0; i < top->choices; i++) {
        if (top->infoset < 0)
            sum += top->probabilities[i] * top->values[i];
        else if (sign * top->values[i] > most)
            most = sign * top->values[i];
    }
    if (top->infoset < 0)
        return sum;
    int ties = 0;
    for (int i = 0; i < top->choices; i++)
        ties += sign * top->values[i] > most - TIE;
    for (int i = 0; i < top->choices; i++) {
        int32_t at = tree->infosets[top->infoset].first + i;
        values[at] += top->chance * sign * top->values[i];
        if (sign * top->values[i] > most - TIE)
            best[at] += top->chance / ties;
    }
    return sign * most;
}

/* Enters the history whose state lies at the end of the path. *value: what it is worth if it is
 * over; else it has become the end of the path. */
static const char *enter(sk_tree *tree, const int32_t sequence[2], double chance, double *value)
{
    const sk_game *game = tree->game;
    int64_t depth = tree->n_worlds;
    int actor = game->ops->actor(game, state_at(tree, depth));
    if (actor == SK_OVER) {
        float returns[2];
        game->ops->returns(game, state_at(tree, depth), returns);
        *value = (double)returns[0];
        return NULL;
    }
    const char *wrong = GROW(tree, worlds, depth + 1);
    wrong = wrong ? wrong : GROW_BY(tree, world_states, depth + 2, tree->stride);
    if (wrong)
        return wrong;
    world *top = &tree->worlds[depth];
    const void *state = state_at(tree, depth);
    memcpy(top->sequence, sequence, sizeof top->sequence);
    top->chance = chance;
    top->actor = actor;
    top->infoset = -1;
    top->next = 0;
    top->choices = game->ops->legal(game, state, top->actions);
    if (actor == SK_CHANCE)
        game->ops->chance(game, state, top->probabilities);
    else
        wrong = sk_tree_intern(tree, state, actor, sequence[actor], &top->infoset);
    tree->n_worlds += !wrong;
    return wrong;
}

static const char *advance(sk_tree *tree, double *values, double *best)
{
    const sk_game *game = tree->game;
    int64_t depth = tree->n_worlds;
    world *top = &tree->worlds[depth - 1];
    if (top->next == top->choices) {
        double value = leave(tree, top, values, best);
        if (--tree->n_worlds)
            top[-1].values[top[-1].next++] = value;
        return NULL;
    }
    if (top->infoset < 0 && top->probabilities[top->next] == 0.0) {
        top->values[top->next++] = 0;
        return NULL;
    }
    int32_t sequence[2] = {top->sequence[0], top->sequence[1]};
    double chance = top->chance;
    if (top->infoset < 0)
        chance *= top->probabilities[top->next];
    else
        sequence[top->actor] = tree->infosets[top->infoset].first + top->next + 1;
    memcpy(state_at(tree, depth), state_at(tree, depth - 1), (size_t)game->is.state_bytes);
    game->ops->apply(game, state_at(tree, depth), top->actions[top->next]);
    double value = 0;
    const char *wrong = enter(tree, sequence, chance, &value);
    top = &tree->worlds[depth - 1]; /* it may have moved */
    if (!wrong && tree->n_worlds == depth)
        top->values[top->next++] = value;
    return wrong;
}

const char *sk_tree_worlds(sk_tree *tree, int64_t steps, double *values, double *best,
                           int32_t *whole)
{
    const int32_t empty[2] = {0, 0};
    double value;
    const char *wrong = NULL;
    if (tree->game->is.players != 2)
        return "not a game of two players";
    if (!tree->n_worlds) {
        wrong = GROW_BY(tree, world_states, 1, tree->stride);
        if (wrong)
            return wrong;
        tree->game->ops->reset(tree->game, tree->world_states);
        wrong = enter(tree, empty, 1.0, &value);
    }
    for (; !wrong && steps > 0 && tree->n_worlds; steps--)
        wrong = advance(tree, values, best);
    *whole = !wrong && !tree->n_worlds;
    return wrong;
}
