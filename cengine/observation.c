/* The packed observation: what the side to act may know, in its own frame. formats/observation.md is the
 * written form of this layout. */
#include <string.h>

#include "observation.h"

static uint8_t seen(uint8_t cell, int side)
{
    if (!is_piece(cell))
        return cell;
    if (cell_side(cell) == side)
        return cell & (uint8_t)~CELL_BLUE;
    if (!(cell & CELL_REVEALED))
        cell |= UNKNOWN;
    return cell | CELL_BLUE;
}

/* Without a limit a game may outlast 16 bits; the ratio is 0 then in any case. */
static uint16_t counted(int plies) { return (uint16_t)(plies < 65535 ? plies : 65535); }

static void observe_cells(const stratego *game, const stratego_state *state, uint8_t *cells)
{
    int side = state->side, placing = state->phase == PLACING;
    for (int i = 0; i < game->squares; i++) {
        uint8_t cell = state->cells[framed(game, side, i)];
        int hidden = placing && is_piece(cell) && cell_side(cell) != side;
        cells[i] = hidden ? EMPTY : seen(cell, side);
    }
}

static void observe_moves(const stratego *game, const stratego_state *state, ply_record *moves)
{
    for (int i = 0; i < SHOWN_PLIES; i++) {
        if (i >= state->recorded) {
            moves[i] = (ply_record){NO_SQUARE, NO_SQUARE, NO_ATTACK};
            continue;
        }
        ply_record ply = state->recent[(state->recorded - 1 - i) % RECENT];
        moves[i] = (ply_record){(uint8_t)framed(game, state->side, ply.from),
                                (uint8_t)framed(game, state->side, ply.to), ply.attacker};
    }
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
