/* What Python asks of a batch of Stratego beyond the game interface. */
#include "batch.h"
#include "stratego.h"

/* The row's state if the batch plays Stratego, else NULL. */
static const stratego_state *state_of(const sk_batch *batch, int32_t row)
{
    return sk_batch_game(batch)->ops == &stratego_ops ? sk_batch_state(batch, row) : NULL;
}

int32_t sk_stratego_moves(const sk_batch *batch, int32_t row, uint8_t *pairs)
{
    const stratego *game = as_stratego(sk_batch_game(batch));
    const stratego_state *state = state_of(batch, row);
    int32_t n = 0;
    if (!state || state->phase != SELECTING)
        return 0;
    for (sk_bits from = state->legal; from; from &= from - 1)
        for (sk_bits to = stratego_destinations(game, state, lsb(from)); to; to &= to - 1, n++) {
            pairs[2 * n] = (uint8_t)lsb(from);
            pairs[2 * n + 1] = (uint8_t)lsb(to);
        }
    return n;
}

/* By the game's own table of functions, on copies of the state. */
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
    const stratego_state *state = state_of(batch, row);
    int between_plies = state && (state->phase == SELECTING || state->phase == FINISHED);
    if (!between_plies || depth < 1 || depth > 100)
        return -1;
    return count_leaves(sk_batch_game(batch), state, depth);
}
