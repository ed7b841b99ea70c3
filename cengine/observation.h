/* The layout of a packed observation: this header, then one cell a square. */
#ifndef SK_OBSERVATION_H
#define SK_OBSERVATION_H

#include "stratego.h"

typedef struct {
    uint16_t plies, max_plies; /* 0 in deployment; a limit of 0 means none */
    uint16_t no_attack, max_no_attack;
    uint8_t phase;                 /* 1 deployment, 0 play */
    uint8_t stage;                 /* 1: a piece is selected, now choose its destination */
    uint8_t selected;              /* square, or NO_SQUARE */
    uint8_t to_place;              /* type, or NO_SQUARE */
    uint8_t unrevealed[2][TYPES];  /* own, enemy; 0 in deployment */
    uint8_t only_attacks[16];      /* own pieces that can do nothing else, a bit a square */
    ply_record moves[SHOWN_PLIES]; /* the latest first */
} observation;

/* Whether the own flag stands in the left half: of the cells [squares], at a packed header's end.
 */
static inline int flag_is_left(const uint8_t *cells, int width, int squares)
{
    int left = 0;
    for (int s = 0; s < squares; s++)
        left |= s % width < width / 2
                && (cells[s] & (CELL_PIECE | CELL_BLUE | CELL_TYPE)) == (CELL_PIECE | FLAG);
    return left;
}

_Static_assert(sizeof(observation) == 172, "the layout is a file format");
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "packed observations are little-endian"
#endif

#endif
