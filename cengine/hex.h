/* Hex and Dark Hex: board and state, and the parts that the two files play. */
#ifndef SK_HEX_H
#define SK_HEX_H

#include "games.h"
#include "small.h"

enum { LEAST_SIZE = 2, MOST_SIZE = 11, MOST_CELLS = MOST_SIZE * MOST_SIZE, EMPTY = 2 };

typedef struct {
    sk_game base;
    int size, cells;
    int dark, classical;
} hex;

typedef struct {
    uint8_t owner[MOST_CELLS]; /* player or EMPTY */
    /* Where the player knows whose stone lies there: the turn after which it did, counted from 1.
     */
    uint8_t seen[2][MOST_CELLS];
    uint8_t turns, next; /* tries so far; who acts */
    uint8_t winner;      /* EMPTY: nobody yet */
} hex_state;

static inline const hex *as_hex(const sk_game *game) { return (const hex *)game; }

/* Does the chain with this stone reach both of its owner's sides? */
int sk_hex_connects(const hex *game, const hex_state *state, int cell);

/* Make the state a world of the player to act (game.h, `redeal`). */
const char *sk_hex_abrupt_world(const hex *game, hex_state *state, philox_draws *draws);
const char *sk_hex_classical_world(const hex *game, hex_state *state, philox_draws *draws);

#endif
