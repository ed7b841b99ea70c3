/* Deployment: red places all its pieces, then blue; the type to place next is fixed, the action is
 * the square. */
#include "stratego.h"

/* The squares where `side` may deploy: its own ranks; where lakes meet the sides otherwise, those
 * that both sides have. */
sk_bits stratego_places(const stratego *game, int side)
{
    sk_bits zone = (bit(game->zone) - 1) & ~(sk_bits)0;
    if (side == BLUE)
        zone <<= game->squares - game->zone;
    return zone & game->places;
}

sk_bits stratego_placing_squares(const stratego *game, const stratego_state *state)
{
    return stratego_places(game, state->side) & ~state->pieces[state->side];
}

void stratego_put_piece(stratego_state *state, int square, uint8_t cell)
{
    int side = cell_side(cell), type = cell_type(cell);
    assert(is_piece(cell) && type < TYPES
           && !has(state->pieces[RED] | state->pieces[BLUE], square));
    state->cells[square] = cell;
    state->pieces[side] |= bit(square);
    if (type_moves(type))
        state->movers[side] |= bit(square);
    if (!(cell & CELL_REVEALED))
        state->unrevealed[side][type]++;
}

/* Both sides have deployed: the types that the rule `open` names become known. */
static void reveal_open(stratego_state *state, int32_t open)
{
    for (sk_bits set = state->pieces[RED] | state->pieces[BLUE]; set; set &= set - 1) {
        uint8_t *cell = &state->cells[lsb(set)];
        if (open >> cell_type(*cell) & 1) {
            *cell |= CELL_REVEALED;
            state->unrevealed[cell_side(*cell)][cell_type(*cell)]--;
        }
    }
}

__attribute__((noinline)) void stratego_place(const stratego *game, stratego_state *state,
                                              int square)
{
    uint8_t side = state->side;
    assert(state->phase == PLACING && has(state->legal, square));
    stratego_put_piece(
        state, square,
        (uint8_t)(CELL_PIECE | (side == BLUE ? CELL_BLUE : 0) | game->order[state->placed]));
    if (++state->placed < game->pieces) {
        state->legal &= ~bit(square);
        return;
    }
    state->placed = 0;
    state->side = side == RED ? BLUE : RED;
    if (side == RED) {
        state->legal = stratego_placing_squares(game, state);
        return;
    }
    if (game->rules.open)
        reveal_open(state, game->rules.open);
    stratego_begin_turn(game, state);
}
