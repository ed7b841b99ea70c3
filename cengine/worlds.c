/* Worlds of Stratego: the hidden pieces of the enemy, dealt again from what is public.
 *
 * Public are the squares of the enemy's pieces (once both sides have deployed), which of them are
 * revealed, which have moved, and how many hidden ones there are of each type. A piece that has
 * moved is no flag and no bomb; a scout that has moved far is revealed. All deals that agree with
 * this are equally likely. The history stays: it tells of squares and of revealed types only.
 *
 * The deal: flags and bombs go to squares of hidden pieces that never moved, all other types to the
 * squares that are left. Every choice of squares for flags and bombs leaves equally many deals of
 * the others, so that this is uniform. The types are counted off in their order, never read from
 * the board.
 */
#include <string.h>

#include "bytes.h"
#include "stratego.h"

/* Squares that wait for a piece. */
typedef struct {
    uint8_t squares[MAX_SQUARES];
    int n;
} square_list;

static inline void list_squares(square_list *list, sk_bits set)
{
    for (; set; set &= set - 1)
        list->squares[list->n++] = (uint8_t)lsb(set);
}

/* Hidden pieces of a type take squares of the list. */
static inline void deal_type(stratego_state *state, int enemy, int type, square_list *list,
                             philox_draws *draws)
{
    for (int n = state->unrevealed[enemy][type]; n > 0; n--) {
        int square = philox_take(draws, list->squares, &list->n);
        state->cells[square] = (uint8_t)((state->cells[square] & ~CELL_TYPE) | type);
        if (type_moves(type))
            state->movers[enemy] |= bit(square);
    }
}

/* Blue sees nothing of red before it has deployed itself: any squares where red may. */
static void clear_deployment(const stratego *game, stratego_state *state, square_list *list)
{
    sk_bits places = stratego_places(game, RED);
    for (sk_bits set = places; set; set &= set - 1)
        state->cells[lsb(set)] = EMPTY;
    list_squares(list, places);
    state->pieces[RED] = state->movers[RED] = 0;
}

static void redeal_deployment(const stratego *game, stratego_state *state, philox_draws *draws)
{
    square_list free = {.n = 0};
    if (state->side == RED)
        return;
    clear_deployment(game, state, &free);
    memset(state->unrevealed[RED], 0, sizeof state->unrevealed[RED]);
    for (int i = 0; i < game->pieces; i++)
        stratego_put_piece(state, philox_take(draws, free.squares, &free.n),
                           CELL_PIECE | game->order[i]);
}

const char *stratego_redeal(const sk_game *base, void *block, philox_draws *draws)
{
    const stratego *game = as_stratego(base);
    stratego_state *state = block;
    assert(state->phase != FINISHED);
    if (state->phase == PLACING) {
        redeal_deployment(game, state, draws);
    } else {
        int enemy = !state->side;
        sk_bits revealed =
            state->pieces[enemy] & having(state->cells, game->squares, CELL_REVEALED);
        sk_bits hidden = state->pieces[enemy] & ~revealed;
        sk_bits moved = hidden & having(state->cells, game->squares, CELL_MOVED);
        square_list list = {.n = 0};
        state->movers[enemy] &= revealed;
        list_squares(&list, hidden & ~moved);
        deal_type(state, enemy, FLAG, &list, draws);
        deal_type(state, enemy, BOMB, &list, draws);
        list_squares(&list, moved);
        for (int type = SPY; type < BOMB; type++)
            deal_type(state, enemy, type, &list, draws);
    }
    assert(stratego_is_ok(game, state));
    return NULL;
}
