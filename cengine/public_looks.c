/* What everybody sees at the nodes of a public tree (public_tree.h), each look once: many ways lead
 * to one board; and which nodes a history passes. */
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "public_tree.h"

static uint8_t *seen_at(const sk_public_tree *tree, int64_t row)
{
    return tree->seen + row * tree->game->is.public_bytes;
}

/* The slot of a row that is the same byte by byte, or an empty one. */
static int32_t *slot_of(const sk_public_tree *tree, int64_t row)
{
    int32_t size = tree->game->is.public_bytes;
    const uint8_t *seen = seen_at(tree, row);
    uint64_t last = (uint64_t)tree->room_slots - 1, slot = hash_bytes(0, seen, size) & last;
    while (tree->slots[slot]
           && memcmp(seen_at(tree, tree->slots[slot] - 1), seen, (size_t)size) != 0)
        slot = (slot + 1) & last;
    return &tree->slots[slot];
}

/* Twice the slots, so that at most half of them are taken. */
static const char *spread_slots(sk_public_tree *tree)
{
    const char *wrong = GROW(tree, slots, tree->room_slots ? 2 * tree->room_slots : 64);
    if (wrong)
        return wrong;
    memset(tree->slots, 0, (size_t)tree->room_slots * sizeof *tree->slots);
    for (int64_t row = 0; row < tree->n_seen; row++)
        *slot_of(tree, row) = (int32_t)row + 1;
    return NULL;
}

const char *sk_public_look(sk_public_tree *tree, const void *state, int32_t *row)
{
    int32_t size = tree->game->is.public_bytes;
    const char *wrong = GROW(tree, seen, (tree->n_seen + 1) * size);
    if (!wrong && 2 * tree->n_seen >= tree->room_slots)
        wrong = spread_slots(tree);
    if (wrong)
        return wrong;
    tree->game->ops->observe_public(tree->game, state, seen_at(tree, tree->n_seen));
    int32_t *slot = slot_of(tree, tree->n_seen);
    if (!*slot)
        *slot = (int32_t)++tree->n_seen;
    *row = *slot - 1;
    return NULL;
}

/* The child of a node that looks like a state, or -1. */
static int32_t child_seen(const sk_public_tree *tree, const public_node *node, const void *state,
                          uint8_t *look)
{
    size_t size = (size_t)tree->game->is.public_bytes;
    tree->game->ops->observe_public(tree->game, state, look);
    for (int32_t i = node->child; i < node->child + node->children; i++)
        if (memcmp(seen_at(tree, tree->nodes[i].seen), look, size) == 0)
            return i;
    return -1;
}

static int is_legal(const sk_game *game, const void *state, int32_t action)
{
    int32_t legal[SK_MOST_ACTIONS];
    int n = game->ops->legal(game, state, legal), i = 0;
    while (i < n && legal[i] != action)
        i++;
    return i < n;
}

/* Which of a node's hands has this number, or -1. */
static int32_t hand_numbered(const sk_public_tree *tree, int32_t node, int player, int32_t number)
{
    const public_node *at = &tree->nodes[node];
    const public_hand *hands = tree->hands[player] + at->hand[player];
    int32_t i = 0;
    while (i < at->hands[player] && hands[i].number != number)
        i++;
    return i < at->hands[player] ? i : -1;
}

const char *sk_public_tree_path(const sk_public_tree *tree, const int32_t *actions, int32_t n,
                                int32_t *nodes, int32_t *hands)
{
    static const char *const none = "no history of the game";
    const sk_game *game = tree->game;
    uint8_t *state = calloc(1, tree->stride + (size_t)game->is.public_bytes);
    const char *wrong = state ? NULL : no_memory;
    nodes[0] = 0;
    if (state)
        game->ops->reset(game, state);
    for (int32_t i = 0; !wrong && i < n; i++) {
        if (!is_legal(game, state, actions[i])) {
            wrong = none;
            break;
        }
        game->ops->apply(game, state, actions[i]);
        nodes[i + 1] = child_seen(tree, &tree->nodes[nodes[i]], state, state + tree->stride);
        wrong = nodes[i + 1] < 0 ? none : NULL;
    }
    for (int player = 0; !wrong && player < 2; player++) {
        hands[player] = hand_numbered(tree, nodes[n], player, game->ops->hand(game, state, player));
        wrong = hands[player] < 0 ? none : NULL;
    }
    free(state);
    return wrong;
}
