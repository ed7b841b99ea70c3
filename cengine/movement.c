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

__attribute__((noinline)) sk_bits stratego_destinations(const stratego *game,
                                                        const stratego_state *state, int from)
{
    int side = state->side;
    int scout = cell_type(state->cells[from]) == SCOUT;
    assert(has(state->movers[side], from));
    sk_bits reach = scout ? scout_reach(game, state, from) : game->beside[from];
    return reach & ~state->pieces[side] & ~two_squares_bans(game, state, from)
           & ~chase_bans(game, state, from);
}

/* The pieces of the side to move that the repetition rules may touch: nearly always none, which
 * inlined takes a few comparisons. */
__attribute__((always_inline)) static inline sk_bits doubtful_pieces(const stratego *game,
                                                                     const stratego_state *state)
{
    const border_crossings *run = &state->crossings[state->side];
    sk_bits last = has_closed_border(game, state) ? bit(run->square) : 0;
    return state->movers[state->side] & (chase_banned_pieces(game, state) | last);
}

/* The pieces of the side to move that have a legal move. A piece that can move at all can move by
 * one square, so this needs no scout's rays. */
sk_bits stratego_selectable(const stratego *game, const stratego_state *state)
{
    int side = state->side;
    sk_bits set = state->movers[side] & beside(game, game->board & ~state->pieces[side]);
    /* They are few, and asked for their destinations. */
    for (sk_bits some = set & doubtful_pieces(game, state); some; some &= some - 1)
        if (!stratego_destinations(game, state, lsb(some)))
            set &= ~bit(lsb(some));
    return set;
}

/* Those of them whose legal moves are all attacks. */
sk_bits stratego_only_attacks(const stratego *game, const stratego_state *state)
{
    sk_bits enemies = state->pieces[!state->side];
    sk_bits set = state->movers[state->side] & beside(game, enemies);
    if (set)
        set &= ~beside(game, game->board & ~(state->pieces[state->side] | enemies));
    for (sk_bits some = doubtful_pieces(game, state); some; some &= some - 1) {
        sk_bits to = stratego_destinations(game, state, lsb(some));
        set &= ~bit(lsb(some));
        if (to && !(to & ~enemies))
            set |= bit(lsb(some));
    }
    return set;
}
