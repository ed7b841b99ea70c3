/* Stratego's public belief states, on boards where a setup is one of few (public_tree.h).
 *
 * A hand is a setup: which type began on each square of the side's zone. Everybody has seen where
 * each piece came from, so a piece that is revealed cuts the hands to those that agree. Of setups
 * that are not whole, and of pieces that are gone, the types that are left stand in ascending order
 * on the squares that are left: with what is public that names one hand, too.
 *
 * All this is for states that began with their deployment. One that began from a position does not
 * tell where its pieces stood before: no public tree has it.
 */
#include <string.h>

#include "stratego.h"

enum { MOST_ZONE = 4 };

/* What everybody sees: the side to act, the phase, pieces placed, plies, the selected square, who
 * has won; how many of each of the variant's types are hidden on either side; of each square and
 * side the type there, or that it is hidden, and where the piece began. One-hot, but for the side
 * and the numbers of types. In deployment nobody sees a square. */
static int kinds_of(const stratego *board)
{
    int kinds = 0;
    for (int type = 0; type < TYPES; type++)
        kinds += board->variant.counts[type] > 0;
    return kinds;
}

static int on_square(const stratego *board) { return kinds_of(board) + 1 + board->zone; }

static int phases(const stratego *board)
{
    return 1 + FINISHED + 1 + board->pieces + board->rules.max_plies + 1 + board->squares + 2;
}

void stratego_describe_beliefs(const stratego *board, sk_description *is)
{
    int longest = board->rules.max_plies;
    if (board->zone != board->pieces || board->zone > MOST_ZONE || longest < 1 || longest > RECENT)
        return;
    is->hands = 1;
    for (int n = 2; n <= board->zone; n++)
        is->hands *= n;
    is->public_bytes = phases(board) + 2 * kinds_of(board) + 2 * board->squares * on_square(board);
}

/* Where in its zone, in the side's frame, the piece began that stands on a square. Callers write
 * there: the state must remember every ply since the deployment. */
static int origin(const stratego *board, const stratego_state *state, int side, int square)
{
    for (int ago = 0; ago < state->recorded; ago++) {
        int mover = ago % 2 ? state->side : !state->side;
        ply_record ply = played(state, ago);
        if (mover == side && ply.to == square)
            square = ply.from;
    }
    assert(framed(board, side, square) < board->zone);
    return framed(board, side, square);
}

int stratego_hand(const sk_game *game, const void *block, int side)
{
    const stratego *board = as_stratego(game);
    const stratego_state *state = block;
    int setup[MOST_ZONE], left[TYPES], number = 0;
    for (int type = 0; type < TYPES; type++)
        left[type] = board->variant.counts[type];
    for (int i = 0; i < board->zone; i++)
        setup[i] = UNKNOWN;
    for (sk_bits set = state->pieces[side]; set; set &= set - 1) {
        int type = cell_type(state->cells[lsb(set)]);
        setup[origin(board, state, side, lsb(set))] = type;
        left[type]--;
    }
    for (int i = 0, type = 0; i < board->zone; i++) {
        while (type < TYPES && left[type] <= 0)
            type++;
        if (setup[i] == UNKNOWN) {
            setup[i] = type;
            left[type]--;
        }
    }
    for (int i = 0; i < board->zone; i++) { /* in the order of permutations */
        int smaller = 0;
        for (int k = i + 1; k < board->zone; k++)
            smaller += setup[k] < setup[i];
        number = number * (board->zone - i) + smaller;
    }
    return number;
}

static void observe_squares(const stratego *board, const stratego_state *state, uint8_t *packed)
{
    int kinds = kinds_of(board), size = on_square(board), kind_of[UNKNOWN + 1], n = 0;
    for (int type = 0; type < TYPES; type++) {
        kind_of[type] = n;
        n += board->variant.counts[type] > 0;
    }
    for (int side = RED; side <= BLUE; side++)
        for (sk_bits set = state->pieces[side]; set; set &= set - 1) {
            int square = lsb(set);
            uint8_t cell = state->cells[square], *out = packed + (2 * square + side) * size;
            out[cell & CELL_REVEALED ? kind_of[cell_type(cell)] : kinds] = 1;
            out[kinds + 1 + origin(board, state, side, square)] = 1;
        }
}

void stratego_observe_public(const sk_game *game, const void *block, uint8_t *packed)
{
    const stratego *board = as_stratego(game);
    const stratego_state *state = block;
    memset(packed, 0, (size_t)game->is.public_bytes);
    *packed++ = state->side;
    packed[state->phase] = 1;
    packed += FINISHED + 1;
    packed[state->placed] = 1;
    packed += board->pieces;
    packed[state->plies] = 1;
    packed += board->rules.max_plies + 1;
    if (state->selected != NO_SQUARE)
        packed[state->selected] = 1;
    packed += board->squares;
    if (state->winner >= 0)
        packed[state->winner] = 1;
    packed += 2;
    if (state->phase == PLACING)
        return;
    for (int side = RED; side <= BLUE; side++)
        for (int type = 0; type < TYPES; type++)
            if (board->variant.counts[type])
                *packed++ = state->unrevealed[side][type];
    observe_squares(board, state, packed);
}
