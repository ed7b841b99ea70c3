/* The packed observation: what the side to act may know, in its own frame. formats/observation.md is the
 * written form of this layout. */
#include <string.h>

#include "framing.h"
#include "observation.h"

static uint64_t each(uint8_t byte) { return 0x0101010101010101u * byte; }

/* Eight cells as `side` sees them. */
static uint64_t seen(uint64_t cells, int side, int placing)
{
    _Static_assert(CELL_PIECE >> 1 == CELL_BLUE && CELL_BLUE >> 1 == CELL_REVEALED, "shifted below");
    if (side == BLUE) /* whose piece is blue turns into whose is the enemy's */
        cells ^= cells >> 1 & each(CELL_BLUE);
    uint64_t enemies = cells >> 6 & each(1);
    if (placing)
        return cells & ~(enemies * 0xff);
    uint64_t hidden = enemies & ~(cells >> 5);
    return cells | hidden * UNKNOWN;
}

/* Without a limit a game may outlast 16 bits; the ratio is 0 then in any case. */
static uint16_t counted(int plies) { return (uint16_t)(plies < 65535 ? plies : 65535); }

static void observe_cells(const stratego *game, const stratego_state *state, uint8_t *out)
{
    uint64_t cells[CELLS / 8];
    memcpy(cells, state->cells, sizeof cells);
    for (int i = 0; i < CELLS / 8; i++)
        cells[i] = seen(cells[i], state->side, state->phase == PLACING);
    frame_bytes(game, state->side, (const uint8_t *)cells, out);
}

/* Both squares of each move in blue's frame: whole words, in which every third byte is no square. */
static void rotate_moves(const stratego *game, ply_record *moves)
{
    static const uint64_t squares[3] = {0xffff00ffff00ffff, 0xff00ffff00ffff00, 0x00ffff00ffff00ff};
    uint64_t highest = each((uint8_t)(game->squares - 1));
    uint64_t words[SHOWN_PLIES * sizeof *moves / 8];
    memcpy(words, moves, sizeof words);
    for (size_t i = 0; i < sizeof words / 8; i++) {
        uint64_t mask = squares[i % 3];
        words[i] = ((highest & mask) - (words[i] & mask)) | (words[i] & ~mask);
    }
    memcpy(moves, words, sizeof words);
}

static void observe_moves(const stratego *game, const stratego_state *state, ply_record *moves)
{
    enum { LAST_WHOLE = RECENT - SHOWN_PLIES };
    if (state->latest <= LAST_WHOLE)
        memcpy(moves, state->recent + state->latest, SHOWN_PLIES * sizeof *moves);
    else
        for (int i = 0; i < SHOWN_PLIES; i++)
            moves[i] = played(state, i);
    if (state->side == BLUE)
        rotate_moves(game, moves);
    if (state->recorded < SHOWN_PLIES) /* NO_SQUARE and NO_ATTACK are all ones */
        memset(moves + state->recorded, 0xff,
               (size_t)(SHOWN_PLIES - state->recorded) * sizeof *moves);
}

void observe_stratego(const sk_game *base, const void *block, uint8_t *packed)
{
    const stratego *game = as_stratego(base);
    const stratego_state *state = block;
    observation o = {.phase = state->phase == PLACING,
                     .stage = state->phase == MOVING,
                     .selected = NO_SQUARE,
                     .to_place = NO_SQUARE};
    if (state->phase == PLACING) {
        o.to_place = game->order[state->placed];
    } else {
        o.plies = counted(state->plies);
        o.max_plies = (uint16_t)game->rules.max_plies;
        o.quiet = counted(state->quiet);
        o.max_quiet = (uint16_t)game->rules.max_quiet;
        memcpy(o.unrevealed[0], state->unrevealed[state->side], TYPES);
        memcpy(o.unrevealed[1], state->unrevealed[!state->side], TYPES);
    }
    if (state->phase == MOVING)
        o.selected = (uint8_t)framed(game, state->side, state->selected);
    observe_moves(game, state, o.moves);
    memcpy(packed, &o, sizeof o);
    observe_cells(game, state, packed + sizeof o);
}
