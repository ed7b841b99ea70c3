/* Opening games by name; each file of a game says what it is. A game is one block of memory: free closes it.
 *
 * `parameter` is what follows the colon of the name, NULL without one. NULL and a text in `error` when
 * the parameter or a rule is unknown or memory is short.
 */
#ifndef SK_GAMES_H
#define SK_GAMES_H

#include <stddef.h>

#include "game.h"

typedef sk_game *sk_opener(const char *parameter, const char *rules, char *error, size_t error_size);

/* Each in the file of its name; Dark Hex is in hex.c. */
sk_opener open_kuhn, open_leduc, open_liars_dice, open_hex, open_dark_hex, open_matrix, open_moves;

#endif
