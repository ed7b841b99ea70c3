/* A game's public tree: of each history only what everybody has seen (Brown et al. 2020, ReBeL).
 *
 * A node is a public state. A *hand* of a player is what the player knows beside it: a card, dice,
 * or a choice that nobody saw. A node has some hands of either player, and for each pair of them a
 * weight, the probability that chance deals and plays so; at an end, times what player 0 gets.
 * Players' own choices are in nobody's weight: they are the *reach* of a hand, which belongs to its
 * player alone. So a node, its hands and a reach of either player are a public belief state.
 *
 * A hand of a child comes from one hand of its parent, or, of the player who acts there, from one
 * of that hand's choices. All the rest follows: what a hand is worth is the sum over what comes
 * from it. The hands of the player who acts are that player's information sets, one to one.
 *
 * In a *merged* tree of a game that recombines, nodes that go on alike share their children and
 * information sets. They look alike, the same player acts, and hands and weights are the same. So
 * 2 x 5 dice have some hundred nodes instead of two million.
 */
#ifndef SK_PUBLIC_TREE_H
#define SK_PUBLIC_TREE_H

#include "game.h"
#include "public_beliefs.h"
#include "room.h"

typedef struct {
    int32_t parent;          /* -1: the root; of shared children the first of their parents */
    int32_t child, children; /* they come one after the other, all behind their parent */
    int32_t set;             /* the information set of the acting player's first hand */
    int32_t hand[2];         /* the first hand of either player */
    int32_t hands[2];
    int64_t weight; /* the first weight: hands of player 0 x hands of player 1 */
    int32_t seen;   /* which row of `seen` everybody sees there */
    int32_t like;   /* an earlier node whose children it shares, or -1 */
    int8_t actor;
} public_node;

typedef struct {
    int32_t from;   /* of the parent's hands; of the acting player's: of the parent's choices */
    int32_t number; /* which hand it is for the game */
    int32_t last;   /* 1 + its player's last choice, 0 before the first */
} public_hand;

typedef struct {
    int32_t hand[2]; /* in its node, from its first */
    double chance;
} world; /* a history, of which the state lies elsewhere */

typedef struct {
    int32_t node;
    int64_t worlds; /* its first, and all behind it are its own */
} pending;

typedef struct {
    int32_t child, from[2], number[2], last[2];
    double chance;
} outcome; /* a history one action later, before its hands have places */

struct sk_public_tree {
    const sk_game *game;
    memory memory;
    int64_t most_nodes, depth;
    int merged;

    public_node *nodes;
    public_hand *hands[2];
    double *weights;
    int32_t *choices; /* actions */
    int32_t *first;   /* [sets + 1]: where the choices of each information set begin */
    uint8_t *packed;  /* [sets][observation_bytes] */
    uint8_t *seen;    /* [seen][public_bytes]: each look once, which many nodes have */
    int32_t *slots;   /* a hash table of these, a power of two: 1 + the row, or 0 */
    int64_t n_nodes, n_hands[2], n_weights, n_choices, n_sets, n_seen;
    int64_t room_nodes, room_hands[2], room_weights, room_choices, room_first, room_packed,
        room_seen, room_slots;

    /* Nodes that wait for their children, and their worlds; the last ones come first. */
    pending *waiting;
    world *worlds;
    uint8_t *states; /* [worlds][stride] */
    int64_t n_waiting, n_worlds, room_waiting, room_worlds, room_states;
    /* Of the node that gets its children. */
    world *here;
    outcome *outcomes;
    uint8_t *states_here, *states_after;
    int64_t n_here, n_outcomes, room_here, room_outcomes, room_states_here, room_states_after;
    size_t stride;
};

/* Sets *row to which row of `seen` everybody sees in a state, a new one where it is the first. */
const char *sk_public_look(sk_public_tree *tree, const void *state, int32_t *row);

#endif
