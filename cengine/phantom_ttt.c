/* Phantom tic-tac-toe with the abrupt or the classical rule, "phantom_ttt" and
 * "phantom_ttt:classical" (OpenSpiel's phantom_ttt with obstype=reveal-nothing): three cells in a
 * line win.
 */
#include "phantom.h"

static int won(const phantom *game, const phantom_state *state, int player)
{
    static const int lines[8][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6},
                                    {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};
    for (int i = 0; i < 8; i++) {
        int n = 0;
        while (n < 3 && state->owner[lines[i][n]] == player)
            n++;
        if (n == 3)
            return 1;
    }
    return 0;
}

sk_game *sk_open_phantom_ttt(const char *parameter, const char *rules, char *error,
                             size_t error_size)
{
    int classical = parameter && strcmp(parameter, "classical") == 0;
    if (parameter && !classical) {
        snprintf(error, error_size, "the rule is abrupt unless it is phantom_ttt:classical");
        return NULL;
    }
    phantom game = {.size = 3, .dark = 1, .classical = classical, .won = won};
    return sk_open_phantom(game, rules, error, error_size);
}
