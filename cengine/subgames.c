/* Cutting subgames out of a public tree, and what a value network sees of their leaves. */
#include "subgames.h"

#include <assert.h>
#include <string.h>

/* Whether some hand has a choice: without one nothing is decided, and no depth is used up. */
static int decides(const sk_public_tree *tree, const public_node *node)
{
    for (int32_t i = node->set; i < node->set + node->hands[node->actor]; i++)
        if (tree->first[i + 1] - tree->first[i] > 1)
            return 1;
    return 0;
}

static const char *add_part(sk_subgames *g, int32_t number, int32_t parent)
{
    const char *wrong = GROW(g, parts, g->n_parts + 1);
    if (wrong)
        return wrong;
    assert(number >= 0 && number < g->tree->n_nodes && parent >= -1 && parent < g->n_parts);
    assert(g->n_parts < INT32_MAX);
    const public_node *node = &g->tree->nodes[number];
    part *p = &g->parts[g->n_parts++];
    *p = (part){.node = number, .parent = parent, .leaf = -1};
    for (int player = 0; player < 2; player++) {
        p->hand[player] = (int32_t)g->n_hands[player];
        g->n_hands[player] += node->hands[player];
    }
    return NULL;
}

/* Gives a part its children. */
static const char *open_part(sk_subgames *g, int32_t number)
{
    const public_node *node = node_of(g, &g->parts[number]);
    const char *wrong = NULL;
    g->parts[number].child = (int32_t)g->n_parts;
    g->parts[number].children = node->children;
    g->parts[number].choice = (int32_t)g->n_choices;
    if (node->actor >= 0)
        g->n_choices +=
            g->tree->first[node->set + node->hands[node->actor]] - g->tree->first[node->set];
    for (int32_t i = 0; !wrong && i < node->children; i++)
        wrong = add_part(g, node->child + i, number);
    return wrong;
}

/* How many decisions lie between a subgame's root and a part. */
static int32_t depth_of(const sk_subgames *g, const part *p)
{
    int32_t depth = 0;
    for (int32_t at = p->parent; at >= 0; at = g->parts[at].parent) {
        assert(at < g->n_parts);
        const public_node *node = node_of(g, &g->parts[at]);
        depth += node->actor >= 0 && decides(g->tree, node);
    }
    return depth;
}

static const char *add_subgame(sk_subgames *g, int32_t root, int32_t depth)
{
    const char *wrong = add_part(g, root, -1);
    for (int64_t i = g->n_parts - 1; !wrong && i < g->n_parts; i++) {
        const public_node *node = node_of(g, &g->parts[i]);
        if (node->actor == SK_OVER)
            continue;
        if (depth && node->actor >= 0 && decides(g->tree, node)
            && depth_of(g, &g->parts[i]) == depth)
            g->parts[i].leaf = (int32_t)g->n_leaves++;
        else
            wrong = open_part(g, (int32_t)i);
    }
    return wrong;
}

const char *sk_subgames_open(const sk_public_tree *tree, const int32_t *roots, int32_t n,
                             int32_t depth, sk_subgames **out)
{
    sk_subgames *g = *out = calloc(1, sizeof *g);
    if (!g)
        return no_memory;
    g->tree = tree;
    g->memory.most_bytes = INT64_MAX / 4;
    const char *wrong = NULL;
    for (int32_t i = 0; !wrong && i < n; i++)
        wrong = add_subgame(g, roots[i], depth);
    return wrong;
}

void sk_subgames_close(sk_subgames *g)
{
    free(g->parts);
    free(g);
}

void sk_subgames_describe(const sk_subgames *g, sk_subgames_size *out)
{
    *out = (sk_subgames_size){.parts = g->n_parts,
                              .hands = {g->n_hands[0], g->n_hands[1]},
                              .choices = g->n_choices,
                              .leaves = g->n_leaves};
}

void sk_subgames_parts(const sk_subgames *g, int32_t *nodes, int32_t *parents, int32_t *child,
                       int32_t *hand, int32_t *choice, int32_t *leaves)
{
    for (int64_t i = 0; i < g->n_parts; i++) {
        const part *p = &g->parts[i];
        nodes[i] = p->node;
        parents[i] = p->parent;
        child[i] = p->children ? p->child : -1;
        hand[2 * i] = p->hand[0];
        hand[2 * i + 1] = p->hand[1];
        choice[i] = p->choice;
        leaves[i] = p->leaf;
    }
}

/* ---- Beliefs ---- */

double sk_subgames_prior(const sk_subgames *g, const public_node *node, int player, int32_t hand)
{
    double sum = 0.0;
    for (int32_t other = 0; other < node->hands[!player]; other++)
        sum += weight_of(g, node, player, hand, other);
    return sum;
}

/* The hand of the parent from which a hand comes. */
static int32_t parent_hand(const sk_subgames *g, const part *p, int player, int32_t hand)
{
    assert(p->parent >= 0 && hand >= 0 && hand < node_of(g, p)->hands[player]);
    const public_node *parent = node_of(g, &g->parts[p->parent]);
    int32_t from = hands_of(g, p, player)[hand].from, i = 0;
    if (parent->actor != player)
        return from;
    from += g->tree->first[parent->set];
    while (g->tree->first[parent->set + i + 1] <= from)
        i++;
    return i;
}

/* The reach that a hand had at the ancestor `up` parts above. */
static double earlier(const sk_subgames *g, const part *p, int player, int32_t hand, int32_t up,
                      const double *reach)
{
    for (; up; up--) {
        hand = parent_hand(g, p, player, hand);
        p = &g->parts[p->parent];
    }
    return reach[p->hand[player] + hand];
}

void sk_subgames_believe(const sk_subgames *g, const part *p, int player, const double *reach,
                         double *belief)
{
    assert(player == 0 || player == 1);
    const public_node *node = node_of(g, p);
    const public_hand *hands = hands_of(g, p, player);
    const part *above = p;
    double total = 0.0;
    memset(belief, 0, (size_t)g->tree->game->is.hands * sizeof *belief);
    for (int32_t up = 0;; up++) {
        for (int32_t i = 0; i < node->hands[player]; i++)
            total += belief[hands[i].number] =
                sk_subgames_prior(g, node, player, i) * earlier(g, p, player, i, up, reach);
        if (total > 0.0 || above->parent < 0)
            break;
        above = &g->parts[above->parent];
    }
    for (int32_t i = 0; i < node->hands[player]; i++)
        belief[hands[i].number] =
            total > 0.0 ? belief[hands[i].number] / total : 1.0 / node->hands[player];
}

void sk_subgames_beliefs(const sk_subgames *g, int32_t player, const double *reach,
                         const int32_t *parts, int64_t n, double *beliefs)
{
    for (int64_t i = 0; i < n; i++) {
        assert(parts[i] >= 0 && parts[i] < g->n_parts);
        sk_subgames_believe(g, &g->parts[parts[i]], player, reach,
                            beliefs + i * g->tree->game->is.hands);
    }
}

void sk_subgames_begin(const sk_subgames *g, int32_t player, const double *beliefs, double *reach)
{
    for (const part *p = g->parts; p < g->parts + g->n_parts; p++) {
        if (p->parent >= 0)
            continue;
        const public_node *node = node_of(g, p);
        for (int32_t i = 0; i < node->hands[player]; i++) {
            double weight = sk_subgames_prior(g, node, player, i);
            double belief = beliefs[hands_of(g, p, player)[i].number];
            reach[p->hand[player] + i] = weight > 0.0 ? belief / weight : 0.0;
        }
        beliefs += g->tree->game->is.hands;
    }
}

/* Whether any of a player's hands gets to a part. */
static int gets_there(const sk_subgames *g, const part *p, int player, const double *reach)
{
    for (int32_t i = 0; i < node_of(g, p)->hands[player]; i++)
        if (reach[p->hand[player] + i] > 0.0)
            return 1;
    return 0;
}

int64_t sk_subgames_inputs(const sk_subgames *g, int32_t player, const double *reach,
                           const double *other_reach, int32_t *leaves, float *rows)
{
    int32_t hands = g->tree->game->is.hands, bytes = g->tree->game->is.public_bytes;
    assert(hands <= SK_MOST_ACTIONS);
    double belief[SK_MOST_ACTIONS];
    int64_t n = 0;
    for (const part *p = g->parts; p < g->parts + g->n_parts; p++) {
        if (p->leaf < 0 || !gets_there(g, p, !player, other_reach))
            continue;
        float *out = rows + n * (1 + bytes + 2 * hands);
        leaves[n++] = p->leaf;
        const uint8_t *seen = g->tree->seen + (int64_t)node_of(g, p)->seen * bytes;
        *out++ = (float)(node_of(g, p)->actor == player);
        for (int32_t i = 0; i < bytes; i++)
            *out++ = (float)seen[i];
        for (int turn = 0; turn < 2; turn++) {
            int who = turn ? !player : player;
            sk_subgames_believe(g, p, who, turn ? other_reach : reach, belief);
            for (int32_t i = 0; i < hands; i++)
                *out++ = (float)belief[i];
        }
    }
    return n;
}
