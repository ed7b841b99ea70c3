/* What Python asks of a batch of Stratego beyond the game interface. */
#include <string.h>

#include "batch.h"
#include "bytes.h"
#include "observation.h"
#include "stratego.h"

/* The row's state if the batch plays Stratego, else NULL. */
static const stratego_state *state_of(const sk_batch *batch, int32_t row)
{
    return sk_batch_game(batch)->ops->apply == stratego_apply ? sk_batch_state(batch, row) : NULL;
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
            assert(n < SK_MOST_MOVES);
            pairs[2 * n] = (uint8_t)lsb(from);
            pairs[2 * n + 1] = (uint8_t)lsb(to);
        }
    return n;
}

/* The hidden pieces of a side, if both sides have deployed; which of them never moved. */
static sk_bits hidden_pieces(const stratego *game, const stratego_state *state, int side,
                             sk_bits *still)
{
    int placing = state->phase == PLACING || state->phase == FINISHED;
    sk_bits hidden = placing ? 0 : state->pieces[side];
    hidden &= ~having(state->cells, game->squares, CELL_REVEALED);
    *still = hidden & ~having(state->cells, game->squares, CELL_MOVED);
    return hidden;
}

void stratego_face_up(const sk_game *base, const void *state_, uint8_t *packed)
{
    const stratego *game = as_stratego(base);
    const stratego_state *state = state_;
    uint8_t *cells = packed + sizeof(observation);
    sk_bits still;
    for (sk_bits set = hidden_pieces(game, state, !state->side, &still); set; set &= set - 1) {
        uint8_t *cell = cells + framed(game, state->side, lsb(set));
        *cell = (uint8_t)((*cell & ~UNKNOWN) | cell_type(state->cells[lsb(set)]));
    }
}

int sk_stratego_hidden(const sk_batch *batch, int32_t size, uint8_t *types)
{
    const stratego *game = as_stratego(sk_batch_game(batch));
    if (!state_of(batch, 0))
        return 0;
    memset(types, NO_SQUARE, (size_t)size * (size_t)game->squares);
    for (int32_t row = 0; row < size; row++, types += game->squares) {
        const stratego_state *state = state_of(batch, row);
        sk_bits still;
        for (sk_bits set = hidden_pieces(game, state, !state->side, &still); set; set &= set - 1)
            types[framed(game, state->side, lsb(set))] = cell_type(state->cells[lsb(set)]);
    }
    return 1;
}

/* Gives the hidden pieces of `whose` these types, in the frame of the side to act. 0: they are not
 * what public information allows; the state is then as it was. */
static int assign(const stratego *game, stratego_state *state, int whose, const uint8_t *types)
{
    int left[TYPES];
    sk_bits still, hidden = hidden_pieces(game, state, whose, &still);
    if (whose == state->side && state->phase == MOVING)
        return 0; /* the piece that was chosen moves as what it is */
    for (int type = 0; type < TYPES; type++)
        left[type] = hidden ? state->unrevealed[whose][type] : 0;
    for (int square = 0; square < game->squares; square++) {
        uint8_t type = types[framed(game, state->side, square)];
        if (!(hidden & bit(square)) != (type == NO_SQUARE))
            return 0;
        if (type != NO_SQUARE
            && (type >= TYPES || !left[type]-- || !(type_moves(type) || (still & bit(square)))))
            return 0;
    }
    state->movers[whose] &= ~hidden;
    for (sk_bits set = hidden; set; set &= set - 1) {
        int square = lsb(set), type = types[framed(game, state->side, square)];
        state->cells[square] = (uint8_t)((state->cells[square] & ~CELL_TYPE) | type);
        if (type_moves(type))
            state->movers[whose] |= bit(square);
    }
    if (whose == state->side && hidden)
        state->legal = stratego_selectable(game, state);
    return 1;
}

int32_t sk_stratego_assign(sk_batch *batch, int32_t size, int32_t own, const uint8_t *types)
{
    const stratego *game = as_stratego(sk_batch_game(batch));
    int32_t refused = -1;
    for (int32_t row = size - 1; row >= 0; row--) {
        stratego_state *state = (stratego_state *)state_of(batch, row);
        const uint8_t *given = types + (size_t)row * (size_t)game->squares;
        if (!state || !assign(game, state, own ? state->side : !state->side, given))
            refused = row;
    }
    return refused;
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
