/* What can be won against random play in dark_hex:3 (abrupt rule): the exact best response.
 *
 *     cc -O3 bench/dark_hex_ceiling.c -o /tmp/ceiling && /tmp/ceiling
 *
 * The player walks through all that may come before its eyes. Beside its own stones and those that
 * it has bumped into it keeps a belief: the probability of each pair of what the enemy has placed
 * and what the enemy has seen. A random enemy takes each cell with the same probability, if it is
 * neither its own nor known to be taken. One that was taken after all costs it the turn, and is
 * known from then on. -DSIDE=2 takes the smaller board, which `exploit` solves, too.
 */
#include <stdio.h>

#ifndef SIDE
#define SIDE 3
#endif

enum { CELLS = SIDE * SIDE, SETS = 1 << CELLS, ALL = SETS - 1 };

typedef struct {
    int placed, seen; /* by the enemy: sets of cells, a bit each */
    double weight;    /* probability, together with what the player has seen */
} Hidden;

static int neighbours[CELLS];
static char player_won[SETS], enemy_won[SETS]; /* by its stones */
static Hidden beliefs[CELLS + 2][2048];        /* one for each turn of the enemy in a game */
static int place_of[SETS][SETS];               /* of a pair in the belief that is made now */
static long made[SETS][SETS], now;

static double player_to_move(int own, int known, const Hidden *belief, int count, int turn);

static int connects(int stones, int from, int to)
{
    int reached = stones & from, before = 0;
    while (reached != before) {
        before = reached;
        for (int cell = 0; cell < CELLS; cell++)
            if (before >> cell & 1)
                reached |= neighbours[cell] & stones;
    }
    return (reached & to) != 0;
}

static void prepare(void)
{
    static const int rows[] = {-1, -1, 0, 0, 1, 1}, columns[] = {0, 1, -1, 1, -1, 0};
    int top = 0, left = 0;
    for (int cell = 0; cell < CELLS; cell++)
        for (int way = 0; way < 6; way++) {
            int row = cell / SIDE + rows[way], column = cell % SIDE + columns[way];
            if (row >= 0 && row < SIDE && column >= 0 && column < SIDE)
                neighbours[cell] |= 1 << (row * SIDE + column);
        }
    for (int i = 0; i < SIDE; i++)
        top |= 1 << i, left |= 1 << (i * SIDE);
    for (int stones = 0; stones < SETS; stones++) {
        player_won[stones] = connects(stones, top, top << (CELLS - SIDE));
        enemy_won[stones] = connects(stones, left, left << (SIDE - 1));
    }
}

/* Each returns the probability that the player wins, together with what it has seen. */

static double enemy_to_move(int own, int known, const Hidden *belief, int count, int turn)
{
    Hidden *next = beliefs[turn];
    int found = 0;
    now++;
    for (int i = 0; i < count; i++) {
        int open = ALL & ~(belief[i].placed | belief[i].seen);
        double weight = belief[i].weight / __builtin_popcount(open);
        for (int cell = 0; cell < CELLS; cell++) {
            int placed = belief[i].placed, seen = belief[i].seen;
            if (!(open >> cell & 1))
                continue;
            if (own >> cell & 1)
                seen |= 1 << cell;
            else
                placed |= 1 << cell;
            if (enemy_won[placed])
                continue;
            if (made[placed][seen] != now) {
                made[placed][seen] = now;
                place_of[placed][seen] = found;
                next[found++] = (Hidden){placed, seen, 0};
            }
            next[place_of[placed][seen]].weight += weight;
        }
    }
    return found ? player_to_move(own, known, next, found, turn + 1) : 0;
}

static double player_to_move(int own, int known, const Hidden *belief, int count, int turn)
{
    Hidden kept[2048];
    double best = 0;
    for (int cell = 0; cell < CELLS; cell++) {
        double won = 0, alone = 0;
        int bumped = 0, stands = 0;
        if ((own | known) >> cell & 1)
            continue;
        for (int i = 0; i < count; i++)
            if (belief[i].placed >> cell & 1)
                kept[bumped++] = belief[i];
        if (bumped)
            won += enemy_to_move(own, known | 1 << cell, kept, bumped, turn);
        for (int i = 0; i < count; i++)
            if (!(belief[i].placed >> cell & 1)) {
                kept[stands++] = belief[i];
                alone += belief[i].weight;
            }
        if (player_won[own | 1 << cell])
            won += alone;
        else if (stands)
            won += enemy_to_move(own | 1 << cell, known, kept, stands, turn);
        if (won > best)
            best = won;
    }
    return best;
}

int main(void)
{
    const Hidden start = {0, 0, 1};
    prepare();
    double first = player_to_move(0, 0, &start, 1, 0), second = enemy_to_move(0, 0, &start, 1, 0);
    printf("first %.6f, second %.6f, mean %.6f\n", first, second, (first + second) / 2);
}
