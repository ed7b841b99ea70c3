/* The two-squares rule (ISF article 10), in the form that covers all pieces: a piece may not cross
 * the same border between two neighbouring squares more than N times in consecutive turns of its
 * own side. Moving another piece, or the piece leaving that line, ends the run; so does a turn that
 * does not cross the border.
 */
#ifndef SK_TWO_SQUARES_H
#define SK_TWO_SQUARES_H

#include "stratego.h"

/* Counts the borders that the move crosses; `run` is the side's. */
void stratego_count_crossings(const stratego *game, border_crossings *run, int from, int to);

/* Whether the rule may forbid the last mover of the side to move anything. */
static inline int has_closed_border(const stratego *game, const stratego_state *state)
{
    const border_crossings *run = &state->crossings[state->side];
    return game->rules.two_squares && run->most >= game->rules.two_squares
           && is_bound(game, state->side);
}

/* The destinations that the rule forbids the side's piece on `from`: all beyond a closed border.
 * Only where there is one. */
sk_bits stratego_closed_squares(const stratego *game, const border_crossings *run, int from);

static inline sk_bits two_squares_bans(const stratego *game, const stratego_state *state, int from)
{
    const border_crossings *run = &state->crossings[state->side];
    return run->square == from && has_closed_border(game, state)
               ? stratego_closed_squares(game, run, from)
               : 0;
}

#endif
