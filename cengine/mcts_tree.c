/* One search tree: choosing, expanding, and adding up (mcts.h).
 *
 * Moves are chosen by PUCT (Silver et al. 2018) with the constants of CrazyAra, which AlphaZe**
 * uses (Blueml, Czech, Kersting 2023). In Stratego a move is two actions. Its prior is the product
 * of their probabilities; those of the second action are asked for when the piece is first worth
 * it: until then its prior bounds that of each of its moves from above, so that the choice is the
 * one that PUCT over whole moves makes.
 *
 * What is proven is kept as bounds (Cazenave and Saffidine, "Score bounded Monte-Carlo tree
 * search", 2010): a game that is over, and whatever follows from it by minimax.
 */
#include "mcts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const float EPSILON = 1e-6f; /* values that differ by less are equal */
static const double VISITS_BASE = 19652;

/* ---- Nodes and edges ---- */

int32_t sk_mcts_node(mcts_tree *tree, int32_t parent, int actor, int begun)
{
    assert(parent >= NO_NODE && parent < tree->n_nodes && tree->n_nodes < INT32_MAX);
    assert(actor >= SK_OVER && actor < 2);
    const char *wrong = GROW(tree, nodes, tree->n_nodes + 1);
    if (wrong) {
        tree->wrong = wrong;
        return NO_NODE;
    }
    tree->nodes[tree->n_nodes] = (mcts_node){.parent = parent,
                                             .first = NO_NODE,
                                             .actor = (int8_t)actor,
                                             .begun = (uint8_t)begun,
                                             .low = -1,
                                             .high = 1};
    return tree->n_nodes++;
}

const char *sk_mcts_edges(mcts_tree *tree, int32_t at, const int32_t *actions, int n)
{
    assert(at >= 0 && at < tree->n_nodes && tree->nodes[at].first == NO_NODE);
    assert(n > 0 && n <= SK_MOST_MOVES && tree->n_edges <= INT32_MAX - n);
    const char *wrong = GROW(tree, edges, tree->n_edges + n);
    if (wrong)
        return tree->wrong = wrong;
    tree->nodes[at].first = tree->n_edges;
    tree->nodes[at].edges = (uint16_t)n;
    for (int i = 0; i < n; i++) {
        assert(actions[i] >= 0 && actions[i] <= UINT16_MAX);
        tree->edges[tree->n_edges++] = (mcts_edge){NO_NODE, 1, (uint16_t)actions[i]};
    }
    return NULL;
}

/* ---- What is known of a node ---- */

float sk_mcts_least(const mcts_tree *tree, int32_t at, int actor)
{
    assert(at >= NO_NODE && at < tree->n_nodes && (actor == 0 || actor == 1));
    return at == NO_NODE ? -1 : actor == 0 ? tree->nodes[at].low : -tree->nodes[at].high;
}

float sk_mcts_most(const mcts_tree *tree, int32_t at, int actor)
{
    assert(at >= NO_NODE && at < tree->n_nodes && (actor == 0 || actor == 1));
    return at == NO_NODE ? 1 : actor == 0 ? tree->nodes[at].high : -tree->nodes[at].low;
}

static double within(double value, const mcts_node *node)
{
    return value < node->low ? node->low : value > node->high ? node->high : value;
}

double sk_mcts_expects(const mcts_tree *tree, int32_t at, int actor)
{
    if (at == NO_NODE || !tree->nodes[at].visits)
        return sk_mcts_least(tree, at, actor);
    const mcts_node *node = &tree->nodes[at];
    double mean = within(node->sum / node->visits, node);
    return actor == 0 ? mean : -mean;
}

/* ---- Adding up ---- */

/* What follows for a node from the bounds of its children; whether they are news. */
static int tighten(mcts_tree *tree, mcts_node *node)
{
    double low = node->actor == SK_CHANCE ? 0 : -1, high = low;
    const mcts_edge *edges = tree->edges + node->first;
    for (int i = 0; i < node->edges; i++) {
        int actor = node->actor == SK_CHANCE ? 0 : node->actor;
        double least = sk_mcts_least(tree, edges[i].child, actor);
        double most = sk_mcts_most(tree, edges[i].child, actor);
        if (node->actor == SK_CHANCE) {
            low += edges[i].prior * least;
            high += edges[i].prior * most;
        } else {
            low = least > low ? least : low;
            high = most > high ? most : high;
        }
    }
    if (high - low < EPSILON)
        high = low;
    double to_first = node->actor == 1 ? -high : low;
    float before[2] = {node->low, node->high};
    node->high = (float)(node->actor == 1 ? -low : high);
    node->low = (float)to_first;
    return node->low != before[0] || node->high != before[1];
}

/* Of the outcomes that were seen, by their probabilities. */
static double expectation(const mcts_tree *tree, const mcts_node *node)
{
    double sum = 0, seen = 0;
    const mcts_edge *edges = tree->edges + node->first;
    for (int i = 0; i < node->edges; i++)
        if (edges[i].child != NO_NODE && tree->nodes[edges[i].child].visits) {
            sum += edges[i].prior * sk_mcts_expects(tree, edges[i].child, 0);
            seen += edges[i].prior;
        }
    return sum / seen;
}

/* A visit of a node that is worth `value`, and of all above it. */
static void add_up(mcts_tree *tree, int32_t at, double value)
{
    int news = 1;
    for (; at != NO_NODE; at = tree->nodes[at].parent) {
        assert(at >= 0 && at < tree->n_nodes);
        mcts_node *node = &tree->nodes[at];
        if (news && node->first != NO_NODE)
            news = tighten(tree, node);
        int by_chance = node->actor == SK_CHANCE;
        value = within(by_chance ? expectation(tree, node) : value, node);
        node->visits++;
        node->sum = by_chance ? value * node->visits : node->sum + value;
    }
}

/* ---- Choosing ---- */

typedef struct {
    int32_t edge, second; /* second: of a move of two actions, NO_NODE if it is not known yet */
    double score;
} choice;

typedef struct {
    const mcts_tree *tree;
    int32_t at;
    int actor;
    float least; /* what the actor is sure of */
    int only_ties;
    double exploration;
    choice best;
} chooser;

/* A move that cannot be better than what is proven is left out; at the root, one that cannot be as
 * good. */
static int may_be_chosen(const chooser *c, int32_t child)
{
    float least = sk_mcts_least(c->tree, child, c->actor);
    float most = sk_mcts_most(c->tree, child, c->actor);
    if (c->only_ties)
        return most > least && most > c->least - EPSILON;
    if (c->at == 0)
        return most > c->least - EPSILON;
    return most > c->least + EPSILON || least > c->least - EPSILON;
}

static void consider(chooser *c, int32_t edge, int32_t second, double prior, int32_t child)
{
    if (!may_be_chosen(c, child))
        return;
    int visits = child == NO_NODE ? 0 : c->tree->nodes[child].visits;
    double q = sk_mcts_expects(c->tree, child, c->actor);
    double score = q + c->exploration * prior / (1 + visits);
    if (c->best.edge == NO_NODE || score > c->best.score)
        c->best = (choice){edge, second, score};
}

/* The move that PUCT takes; its edge is NO_NODE when nothing is left to find out. */
static choice choose(const sk_mcts *all, const mcts_tree *tree, int32_t at)
{
    const mcts_node *node = &tree->nodes[at];
    double n = node->visits, rate = log((n + VISITS_BASE + 1) / VISITS_BASE) + all->is.cpuct;
    chooser c = {.tree = tree,
                 .at = at,
                 .actor = node->actor,
                 .least = sk_mcts_least(tree, at, node->actor),
                 .only_ties = is_proven(node),
                 .exploration = rate * sqrt(n),
                 .best = {.edge = NO_NODE}};
    for (int32_t e = node->first; e < node->first + node->edges; e++) {
        int32_t child = tree->edges[e].child;
        double prior = tree->edges[e].prior;
        if (all->steps == 1 || child == NO_NODE || tree->nodes[child].first == NO_NODE) {
            consider(&c, e, NO_NODE, prior, child);
            continue;
        }
        const mcts_node *piece = &tree->nodes[child];
        for (int32_t s = piece->first; s < piece->first + piece->edges; s++)
            consider(&c, e, s, prior * tree->edges[s].prior, tree->edges[s].child);
    }
    return c.best;
}

/* The outcome of chance that is most behind its share; what is proven needs no visit. */
static int32_t next_outcome(const mcts_tree *tree, int32_t at)
{
    const mcts_node *node = &tree->nodes[at];
    int32_t best = node->first;
    double most = -INFINITY;
    for (int32_t e = node->first; e < node->first + node->edges; e++) {
        int32_t child = tree->edges[e].child;
        int visits = child == NO_NODE ? 0 : tree->nodes[child].visits;
        double behind = tree->edges[e].prior * (node->visits + 1) - visits;
        int proven = child != NO_NODE && is_proven(&tree->nodes[child]);
        if (!proven && behind > most) {
            most = behind;
            best = e;
        }
    }
    return best;
}

/* ---- Growing ---- */

int sk_mcts_whole_moves(const sk_mcts *all, int32_t tree, const void *state, int32_t *moves)
{
    const sk_ops *ops = all->game->ops;
    void *tried = all->tried + all->stride * (size_t)tree;
    int32_t first[SK_MOST_ACTIONS], second[SK_MOST_ACTIONS];
    int k = ops->legal(all->game, state, first), n = 0;
    for (int i = 0; i < k; i++) {
        memcpy(tried, state, (size_t)all->game->is.state_bytes);
        ops->apply(all->game, tried, first[i]);
        int m = ops->legal(all->game, tried, second);
        assert(m > 0 && n + m <= SK_MOST_MOVES);
        for (int j = 0; j < m; j++)
            moves[n++] = first[i] * all->game->is.actions + second[j];
    }
    return n;
}

/* A new node where the state is. */
static int32_t arrive(const sk_mcts *all, mcts_tree *tree, const void *state, int32_t parent)
{
    const sk_ops *ops = all->game->ops;
    assert(parent >= 0 && parent < tree->n_nodes);
    int begun = (tree->nodes[parent].begun + 1) % all->steps;
    int32_t at = sk_mcts_node(tree, parent, ops->actor(all->game, state), begun);
    if (at == NO_NODE)
        return at;
    mcts_node *node = &tree->nodes[at];
    if (node->actor == SK_OVER) {
        float returns[2];
        ops->returns(all->game, state, returns);
        node->low = node->high = (float)(returns[0] / all->is.unit);
    } else if (node->actor == SK_CHANCE) {
        int32_t outcomes[SK_MOST_ACTIONS];
        double probabilities[SK_MOST_ACTIONS];
        int n = ops->legal(all->game, state, outcomes);
        ops->chance(all->game, state, probabilities);
        if (sk_mcts_edges(tree, at, outcomes, n))
            return NO_NODE;
        for (int i = 0; i < n; i++)
            tree->edges[tree->nodes[at].first + i].prior = (float)probabilities[i];
    }
    return at;
}

static void apply_legal(const sk_game *game, void *state, int32_t action)
{
    assert(game->ops->is_legal(game, state, action));
    game->ops->apply(game, state, action);
}

/* Follows an edge with the state; the node behind it. */
static int32_t follow(const sk_mcts *all, mcts_tree *tree, void *state, int32_t at, int32_t edge)
{
    assert(edge >= tree->nodes[at].first && edge < tree->nodes[at].first + tree->nodes[at].edges);
    int32_t action = tree->edges[edge].action;
    if (all->is.whole && tree->nodes[at].actor >= 0) {
        apply_legal(all->game, state, action / all->game->is.actions);
        action %= all->game->is.actions;
    }
    apply_legal(all->game, state, action);
    int32_t child = tree->edges[edge].child;
    if (child == NO_NODE) { /* in two steps: an outcome of chance has edges, and all may move */
        child = arrive(all, tree, state, at);
        tree->edges[edge].child = child;
    }
    return child;
}

/* A piece that has one destination needs no policy. */
static int is_forced(const sk_mcts *all, mcts_tree *tree, const void *state, int32_t at)
{
    int32_t actions[SK_MOST_ACTIONS];
    int n = all->game->ops->legal(all->game, state, actions);
    return n == 1 && !sk_mcts_edges(tree, at, actions, n);
}

/* The node where the leaf is gets its whole moves, whose priors are to come. */
static const char *edges_of_moves(const sk_mcts *all, mcts_tree *tree, int32_t number, int32_t at)
{
    int32_t moves[SK_MOST_MOVES];
    int n = sk_mcts_whole_moves(all, number, sk_mcts_leaf(all, number), moves);
    return sk_mcts_edges(tree, at, moves, n);
}

/* From the root to a node that waits (1), or to one whose value is known, which is added up (0). */
static int simulate(const sk_mcts *all, mcts_tree *tree, int32_t number)
{
    const void *root = all->roots + all->stride * (size_t)number;
    void *state = sk_mcts_leaf(all, number);
    memcpy(state, root, (size_t)all->game->is.state_bytes);
    for (int32_t at = 0;;) {
        choice chosen = {.edge = NO_NODE, .second = NO_NODE};
        if (tree->nodes[at].actor == SK_CHANCE)
            chosen.edge = next_outcome(tree, at);
        else
            chosen = choose(all, tree, at);
        if (chosen.edge == NO_NODE) {
            tree->finished = 1;
            return 0;
        }
        at = follow(all, tree, state, at, chosen.edge);
        if (at != NO_NODE && tree->nodes[at].begun) {
            if (tree->nodes[at].first == NO_NODE && !is_forced(all, tree, state, at)) {
                tree->waiting = at;
                return 1;
            }
            if (chosen.second == NO_NODE)
                chosen.second = tree->nodes[at].first;
            at = follow(all, tree, state, at, chosen.second);
        }
        if (at == NO_NODE)
            return 0;
        const mcts_node *node = &tree->nodes[at];
        if (is_proven(node)) {
            add_up(tree, at, node->low);
            return 0;
        }
        if (node->first == NO_NODE) {
            if (all->is.whole && edges_of_moves(all, tree, number, at))
                return 0;
            tree->waiting = at;
            return 1;
        }
    }
}

void sk_mcts_grow(const sk_mcts *all, int32_t number)
{
    assert(number >= 0 && number < all->size);
    mcts_tree *tree = &all->trees[number];
    while (!tree->finished && !tree->wrong && tree->waiting == NO_NODE) {
        if (tree->nodes[0].visits > all->is.nodes)
            tree->finished = 1;
        else
            simulate(all, tree, number);
    }
}

/* The priors of the node that waits: of its whole moves, or by action. */
static void set_priors(const sk_mcts *all, mcts_tree *tree, int32_t at, const float *policy)
{
    const mcts_node *node = &tree->nodes[at];
    for (int i = 0; i < node->edges; i++) {
        mcts_edge *edge = &tree->edges[node->first + i];
        float prior = policy[all->is.whole ? i : edge->action];
        if (!(prior >= 0 && prior <= 2))
            tree->wrong = "a policy that is none";
        edge->prior = prior;
    }
}

void sk_mcts_answer(const sk_mcts *all, int32_t number, const float *policy, float value)
{
    mcts_tree *tree = &all->trees[number];
    int32_t at = tree->waiting;
    assert(at >= 0 && at < tree->n_nodes);
    tree->waiting = NO_NODE;
    tree->evaluations++;
    if (!all->is.whole) {
        int32_t actions[SK_MOST_ACTIONS];
        int n = all->game->ops->legal(all->game, sk_mcts_leaf(all, number), actions);
        if (sk_mcts_edges(tree, at, actions, n))
            return;
    }
    set_priors(all, tree, at, policy);
    const mcts_node *node = &tree->nodes[at];
    if (node->begun)
        return;
    if (!isfinite(value))
        tree->wrong = "a value that is no number";
    double most = all->is.most, clipped = value > most ? most : value < -most ? -most : value;
    add_up(tree, at, (node->actor == 0 ? clipped : -clipped) / all->is.unit);
}
