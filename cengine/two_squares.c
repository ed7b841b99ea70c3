#include "two_squares.h"

/* The piece on `from` is the one the side moved last exactly if that piece still stands where `run`
 * has it: a captured one left an enemy there. */
void stratego_count_crossings(const stratego *game, border_crossings *run, int from, int to)
{
    int low = from < to ? from : to, high = from < to ? to : from;
    uint8_t vertical = game->file[from] == game->file[to];
    const uint8_t *coordinate = vertical ? game->rank : game->file;
    border_crossings before = *run;
    int same_run = before.square == from && before.vertical == vertical;
    *run = (border_crossings){.square = (uint8_t)to, .vertical = vertical};
    for (int k = coordinate[low]; k < coordinate[high]; k++) {
        uint8_t crossed = same_run ? before.borders[k] : 0;
        crossed = (uint8_t)(crossed + (crossed < 255));
        run->borders[k] = crossed;
        run->most = crossed > run->most ? crossed : run->most;
    }
}

sk_bits stratego_closed_squares(const stratego *game, const border_crossings *run, int from)
{
    int step = run->vertical ? game->width : 1;
    int at = run->vertical ? game->rank[from] : game->file[from];
    const sk_bits *rising = game->rays[run->vertical ? NORTH : EAST];
    const sk_bits *falling = game->rays[run->vertical ? SOUTH : WEST];
    sk_bits bans = 0;
    for (int k = 0; k < MAX_SIDE - 1; k++) {
        if (run->borders[k] < game->rules.two_squares)
            continue;
        int below = from + (k - at) * step; /* the square on this side of the border */
        bans |= at <= k ? rising[below] : falling[below + step];
    }
    return bans;
}
