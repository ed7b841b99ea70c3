/* Phantom games: two players put stones on a board in secret (phantom.c). */
#ifndef SK_PHANTOM_H
#define SK_PHANTOM_H

#include "games.h"
#include "small.h"

/* A cell is its player's, or EMPTY; so is the game, or it ended with NOBODY winning. */
enum { MOST_SIZE = 11, MOST_CELLS = MOST_SIZE * MOST_SIZE, EMPTY = 2, NOBODY = 3 };

typedef struct {
    uint8_t owner[MOST_CELLS]; /* player or EMPTY */
    /* Where the player knows whose stone lies there: the turn after which it did, counted from 1.
     */
    uint8_t seen[2][MOST_CELLS];
    uint8_t turns, next; /* tries so far; who acts */
    uint8_t winner;      /* EMPTY: the game goes on */
} phantom_state;

typedef struct phantom phantom;
struct phantom {
    sk_game base;
    int size, cells; /* cells: size * size, row by row */
    int dark, classical;
    /* Has the player won with the stones that it has? */
    int (*won)(const phantom *game, const phantom_state *state, int player);
};

static inline const phantom *as_phantom(const sk_game *game) { return (const phantom *)game; }

/* A game of this size, board and rule. NULL and a text in `error`, as in games.h. */
sk_game *sk_open_phantom(phantom rules_of, const char *rules, char *error, size_t error_size);

/* Is it one of these games? */
int sk_is_phantom(const sk_game *game);

/* Is there no empty cell? */
int sk_phantom_full(const phantom *game, const phantom_state *state);

/* Make the state a world of the player to act (game.h, `redeal`). */
const char *sk_phantom_abrupt_world(const phantom *game, phantom_state *state, philox_draws *draws);
const char *sk_phantom_classical_world(const phantom *game, phantom_state *state,
                                       philox_draws *draws);

#endif
