/* Movement: one square orthogonally; a scout any number of empty squares in a straight line, and it
 * may attack at the end; bombs and flags never move. */
#include "more_squares.h"
#include "squares.h"
#include "two_squares.h"

static sk_bits scout_reach(const stratego *game, const stratego_state *state, int from)
{
    sk_bits blockers = ~game->board | state->pieces[RED] | state->pieces[BLUE];
    sk_bits set = 0;
    for (int direction = 0; direction < DIRECTIONS; direction++)
        set |= ray(game, from, direction, blockers);
    return set & game->board;
}

sk_bits stratego_destinations(const stratego *game, const stratego_state *state, int from)
{
    int side = state->side;
    int scout = cell_type(state->cells[from]) == SCOUT;
    assert(has(state->movers[side], from));
    sk_bits reach = scout ? scout_reach(game, state, from) : game->beside[from];
    return reach & ~state->pieces[side] & ~two_squares_bans(game, &state->crossings[side], from)
           & ~chase_bans(game, state, from);
}

/* The pieces of the side to move that have a legal move. A piece that can move at all can move by
 * one square, so this needs no scout's rays. */
sk_bits stratego_selectable(const stratego *game, const stratego_state *state)
{
    int side = state->side;
    const border_crossings *run = &state->crossings[side];
    sk_bits set = state->movers[side] & beside(game, game->board & ~state->pieces[side]);
    /* Few pieces are touched by the repetition rules; those are asked for their destinations. */
    sk_bits doubtful = chase_banned_pieces(game, state);
    if (has_closed_border(game, run))
        doubtful |= bit(run->square);
    for (doubtful &= set; doubtful; doubtful &= doubtful - 1)
        if (!stratego_destinations(game, state, lsb(doubtful)))
            set &= ~bit(lsb(doubtful));
    return set;
}
