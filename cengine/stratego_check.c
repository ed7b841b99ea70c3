/* What holds of every state between two actions. Sanitizers and fuzzers ask after each of them. */
#include "stratego.h"

/* The squares of one side's pieces, its movers and its hidden types, counted anew from the cells.
 */
typedef struct {
    sk_bits pieces[2], movers[2];
    uint8_t unrevealed[2][TYPES];
} census;

static int count_cells(const stratego *game, const stratego_state *state, census *found)
{
    for (int i = 0; i < game->squares; i++) {
        uint8_t cell = state->cells[i];
        if (!has(game->board, i) || !is_piece(cell)) {
            if (cell != (has(game->board, i) ? EMPTY : LAKE))
                return 0;
            continue;
        }
        int side = cell_side(cell), type = cell_type(cell);
        if (type >= TYPES || (cell & CELL_MOVED && !type_moves(type)))
            return 0;
        found->pieces[side] |= bit(i);
        found->movers[side] |= type_moves(type) ? bit(i) : 0;
        found->unrevealed[side][type] += !(cell & CELL_REVEALED);
    }
    return 1;
}

static int pieces_are_ok(const stratego *game, const stratego_state *state)
{
    census found = {{0}, {0}, {{0}}};
    if (!count_cells(game, state, &found))
        return 0;
    for (int side = RED; side <= BLUE; side++) {
        if (found.pieces[side] != state->pieces[side] || found.movers[side] != state->movers[side])
            return 0;
        for (int type = 0; type < TYPES; type++)
            if (found.unrevealed[side][type] != state->unrevealed[side][type])
                return 0;
    }
    return 1;
}

/* What may be chosen is what the rules say; a game that is over has an ending and a winner to
 * match. */
static int phase_is_ok(const stratego *game, const stratego_state *state)
{
    int between = state->selected == NO_SQUARE && !state->placed;
    if (state->side > BLUE || (state->phase != FINISHED && (state->ending || state->winner != -1)))
        return 0;
    switch (state->phase) {
    case PLACING:
        for (int side = RED; side <= BLUE; side++)
            if (state->pieces[side] & ~stratego_places(game, side))
                return 0;
        return state->selected == NO_SQUARE && state->placed < game->pieces
               && state->legal == stratego_placing_squares(game, state);
    case SELECTING:
        return between && state->legal && state->legal == stratego_selectable(game, state);
    case MOVING:
        return state->selected < game->squares && has(state->pieces[state->side], state->selected)
               && state->legal
               && state->legal == stratego_destinations(game, state, state->selected);
    case FINISHED:
        if (state->ending == ENDING_FLAG || state->ending == ENDING_NO_MOVE)
            return !state->legal && state->winner == !state->side;
        return !state->legal && state->ending && state->winner == -1;
    default: return 0;
    }
}

static int crossings_are_ok(const stratego *game, const border_crossings *run)
{
    uint8_t most = 0;
    for (int k = 0; k < MAX_SIDE; k++)
        most = run->borders[k] > most ? run->borders[k] : most;
    return (run->square == NO_SQUARE || run->square < game->squares) && run->most == most;
}

/* `enemies` are those of the side that chases. */
static int chase_is_ok(const stratego_state *state, const chase *run, sk_bits enemies, int in_force)
{
    if (run->begun == NO_CHASE)
        return 1;
    int length = state->recorded - run->begun;
    return run->begun > 0 && length >= 0 && (length <= LONGEST_CHASE || !in_force)
           && !(run->evaded & ~enemies);
}

static int history_is_ok(const stratego *game, const stratego_state *state)
{
    int room = RECENT_ROOM - state->latest, known = state->recorded < room ? state->recorded : room;
    if (state->latest > RECENT_ROOM - SHOWN_PLIES || state->recorded < 0
        || state->plies < state->recorded || state->no_attack < 0)
        return 0;
    for (int ago = 0; ago < known; ago++) {
        ply_record ply = played(state, ago);
        if (ply.from >= game->squares || ply.to >= game->squares || ply.from == ply.to
            || (ply.attacker != NO_ATTACK && (ply.attacker >= TYPES || !type_moves(ply.attacker))))
            return 0;
    }
    for (int side = RED; side <= BLUE; side++)
        if (!crossings_are_ok(game, &state->crossings[side])
            || !chase_is_ok(state, &state->chases[side], state->pieces[!side],
                            game->rules.more_squares))
            return 0;
    return 1;
}

int stratego_is_ok(const stratego *game, const stratego_state *state)
{
    return pieces_are_ok(game, state) && phase_is_ok(game, state) && history_is_ok(game, state);
}
