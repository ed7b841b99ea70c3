/* Counting the plies of the game tree, for tests of the rules: by the game's own table of functions, on
 * copies of the state. */
#include "batch.h"
#include "stratego.h"

static int64_t count_leaves(const sk_game *game, const stratego_state *state, int32_t depth)
{
    const sk_ops *ops = game->ops;
    int32_t from[SK_MOST_ACTIONS], to[SK_MOST_ACTIONS];
    int64_t leaves = 0;
    int pieces = ops->legal(game, state, from);
    for (int i = 0; i < pieces; i++) {
        stratego_state selected = *state;
        ops->apply(game, &selected, from[i]);
        int targets = ops->legal(game, &selected, to);
        if (depth == 1) {
            leaves += targets;
            continue;
        }
        for (int k = 0; k < targets; k++) {
            stratego_state next = selected;
            ops->apply(game, &next, to[k]);
            leaves += count_leaves(game, &next, depth - 1);
        }
    }
    return leaves;
}

int64_t sk_stratego_perft(const sk_batch *batch, int32_t row, int32_t depth)
{
    const stratego_state *state = sk_batch_state(batch, row);
    int between_plies = state->phase == SELECTING || state->phase == FINISHED;
    if (!between_plies || depth < 1 || depth > 100)
        return -1;
    return count_leaves(sk_batch_game(batch), state, depth);
}
