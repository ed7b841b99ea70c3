/* Positions as start bytes: one cell a square, the side to move, then the plies and the plies since
 * the last attack as little-endian 16-bit numbers. */
#include <string.h>

#include "stratego.h"

static const char *check_cell(const stratego *game, int square, uint8_t cell)
{
    if (!has(game->board, square))
        return cell == LAKE ? NULL : "a lake of the variant is missing";
    if (cell == EMPTY)
        return NULL;
    if (!is_piece(cell) || cell_type(cell) >= TYPES)
        return "a square holds no known piece";
    if ((cell & CELL_MOVED) && !type_moves(cell_type(cell)))
        return "a flag or bomb is said to have moved";
    return NULL;
}

const char *stratego_start(const sk_game *base, void *block, const uint8_t *bytes)
{
    const stratego *game = as_stratego(base);
    stratego_state *state = block;
    const uint8_t *tail = bytes + game->squares;
    for (int i = 0; i < game->squares; i++) {
        const char *fault = check_cell(game, i, bytes[i]);
        if (fault)
            return fault;
    }
    if (tail[0] > 1)
        return "the side to move is neither red nor blue";
    for (int i = 0; i < game->squares; i++) {
        if (is_piece(bytes[i]))
            stratego_put_piece(state, i, bytes[i]);
        else
            state->cells[i] = bytes[i];
    }
    state->side = tail[0];
    state->plies = tail[1] | tail[2] << 8;
    state->no_attack = tail[3] | tail[4] << 8;
    stratego_begin_turn(game, state);
    assert(stratego_is_ok(game, state));
    return NULL;
}

/* Without a limit a game may outlast 16 bits; it then stays at the highest number. */
static void put_count(uint8_t *bytes, int32_t n)
{
    n = n < 65535 ? n : 65535;
    bytes[0] = (uint8_t)n;
    bytes[1] = (uint8_t)(n >> 8);
}

const char *stratego_save(const sk_game *base, const void *block, uint8_t *bytes)
{
    const stratego *game = as_stratego(base);
    const stratego_state *state = block;
    uint8_t *tail = bytes + game->squares;
    if (state->phase == PLACING || state->phase == MOVING)
        return "only a position between two plies can be written";
    memcpy(bytes, state->cells, (size_t)game->squares);
    tail[0] = state->side;
    put_count(tail + 1, state->plies);
    put_count(tail + 3, state->no_attack);
    return NULL;
}
