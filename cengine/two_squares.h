/* The two-squares rule (ISF article 10), in the form that covers all pieces: a piece may not cross the
 * same border between two neighbouring squares more than N times in consecutive turns of its own side.
 * Moving another piece, or the piece leaving that line, ends the run; so does a turn that does not cross
 * the border.
 */
#ifndef SK_TWO_SQUARES_H
#define SK_TWO_SQUARES_H

#include <string.h>

#include "stratego.h"

/* Counts the borders that the move crosses. The piece on `from` is the one the side moved last exactly
 * if that piece still stands where the shuttle remembers it: a captured one left an enemy there. */
static inline void count_crossings(const stratego *game, shuttle *run, int from, int to)
{
    int width = game->width;
    uint8_t vertical = from % width == to % width;
    int a = vertical ? from / width : from % width;
    int b = vertical ? to / width : to % width;
    int low = a < b ? a : b, high = a < b ? b : a;
    int same_run = run->square == from && run->vertical == vertical;
    for (int k = 0; k < MAX_SIDE; k++) {
        int crossed = k >= low && k < high;
        int before = same_run ? run->borders[k] : 0;
        run->borders[k] = (uint8_t)(crossed ? before + (before < 255) : 0);
    }
    run->square = (uint8_t)to;
    run->vertical = vertical;
}

/* Whether the piece on `square` is the side's last mover, so that the rule may concern it. */
static inline int may_be_shuttling(const stratego *game, const shuttle *run, int square)
{
    return game->rules.two_squares && run->square == square;
}

/* Whether the border with coordinate `k` of the run's line may not be crossed once more. */
static inline int border_closed(const stratego *game, const shuttle *run, int vertical, int k)
{
    return run->vertical == vertical && run->borders[k] >= game->rules.two_squares;
}

#endif
