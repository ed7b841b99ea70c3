/* What everybody sees at the nodes of a public tree (public_tree.h), each look once: many ways lead
 * to one board. */
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
