/* Opening games by name; each file of a game says what it is. A game is one block of memory: free
 * closes it.
 *
 * `parameter` is what follows the colon of the name, NULL without one. NULL and a text in `error`
 * when the parameter or a rule is unknown or memory is short.
 */
#ifndef SK_GAMES_H
#define SK_GAMES_H

#include <stddef.h>

#include "game.h"

typedef sk_game *sk_opener(const char *parameter, const char *rules, char *error,
                           size_t error_size);

/* Each in the file of its name; Dark Hex is in hex.c, Diplomacy in diplomacy/game.c. */
sk_opener sk_open_kuhn, sk_open_leduc, sk_open_liars_dice, sk_open_hex, sk_open_dark_hex,
    sk_open_phantom_ttt, sk_open_matrix, sk_open_moves, sk_open_diplomacy;

#endif
