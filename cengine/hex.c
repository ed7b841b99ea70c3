/* Hex, "hex:N", and Dark Hex with the abrupt or the classical rule, "dark_hex:N" and
 * "dark_hex:N:classical" (OpenSpiel's hex, and its dark_hex with gameversion=adh or cdh,
 * obstype=reveal-nothing), on a rhombus of N x N cells. Player 0 wins by a chain from the first row
 * to the last, player 1 by one from the first column to the last; there is no draw.
 *
 * A cell's neighbours are those beside it in its row and its column, and (row + 1, column - 1) and
 * (row - 1, column + 1).
 */
#include "phantom.h"

enum { LEAST_SIZE = 2 };

static int neighbours(const phantom *game, int cell, int *out)
{
    static const int steps[6][2] = {{-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}};
    int n = 0;
    for (int i = 0; i < 6; i++) {
        int row = cell / game->size + steps[i][0], column = cell % game->size + steps[i][1];
        if (row >= 0 && row < game->size && column >= 0 && column < game->size)
            out[n++] = row * game->size + column;
    }
    return n;
}

/* Does a chain from the player's first line reach the last? */
static int won(const phantom *game, const phantom_state *state, int player)
{
    int size = game->size, todo[MOST_CELLS], n = 0, beside[6];
    uint8_t found[MOST_CELLS] = {0};
    for (int i = 0; i < size; i++) {
        int cell = player == 0 ? i : i * size;
        if (state->owner[cell] == player)
            found[todo[n++] = cell] = 1;
    }
    while (n) {
        int at = todo[--n], line = player == 0 ? at / size : at % size;
        if (line == size - 1)
            return 1;
        for (int i = neighbours(game, at, beside) - 1; i >= 0; i--)
            if (state->owner[beside[i]] == player && !found[beside[i]])
                found[todo[n++] = beside[i]] = 1;
    }
    return 0;
}

static sk_game *open_either(int dark, const char *parameter, const char *rules, char *error,
                            size_t error_size)
{
    int size, read = read_number(&parameter, &size);
    int classical = read && dark && strcmp(parameter, ":classical") == 0;
    if (!read || (*parameter && !classical) || size < LEAST_SIZE || size > MOST_SIZE) {
        snprintf(error, error_size, "the size of the board is a number from %d to %d%s", LEAST_SIZE,
                 MOST_SIZE, dark ? ", with :classical behind it for that rule" : "");
        return NULL;
    }
    phantom game = {.size = size, .dark = dark, .classical = classical, .won = won};
    return sk_open_phantom(game, rules, error, error_size);
}

sk_game *sk_open_hex(const char *parameter, const char *rules, char *error, size_t error_size)
{
    return open_either(0, parameter, rules, error, error_size);
}

sk_game *sk_open_dark_hex(const char *parameter, const char *rules, char *error, size_t error_size)
{
    return open_either(1, parameter, rules, error, error_size);
}
