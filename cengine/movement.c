/* Movement: one square orthogonally; a scout any number of empty squares in a straight line, and it may
 * attack at the end; bombs and flags never move. */
#include "more_squares.h"
#include "squares.h"
#include "two_squares.h"

typedef struct {
    int step;     /* to the next square */
    int vertical;
    int border;   /* coordinate of the first border crossed, relative to the square's coordinate */
    int advance;  /* of that coordinate, square by square */
    int reach;    /* squares to the edge of the board */
} direction;

static inline direction direction_from(const stratego *game, int square, int which)
{
    int file = square % game->width, rank = square / game->width;
    switch (which) {
    case 0: return (direction){1, 0, 0, 1, game->width - 1 - file};
    case 1: return (direction){-1, 0, -1, -1, file};
    case 2: return (direction){game->width, 1, 0, 1, game->height - 1 - rank};
    default: return (direction){-game->width, 1, -1, -1, rank};
    }
}

sk_bits destinations(const stratego *game, const stratego_state *state, int from)
{
    int side = state->side;
    sk_bits enemies = state->pieces[!side];
    sk_bits free = game->board & ~state->pieces[side];
    int scout = cell_type(state->cells[from]) == SCOUT;
    const shuttle *run = &state->shuttles[side];
    int shuttling = may_be_shuttling(game, run, from);
    sk_bits set = 0;
    for (int which = 0; which < 4; which++) {
        direction d = direction_from(game, from, which);
        int reach = scout || d.reach < 1 ? d.reach : 1;
        int coordinate = d.vertical ? from / game->width : from % game->width;
        for (int n = 1, to = from + d.step; n <= reach && has(free, to); n++, to += d.step) {
            if (shuttling
                && border_closed(game, run, d.vertical, coordinate + d.border + (n - 1) * d.advance))
                break;
            set |= bit(to);
            if (has(enemies, to))
                break;
        }
    }
    return set & ~chase_bans(game, state, from);
}

/* The pieces of the side to move that have a legal move. A piece that can move at all can move by one
 * square, so this needs no scout's rays. */
sk_bits selectable(const stratego *game, const stratego_state *state)
{
    int side = state->side;
    sk_bits set = state->movers[side] & beside(game, game->board & ~state->pieces[side]);
    /* Few pieces are touched by the repetition rules; those are asked for their destinations. */
    sk_bits doubtful = chase_banned_pieces(game, state);
    int last = state->shuttles[side].square;
    if (last != NO_SQUARE && may_be_shuttling(game, &state->shuttles[side], last))
        doubtful |= bit(last);
    for (doubtful &= set; doubtful; doubtful &= doubtful - 1)
        if (!destinations(game, state, first(doubtful)))
            set &= ~bit(first(doubtful));
    return set;
}
