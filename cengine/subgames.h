/* Subgames of a public tree, many at a time: each begins at a public belief state and ends, where
 * the game does not, at a limit of depth (Brown et al. 2020, ReBeL, section 5).
 *
 * A *part* is a node of the tree in one of the subgames; the parts of a subgame come one after the
 * other, parents before children, the children of one parent side by side. Hands and choices of all
 * parts of all subgames are numbered through. A *leaf* is a part at the limit where the game goes
 * on; what it is worth is asked of somebody else.
 */
#ifndef SK_SUBGAMES_H
#define SK_SUBGAMES_H

#include "public_tree.h"

typedef struct {
    int32_t node;
    int32_t parent;          /* -1: the root of a subgame */
    int32_t child, children; /* of the parts; none at leaves and ends */
    int32_t hand[2];
    int32_t choice; /* the first choice of the acting player's first hand, inside only */
    int32_t leaf;   /* its number among leaves, or -1 */
} part;

struct sk_subgames {
    const sk_public_tree *tree;
    part *parts;
    int64_t n_parts, n_hands[2], n_choices, n_leaves, room_parts;
    memory memory;
};

static inline const public_node *node_of(const sk_subgames *g, const part *p)
{
    return &g->tree->nodes[p->node];
}

static inline const public_hand *hands_of(const sk_subgames *g, const part *p, int player)
{
    return g->tree->hands[player] + node_of(g, p)->hand[player];
}

/* The weight of two hands of a node. */
static inline double weight_of(const sk_subgames *g, const public_node *node, int player,
                               int32_t hand, int32_t other)
{
    int32_t first = player ? other : hand, second = player ? hand : other;
    return g->tree->weights[node->weight + (int64_t)first * node->hands[1] + second];
}

/* The probability of the deals that have given a player this hand of a node. */
double sk_subgames_prior(const sk_subgames *g, const public_node *node, int player, int32_t hand);
/* What everybody believes of a player's hands at a part, by the hands' numbers; all others get 0.
 * Where the player never goes, it is what was believed where it last went. */
void sk_subgames_believe(const sk_subgames *g, const part *p, int player, const double *reach,
                         double *belief);

#endif
