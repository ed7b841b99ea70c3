/* The packed observation: what the side to act may know, in its own frame. formats/observation.md
 * is the written form of this layout. */
#include <string.h>

#include "bytes.h"
#include "framing.h"
#include "observation.h"

enum { SHOWN_BYTES = SHOWN_PLIES * sizeof(ply_record) };
_Static_assert(SHOWN_BYTES % 16 == 8, "sixteen bytes at a time, and eight");

/* Cells as `side` sees them. */
static inline bytes16 seen(bytes16 cells, int side, int placing)
{
    _Static_assert(CELL_PIECE >> 1 == CELL_BLUE, "shifted below");
    if (side == BLUE) /* whose piece is blue turns into whose is the enemy's */
        cells ^= cells >> 1 & CELL_BLUE;
    if (placing)
        return cells & ~(bytes16)((cells & CELL_BLUE) == CELL_BLUE);
    bytes16 hidden = (bytes16)((cells & (CELL_BLUE | CELL_REVEALED)) == CELL_BLUE);
    return cells | (hidden & UNKNOWN);
}

/* Without a limit a game may outlast 16 bits; the ratio is 0 then in any case. */
static uint16_t counted(int plies) { return (uint16_t)(plies < 65535 ? plies : 65535); }

/* Sixteen squares of the frame from `at`, or the first eight of them. */
static inline void observe_some(const stratego *game, const stratego_state *state, int side, int at,
                                int n, uint8_t *out)
{
    bytes16 cells = {0};
    memcpy(&cells, state->cells + (side == BLUE ? game->squares - n - at : at), (size_t)n);
    cells = seen(cells, side, state->phase == PLACING);
    uint64_t halves[2];
    memcpy(halves, &cells, sizeof cells);
    write_eight(side, halves[side == BLUE && n == 16], out + at);
    if (n == 16)
        write_eight(side, halves[side != BLUE], out + at + 8);
}

static inline void observe_cells(const stratego *game, const stratego_state *state, int side,
                                 uint8_t *out)
{
    int at = 0;
#pragma GCC unroll 6
    for (; at + 16 <= game->squares; at += 16)
        observe_some(game, state, side, at, 16, out);
    if (at + 8 <= game->squares)
        observe_some(game, state, side, at, 8, out);
    observe_some(game, state, side, game->squares - 8, 8, out);
}

/* Both squares of each move in blue's frame; every third byte is no square. */
static inline void rotate_moves(const stratego *game, uint8_t *moves)
{
    enum { S = 0xff };
    static const bytes16 squares[3] = {{S, S, 0, S, S, 0, S, S, 0, S, S, 0, S, S, 0, S},
                                       {S, 0, S, S, 0, S, S, 0, S, S, 0, S, S, 0, S, S},
                                       {0, S, S, 0, S, S, 0, S, S, 0, S, S, 0, S, S, 0}};
    uint8_t highest = (uint8_t)(game->squares - 1);
#pragma GCC unroll 8
    for (int i = 0; i <= SHOWN_BYTES / 16; i++) {
        size_t n = i < SHOWN_BYTES / 16 ? 16 : 8;
        bytes16 bytes = {0}, mask = squares[i % 3];
        memcpy(&bytes, moves + 16 * i, n);
        bytes = ((highest - bytes) & mask) | (bytes & ~mask);
        memcpy(moves + 16 * i, &bytes, n);
    }
}

static inline void observe_moves(const stratego *game, const stratego_state *state, int side,
                                 uint8_t *out)
{
    size_t to_end = (size_t)(RECENT - state->latest) * sizeof(ply_record);
    if (to_end >= SHOWN_BYTES) {
        memcpy(out, state->recent + state->latest, SHOWN_BYTES);
    } else {
        memcpy(out, state->recent + state->latest, to_end);
        memcpy(out + to_end, state->recent, SHOWN_BYTES - to_end);
    }
    if (side == BLUE)
        rotate_moves(game, out);
    if (state->recorded < SHOWN_PLIES) { /* NO_SQUARE and NO_ATTACK are all ones */
        size_t made = (size_t)state->recorded * sizeof(ply_record);
        memset(out + made, 0xff, SHOWN_BYTES - made);
    }
}

/* A bit for each square of a set, in the frame of `side`. */
static inline void mark(const stratego *game, int side, sk_bits set, uint8_t *out)
{
    for (; set; set &= set - 1) {
        int square = framed(game, side, lsb(set));
        out[square / 8] |= (uint8_t)(1 << square % 8);
    }
}

__attribute__((always_inline)) static inline void observe(const stratego *game,
                                                          const stratego_state *state, int side,
                                                          uint8_t *packed)
{
    observation o = {.phase = state->phase == PLACING,
                     .stage = state->phase == MOVING,
                     .selected = NO_SQUARE,
                     .to_place = NO_SQUARE};
    if (state->phase == PLACING) {
        o.to_place = game->order[state->placed];
    } else {
        o.plies = counted(state->plies);
        o.max_plies = (uint16_t)game->rules.max_plies;
        o.no_attack = counted(state->no_attack);
        o.max_no_attack = (uint16_t)game->rules.max_no_attack;
        memcpy(o.unrevealed[0], state->unrevealed[side], TYPES);
        memcpy(o.unrevealed[1], state->unrevealed[!side], TYPES);
    }
    if (state->phase == SELECTING)
        mark(game, side, stratego_only_attacks(game, state), o.only_attacks);
    if (state->phase == MOVING)
        o.selected = (uint8_t)framed(game, side, state->selected);
    memcpy(packed, &o, offsetof(observation, moves));
    observe_moves(game, state, side, packed + offsetof(observation, moves));
    observe_cells(game, state, side, packed + sizeof o);
}

/* The table of functions calls it. Inlined elsewhere, gcc warns of boards larger than any. */
__attribute__((noinline)) void stratego_observe(const sk_game *base, const void *block,
                                                uint8_t *packed)
{
    const stratego_state *state = block;
    if (state->side == RED) /* twice, so that each is free of branches */
        observe(as_stratego(base), state, RED, packed);
    else
        observe(as_stratego(base), state, BLUE, packed);
}
