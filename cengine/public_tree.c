/* Enumerating a game's public tree (public_tree.h). */
#include "public_tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OBSERVED = 8192 }; /* bytes of an observation */

static void *at(uint8_t *states, size_t stride, int64_t row)
{
    return states + (size_t)row * stride;
}

/* ---- The choices of the player who acts ---- */

/* Writes the information set of a hand that acts, as a state shows it. */
static const char *add_set(sk_public_tree *tree, const void *state)
{
    int32_t size = tree->game->is.observation_bytes, set = (int32_t)tree->n_sets;
    const char *wrong = GROW(tree, first, set + 2);
    wrong = wrong ? wrong : GROW(tree, packed, ((int64_t)set + 1) * size);
    wrong = wrong ? wrong : GROW(tree, choices, tree->n_choices + SK_MOST_ACTIONS);
    if (wrong)
        return wrong;
    tree->game->ops->observe(tree->game, state, tree->packed + (int64_t)set * size);
    tree->first[set] = (int32_t)tree->n_choices;
    tree->n_choices += tree->game->ops->legal(tree->game, state, tree->choices + tree->n_choices);
    tree->first[++tree->n_sets] = (int32_t)tree->n_choices;
    return NULL;
}

/* Whether a state of a hand shows its player what the information set says. */
static int agrees(const sk_public_tree *tree, int32_t set, const void *state)
{
    uint8_t packed[MOST_OBSERVED];
    int32_t legal[SK_MOST_ACTIONS], size = tree->game->is.observation_bytes;
    int n = tree->game->ops->legal(tree->game, state, legal);
    tree->game->ops->observe(tree->game, state, packed);
    return n == tree->first[set + 1] - tree->first[set]
           && memcmp(legal, tree->choices + tree->first[set], (size_t)n * sizeof *legal) == 0
           && memcmp(packed, tree->packed + (int64_t)set * size, (size_t)size) == 0;
}

/* Hands have numbers in the order in which worlds have them: each is new or was met. */
static const char *add_sets(sk_public_tree *tree, public_node *node)
{
    node->set = (int32_t)tree->n_sets;
    for (int64_t i = 0; i < tree->n_here; i++) {
        int32_t set = node->set + tree->here[i].hand[node->actor];
        const void *state = at(tree->states_here, tree->stride, i);
        const char *wrong = set == tree->n_sets ? add_set(tree, state) : NULL;
        if (wrong)
            return wrong;
        if (!agrees(tree, set, state))
            return "a hand does not tell all that its player knows";
    }
    return NULL;
}

/* ---- Children ---- */

/* The child of `node` that looks like the last state of states_after. */
static const char *child_of(sk_public_tree *tree, int64_t node, int32_t *child)
{
    const void *state = at(tree->states_after, tree->stride, tree->n_outcomes);
    int32_t first = tree->nodes[node].child, n = tree->nodes[node].children, seen;
    const char *wrong = sk_public_look(tree, state, &seen);
    wrong = wrong ? wrong : GROW(tree, nodes, tree->n_nodes + 1);
    if (wrong || tree->n_nodes == tree->most_nodes)
        return wrong ? wrong : too_large;
    int actor = tree->game->ops->actor(tree->game, state);
    for (*child = first; *child < first + n; ++*child)
        if (tree->nodes[*child].seen == seen)
            return tree->nodes[*child].actor == actor ? NULL : "it is not public who acts";
    tree->nodes[tree->n_nodes++] =
        (public_node){.parent = (int32_t)node, .seen = seen, .like = -1, .actor = (int8_t)actor};
    tree->nodes[node].children++;
    return NULL;
}

/* What becomes of a world after a choice (chance's: -1), with the action and its probability. */
static const char *add_outcome(sk_public_tree *tree, int64_t node, int64_t of, int32_t choice,
                               int32_t action, double probability)
{
    const sk_game *game = tree->game;
    int64_t n = tree->n_outcomes;
    assert(of >= 0 && of < tree->n_here && node >= 0 && node < tree->n_nodes);
    assert(probability > 0 && probability <= 1);
    const char *wrong = GROW(tree, outcomes, n + 1);
    wrong = wrong ? wrong : GROW_BY(tree, states_after, n + 1, tree->stride);
    if (wrong)
        return wrong;
    void *state = at(tree->states_after, tree->stride, n);
    memcpy(state, at(tree->states_here, tree->stride, of), (size_t)game->is.state_bytes);
    game->ops->apply(game, state, action);
    const world *before = &tree->here[of];
    outcome *out = &tree->outcomes[n];
    out->chance = before->chance * probability;
    for (int player = 0; player < 2; player++) {
        int32_t hand = before->hand[player];
        out->from[player] = hand;
        out->number[player] = game->ops->hand(game, state, player);
        out->last[player] = tree->hands[player][tree->nodes[node].hand[player] + hand].last;
    }
    if (choice >= 0) {
        int actor = tree->nodes[node].actor;
        out->from[actor] = choice - tree->first[tree->nodes[node].set];
        out->last[actor] = choice + 1;
    }
    wrong = child_of(tree, node, &out->child);
    tree->n_outcomes += !wrong;
    return wrong;
}

static const char *add_outcomes(sk_public_tree *tree, int64_t node, int64_t of)
{
    const sk_game *game = tree->game;
    int actor = tree->nodes[node].actor;
    const char *wrong = NULL;
    if (actor == SK_CHANCE) {
        int32_t actions[SK_MOST_ACTIONS];
        double probabilities[SK_MOST_ACTIONS];
        const void *state = at(tree->states_here, tree->stride, of);
        int n = game->ops->legal(game, state, actions);
        game->ops->chance(game, state, probabilities);
        for (int i = 0; !wrong && i < n; i++)
            if (probabilities[i] > 0.0)
                wrong = add_outcome(tree, node, of, -1, actions[i], probabilities[i]);
        return wrong;
    }
    int32_t set = tree->nodes[node].set + tree->here[of].hand[actor];
    for (int32_t k = tree->first[set]; !wrong && k < tree->first[set + 1]; k++)
        wrong = add_outcome(tree, node, of, k, tree->choices[k], 1.0);
    return wrong;
}

/* The place of an outcome's hand in its node, a new one where it is the first. */
static const char *place_hand(sk_public_tree *tree, public_node *node, int player, const outcome *o,
                              int32_t *place)
{
    const char *wrong = GROW(tree, hands[player], tree->n_hands[player] + 1);
    if (wrong)
        return wrong;
    assert(o->number[player] >= 0 && o->number[player] < tree->game->is.hands);
    assert(o->from[player] >= 0);
    public_hand *hands = tree->hands[player] + node->hand[player];
    for (*place = 0; *place < node->hands[player]; ++*place)
        if (hands[*place].number == o->number[player])
            return hands[*place].from == o->from[player] ? NULL : "a hand forgets where it is from";
    hands[*place] = (public_hand){o->from[player], o->number[player], o->last[player]};
    node->hands[player]++;
    tree->n_hands[player]++;
    return NULL;
}

static const char *push_world(sk_public_tree *tree, const world *w, const void *state)
{
    int64_t n = tree->n_worlds;
    const char *wrong = GROW(tree, worlds, n + 1);
    wrong = wrong ? wrong : GROW_BY(tree, states, n + 1, tree->stride);
    if (wrong)
        return wrong;
    tree->worlds[n] = *w;
    memcpy(at(tree->states, tree->stride, n), state, (size_t)tree->game->is.state_bytes);
    tree->n_worlds++;
    return NULL;
}

/* The worlds that begin at `begun` as weights of a node. */
static const char *add_weights(sk_public_tree *tree, public_node *node, int64_t begun)
{
    int64_t size = (int64_t)node->hands[0] * node->hands[1];
    const char *wrong = GROW(tree, weights, tree->n_weights + size);
    if (wrong)
        return wrong;
    node->weight = tree->n_weights;
    double *weights = tree->weights + node->weight;
    memset(weights, 0, (size_t)size * sizeof *weights);
    for (int64_t i = begun; i < tree->n_worlds; i++) {
        const world *w = &tree->worlds[i];
        float returns[2] = {1.0f, -1.0f};
        if (node->actor == SK_OVER)
            tree->game->ops->returns(tree->game, at(tree->states, tree->stride, i), returns);
        if (returns[0] != -returns[1])
            return "one player does not win what the other loses";
        weights[(int64_t)w->hand[0] * node->hands[1] + w->hand[1]] +=
            w->chance * (double)returns[0];
    }
    tree->n_weights += size;
    return NULL;
}

/* Whether two nodes have the same hands, in the same order, and the same weights of them. */
static int same_hands(const sk_public_tree *tree, const public_node *a, const public_node *b)
{
    for (int player = 0; player < 2; player++) {
        const public_hand *mine = tree->hands[player] + a->hand[player];
        const public_hand *theirs = tree->hands[player] + b->hand[player];
        if (a->hands[player] != b->hands[player])
            return 0;
        for (int32_t i = 0; i < a->hands[player]; i++)
            if (mine[i].number != theirs[i].number)
                return 0;
    }
    size_t size = (size_t)a->hands[0] * (size_t)a->hands[1] * sizeof *tree->weights;
    return memcmp(tree->weights + a->weight, tree->weights + b->weight, size) == 0;
}

/* The first node that goes on as a new one does, or -1. */
static int32_t like_of(const sk_public_tree *tree, const public_node *node)
{
    for (int32_t i = 0; &tree->nodes[i] < node; i++) {
        const public_node *other = &tree->nodes[i];
        if (other->like < 0 && other->seen == node->seen && other->actor == node->actor
            && same_hands(tree, other, node))
            return i;
    }
    return -1;
}

/* Gives a new node its hands and weights; it waits for its children, unless it is an end or has
 * those of another node. */
static const char *fill(sk_public_tree *tree, int32_t child)
{
    public_node *node = &tree->nodes[child];
    int64_t begun = tree->n_worlds;
    const char *wrong = GROW(tree, waiting, tree->n_waiting + 1);
    for (int player = 0; player < 2; player++)
        node->hand[player] = (int32_t)tree->n_hands[player];
    for (int64_t i = 0; !wrong && i < tree->n_outcomes; i++) {
        const outcome *o = &tree->outcomes[i];
        world w = {.chance = o->chance};
        if (o->child != child)
            continue;
        for (int player = 0; !wrong && player < 2; player++)
            wrong = place_hand(tree, node, player, o, &w.hand[player]);
        wrong = wrong ? wrong : push_world(tree, &w, at(tree->states_after, tree->stride, i));
    }
    wrong = wrong ? wrong : add_weights(tree, node, begun);
    if (wrong)
        return wrong;
    if (tree->merged && node->actor != SK_OVER)
        node->like = like_of(tree, node);
    if (node->actor == SK_OVER || node->like >= 0)
        tree->n_worlds = begun;
    else
        tree->waiting[tree->n_waiting++] = (pending){child, begun};
    return NULL;
}

/* Takes the worlds from `begun` on away: they are those of the node that waits last. */
static const char *take_worlds(sk_public_tree *tree, int64_t begun)
{
    assert(begun >= 0 && begun <= tree->n_worlds);
    int64_t n = tree->n_here = tree->n_worlds - begun;
    const char *wrong = GROW(tree, here, n);
    wrong = wrong ? wrong : GROW_BY(tree, states_here, n, tree->stride);
    if (wrong)
        return wrong;
    memcpy(tree->here, tree->worlds + begun, (size_t)n * sizeof *tree->here);
    memcpy(tree->states_here, at(tree->states, tree->stride, begun), (size_t)n * tree->stride);
    tree->n_worlds = begun;
    return NULL;
}

static const char *expand(sk_public_tree *tree, pending next)
{
    int32_t number = next.node;
    const char *wrong = take_worlds(tree, next.worlds);
    if (wrong)
        return wrong;
    tree->n_outcomes = 0;
    tree->nodes[number].child = (int32_t)tree->n_nodes;
    if (tree->nodes[number].actor >= 0)
        wrong = add_sets(tree, &tree->nodes[number]);
    for (int64_t i = 0; !wrong && i < tree->n_here; i++)
        wrong = add_outcomes(tree, number, i);
    int32_t first = tree->nodes[number].child, n = tree->nodes[number].children;
    for (int32_t child = first; !wrong && child < first + n; child++)
        wrong = fill(tree, child);
    return wrong;
}

/* ---- The interface ---- */

const char *sk_public_tree_open(const sk_game *game, int64_t most_nodes, int64_t most_bytes,
                                int32_t merged, sk_public_tree **out)
{
    if (!game->is.hands)
        return "it has no public belief states";
    if (merged && !game->is.recombines)
        return "its public states do not tell how it goes on";
    if (game->is.observation_bytes > MOST_OBSERVED)
        return too_large;
    sk_public_tree *tree = *out = calloc(1, sizeof *tree);
    if (!tree)
        return no_memory;
    tree->game = game;
    tree->merged = merged;
    tree->most_nodes = most_nodes < INT32_MAX / 2 ? most_nodes : INT32_MAX / 2;
    tree->memory.most_bytes = most_bytes;
    tree->stride = ((size_t)game->is.state_bytes + 63) / 64 * 64;
    return NULL;
}

void sk_public_tree_close(sk_public_tree *tree)
{
    void *parts[] = {tree->nodes,    tree->hands[0],    tree->hands[1],     tree->weights,
                     tree->choices,  tree->first,       tree->packed,       tree->seen,
                     tree->waiting,  tree->worlds,      tree->states,       tree->here,
                     tree->outcomes, tree->states_here, tree->states_after, tree->slots};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        free(parts[i]);
    free(tree);
}

/* The first state, as if it were the outcome of something. */
static const char *plant(sk_public_tree *tree)
{
    const char *wrong = GROW(tree, nodes, 1);
    wrong = wrong ? wrong : GROW(tree, outcomes, 1);
    wrong = wrong ? wrong : GROW(tree, first, 1);
    wrong = wrong ? wrong : GROW_BY(tree, states_after, 1, tree->stride);
    if (wrong)
        return wrong;
    tree->game->ops->reset(tree->game, tree->states_after);
    int actor = tree->game->ops->actor(tree->game, tree->states_after);
    int32_t seen;
    wrong = sk_public_look(tree, tree->states_after, &seen);
    if (wrong)
        return wrong;
    tree->nodes[tree->n_nodes++] =
        (public_node){.parent = -1, .seen = seen, .like = -1, .actor = (int8_t)actor};
    tree->outcomes[tree->n_outcomes++] = (outcome){.chance = 1.0};
    tree->first[0] = 0;
    return fill(tree, 0);
}

/* Children were not known before all nodes were. */
static void share_children(sk_public_tree *tree)
{
    for (public_node *node = tree->nodes; node < tree->nodes + tree->n_nodes; node++) {
        if (node->like < 0)
            continue;
        const public_node *like = &tree->nodes[node->like];
        node->child = like->child;
        node->children = like->children;
        node->set = like->set;
    }
}

const char *sk_public_tree_grow(sk_public_tree *tree, int64_t steps, int32_t *whole)
{
    const char *wrong = tree->n_nodes ? NULL : plant(tree);
    while (!wrong && steps > 0 && tree->n_waiting) {
        wrong = expand(tree, tree->waiting[--tree->n_waiting]);
        steps -= tree->n_outcomes + 1;
    }
    *whole = !wrong && !tree->n_waiting;
    if (*whole)
        share_children(tree);
    return wrong;
}

void sk_public_tree_describe(const sk_public_tree *tree, sk_public_tree_size *out)
{
    *out = (sk_public_tree_size){.nodes = tree->n_nodes,
                                 .hands = {tree->n_hands[0], tree->n_hands[1]},
                                 .weights = tree->n_weights,
                                 .seen = tree->n_seen,
                                 .infosets = tree->n_sets,
                                 .choices = tree->n_choices,
                                 .bytes = tree->memory.bytes};
}

void sk_public_tree_nodes(const sk_public_tree *tree, int32_t *parents, int8_t *actors,
                          int32_t *child, int32_t *set, int32_t *hand, int64_t *weight,
                          int32_t *look, uint8_t *seen)
{
    for (int64_t i = 0; i < tree->n_nodes; i++) {
        const public_node *node = &tree->nodes[i];
        parents[i] = node->parent;
        actors[i] = node->actor;
        child[i] = node->child;
        set[i] = node->set;
        for (int player = 0; player < 2; player++)
            hand[2 * i + player] = node->hand[player];
        weight[i] = node->weight;
        look[i] = node->seen;
    }
    memcpy(seen, tree->seen, (size_t)tree->n_seen * (size_t)tree->game->is.public_bytes);
}

void sk_public_tree_hands(const sk_public_tree *tree, int32_t player, int32_t *from,
                          int32_t *numbers, int32_t *last)
{
    for (int64_t i = 0; i < tree->n_hands[player]; i++) {
        from[i] = tree->hands[player][i].from;
        numbers[i] = tree->hands[player][i].number;
        last[i] = tree->hands[player][i].last;
    }
}

void sk_public_tree_sets(const sk_public_tree *tree, int32_t *first, int32_t *choices,
                         uint8_t *packed, double *weights)
{
    size_t sets = (size_t)tree->n_sets;
    memcpy(first, tree->first, (sets + 1) * sizeof *first);
    memcpy(choices, tree->choices, (size_t)tree->n_choices * sizeof *choices);
    memcpy(packed, tree->packed, sets * (size_t)tree->game->is.observation_bytes);
    memcpy(weights, tree->weights, (size_t)tree->n_weights * sizeof *weights);
}
