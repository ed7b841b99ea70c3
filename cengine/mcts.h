/* Search trees as flat arrays: nodes and edges with numbers instead of pointers (mcts.c).
 *
 * A node belongs to an action, so a move of two actions has a node between them, which is *begun*.
 * Values and bounds are those of player 0, in units of the largest return: from -1 to 1.
 */
#ifndef SK_MCTS_H
#define SK_MCTS_H

#include "game.h"
#include "room.h"
#include "threads.h"

enum { NO_NODE = -1 };

/* Most of a tree are edges: they have 10 bytes instead of 12. */
typedef struct __attribute__((packed, aligned(2))) {
    int32_t child;   /* NO_NODE: nobody was there */
    float prior;     /* the probability of a player's action, by its policy, or of an outcome */
    uint16_t action; /* or outcome of chance; or a whole move, first * actions + second */
} mcts_edge;

typedef struct {
    int32_t parent;
    int32_t first; /* of its edges; NO_NODE: its policy is not known yet */
    uint16_t edges;
    int8_t actor;
    uint8_t begun; /* a piece is selected, and its destination is to come */
    int32_t visits;
    float low, high; /* what is proven of the value; equal: it is known */
    double sum;      /* of values, one a visit: a float would no longer add millions of them */
} mcts_node;

typedef struct {
    mcts_node *nodes;
    mcts_edge *edges;
    int32_t n_nodes, n_edges;
    memory memory;
    int64_t room_nodes, room_edges;
    int32_t waiting;     /* for the policy of this node, and for its value unless it is begun */
    int32_t evaluations; /* that it has asked for */
    int8_t finished;
    const char *wrong; /* NULL: nothing */
} mcts_tree;

struct sk_mcts {
    const sk_game *game;
    sk_pool *pool;
    sk_mcts_settings is;
    int32_t size;
    int32_t steps; /* nodes on the way of a move: 1, or 2 where there is one for its first action */
    mcts_tree *trees;
    uint8_t *roots, *leaves; /* states: where each tree begins, and where it waits */
    uint8_t *tried;          /* of whole moves: the leaf behind the first action; else NULL */
    size_t stride;
    int32_t *rows, n_rows; /* the trees that wait */
    int64_t *at;           /* of whole moves: where those of each row begin among all */
};

static inline int is_proven(const mcts_node *node) { return node->low >= node->high; }

/* Grows the tree until it has to wait, its budget is spent, or all is proven. */
void sk_mcts_grow(const sk_mcts *all, int32_t tree);
/* Goes on with what was asked: probabilities of actions, and the actor's value. */
void sk_mcts_answer(const sk_mcts *all, int32_t tree, const float *policy, float value);
/* Where a tree waits, or has begun to. */
static inline void *sk_mcts_leaf(const sk_mcts *all, int32_t tree)
{
    return all->leaves + all->stride * (size_t)tree;
}

/* The whole moves of a state, at most SK_MOST_MOVES, those of one first action side by side. */
int sk_mcts_whole_moves(const sk_mcts *all, int32_t tree, const void *state, int32_t *moves);
/* Makes the node's edges; NULL, or what is wrong. */
const char *sk_mcts_edges(mcts_tree *tree, int32_t at, const int32_t *actions, int n);
/* Adds a node; its number, or NO_NODE when memory is short. */
int32_t sk_mcts_node(mcts_tree *tree, int32_t parent, int actor, int begun);
/* Bounds of a node, and of a node that nobody knows (NO_NODE), as `actor` sees them. */
float sk_mcts_least(const mcts_tree *tree, int32_t at, int actor);
float sk_mcts_most(const mcts_tree *tree, int32_t at, int actor);
/* What `actor` expects at a node; what is unknown counts as lost. */
double sk_mcts_expects(const mcts_tree *tree, int32_t at, int actor);

#endif
